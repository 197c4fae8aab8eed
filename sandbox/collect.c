/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/syscalls.h"

/*
 * Theory of operation
 *
 * A walk keeps one level for each folder from the root to where it is: the folder's descriptor
 * and its names, sorted, of which some are done. All names lie in one buffer, which grows and
 * shrinks like a stack. A folder's names are read before its entry is written, so that a folder
 * that holds too much can still be refused as a whole.
 *
 * Whoever wrote the tree chose every name, kind and size in it. So nothing is opened before
 * fstatat() said that it is a file or a folder (opening a device can have effects), the open
 * does not wait if it became a FIFO meanwhile, and what counts is what fstat() says of the
 * descriptor.
 */
struct level {
	int fd;
	size_t path_len;    /* of the folder's path */
	size_t first, next; /* its names in walk.offsets: all from first on, done up to next */
	size_t names_used;  /* walk.names_used before its names */
};

struct walk {
	struct stream_limits limits;
	struct collect_report *report;
	struct level levels[STREAM_DEPTH_MAX + 1];
	size_t depth; /* levels in use */
	char *names;
	size_t names_used, names_room;
	uint32_t *offsets; /* where in `names` each name begins */
	size_t offsets_used, offsets_room;
	uint64_t promised; /* entries: those written and those that have to be */
	char path[STREAM_PATH_MAX + 1];
	size_t path_len;
	uint8_t listing[32 * 1024];
	uint8_t block[COLLECT_WHOLE_MAX + 1];
	struct stream_writer writer;
};

static void walk_free(struct walk **walk)
{
	while ((*walk)->depth > 0)
		fd_close(&(*walk)->levels[--(*walk)->depth].fd);
	free((*walk)->names);
	free((*walk)->offsets);
	free(*walk);
	*walk = NULL;
}

/*
 * Opens `name` in a folder. On failure *reason says why its entry is refused, or is STREAM_TAKEN
 * if the failure is not the entry's: errno then counts.
 */
