/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <string.h>

#include "sandbox/base/io.h"
#include "sandbox/stream.h"

/*
 * The decoder collects one part of the grammar after the other; contents alone are not
 * collected but handed on as they come.
 */
enum {
	PART_MAGIC,
	PART_HEADER,
	PART_PATH,
	PART_CONTENT,
	PART_COUNTS,
	PART_NOTHING, /* the end record was read */
	PART_BROKEN,
};

static uint32_t get_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static uint64_t get_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

void stream_decoder_open(struct stream_decoder *decoder, const struct stream_limits *limits)
{
	decoder->cursor.limits = *limits;
	decoder->cursor.counts = (struct stream_counts){ .folders = 0 };
	decoder->cursor.kind = 0;
	decoder->cursor.path_len = 0;
	decoder->cursor.path[0] = '\0';
	decoder->entry = (struct stream_entry){ .path = decoder->cursor.path };
	decoder->content = NULL;
	decoder->content_len = 0;
	decoder->content_left = 0;
	decoder->state = PART_MAGIC;
	decoder->input = NULL;
	decoder->input_len = 0;
	decoder->held = 0;
}

void stream_decoder_feed(struct stream_decoder *decoder, const void *bytes, size_t len)
{
	decoder->input = bytes;
	decoder->input_len = len;
}

/* The next `len` bytes in one piece, or NULL if they have not all come yet. */
static const uint8_t *part(struct stream_decoder *decoder, size_t len)
{
	const uint8_t *bytes = decoder->input;
	size_t more = MIN_OF(len - decoder->held, decoder->input_len);

	if (decoder->held > 0 || more < len) {
		if (more > 0)
			memcpy(decoder->hold + decoder->held, decoder->input, more);
		decoder->held += more;
		bytes = decoder->hold;
	} else {
		decoder->held = len;
	}
	if (more > 0)
		decoder->input += more;
	decoder->input_len -= more;
	if (decoder->held < len)
		return NULL;
	decoder->held = 0;
	return bytes;
}

static int take_magic(struct stream_decoder *decoder, struct err *err)
{
	const uint8_t *bytes = part(decoder, STREAM_HEADER);

	if (!bytes)
		return STREAM_WANT;
	if (memcmp(bytes, STREAM_MAGIC, 8) != 0)
		return err_set(err, ERR_INPUT, "this is no tree stream");
	if (memcmp(bytes, STREAM_MAGIC, STREAM_HEADER) != 0)
		return err_set(err, ERR_INPUT, "tree stream: version %u is not known",
			       (unsigned int) get_u32(bytes + 8));
	decoder->state = PART_HEADER;
	return 0;
}

static int take_header(struct stream_decoder *decoder, struct err *err)
{
	const uint8_t *bytes = part(decoder, STREAM_HEADER);
	struct stream_entry *entry = &decoder->entry;
	uint32_t path_len;

	if (!bytes)
		return STREAM_WANT;
	path_len = get_u32(bytes + 4);
	if (bytes[0] == STREAM_KIND_END) {
		for (size_t i = 1; i < STREAM_HEADER; i++)
			if (bytes[i] != 0)
				return err_set(err, ERR_INPUT,
					       "tree stream: the end record is not empty");
		decoder->state = PART_COUNTS;
		return 0;
	}
	if (bytes[1] > 1 || bytes[3] != 0)
		return err_set(err, ERR_INPUT, "tree stream: reserved bits are set");
	if (path_len == 0 || path_len > decoder->cursor.limits.path)
		return err_set(err, ERR_INPUT, "tree stream: a path of %u bytes, not 1 to %u",
			       (unsigned int) path_len, (unsigned int) decoder->cursor.limits.path);
	entry->kind = bytes[0];
	entry->executable = bytes[1];
	entry->reason = bytes[2];
	entry->size = get_u64(bytes + 8);
	entry->path_len = path_len;
	decoder->state = PART_PATH;
	return 0;
}

static int take_path(struct stream_decoder *decoder, struct err *err)
{
	const uint8_t *bytes = part(decoder, decoder->entry.path_len);
	struct stream_entry next = decoder->entry;

	if (!bytes)
		return STREAM_WANT;
	next.path = (const char *) bytes;
	if (stream_cursor_advance(&decoder->cursor, &next, err) < 0)
		return -1;
	decoder->content_left = next.kind == STREAM_FILE ? next.size : 0;
	decoder->state = PART_CONTENT;
	return STREAM_GOT_ENTRY;
}

static int take_content(struct stream_decoder *decoder)
{
	if (decoder->content_left == 0) {
		decoder->state = PART_HEADER;
		return 0;
	}
	if (decoder->input_len == 0)
		return STREAM_WANT;
	decoder->content = decoder->input;
	decoder->content_len = MIN_OF(decoder->content_left, decoder->input_len);
	decoder->content_left -= decoder->content_len;
	decoder->input += decoder->content_len;
	decoder->input_len -= decoder->content_len;
	return STREAM_CONTENT;
}

