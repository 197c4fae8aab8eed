/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/syscalls.h"

/*
 * One folder is kept open, the one that the last entry was made in; since a stream goes through a
 * tree in order, the next entry's folder is mostly the same one. Another is opened anew from the
 * root, and not through "..", so that where we are never depends on what the target does.
 */
struct unpack {
	int root_fd;   /* borrowed */
	int folder_fd; /* -1: the root */
	size_t folder_len;
	char folder[STREAM_PATH_MAX + 1];
	struct stream_reader reader;
};

static void unpack_free(struct unpack **unpack)
{
	fd_close(&(*unpack)->folder_fd);
	free(*unpack);
	*unpack = NULL;
}

/* The error of a call on an entry; who chose the tree or the target's size can act on some. */
static int entry_error(const struct stream_entry *entry, struct err *err)
{
	int saved = errno;
	char shown[256];

	stream_show(shown, entry->path, entry->path_len);
	errno = saved;
	err_sys(err, "unpack '%s'", shown);
	switch (err->sys) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
	case EEXIST:
	case ENAMETOOLONG:
	case EILSEQ:
	case EINVAL:
		err->kind = ERR_INPUT;
		break;
	default:
		break;
	}
	return -1;
}

static int open_beneath(int dir_fd, const char *path, int flags, mode_t mode)
{
	const struct open_how how = {
		.flags = (uint64_t) (flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	int fd;

	do
		fd = sys_openat2(dir_fd, path, &how);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static int open_folder(int dir_fd, const char *path)
{
	return open_beneath(dir_fd, path, O_RDONLY | O_DIRECTORY, 0);
}

/*
 * Makes the folder of `path` the one that is open. Return: its descriptor, borrowed, or -1 with
 * errno; *name receives the last name of the path.
 */
static int enter_folder(struct unpack *unpack, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t) (slash - path) : 0;

	*name = slash ? slash + 1 : path;
	if (len == 0)
		return unpack->root_fd;
	if (unpack->folder_fd >= 0 && len == unpack->folder_len &&
	    memcmp(path, unpack->folder, len) == 0)
		return unpack->folder_fd;
	fd_close(&unpack->folder_fd);
	memcpy(unpack->folder, path, len);
	unpack->folder[len] = '\0';
	unpack->folder_len = len;
	unpack->folder_fd = open_folder(unpack->root_fd, unpack->folder);
	return unpack->folder_fd;
}

static int make_folder(int dir_fd, const char *name, const struct stream_entry *entry,
		       struct err *err)
{
	auto_fd fd = -1;

	if (mkdirat(dir_fd, name, 0755) < 0)
		return entry_error(entry, err);
	/* The umask may have taken bits away, and a setgid parent may have added one. */
	fd = open_folder(dir_fd, name);
	if (fd < 0 || fchmod(fd, 0755) < 0)
		return entry_error(entry, err);
	return 0;
}

static int write_file(int fd, struct stream_reader *reader, struct err *err)
{
	const struct stream_decoder *decoder = &reader->decoder;

	while (decoder->content_left > 0) {
		const uint8_t *at;
		size_t left;

		if (stream_reader_next(reader, err) < 0)
			return -1;
		at = decoder->content;
		left = decoder->content_len;
		while (left > 0) {
			ssize_t put = write(fd, at, left);

			if (put < 0 && errno == EINTR)
				continue;
			if (put < 0)
				return entry_error(&decoder->entry, err);
			at += put;
			left -= (size_t) put;
		}
	}
	return 0;
}

static int make_file(struct unpack *unpack, int dir_fd, const char *name, struct err *err)
{
	const struct stream_entry *entry = &unpack->reader.decoder.entry;
	const mode_t mode = entry->executable ? 0755 : 0644;
	auto_fd fd = open_beneath(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, mode);

	if (fd < 0)
		return entry_error(entry, err);
	if (write_file(fd, &unpack->reader, err) < 0)
		return -1;
	if (fchmod(fd, mode) < 0)
		return entry_error(entry, err);
	return 0;
}

static int make_entry(struct unpack *unpack, struct err *err)
{
	const struct stream_entry *entry = &unpack->reader.decoder.entry;
	const char *name;
	int dir_fd;

	if (entry->kind == STREAM_REFUSED)
		return 0;
	dir_fd = enter_folder(unpack, entry->path, &name);
	if (dir_fd < 0)
		return entry_error(entry, err);
	if (entry->kind == STREAM_FOLDER)
		return make_folder(dir_fd, name, entry, err);
	return make_file(unpack, dir_fd, name, err);
}

int unpack_tree(int in_fd, int root_fd, const struct stream_limits *limits,
		struct stream_counts *counts, struct err *err)
{
	cleanup(unpack_free) struct unpack *unpack = mem_alloc(1, sizeof(*unpack));
	int more;

	unpack->root_fd = root_fd;
	unpack->folder_fd = -1;
	if (stream_limits_check(limits, err) < 0)
		return -1;
	stream_reader_open(&unpack->reader, in_fd, limits);
	while ((more = stream_reader_entry(&unpack->reader, err)) == 1)
		if (make_entry(unpack, err) < 0)
			return -1;
	if (more < 0)
		return -1;
	*counts = unpack->reader.decoder.cursor.counts;
	return 0;
}
