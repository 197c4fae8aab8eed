/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/stream.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/base/io.h"
#include "sandbox/base/str.h"

const struct name stream_reason_names[] = {
	{ "taken", STREAM_TAKEN },
	{ "symlink", STREAM_SYMLINK },
	{ "fifo", STREAM_FIFO },
	{ "socket", STREAM_SOCKET },
	{ "device", STREAM_DEVICE },
	{ "setid", STREAM_SETID },
	{ "oversize", STREAM_OVERSIZE },
	{ "over-total", STREAM_OVER_TOTAL },
	{ "too-deep", STREAM_TOO_DEEP },
	{ "long-path", STREAM_LONG_PATH },
	{ "too-many", STREAM_TOO_MANY },
	{ "changed", STREAM_CHANGED },
	{ "unreadable", STREAM_UNREADABLE },
	{ "mount", STREAM_MOUNT },
	{ NULL, 0 },
};

int stream_limits_check(const struct stream_limits *limits, struct err *err)
{
	const struct {
		const char *name;
		uint64_t value, least, most;
	} rows[] = {
		{ "total", limits->total, 0, STREAM_BYTES_MAX },
		{ "file", limits->file, 0, STREAM_BYTES_MAX },
		{ "entries", limits->entries, 1, STREAM_ENTRIES_MAX },
		{ "depth", limits->depth, 1, STREAM_DEPTH_MAX },
		{ "path", limits->path, 512, STREAM_PATH_MAX },
		{ "zero", limits->zero, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
			return err_set(err, ERR_INPUT,
				       "tree limit '%s': %" PRIu64 " is not within %" PRIu64
				       "..%" PRIu64,
				       rows[i].name, rows[i].value, rows[i].least, rows[i].most);
	return 0;
}

int stream_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t common = MIN_OF(a_len, b_len), i = 0;
	int left, right;

	while (i < common && a[i] == b[i])
		i++;
	if (i == common)
		return (a_len > b_len) - (a_len < b_len);
	left = a[i] == '/' ? 0 : (unsigned char) a[i];
	right = b[i] == '/' ? 0 : (unsigned char) b[i];
	return left - right;
}

/* The bytes of a path that name its folder; 0: the root. */
static size_t parent_len(const char *path, size_t path_len)
{
	const char *slash = memrchr(path, '/', path_len);

	return slash ? (size_t) (slash - path) : 0;
}

bool stream_holds_parent(const struct stream_cursor *cursor, const char *path, size_t path_len)
{
	size_t len = parent_len(path, path_len);

	if (len == 0)
		return true;
	if (len > cursor->path_len || memcmp(path, cursor->path, len) != 0)
		return false;
	/* All parents of the last entry are folders, by induction. */
	return len == cursor->path_len ? cursor->kind == STREAM_FOLDER : cursor->path[len] == '/';
}

void stream_show(char text[256], const char *path, size_t path_len)
{
	const size_t end = 100;
	cleanup(str_done) struct str shown = STR_INIT;
	size_t tail;

	str_add_shown(&shown, path, path_len);
	if (shown.len < 256) {
		memcpy(text, shown.text, shown.len + 1);
		return;
	}
	/* Do not begin in the middle of an escape or of a character. */
	tail = shown.len - end;
	while (tail < shown.len && ((unsigned char) shown.text[tail] & 0xc0) == 0x80)
		tail++;
	snprintf(text, 256, "%.*s...%s", (int) end, shown.text, shown.text + tail);
}

/* What is wrong with the names of a path; NULL if nothing is. */
static const char *names_fault(const char *path, size_t len)
{
	while (true) {
		const char *slash = memchr(path, '/', len);
		size_t name = slash ? (size_t) (slash - path) : len;

		if (name == 0)
			return "an empty name";
		if (name > STREAM_NAME_MAX)
			return "a name of more than 255 bytes";
		if (memchr(path, '\0', name))
			return "a zero byte in a name";
		if (path[0] == '.' && (name == 1 || (name == 2 && path[1] == '.')))
			return "'.' or '..' as a name";
		if (!slash)
			return NULL;
		path += name + 1;
		len -= name + 1;
	}
}

static uint32_t depth_of(const char *path, size_t len)
{
	uint32_t depth = 1;

	for (size_t i = 0; i < len; i++)
		depth += path[i] == '/';
	return depth;
}

/* What is wrong with an entry, its place in the tree left aside; NULL if nothing is. */
static const char *entry_fault(const struct stream_limits *limits, const struct stream_entry *entry)
{
	bool folder = entry->kind == STREAM_FOLDER, refused = entry->kind == STREAM_REFUSED;
	bool sized = entry->kind == STREAM_FILE || entry->reason == STREAM_OVERSIZE ||
		     entry->reason == STREAM_OVER_TOTAL;

	if (!folder && !refused && entry->kind != STREAM_FILE)
		return "an unknown kind";
	if (entry->executable && entry->kind != STREAM_FILE)
		return "a flag that is no file's";
	if (refused != (entry->reason != STREAM_TAKEN) || entry->reason >= STREAM_REASONS)
		return "a reason that does not fit its kind";
	if (!sized && entry->size != 0)
		return "a size that does not fit its kind";
	if (entry->path_len > limits->path - (folder ? STREAM_NAME_MAX + 1 : 0))
		return "a path over the limit";
	if (depth_of(entry->path, entry->path_len) > limits->depth + !folder)
		return "more folders inside each other than the limit";
	return names_fault(entry->path, entry->path_len);
}

/* The same for what it adds to all that was there before. */
static const char *sum_fault(const struct stream_cursor *cursor, const struct stream_entry *entry)
{
	const struct stream_counts *counts = &cursor->counts;

	if (counts->folders + counts->files + counts->refused >= cursor->limits.entries)
		return "one entry over the limit";
	if (entry->kind != STREAM_FILE)
		return NULL;
	if (entry->size > cursor->limits.file)
		return "a file over the limit";
	if (entry->size > cursor->limits.total - counts->bytes)
		return "more bytes in all files than the limit";
	return NULL;
}

/* The same for its place among the others. */
static const char *place_fault(const struct stream_cursor *cursor, const struct stream_entry *entry)
{
	if (cursor->kind != 0 &&
	    stream_compare(entry->path, entry->path_len, cursor->path, cursor->path_len) <= 0)
		return "not behind the entry before it in the order of paths";
	if (!stream_holds_parent(cursor, entry->path, entry->path_len))
		return "an entry without its folder";
	return NULL;
}

int stream_cursor_advance(struct stream_cursor *cursor, const struct stream_entry *entry,
			  struct err *err)
{
	const char *fault = entry_fault(&cursor->limits, entry);
	char shown[256];

	if (!fault)
		fault = place_fault(cursor, entry);
	if (!fault)
		fault = sum_fault(cursor, entry);
	if (fault) {
		stream_show(shown, entry->path, entry->path_len);
		return err_set(err, ERR_INPUT, "tree stream: '%s': %s", shown, fault);
	}
	cursor->counts.folders += entry->kind == STREAM_FOLDER;
	cursor->counts.files += entry->kind == STREAM_FILE;
	cursor->counts.refused += entry->kind == STREAM_REFUSED;
	cursor->counts.bytes += entry->kind == STREAM_FILE ? entry->size : 0;
	cursor->kind = entry->kind;
	cursor->path_len = entry->path_len;
	memcpy(cursor->path, entry->path, entry->path_len);
	cursor->path[entry->path_len] = '\0';
	return 0;
}

static void put_u32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
}