static int open_entry(int dir_fd, const char *name, int flags, enum stream_reason *reason)
{
	const struct open_how how = {
		.flags = (uint64_t) (flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				     O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	int fd, tries = 100;

	/* EAGAIN: something was renamed meanwhile, or a lease on the file is not broken yet. */
	do
		fd = sys_openat2(dir_fd, name, &how);
	while (fd < 0 && (errno == EINTR || errno == EAGAIN) && --tries > 0);
	if (fd >= 0)
		return fd;
	switch (errno) {
	case EACCES:
	case EPERM:
		*reason = STREAM_UNREADABLE;
		break;
	case EXDEV:
		*reason = STREAM_MOUNT;
		break;
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
	case ENXIO:
	case ENODEV:
	case EAGAIN:
		*reason = STREAM_CHANGED;
		break;
	default:
		*reason = STREAM_TAKEN;
	}
	return -1;
}

/* The error of a call on the entry that walk->path names. */
static int entry_error(const struct walk *walk, const char *what, struct err *err)
{
	int saved = errno;
	char shown[256];

	stream_show(shown, walk->path, walk->path_len);
	errno = saved;
	return err_sys(err, "collect: %s '%s'", what, walk->path_len > 0 ? shown : ".");
}

static int refuse(struct walk *walk, enum stream_reason reason, uint64_t size, struct err *err)
{
	const struct stream_entry entry = {
		.kind = STREAM_REFUSED,
		.reason = reason,
		.size = size,
		.path = walk->path,
		.path_len = walk->path_len,
	};

	if (walk->report->first_reason == STREAM_TAKEN) {
		walk->report->first_reason = reason;
		stream_show(walk->report->first_refused, walk->path, walk->path_len);
	}
	walk->report->refused[reason]++;
	return stream_writer_entry(&walk->writer, &entry, err);
}

static int compare_names(const void *a, const void *b, void *names)
{
	const uint32_t *left = a, *right = b;

	return strcmp((const char *) names + *left, (const char *) names + *right);
}

/* Sorts the names from `first` on; a folder that changes can list a name twice. */
static void sort_names(struct walk *walk, size_t first)
{
	size_t kept = first;

	if (walk->offsets_used - first < 2)
		return;
	qsort_r(walk->offsets + first, walk->offsets_used - first, sizeof(walk->offsets[0]),
		compare_names, walk->names);
	for (size_t i = first + 1; i < walk->offsets_used; i++)
		if (compare_names(&walk->offsets[kept], &walk->offsets[i], walk->names) != 0)
			walk->offsets[++kept] = walk->offsets[i];
	walk->offsets_used = kept + 1;
}

/* Return: false if that is one name too many. */
static bool add_name(struct walk *walk, const char *name, size_t len)
{
	if (walk->promised >= walk->limits.entries ||
	    walk->names_used + len + 1 > COLLECT_NAMES_MAX)
		return false;
	while (walk->names_used + len + 1 > walk->names_room) {
		walk->names_room = MAX_OF(2 * walk->names_room, (size_t) (16 * KIB));
		walk->names = mem_resize(walk->names, walk->names_room, 1);
	}
	if (walk->offsets_used == walk->offsets_room) {
		walk->offsets_room = MAX_OF(2 * walk->offsets_room, (size_t) 1024);
		walk->offsets =
			mem_resize(walk->offsets, walk->offsets_room, sizeof(walk->offsets[0]));
	}
	memcpy(walk->names + walk->names_used, name, len + 1);
	walk->offsets[walk->offsets_used++] = (uint32_t) walk->names_used;
	walk->names_used += len + 1;
	walk->promised++;
	return true;
}

/* The names in one block that getdents64() filled. Return: 1 if all fit, 0 if not, -1 on error. */
static int add_block(struct walk *walk, size_t len, struct err *err)
{
	for (size_t at = 0; at < len;) {
		const struct dirent64 *item = (const void *) (walk->listing + at);
		size_t name_len = strlen(item->d_name);

		at += item->d_reclen;
		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
			continue;
		if (name_len > STREAM_NAME_MAX) {
			errno = ENAMETOOLONG;
			return entry_error(walk, "a name in", err);
		}
		if (!add_name(walk, item->d_name, name_len))
			return 0;
	}
	return 1;
}

/* Reads all names of a folder. Return: 1, 0 if they are too many, -1 on error. */
static int list_folder(struct walk *walk, int fd, struct err *err)
{
	while (true) {
		ssize_t got = getdents64(fd, walk->listing, sizeof(walk->listing));
		int fits;

		if (got < 0 && errno == ENOENT) /* the folder was removed */
			return 1;
		if (got < 0)
			return entry_error(walk, "list", err);
		if (got == 0)
			return 1;
		fits = add_block(walk, (size_t) got, err);
		if (fits != 1)
			return fits;
	}
}

/*
 * Makes an open folder the innermost level; takes *fd. Return: 1, 0 with nothing done if it holds
 * too much, -1 on error.
 */
static int push_level(struct walk *walk, int *fd, struct err *err)
{
	struct level *level = &walk->levels[walk->depth];
	const uint64_t promised = walk->promised;
	int fits;

	*level = (struct level){ .fd = -1, .path_len = walk->path_len };
	level->first = walk->offsets_used;
	level->next = walk->offsets_used;
	level->names_used = walk->names_used;
	fits = list_folder(walk, *fd, err);
	if (fits < 0)
		return -1;
	if (fits == 0) {
		walk->offsets_used = level->first;
		walk->names_used = level->names_used;
		walk->promised = promised;
		return 0;
	}
	sort_names(walk, level->first);
	level->fd = fd_take(fd);
	walk->depth++;
	return 1;
}

static void pop_level(struct walk *walk)
{
	struct level *level = &walk->levels[--walk->depth];

	walk->offsets_used = level->first;
	walk->names_used = level->names_used;
	fd_close(&level->fd);
}

static int take_folder(struct walk *walk, int dir_fd, const char *name, struct err *err)
{
	const struct stream_entry entry = {
		.kind = STREAM_FOLDER,
		.path = walk->path,
		.path_len = walk->path_len,
	};
	enum stream_reason reason = STREAM_TAKEN;
	auto_fd fd = -1;
	int fits;

	if (walk->depth > walk->limits.depth)
		return refuse(walk, STREAM_TOO_DEEP, 0, err);
	if (walk->path_len + STREAM_NAME_MAX + 1 > walk->limits.path)
		return refuse(walk, STREAM_LONG_PATH, 0, err);
	fd = open_entry(dir_fd, name, O_DIRECTORY, &reason);
	if (fd < 0)
		return reason ? refuse(walk, reason, 0, err) : entry_error(walk, "open", err);
	fits = push_level(walk, &fd, err);
	if (fits < 0)
		return -1;
	if (fits == 0)
		return refuse(walk, STREAM_TOO_MANY, 0, err);
	return stream_writer_entry(&walk->writer, &entry, err);
}

/* Fills the block up to `want` bytes; fewer only at the end of the file. */
static ssize_t read_block(struct walk *walk, int fd, size_t want)
{
	size_t have = 0;

	while (have < want) {
		ssize_t got = io_read_some(fd, walk->block + have, want - have);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t) got;
	}
	return (ssize_t) have;
}

static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_size == before->st_size &&
	       now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == before->st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

/* A file that fits into the block is looked at as a whole before any of it is written. */
static int copy_small(struct walk *walk, int fd, const struct stat *info,
		      const struct stream_entry *entry, struct err *err)
{
	ssize_t got = read_block(walk, fd, entry->size + 1);

	if (got < 0)
		return entry_error(walk, "read", err);
	if ((uint64_t) got != entry->size || !is_unchanged(fd, info))
		return refuse(walk, STREAM_CHANGED, 0, err);
	if (stream_writer_entry(&walk->writer, entry, err) < 0)
		return -1;
	return stream_writer_content(&walk->writer, walk->block, entry->size, err);
}

static int copy_large(struct walk *walk, int fd, const struct stat *info,
		      const struct stream_entry *entry, struct err *err)
{
	const uint64_t step = 256 * KIB; /* stays in the cache between read and write */
	char shown[256];
	ssize_t got = 0;

	if (stream_writer_entry(&walk->writer, entry, err) < 0)
		return -1;
	for (uint64_t left = entry->size; left > 0; left -= (uint64_t) got) {
		got = read_block(walk, fd, MIN_OF(left, step));
		if (got < 0)
			return entry_error(walk, "read", err);
		if (got == 0)
			break;
		if (stream_writer_content(&walk->writer, walk->block, (size_t) got, err) < 0)
			return -1;
	}
	if (walk->writer.content_left == 0 && is_unchanged(fd, info))
		return 0;
	stream_show(shown, walk->path, walk->path_len);
	return err_set(err, ERR_INPUT,
		       "collect: '%s' was changed while it was read: something still writes to it",
		       shown);
}

static int take_file(struct walk *walk, int dir_fd, const char *name, struct err *err)
{
	struct stream_entry entry = {
		.kind = STREAM_FILE,
		.path = walk->path,
		.path_len = walk->path_len,
	};
	enum stream_reason reason = STREAM_TAKEN;
	auto_fd fd = open_entry(dir_fd, name, 0, &reason);
	struct stat info;

	if (fd < 0)
		return reason ? refuse(walk, reason, 0, err) : entry_error(walk, "open", err);
	if (fstat(fd, &info) < 0)
		return entry_error(walk, "look at", err);
	if (!S_ISREG(info.st_mode))
		return refuse(walk, STREAM_CHANGED, 0, err);
	if (info.st_mode & (S_ISUID | S_ISGID))
		return refuse(walk, STREAM_SETID, 0, err);
	entry.size = (uint64_t) info.st_size;
	entry.executable = info.st_mode & S_IXUSR;
	if (entry.size > walk->limits.file)
		return refuse(walk, STREAM_OVERSIZE, entry.size, err);
	if (entry.size > walk->limits.total - walk->writer.cursor.counts.bytes)
		return refuse(walk, STREAM_OVER_TOTAL, entry.size, err);
	if (entry.size <= COLLECT_WHOLE_MAX)
		return copy_small(walk, fd, &info, &entry, err);
	return copy_large(walk, fd, &info, &entry, err);
}

static int take_entry(struct walk *walk, int dir_fd, const char *name, struct err *err)
{
	struct stat info;

	if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
		if (errno == ENOENT)
			return refuse(walk, STREAM_CHANGED, 0, err);
		if (errno == EACCES)
			return refuse(walk, STREAM_UNREADABLE, 0, err);
		return entry_error(walk, "look at", err);
	}
	switch (info.st_mode & S_IFMT) {
	case S_IFDIR:
		return take_folder(walk, dir_fd, name, err);
	case S_IFREG:
		return take_file(walk, dir_fd, name, err);
	case S_IFLNK:
		return refuse(walk, STREAM_SYMLINK, 0, err);
	case S_IFIFO:
		return refuse(walk, STREAM_FIFO, 0, err);
	case S_IFSOCK:
		return refuse(walk, STREAM_SOCKET, 0, err);
	default:
		return refuse(walk, STREAM_DEVICE, 0, err);
	}
}

