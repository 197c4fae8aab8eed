/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sandbox/base/err.h"

/*
 * Images: root file systems other than the host's
 *
 * An image is a file that root alone can write, mounted read-only, or such a folder. A launcher
 * mounts an image once, in its own mount namespace, when the first jail asks for it; each jail gets
 * a clone of that mount. With the namespace's last process the mounts go, and with them the loop
 * devices, however it ends. The file's digest is computed once after each boot: as long as device,
 * inode, size and both times are the same, so is the file, which only root could fool.
 */
enum image_kind {
	IMAGE_FOLDER,
	IMAGE_SQUASHFS,
	IMAGE_EROFS,
};

/* What a client may name, and what it is. */
struct image_source {
	char name[32]; /* begins with a letter or a digit, and has no slash */
	uint32_t kind; /* enum image_kind */
	char path[256];
};

/* Which content a name stood for. */
struct image_identity {
	uint64_t device, inode, size;
	struct timespec written, changed;
};

enum { IMAGE_DIGEST_SIZE = 65 };

struct image {
	int mount_fd; /* owned: detached and read-only, for one jail */
	int file_fd;  /* owned: the file, or the folder */
	struct image_identity identity;
	char digest[IMAGE_DIGEST_SIZE]; /* SHA-256 of the file, in hexadecimal; "": a folder */
};

#define IMAGE_INIT ((struct image){ .mount_fd = -1, .file_fd = -1 })

/* Asked now and then where a large image is read, or somebody else's reading waited for. */
struct image_wish {
	bool (*is_wanted)(const void *context); /* false: nobody waits for it any more */
	const void *context;
};

/**
 * image_open_shelf() - make the place where this mount namespace keeps its mounted images
 * @folder: where; its folder "images" is covered, in this namespace alone
 *
 * Return: its descriptor, owned by the caller, or -1.
 */
int image_open_shelf(const char *folder, struct err *err) must_check;

/**
 * image_take() - a mount of an image, for one jail
 * @shelf_fd: from image_open_shelf()
 * @state_fd: the folder that keeps digests for the launchers to come
 *
 * Waits while another process mounts the same image, and reads the file if nobody has since the
 * boot; no longer than @wish says. One that others than root could write, that is cut off or no
 * image at all, is an ERR_HOST error.
 */
int image_take(int shelf_fd, int state_fd, const struct image_source *source,
	       const struct image_wish *wish, struct image *out, struct err *err) must_check;

/**
 * image_map() - have root's files of a mount be those of a jail's payload
 * @mount_fd: not attached yet
 * @base:     the first of the 65,536 host ids of the jail
 * @payload:  the payload's id inside; what has this id in the image gets the inside's 0
 *
 * Only for images, which are made for jails: in a folder of the host it would open what root keeps
 * for itself.
 */
int image_map(int mount_fd, uint32_t base, uint32_t payload, struct err *err) must_check;

/**
 * image_has_changed() - was the file written since the image was taken? One that has lost its name
 * was not; of a folder it is not known
 */
bool image_has_changed(const struct image *image);

/**
 * image_done() - close the descriptors; nothing happens if there are none
 */
void image_done(struct image *image);

/* -- image_file.c -- */

/**
 * image_open_file() - open and check what a source names
 *
 * Return: the descriptor, owned by the caller (a folder's is O_PATH), or -1.
 */
int image_open_file(const struct image_source *source, struct image_identity *out,
		    struct err *err) must_check;

/**
 * image_identify() - what identifies an open file
 */
int image_identify(int fd, struct image_identity *out, struct err *err) must_check;

/**
 * image_is_same() - do they identify the same content?
 */
bool image_is_same(const struct image_identity *a, const struct image_identity *b);

/**
 * image_digest() - SHA-256 of a whole file, read from its beginning
 *
 * A file that changes meanwhile is an ERR_HOST error.
 */
int image_digest(int fd, const struct image_wish *wish, char out[IMAGE_DIGEST_SIZE],
		 struct err *err) must_check;

/**
 * image_check_wish() - an error where nobody waits any more
 */
int image_check_wish(const struct image_wish *wish, struct err *err) must_check;