static void put_u64(uint8_t *out, uint64_t value)
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}

void stream_encode_header(uint8_t out[STREAM_HEADER], const struct stream_entry *entry)
{
	out[0] = (uint8_t) entry->kind;
	out[1] = entry->executable;
	out[2] = (uint8_t) entry->reason;
	out[3] = 0;
	put_u32(out + 4, (uint32_t) entry->path_len);
	put_u64(out + 8, entry->size);
}

void stream_encode_end(uint8_t out[STREAM_END], const struct stream_counts *counts)
{
	memset(out, 0, STREAM_HEADER);
	out[0] = STREAM_KIND_END;
	put_u64(out + STREAM_HEADER, counts->folders);
	put_u64(out + STREAM_HEADER + 8, counts->files);
	put_u64(out + STREAM_HEADER + 16, counts->refused);
	put_u64(out + STREAM_HEADER + 24, counts->bytes);
}

static int flush(struct stream_writer *writer, struct err *err)
{
	if (io_write_all(writer->fd, writer->bytes, writer->used, "the tree stream", err) < 0)
		return -1;
	writer->used = 0;
	return 0;
}

static int put(struct stream_writer *writer, const void *bytes, size_t len, struct err *err)
{
	if (len > sizeof(writer->bytes) - writer->used && flush(writer, err) < 0)
		return -1;
	if (len > sizeof(writer->bytes))
		return io_write_all(writer->fd, bytes, len, "the tree stream", err);
	memcpy(writer->bytes + writer->used, bytes, len);
	writer->used += len;
	return 0;
}

void stream_writer_open(struct stream_writer *writer, int fd, const struct stream_limits *limits)
{
	writer->cursor.limits = *limits;
	writer->cursor.counts = (struct stream_counts){ .folders = 0 };
	writer->cursor.kind = 0;
	writer->cursor.path_len = 0;
	writer->fd = fd;
	writer->content_left = 0;
	memcpy(writer->bytes, STREAM_MAGIC, STREAM_HEADER);
	writer->used = STREAM_HEADER;
}

int stream_writer_entry(struct stream_writer *writer, const struct stream_entry *entry,
			struct err *err)
{
	uint8_t header[STREAM_HEADER];

	if (writer->content_left > 0)
		return err_set(err, ERR_INPUT,
			       "tree stream: the content of an entry is not complete");
	if (stream_cursor_advance(&writer->cursor, entry, err) < 0)
		return -1;
	writer->content_left = entry->kind == STREAM_FILE ? entry->size : 0;
	stream_encode_header(header, entry);
	if (put(writer, header, sizeof(header), err) < 0)
		return -1;
	return put(writer, entry->path, entry->path_len, err);
}

int stream_writer_content(struct stream_writer *writer, const void *bytes, size_t len,
			  struct err *err)
{
	if (len > writer->content_left)
		return err_set(err, ERR_INPUT, "tree stream: more content than the entry's size");
	writer->content_left -= len;
	return put(writer, bytes, len, err);
}

int stream_writer_close(struct stream_writer *writer, struct err *err)
{
	uint8_t end[STREAM_END];

	if (writer->content_left > 0)
		return err_set(err, ERR_INPUT,
			       "tree stream: the content of an entry is not complete");
	stream_encode_end(end, &writer->cursor.counts);
	if (put(writer, end, sizeof(end), err) < 0)
		return -1;
	return flush(writer, err);
}