/* Makes walk->path the path of a name in the innermost level; a level's paths always fit. */
static void name_path(struct walk *walk, const struct level *level, const char *name)
{
	size_t len = level->path_len, name_len = strlen(name);

	if (len > 0)
		walk->path[len++] = '/';
	memcpy(walk->path + len, name, name_len + 1);
	walk->path_len = len + name_len;
}

static int walk_tree(struct walk *walk, struct err *err)
{
	while (walk->depth > 0) {
		struct level *level = &walk->levels[walk->depth - 1];
		const char *name;

		if (level->next == walk->offsets_used) {
			pop_level(walk);
			continue;
		}
		name = walk->names + walk->offsets[level->next++];
		name_path(walk, level, name);
		if (take_entry(walk, level->fd, name, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * A root that holds too much is left out as any other folder is: what remains is an empty tree. It
 * has no name, so that no entry can say it; the report does.
 */
static int open_root(struct walk *walk, int root_fd, struct err *err)
{
	enum stream_reason reason;
	auto_fd fd = open_entry(root_fd, ".", O_DIRECTORY, &reason);
	int fits;

	if (fd < 0)
		return entry_error(walk, "open", err);
	fits = push_level(walk, &fd, err);
	if (fits == 0) {
		walk->report->first_reason = STREAM_TOO_MANY;
		walk->report->refused[STREAM_TOO_MANY] = 1;
		snprintf(walk->report->first_refused, sizeof(walk->report->first_refused), ".");
	}
	return fits < 0 ? -1 : 0;
}

int collect_tree(int root_fd, const struct stream_limits *limits, int out_fd,
		 struct collect_report *report, struct err *err)
{
	cleanup(walk_free) struct walk *walk = mem_alloc(1, sizeof(*walk));
	struct collect_report made = { .first_reason = STREAM_TAKEN };

	if (stream_limits_check(limits, err) < 0)
		return -1;
	walk->limits = *limits;
	walk->report = &made;
	stream_writer_open(&walk->writer, out_fd, limits);
	if (open_root(walk, root_fd, err) < 0 || walk_tree(walk, err) < 0 ||
	    stream_writer_close(&walk->writer, err) < 0)
		return -1;
	made.counts = walk->writer.cursor.counts;
	if (made.counts.refused == 0)
		made.counts.refused = made.refused[STREAM_TOO_MANY]; /* the root */
	*report = made;
	return 0;
}
