/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"

enum { BLOCK = 65536, TURN = 1 << 20 };

/* What a pipe may hold at most when its last writer is gone: /proc/sys/fs/pipe-max-size. */
#define FINISH_MAX (64 * MIB)

static const char *const suffixes[OUTPUT_STREAMS] = { "stdout", "stderr" };

static int open_stream(struct output_stream *stream, int dir_fd, const char *name,
		       const char *suffix, struct err *err)
{
	char file[NAME_MAX + 1];

	if (dir_fd < 0)
		return 0;
	if (snprintf(file, sizeof(file), "%s.%s", name, suffix) >= (int) sizeof(file))
		return err_set(err, ERR_INPUT, "the log's name '%s' is too long", name);
	stream->log_fd = path_new_file(dir_fd, file, err);
	return stream->log_fd < 0 ? -1 : 0;
}

static int make_nonblocking(int fd, struct err *err)
{
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_sys(err, "make the jail's output nonblocking");
	return 0;
}

int output_open(struct output *out, int dir_fd, const char *name, int pipes[OUTPUT_STREAMS],
		uint64_t cap, struct err *err)
{
	cleanup(output_done) struct output made = OUTPUT_INIT;

	made.cap = cap;
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		if (pipes[i] < 0)
			continue;
		if (open_stream(&made.streams[i], dir_fd, name, suffixes[i], err) < 0 ||
		    make_nonblocking(pipes[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < OUTPUT_STREAMS; i++)
		made.streams[i].pipe_fd = fd_take(&pipes[i]);
	*out = take(made, OUTPUT_INIT);
	return 0;
}

void output_done(struct output *output)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		fd_close(&output->streams[i].pipe_fd);
		fd_close(&output->streams[i].log_fd);
		str_done(&output->streams[i].unshown);
	}
	*output = OUTPUT_INIT;
}

void output_show(struct output *output, size_t stream, int show_fd, bool is_escaped)
{
	output->streams[stream].show_fd = show_fd;
	output->streams[stream].is_escaped = is_escaped;
}

static bool is_unshown(const struct output_stream *stream)
{
	return stream->shown < stream->unshown.len;
}

bool output_is_unshown(const struct output *output)
{
	return is_unshown(&output->streams[OUTPUT_STDOUT]) ||
	       is_unshown(&output->streams[OUTPUT_STDERR]);
}

size_t output_poll(const struct output *output, struct pollfd fds[OUTPUT_STREAMS])
{
	size_t count = 0;

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		const struct output_stream *stream = &output->streams[i];

		if (is_unshown(stream))
			fds[count++] = (struct pollfd){ .fd = stream->show_fd, .events = POLLOUT };
		else if (stream->pipe_fd >= 0)
			fds[count++] = (struct pollfd){ .fd = stream->pipe_fd, .events = POLLIN };
	}
	return count;
}

bool output_has_ended(const struct output *output)
{
	return output->streams[OUTPUT_STDOUT].pipe_fd < 0 &&
	       output->streams[OUTPUT_STDERR].pipe_fd < 0 && !output_is_unshown(output);
}

bool output_is_over(const struct output *output)
{
	return output->streams[OUTPUT_STDOUT].total + output->streams[OUTPUT_STDERR].total >
	       output->cap;
}

/* ---- showing ---- */

/* Escapes line by line: what ends a line or indents it stays. */
static void add_escaped(struct str *out, const char *bytes, size_t len)
{
	while (len > 0) {
		size_t plain = 0;

		while (plain < len && bytes[plain] != '\n' && bytes[plain] != '\t')
			plain++;

		str_add_shown(out, bytes, plain);
		if (plain == len)
			return;
		str_add(out, bytes + plain, 1);
		bytes += plain + 1;
		len -= plain + 1;
	}
}

/* How many bytes at the end may be the beginning of a character that goes on in the next block. */
static size_t unfinished(const char *bytes, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		const uint8_t byte = (uint8_t) bytes[len - back];
		const size_t need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

		if ((byte & 0xc0) != 0x80)
			return need > back ? back : 0;
	}
	return 0;
}

/*
 * A reader that has gone is the jail's to notice, as without us: its next write gets SIGPIPE,
 * unless a log goes on taking it. Who hung up his terminal misses nothing. All else would be lost
 * unsaid.
 */
static int on_not_shown(struct output_stream *stream, const struct err *why, struct err *err)
{
	stream->show_fd = -1;
	stream->shown = stream->unshown.len;
	if (why->sys == EPIPE && stream->log_fd < 0)
		fd_close(&stream->pipe_fd);
	if (why->sys == EPIPE || why->sys == EIO)
		return 0;
	*err = *why;
	return -1;
}

/* Writes what the reader takes at this moment. */
static int show_more(struct output_stream *stream, struct err *err)
{
	struct pollfd room = { .fd = stream->show_fd, .events = POLLOUT };
	struct err why = ERR_INIT;

	while (is_unshown(stream) && poll(&room, 1, 0) > 0) {
		const size_t left = stream->unshown.len - stream->shown;
		const ssize_t put = write(stream->show_fd, stream->unshown.text + stream->shown,
					  MIN_OF(left, PIPE_BUF));

		if (put < 0 && errno == EAGAIN)
			return 0;
		if (put < 0 && errno != EINTR) {
			err_sys(&why, "write what the jail printed");
			return on_not_shown(stream, &why, err);
		}
		if (put > 0)
			stream->shown += (size_t) put;
	}
	if (is_unshown(stream))
		return 0;
	str_clear(&stream->unshown);
	stream->shown = 0;
	return 0;
}

