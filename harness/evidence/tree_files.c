/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/tree_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/mem.h"

enum { BLOCK = 64 * 1024 };

static int rewind_to_start(int fd, struct err *err)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return 0;
}

static struct tree_file *find(struct tree_file *files, size_t count,
			      const struct stream_entry *entry)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(files[i].path) == entry->path_len &&
		    memcmp(files[i].path, entry->path, entry->path_len) == 0)
			return &files[i];
	return NULL;
}

static int take_content(struct stream_reader *reader, struct tree_file *file, struct err *err)
{
	cleanup(mem_free) uint8_t *block = mem_alloc(BLOCK, 1);
	ssize_t got;

	while ((got = stream_reader_content(reader, block, BLOCK, err)) > 0)
		str_add(&file->bytes, (const char *) block, (size_t) got);
	return (int) got;
}

int tree_files_read(int fd, const struct stream_limits *limits, struct tree_file *files,
		    size_t count, size_t most, struct err *err)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	const struct stream_entry *entry = &reader->decoder.entry;
	int more;

	if (count > TREE_FILES_MAX)
		return err_set(err, ERR_INPUT, "%zu files of a tree, more than %d", count,
			       (int) TREE_FILES_MAX);
	if (rewind_to_start(fd, err) < 0)
		return -1;
	stream_reader_open(reader, fd, limits);
	while ((more = stream_reader_entry(reader, err)) > 0) {
		struct tree_file *file =
			entry->kind == STREAM_FILE ? find(files, count, entry) : NULL;

		if (!file)
			continue;
		file->is_there = true;
		file->is_too_large = entry->size > most;
		if (!file->is_too_large && take_content(reader, file, err) < 0)
			return -1;
	}
	return more;
}

/* A tree on its way into another one. */
struct putting {
	struct stream_reader reader;
	struct stream_writer writer;
	const struct tree_file *files;
	size_t count, next; /* files before the next one are written */
	uint8_t block[BLOCK];
};

static int write_file(struct putting *putting, const struct tree_file *file, bool executable,
		      struct err *err)
{
	const struct stream_entry entry = {
		.kind = STREAM_FILE,
		.executable = executable,
		.size = file->bytes.len,
		.path = file->path,
		.path_len = strlen(file->path),
	};

	if (!file->is_there)
		return 0;
	if (stream_writer_entry(&putting->writer, &entry, err) < 0)
		return err_wrap(err, "put '%s' into a tree", file->path);
	return stream_writer_content(&putting->writer, file->bytes.text, file->bytes.len, err);
}

/* Those files whose place is before the tree's next entry, all of them at its end. */
static int write_new(struct putting *putting, const struct stream_entry *before, struct err *err)
{
	while (putting->next < putting->count) {
		const struct tree_file *file = &putting->files[putting->next];

		if (before && stream_compare(file->path, strlen(file->path), before->path,
					     before->path_len) >= 0)
			return 0;
		if (write_file(putting, file, false, err) < 0)
			return -1;
		putting->next++;
	}
	return 0;
}

static int copy_entry(struct putting *putting, const struct stream_entry *entry, struct err *err)
{
	ssize_t got;

	if (stream_writer_entry(&putting->writer, entry, err) < 0)
		return -1;
	if (entry->kind != STREAM_FILE)
		return 0;
	while ((got = stream_reader_content(&putting->reader, putting->block, BLOCK, err)) > 0)
		if (stream_writer_content(&putting->writer, putting->block, (size_t) got, err) < 0)
			return -1;
	return (int) got;
}

static int put_entry(struct putting *putting, struct err *err)
{
	const struct stream_entry *entry = &putting->reader.decoder.entry;
	const struct tree_file *file;

	if (write_new(putting, entry, err) < 0)
		return -1;
	file = putting->next < putting->count ? &putting->files[putting->next] : NULL;
	if (!file || strlen(file->path) != entry->path_len ||
	    memcmp(file->path, entry->path, entry->path_len) != 0)
		return copy_entry(putting, entry, err);
	if (entry->kind != STREAM_FILE)
		return err_set(err, ERR_INPUT, "'%s' is no file in the tree", file->path);
	putting->next++;
	return write_file(putting, file, entry->executable, err);
}

int tree_files_put(int fd, const struct stream_limits *limits, const struct tree_file *files,
		   size_t count, int out_fd, struct err *err)
{
	cleanup(mem_free) struct putting *putting = mem_alloc(1, sizeof(*putting));
	int more;

	for (size_t i = 1; i < count; i++)
		if (stream_compare(files[i - 1].path, strlen(files[i - 1].path), files[i].path,
				   strlen(files[i].path)) >= 0)
			return err_set(err, ERR_INPUT, "'%s' and '%s' are not in order",
				       files[i - 1].path, files[i].path);
	if (rewind_to_start(fd, err) < 0)
		return -1;
	putting->files = files;
	putting->count = count;
	stream_reader_open(&putting->reader, fd, limits);
	stream_writer_open(&putting->writer, out_fd, limits);
	while ((more = stream_reader_entry(&putting->reader, err)) > 0)
		if (put_entry(putting, err) < 0)
			return -1;
	if (more < 0 || write_new(putting, NULL, err) < 0)
		return -1;
	return stream_writer_close(&putting->writer, err);
}

void tree_files_done(struct tree_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		str_done(&files[i].bytes);
		files[i].is_there = files[i].is_too_large = false;
	}
}