static int take_counts(struct stream_decoder *decoder, struct err *err)
{
	const uint8_t *bytes = part(decoder, STREAM_END - STREAM_HEADER);
	uint8_t want[STREAM_END];

	if (!bytes)
		return STREAM_WANT;
	stream_encode_end(want, &decoder->cursor.counts);
	if (memcmp(bytes, want + STREAM_HEADER, STREAM_END - STREAM_HEADER) != 0)
		return err_set(err, ERR_INPUT,
			       "tree stream: the end record counts other entries than there were");
	decoder->state = PART_NOTHING;
	return 0;
}

/* Return: an event, 0 to go on with the part that is next now (STREAM_WANT is not 0), or -1. */
static int take_part(struct stream_decoder *decoder, struct err *err)
{
	switch (decoder->state) {
	case PART_MAGIC:
		return take_magic(decoder, err);
	case PART_HEADER:
		return take_header(decoder, err);
	case PART_PATH:
		return take_path(decoder, err);
	case PART_CONTENT:
		return take_content(decoder);
	case PART_COUNTS:
		return take_counts(decoder, err);
	case PART_NOTHING:
		if (decoder->input_len > 0)
			return err_set(err, ERR_INPUT, "tree stream: bytes follow its end");
		return STREAM_ENDED;
	default:
		return err_set(err, ERR_INPUT, "the tree stream is broken");
	}
}

int stream_decoder_next(struct stream_decoder *decoder, struct err *err)
{
	int event;

	decoder->content = NULL;
	decoder->content_len = 0;
	do
		event = take_part(decoder, err);
	while (event == 0);
	if (event < 0)
		decoder->state = PART_BROKEN;
	return event;
}

int stream_decoder_cut(const struct stream_decoder *decoder, struct err *err)
{
	char shown[256];

	stream_show(shown, decoder->cursor.path, decoder->cursor.path_len);
	if (decoder->cursor.kind == 0)
		return err_set(err, ERR_INPUT, "the tree stream is cut off before its first entry");
	return err_set(err, ERR_INPUT, "the tree stream is cut off %s '%s'",
		       decoder->content_left > 0 ? "inside" : "behind", shown);
}

void stream_reader_open(struct stream_reader *reader, int fd, const struct stream_limits *limits)
{
	stream_decoder_open(&reader->decoder, limits);
	reader->fd = fd;
}

void stream_reader_open_memory(struct stream_reader *reader, const void *bytes, size_t len,
			       const struct stream_limits *limits)
{
	stream_decoder_open(&reader->decoder, limits);
	stream_decoder_feed(&reader->decoder, bytes, len);
	reader->fd = -1;
}

/* Return: 1 if there was more to read, 0 at the end of the file. */
static int refill(struct stream_reader *reader, struct err *err)
{
	ssize_t got = 0;

	if (reader->fd >= 0)
		got = io_read_some(reader->fd, reader->bytes, sizeof(reader->bytes));
	if (got < 0)
		return err_sys(err, "read the tree stream");
	stream_decoder_feed(&reader->decoder, reader->bytes, (size_t) got);
	return got > 0;
}

int stream_reader_next(struct stream_reader *reader, struct err *err)
{
	while (true) {
		int event = stream_decoder_next(&reader->decoder, err), more;

		if (event != STREAM_WANT && event != STREAM_ENDED)
			return event;
		more = refill(reader, err);
		if (more < 0)
			return -1;
		if (more == 0)
			return event == STREAM_ENDED ? event
						     : stream_decoder_cut(&reader->decoder, err);
	}
}

int stream_reader_entry(struct stream_reader *reader, struct err *err)
{
	int event;

	do
		event = stream_reader_next(reader, err);
	while (event == STREAM_CONTENT);
	return event < 0 ? -1 : event == STREAM_GOT_ENTRY;
}

ssize_t stream_reader_content(struct stream_reader *reader, void *bytes, size_t len,
			      struct err *err)
{
	struct stream_decoder *decoder = &reader->decoder;
	size_t done = 0;

	while (done < len) {
		size_t some;

		if (decoder->content_len == 0) {
			if (decoder->content_left == 0)
				break;
			if (stream_reader_next(reader, err) < 0)
				return -1;
		}
		some = MIN_OF(decoder->content_len, len - done);
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): NULL has no bytes */
		memcpy((uint8_t *) bytes + done, decoder->content, some);
		decoder->content += some;
		decoder->content_len -= some;
		done += some;
	}
	return (ssize_t) done;
}