static int show(struct output_stream *stream, const char *bytes, size_t len, struct err *err)
{
	cleanup(str_done) struct str joined = STR_INIT;
	size_t rest;

	if (!stream->is_escaped) {
		str_add(&stream->unshown, bytes, len);
		return show_more(stream, err);
	}
	str_add(&joined, stream->split, stream->split_len);
	str_add(&joined, bytes, len);
	/* At the end of the stream, with no new bytes, what is left will not be finished. */
	rest = len > 0 ? unfinished(joined.text, joined.len) : 0;
	add_escaped(&stream->unshown, joined.text, joined.len - rest);
	memcpy(stream->split, joined.text + joined.len - rest, rest);
	stream->split_len = rest;
	return show_more(stream, err);
}

/* The beginning of a character whose end will not come any more. */
static int show_rest(struct output_stream *stream, struct err *err)
{
	if (stream->show_fd < 0 || stream->split_len == 0)
		return 0;
	return show(stream, "", 0, err);
}

void output_add_tail(const struct output *output, size_t stream, struct str *out)
{
	const struct output_stream *from = &output->streams[stream];
	const size_t at = from->total % OUTPUT_TAIL;
	cleanup(str_done) struct str bytes = STR_INIT;
	const char *start;

	if (from->total <= OUTPUT_TAIL) {
		add_escaped(out, from->tail, from->total);
		return;
	}
	str_add(&bytes, from->tail + at, OUTPUT_TAIL - at);
	str_add(&bytes, from->tail, at);
	/* The first line has lost its beginning. */
	start = memchr(bytes.text, '\n', bytes.len - 1);
	start = start ? start + 1 : bytes.text;
	add_escaped(out, start, bytes.len - (size_t) (start - bytes.text));
}

/* ---- taking ---- */

static void keep_tail(struct output_stream *stream, const char *bytes, size_t len)
{
	const size_t skip = len > OUTPUT_TAIL ? len - OUTPUT_TAIL : 0;
	size_t at = (stream->total + skip) % OUTPUT_TAIL;

	for (size_t done = skip; done < len;) {
		const size_t part = MIN_OF(len - done, OUTPUT_TAIL - at);

		memcpy(stream->tail + at, bytes + done, part);
		done += part;
		at = (at + part) % OUTPUT_TAIL;
	}
}

/* Counts a block in any case, and stores what is under the cap. */
static int store(struct output *output, struct output_stream *stream, const char *bytes, size_t len,
		 struct err *err)
{
	const uint64_t kept =
		output->streams[OUTPUT_STDOUT].kept + output->streams[OUTPUT_STDERR].kept;
	const size_t part = (size_t) MIN_OF((uint64_t) len, output->cap - kept);
	int result = 0;

	keep_tail(stream, bytes, len);
	stream->total += len;
	if (part == 0)
		return 0;
	stream->kept += part;
	if (stream->show_fd >= 0)
		result = show(stream, bytes, part, err);
	if (stream->log_fd < 0)
		return result;
	if (io_write_all(stream->log_fd, bytes, part, "the log of a jail's output", err) < 0) {
		if (err->sys == ENOSPC || err->sys == EDQUOT)
			err->kind = ERR_HOST;
		fd_close(&stream->log_fd); /* told once; what comes is still taken */
		return -1;
	}
	return result;
}

static int take_some(struct output *output, struct output_stream *stream, uint64_t most,
		     struct err *err)
{
	char block[BLOCK];
	int result = 0;

	for (uint64_t taken = 0; taken < most && stream->pipe_fd >= 0 && !is_unshown(stream);) {
		const ssize_t got = io_read_some(stream->pipe_fd, block, sizeof(block));

		if (got < 0 && errno == EAGAIN)
			break;
		if (got <= 0) {
			/* A pipe that can not be read has ended as far as we are concerned. */
			fd_close(&stream->pipe_fd);
			return result < 0 ? result : show_rest(stream, err);
		}
		taken += (uint64_t) got;
		if (store(output, stream, block, (size_t) got, err) < 0)
			result = -1;
	}
	return result;
}

int output_ready(struct output *output, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct output_stream *stream = &output->streams[i];

		if (show_more(stream, err) < 0 || take_some(output, stream, TURN, err) < 0)
			result = -1;
	}
	return result;
}

int output_finish(struct output *output, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct output_stream *stream = &output->streams[i];

		if (take_some(output, stream, FINISH_MAX, err) < 0)
			result = -1;
		if (show_rest(stream, err) < 0)
			result = -1;
		stream->shown = stream->unshown.len;
		fd_close(&stream->pipe_fd);
		if (stream->log_fd >= 0 && fsync(stream->log_fd) < 0)
			result = err_sys(err, "sync the log of a jail's output");
	}
	return result;
}
