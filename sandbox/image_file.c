/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/image.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/* --- which file it is --- */

int image_identify(int fd, struct image_identity *out, struct err *err)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at an image");
	*out = (struct image_identity){
		.device = info.st_dev,
		.inode = info.st_ino,
		.size = (uint64_t) info.st_size,
		.written = info.st_mtim,
		.changed = info.st_ctim,
	};
	return 0;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool image_is_same(const struct image_identity *a, const struct image_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       is_same_time(&a->written, &b->written) && is_same_time(&a->changed, &b->changed);
}

/* --- what is in it --- */

/* Both formats keep what identifies them and their size at the beginning, in little endian. */
enum { HEAD_SIZE = 2048, SQUASHFS_MAGIC = 0x73717368, EROFS_AT = 1024 };
#define EROFS_MAGIC UINT32_C(0xe0f5e1e2)

static uint32_t u32_at(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t u64_at(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

/* Return: how many bytes the file says that it has; 0: it is none of this kind. */
static uint64_t promised_size(enum image_kind kind, const unsigned char *head)
{
	const unsigned char *erofs = head + EROFS_AT;

	if (kind == IMAGE_SQUASHFS && u32_at(head) == SQUASHFS_MAGIC)
		return u64_at(head + 40);
	/* The block size is a power of two, of at least 512. */
	if (kind == IMAGE_EROFS && u32_at(erofs) == EROFS_MAGIC && erofs[12] >= 9 && erofs[12] < 32)
		return (uint64_t) u32_at(erofs + 36) << erofs[12];
	return 0;
}

static int check_content(int fd, const struct image_source *source, uint64_t size, struct err *err)
{
	unsigned char head[HEAD_SIZE] = { 0 };
	const char *kind = source->kind == IMAGE_SQUASHFS ? "squashfs" : "erofs";
	uint64_t promised;

	if (pread(fd, head, sizeof(head), 0) < 0)
		return err_sys(err, "read '%s'", source->path);
	promised = promised_size((enum image_kind) source->kind, head);
	if (promised == 0)
		return err_set(err, ERR_HOST,
			       "'%s' is no %s image: make it anew, or name its kind in the "
			       "site's file",
			       source->path, kind);
	if (promised > size)
		return err_set(
			err, ERR_HOST, "'%s' is cut off: it has %llu bytes of %llu; copy it anew",
			source->path, (unsigned long long) size, (unsigned long long) promised);
	return 0;
}

/* Whoever could write it could feed the kernel's file systems, and choose what jails run. */
static int check_owner(const struct stat *info, const char *path, struct err *err)
{
	if (info->st_uid != 0 || (info->st_mode & 022) != 0)
		return err_set(err, ERR_HOST,
			       "'%s' belongs to user %u and has mode %04o: root alone may be able "
			       "to write it (chown root '%s'; chmod go-w '%s')",
			       path, info->st_uid, info->st_mode & 07777U, path, path);
	return 0;
}

/*
 * Who may rename in a folder on the way puts another file there; where the sticky bit is set he may
 * not, if it is root's.
 */
static int check_step(const char *step, const char *path, struct err *err)
{
	struct stat info;

	if (lstat(step, &info) < 0)
		return err_host(err, "look at '%s'", step);
	if (info.st_uid == 0 &&
	    (!S_ISDIR(info.st_mode) || (info.st_mode & 022) == 0 || (info.st_mode & S_ISVTX) != 0))
		return 0;
	return err_set(err, ERR_HOST,
		       "'%s', on the way to '%s', belongs to user %u and has mode %04o: root alone "
		       "may be able to put another file there",
		       step, path, info.st_uid, info.st_mode & 07777U);
}

static int check_steps(const char *way, const char *path, struct err *err)
{
	char step[PATH_MAX];

	for (const char *end = way; end; end = strchr(end + 1, '/')) {
		snprintf(step, sizeof(step), "%.*s", (int) MAX_OF(end - way, 1), way);
		if (check_step(step, path, err) < 0)
			return -1;
	}
	return 0;
}

/* The path that was listed, and where its links have led. */
static int check_way(int fd, const char *path, struct err *err)
{
	char link[64], real[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, real, sizeof(real) - 1);
	if (len < 0)
		return err_sys(err, "look at '%s'", link);
	real[len] = '\0';
	if (check_steps(path, path, err) < 0 || check_step(path, path, err) < 0)
		return -1;
	return check_steps(real, path, err);
}

int image_open_file(const struct image_source *source, struct image_identity *out, struct err *err)
{
	const bool is_folder = source->kind == IMAGE_FOLDER;
	auto_fd fd = open(source->path, is_folder ? O_PATH | O_DIRECTORY | O_CLOEXEC
						  : O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return err_host(err, "open '%s'", source->path);
	if (!is_folder && !S_ISREG(info.st_mode))
		return err_set(err, ERR_HOST, "'%s' is no regular file, and so no image",
			       source->path);
	if (check_owner(&info, source->path, err) < 0 || check_way(fd, source->path, err) < 0)
		return -1;
	if (!is_folder && check_content(fd, source, (uint64_t) info.st_size, err) < 0)
		return -1;
	if (image_identify(fd, out, err) < 0)
		return -1;
	return fd_take(&fd);
}

/* --- its digest --- */

#define CRYPTO_LIBRARY "libcrypto.so.3"

/*
 * Loaded when there is something to hash, which is once for each image after a boot: linked, every
 * launcher would start the slower for it.
 */
struct crypto {
	void *handle; /* of dlopen(3) */
	void *context;
	const void *(*sha256)(void);
	void *(*create)(void);
	void (*destroy)(void *context);
	int (*init)(void *context, const void *type, void *engine);
	int (*update)(void *context, const void *bytes, size_t len);
	int (*final)(void *context, unsigned char *out, unsigned int *len);
};

static void crypto_done(struct crypto *crypto)
{
	if (crypto->context)
		crypto->destroy(crypto->context);
	if (crypto->handle)
		dlclose(crypto->handle);
	*crypto = (struct crypto){ .handle = NULL };
}

static int crypto_open(struct crypto *crypto, struct err *err)
{
	const struct {
		const char *name;
		void *at;
	} wanted[] = {
		{ "EVP_sha256", &crypto->sha256 },       { "EVP_MD_CTX_new", &crypto->create },
		{ "EVP_MD_CTX_free", &crypto->destroy }, { "EVP_DigestInit_ex", &crypto->init },
		{ "EVP_DigestUpdate", &crypto->update }, { "EVP_DigestFinal_ex", &crypto->final },
	};

	crypto->handle = dlopen(CRYPTO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!crypto->handle)
		return err_set(err, ERR_HOST,
			       "there is no " CRYPTO_LIBRARY " of OpenSSL to hash it with: install "
			       "libssl3");
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		void *found = dlsym(crypto->handle, wanted[i].name);

		if (!found)
			return err_set(err, ERR_HOST, CRYPTO_LIBRARY " has no %s", wanted[i].name);
		memcpy(wanted[i].at, &found, sizeof(found));
	}
	crypto->context = crypto->create();
	if (!crypto->context || crypto->init(crypto->context, crypto->sha256(), NULL) != 1)
		return err_set(err, ERR_SYS, "begin a SHA-256");
	return 0;
}

int image_check_wish(const struct image_wish *wish, struct err *err)
{
	if (!wish->is_wanted(wish->context))
		return err_set(err, ERR_SYS, "nobody waits for it any more");
	return 0;
}

static int hash(struct crypto *crypto, int fd, const struct image_wish *wish, unsigned char out[32],
		struct err *err)
{
	enum { BLOCK = 1 << 20 };
	cleanup(mem_free) char *block = mem_alloc(BLOCK, 1);
	unsigned int len = 0;
	ssize_t got;

	for (off_t at = 0; (got = pread(fd, block, BLOCK, at)) != 0;) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_host(err, "read it");
		if (crypto->update(crypto->context, block, (size_t) got) != 1)
			return err_set(err, ERR_SYS, "go on with a SHA-256");
		if (image_check_wish(wish, err) < 0)
			return -1;
		at += got;
	}
	if (crypto->final(crypto->context, out, &len) != 1 || len != 32)
		return err_set(err, ERR_SYS, "end a SHA-256");
	return 0;
}

int image_digest(int fd, const struct image_wish *wish, char out[IMAGE_DIGEST_SIZE],
		 struct err *err)
{
	cleanup(crypto_done) struct crypto crypto = { .handle = NULL };
	struct image_identity before, after;
	unsigned char digest[32];

	if (image_identify(fd, &before, err) < 0 || crypto_open(&crypto, err) < 0 ||
	    hash(&crypto, fd, wish, digest, err) < 0 || image_identify(fd, &after, err) < 0)
		return err_wrap(err, "digest");
	if (!image_is_same(&before, &after))
		return err_set(err, ERR_HOST,
			       "digest: it is being written: put a new file in its place instead");
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return 0;
}
