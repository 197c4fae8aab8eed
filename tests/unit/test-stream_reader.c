/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/stream.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static void check_valid(const struct raw *raw, const char *want)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(tree_text(raw->bytes, raw->len, &STREAM_LIMITS_DEFAULT, &text, &err));
	CHECK_STR(text.text, want);
}

static void check_refused_by(const struct raw *raw, const struct stream_limits *limits,
			     const char *want)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(tree_text(raw->bytes, raw->len, limits, &text, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, want);
}

static void check_refused(const struct raw *raw, const char *want)
{
	check_refused_by(raw, &STREAM_LIMITS_DEFAULT, want);
}

static void sample(struct raw *raw)
{
	raw_begin(raw);
	raw_folder(raw, "a");
	raw_file(raw, "a/b", "content");
	raw_entry(raw,
		  &(struct stream_entry){ .kind = STREAM_FILE,
					  .path = "a/run me",
					  .path_len = 8,
					  .executable = true },
		  "");
	raw_file(raw, "a-b", "");
	raw_entry(raw,
		  &(struct stream_entry){ .kind = STREAM_REFUSED,
					  .reason = STREAM_OVERSIZE,
					  .size = TIB,
					  .path = "b\n\xff",
					  .path_len = 3 },
		  "");
	raw_end(raw);
}

#define SAMPLE "\nd a\nf a/b=content\nx a/run me=\nf a-b=\nr b\\x0a\\xff oversize 1099511627776"

TEST(a_stream_says_what_was_put_into_it)
{
	struct raw raw;

	sample(&raw);
	check_valid(&raw, SAMPLE);
}

TEST(an_empty_tree_is_a_stream_of_magic_and_end)
{
	struct raw raw;

	raw_begin(&raw);
	raw_end(&raw);
	CHECK_INT(raw.len, STREAM_HEADER + STREAM_END);
	check_valid(&raw, "");
}

TEST(a_stream_may_come_in_pieces_of_any_size)
{
	struct raw raw;

	sample(&raw);
	for (size_t step = 1; step <= raw.len; step++) {
		struct stream_decoder decoder;
		struct err err = ERR_INIT;
		size_t at = 0, bytes = 0, entries = 0;
		int event;

		stream_decoder_open(&decoder, &STREAM_LIMITS_DEFAULT);
		while ((event = stream_decoder_next(&decoder, &err)) != STREAM_ENDED) {
			size_t piece = MIN_OF(step, raw.len - at);

			CHECK_OK(event);
			entries += event == STREAM_GOT_ENTRY;
			bytes += decoder.content_len;
			if (event != STREAM_WANT)
				continue;
			CHECK(piece > 0);
			stream_decoder_feed(&decoder, raw.bytes + at, piece);
			at += piece;
		}
		CHECK_INT(at, raw.len);
		CHECK_INT(entries, 5);
		CHECK_INT(bytes, 7);
	}
}

