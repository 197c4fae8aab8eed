/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/stream.h"

/*
 * Whatever the bytes are: a stream that is valid is written again as the same bytes, since one
 * tree has one stream; one that is not is an ERR_INPUT error; and neither depends on the size of
 * the pieces in which it comes.
 */
#define LIMITS ((struct stream_limits){ 4096, 1024, 50, 4, 600, 0 })

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* Return: is it valid; then what was decoded has been written to fd. */
static bool rewrite(struct stream_reader *reader, int fd, struct err *err)
{
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	const struct stream_decoder *decoder = &reader->decoder;
	int event;

	stream_writer_open(writer, fd, &LIMITS);
	while ((event = stream_reader_next(reader, err)) > 0 && event != STREAM_ENDED) {
		struct err ours = ERR_INIT;

		if (event == STREAM_GOT_ENTRY)
			must(stream_writer_entry(writer, &decoder->entry, &ours) == 0);
		else
			must(stream_writer_content(writer, decoder->content, decoder->content_len,
						   &ours) == 0);
	}
	if (event < 0)
		return false;
	must(stream_writer_close(writer, err) == 0);
	return true;
}

static void check_same(int fd, const uint8_t *data, size_t size)
{
	cleanup(mem_free) uint8_t *copy = mem_alloc(size + 1, 1);

	must(pread(fd, copy, size + 1, 0) == (ssize_t) size);
	must(memcmp(copy, data, size) == 0);
}

/* Return: an event or -1, and where it came, with the stream in pieces of one size. */
static int decode_in_pieces(const uint8_t *data, size_t size, size_t step, struct err *err)
{
	struct stream_decoder decoder;
	int event;

	stream_decoder_open(&decoder, &LIMITS);
	while ((event = stream_decoder_next(&decoder, err)) > 0) {
		size_t piece = MIN_OF(step, size);

		if (event == STREAM_WANT && piece == 0)
			return stream_decoder_cut(&decoder, err);
		if (event == STREAM_ENDED && piece == 0)
			return event;
		if (event != STREAM_WANT && event != STREAM_ENDED)
			continue;
		stream_decoder_feed(&decoder, data, piece);
		data += piece;
		size -= piece;
	}
	return event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	auto_fd fd = memfd_create("stream", MFD_CLOEXEC);
	struct err err = ERR_INIT;
	bool valid;

	must(fd >= 0);
	stream_reader_open_memory(reader, data, size, &LIMITS);
	valid = rewrite(reader, fd, &err);
	if (valid)
		check_same(fd, data, size);
	else
		must(err.kind == ERR_INPUT && err.text[0] != '\0');
	for (size_t step = 1; step < 20; step += 6) {
		struct err again = ERR_INIT;

		must((decode_in_pieces(data, size, step, &again) == STREAM_ENDED) == valid);
		must(strcmp(err.text, again.text) == 0);
	}
	return 0;
}