TEST(a_stream_that_is_cut_off_anywhere_is_an_error)
{
	struct raw raw;

	sample(&raw);
	for (size_t len = 0; len < raw.len; len++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(tree_text(raw.bytes, len, &STREAM_LIMITS_DEFAULT, &text, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(strstr(err.text, "cut off"));
	}
	raw.len = STREAM_HEADER + STREAM_HEADER + 1 + STREAM_HEADER + 3 + 2;
	check_refused(&raw, "the tree stream is cut off inside 'a/b'");
	raw.len = 3;
	check_refused(&raw, "the tree stream is cut off before its first entry");
}

TEST(a_stream_with_any_one_bit_changed_is_refused_or_says_something_else)
{
	struct raw raw;

	sample(&raw);
	for (size_t bit = 0; bit < 8 * raw.len; bit++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		raw.bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
		if (tree_text(raw.bytes, raw.len, &STREAM_LIMITS_DEFAULT, &text, &err) < 0)
			CHECK_INT(err.kind, ERR_INPUT);
		else
			CHECK(strcmp(text.text, SAMPLE) != 0);
		raw.bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
	}
}

TEST(bytes_behind_the_end_are_an_error)
{
	struct raw raw;

	sample(&raw);
	raw_add(&raw, "", 1);
	check_refused(&raw, "tree stream: bytes follow its end");
}

TEST(bytes_behind_the_end_of_a_file_are_an_error_even_in_another_block)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	auto_fd fd = memfd_create("stream", MFD_CLOEXEC);
	cleanup(mem_free) char *content = mem_alloc(1, sizeof(reader->bytes));
	struct err err = ERR_INIT;
	struct raw raw;
	size_t size;

	/* The first block that the reader reads ends with the stream. */
	size = sizeof(reader->bytes) - (size_t) STREAM_HEADER - STREAM_HEADER - 1 - STREAM_END;
	memset(content, 'x', size);
	raw_begin(&raw);
	raw_file(&raw, "a", content);
	raw_end(&raw);
	CHECK_INT(raw.len, sizeof(reader->bytes));
	CHECK_OK(io_write_all(fd, raw.bytes, raw.len, "stream", &err));
	lseek(fd, 0, SEEK_SET);
	stream_reader_open(reader, fd, &STREAM_LIMITS_DEFAULT);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_INT(stream_reader_entry(reader, &err), 0);
	CHECK_OK(io_write_all(fd, "x", 1, "stream", &err));
	lseek(fd, 0, SEEK_SET);
	stream_reader_open(reader, fd, &STREAM_LIMITS_DEFAULT);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_INT(stream_reader_entry(reader, &err), -1);
	CHECK_STR(err.text, "tree stream: bytes follow its end");
}

TEST(what_is_no_stream_is_said_to_be_none)
{
	struct raw raw;

	raw_begin(&raw);
	raw_end(&raw);
	raw.bytes[0] = 'P';
	check_refused(&raw, "this is no tree stream");
	raw.bytes[0] = 'p';
	raw.bytes[8] = 2;
	check_refused(&raw, "tree stream: version 2 is not known");
}

TEST(names_that_lead_elsewhere_are_refused)
{
	static const struct {
		const char *path, *fault;
	} rows[] = {
		{ "/etc/passwd", "an empty name" },  { "a/", "an empty name" },
		{ "a//b", "an empty name" },         { "..", "'.' or '..' as a name" },
		{ ".", "'.' or '..' as a name" },    { "a/../b", "'.' or '..' as a name" },
		{ "a/..", "'.' or '..' as a name" }, { "a/.", "'.' or '..' as a name" },
		{ "./a", "'.' or '..' as a name" },  { "../a", "'.' or '..' as a name" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char want[256];
		struct raw raw;

		raw_begin(&raw);
		if (rows[i].path[0] == 'a')
			raw_folder(&raw, "a");
		raw_file(&raw, rows[i].path, "");
		raw_end(&raw);
		snprintf(want, sizeof(want), "tree stream: '%s': %s", rows[i].path, rows[i].fault);
		check_refused(&raw, want);
	}
}

TEST(names_that_only_look_odd_are_taken)
{
	struct raw raw;

	raw_begin(&raw);
	raw_file(&raw, "\x01\n\x1b[2J", "");
	raw_file(&raw, "-rf", "");
	raw_file(&raw, "...", "");
	raw_file(&raw, "..a", "");
	raw_file(&raw, "\xc3\x28", "");
	raw_end(&raw);
	check_valid(&raw, "\nf \\x01\\x0a\\x1b[2J=\nf -rf=\nf ...=\nf ..a=\nf \\xc3(=");
}

TEST(a_zero_byte_in_a_name_is_refused)
{
	struct raw raw;

	raw_begin(&raw);
	raw_entry(&raw,
		  &(struct stream_entry){ .kind = STREAM_FILE, .path = "a\0b", .path_len = 3 }, "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'a\\x00b': a zero byte in a name");
}

TEST(names_and_paths_may_be_as_long_as_the_kernel_allows_and_no_longer)
{
	char path[STREAM_PATH_MAX + 2];
	struct raw raw;

	memset(path, 'n', sizeof(path));
	raw_begin(&raw);
	/* 15 folders of 255 bytes are 3839 bytes; one byte more is the most that a folder has. */
	for (size_t i = 1; i <= 15; i++) {
		path[256 * i - 1] = '\0';
		raw_folder(&raw, path);
		path[256 * i - 1] = '/';
	}
	path[4095] = '\0';
	raw_file(&raw, path, "x");
	raw_end(&raw);
	{
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_OK(tree_text(raw.bytes, raw.len, &STREAM_LIMITS_DEFAULT, &text, &err));
	}
	raw.len -= STREAM_END;
	path[4095] = 'n';
	path[4096] = '\0';
	raw_file(&raw, path, "");
	raw_end(&raw);
	{
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(tree_text(raw.bytes, raw.len, &STREAM_LIMITS_DEFAULT, &text, &err), -1);
		CHECK(strstr(err.text, ": a name of more than 255 bytes"));
	}
	raw_begin(&raw);
	raw_entry(&raw,
		  &(struct stream_entry){ .kind = STREAM_FILE, .path = path, .path_len = 4097 },
		  "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: a path of 4097 bytes, not 1 to 4096");
}

TEST(a_folder_has_to_leave_room_for_names)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	char path[512];
	struct raw raw;

	limits.path = 512;
	memset(path, 'a', sizeof(path));
	path[255] = '\0';
	raw_begin(&raw);
	raw_folder(&raw, path);
	path[255] = '/';
	path[256 + 1] = '\0';
	raw_folder(&raw, path);
	raw_end(&raw);
	{
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(tree_text(raw.bytes, raw.len, &limits, &text, &err), -1);
		CHECK(strstr(err.text, "a path over the limit"));
	}
}

TEST(paths_have_to_rise)
{
	static const char *const rows[][2] = {
		{ "b", "a" },
		{ "a", "a" },
		{ "a-b", "a" },
		{ "\x80", "\x7f" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char shown[256], want[256];
		struct raw raw;

		raw_begin(&raw);
		raw_file(&raw, rows[i][0], "");
		raw_file(&raw, rows[i][1], "");
		raw_end(&raw);
		stream_show(shown, rows[i][1], strlen(rows[i][1]));
		snprintf(want, sizeof(want),
			 "tree stream: '%s': not behind the entry before it in the order of paths",
			 shown);
		check_refused(&raw, want);
	}
}

TEST(an_entry_needs_its_folder_right_before_it)
{
	struct raw raw;

	raw_begin(&raw);
	raw_file(&raw, "a/b", "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'a/b': an entry without its folder");
	raw_begin(&raw);
	raw_file(&raw, "a", "");
	raw_file(&raw, "a/b", "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'a/b': an entry without its folder");
	raw_begin(&raw);
	raw_folder(&raw, "a");
	raw_file(&raw, "ab/c", "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'ab/c': an entry without its folder");
	raw_begin(&raw);
	raw_folder(&raw, "a");
	raw_file(&raw, "a/b/c", "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'a/b/c': an entry without its folder");
	raw_begin(&raw);
	raw_folder(&raw, "a");
	raw_folder(&raw, "a/b");
	raw_file(&raw, "a/b/c", "");
	raw_file(&raw, "a/d", "");
	raw_file(&raw, "e", "");
	raw_end(&raw);
	check_valid(&raw, "\nd a\nd a/b\nf a/b/c=\nf a/d=\nf e=");
}

TEST(what_an_entry_says_has_to_fit_its_kind)
{
	static const struct {
		uint8_t header[STREAM_HEADER];
		const char *fault;
	} rows[] = {
		/* clang-format off */
		{ { 0, 0, 0, 0, 1 },                    "tree stream: 'a': an unknown kind" },
		{ { 5, 0, 0, 0, 1 },                    "tree stream: 'a': an unknown kind" },
		{ { 1, 1, 0, 0, 1 },                    "tree stream: 'a': a flag that is no file's" },
		{ { 3, 1, 1, 0, 1 },                    "tree stream: 'a': a flag that is no file's" },
		{ { 2, 2, 0, 0, 1 },                    "tree stream: reserved bits are set" },
		{ { 2, 0, 0, 1, 1 },                    "tree stream: reserved bits are set" },
		{ { 1, 0, 1, 0, 1 },                    "tree stream: 'a': a reason that does not fit its kind" },
		{ { 2, 0, 1, 0, 1 },                    "tree stream: 'a': a reason that does not fit its kind" },
		{ { 3, 0, 0, 0, 1 },                    "tree stream: 'a': a reason that does not fit its kind" },
		{ { 3, 0, 14, 0, 1 },                   "tree stream: 'a': a reason that does not fit its kind" },
		{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 },        "tree stream: 'a': a size that does not fit its kind" },
		{ { 3, 0, 1, 0, 1, 0, 0, 0, 1 },        "tree stream: 'a': a size that does not fit its kind" },
		{ { 4, 0, 0, 0, 1 },                    "tree stream: the end record is not empty" },
		{ { 4, 1 },                             "tree stream: the end record is not empty" },
		{ { 2, 0, 0, 0, 0 },                    "tree stream: a path of 0 bytes, not 1 to 4096" },
		{ { 2, 0, 0, 0, 0, 0, 0, 0x80 },        "tree stream: a path of 2147483648 bytes, not 1 to 4096" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct raw raw;

		raw_begin(&raw);
		raw_add(&raw, rows[i].header, STREAM_HEADER);
		raw_add(&raw, "a", 1);
		raw_end(&raw);
		check_refused(&raw, rows[i].fault);
	}
}

TEST(an_end_record_that_counts_otherwise_is_refused)
{
	for (size_t i = 0; i < 4; i++) {
		struct raw raw;

		sample(&raw);
		raw.bytes[raw.len - 32 + 8 * i]++;
		check_refused(&raw, "tree stream: the end record counts other entries than there "
				    "were");
	}
}

TEST(limits_hold_to_the_byte_and_the_entry)
{
	static const struct {
		struct stream_limits limits;
		const char *fault;
	} rows[] = {
		/* clang-format off */
		{ { 7, 4, 4, 2, 512, 0 }, NULL },
		{ { 6, 4, 4, 2, 512, 0 }, "tree stream: 'b': more bytes in all files than the limit" },
		{ { 7, 3, 4, 2, 512, 0 }, "tree stream: 'a/b/f': a file over the limit" },
		{ { 7, 4, 3, 2, 512, 0 }, "tree stream: 'b': one entry over the limit" },
		{ { 7, 4, 4, 1, 512, 0 }, "tree stream: 'a/b': more folders inside each other than the limit" },
		/* clang-format on */
	};
	struct raw raw;

	raw_begin(&raw);
	raw_folder(&raw, "a");
	raw_folder(&raw, "a/b");
	raw_file(&raw, "a/b/f", "1234");
	raw_file(&raw, "b", "567");
	raw_end(&raw);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		if (rows[i].fault)
			check_refused_by(&raw, &rows[i].limits, rows[i].fault);
		else
			CHECK_OK(tree_text(raw.bytes, raw.len, &rows[i].limits, &text, &err));
	}
}

TEST(a_size_that_overflows_is_over_the_limit)
{
	struct raw raw;

	raw_begin(&raw);
	raw_file(&raw, "a", "x");
	raw_entry(&raw,
		  &(struct stream_entry){
			  .kind = STREAM_FILE, .path = "b", .path_len = 1, .size = UINT64_MAX },
		  "");
	raw_end(&raw);
	check_refused(&raw, "tree stream: 'b': a file over the limit");
}

TEST(a_broken_stream_stays_broken)
{
	struct stream_decoder decoder;
	struct err err = ERR_INIT;

	stream_decoder_open(&decoder, &STREAM_LIMITS_DEFAULT);
	stream_decoder_feed(&decoder, "this is not a tree stream", 25);
	CHECK_INT(stream_decoder_next(&decoder, &err), -1);
	stream_decoder_feed(&decoder, STREAM_MAGIC, STREAM_HEADER);
	CHECK_INT(stream_decoder_next(&decoder, &err), -1);
	CHECK_STR(err.text, "the tree stream is broken");
}

TEST(contents_larger_than_any_buffer_come_out_as_they_went_in)
{
	const size_t size = 1000003;
	cleanup(mem_free) uint8_t *bytes = mem_alloc(2, size);
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	auto_fd fd = memfd_create("stream", MFD_CLOEXEC);
	struct stream_entry entry = {
		.kind = STREAM_FILE, .path = "a", .path_len = 1, .size = size
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t) (i * 2654435761u >> 13);
	stream_writer_open(writer, fd, &STREAM_LIMITS_DEFAULT);
	CHECK_OK(stream_writer_entry(writer, &entry, &err));
	for (size_t at = 0, step = 1; at < size; at += step, step = MIN_OF(3 * step, size - at))
		CHECK_OK(stream_writer_content(writer, bytes + at, step, &err));
	entry.path = "b";
	entry.size = 0;
	CHECK_OK(stream_writer_entry(writer, &entry, &err));
	CHECK_OK(stream_writer_close(writer, &err));
	lseek(fd, 0, SEEK_SET);
	stream_reader_open(reader, fd, &STREAM_LIMITS_DEFAULT);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_INT(stream_reader_content(reader, bytes + size, 10, &err), 10);
	CHECK_INT(stream_reader_content(reader, bytes + size + 10, size, &err), size - 10);
	CHECK_INT(stream_reader_content(reader, bytes, 1, &err), 0);
	CHECK(memcmp(bytes, bytes + size, size) == 0);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_STR(reader->decoder.entry.path, "b");
	CHECK_INT(stream_reader_entry(reader, &err), 0);
	CHECK_INT(stream_reader_entry(reader, &err), 0);
}

TEST(an_entry_can_be_passed_over_in_the_middle_of_its_content)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	struct err err = ERR_INIT;
	struct raw raw;
	char two[2];

	sample(&raw);
	stream_reader_open_memory(reader, raw.bytes, raw.len, &STREAM_LIMITS_DEFAULT);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_INT(stream_reader_content(reader, two, 2, &err), 2);
	CHECK_INT(stream_reader_entry(reader, &err), 1);
	CHECK_STR(reader->decoder.entry.path, "a/run me");
}
