/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/stream.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

TEST(the_bytes_of_a_stream_are_those_of_the_grammar)
{
	static const uint8_t want[] = {
		/* clang-format off */
		'p','r','o','c','t','r','e','e', 1,0,0,0, 0,0,0,0,
		1,0,0,0, 1,0,0,0, 0,0,0,0,0,0,0,0, 'd',
		2,1,0,0, 3,0,0,0, 2,0,0,0,0,0,0,0, 'd','/','f', 'h','i',
		3,0,1,0, 1,0,0,0, 0,0,0,0,0,0,0,0, 's',
		4,0,0,0, 0,0,0,0, 0,0,0,0,0,0,0,0,
		1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 2,0,0,0,0,0,0,0,
		/* clang-format on */
	};
	static const struct stream_entry entries[] = {
		{ .kind = STREAM_FOLDER, .path = "d", .path_len = 1 },
		{ .kind = STREAM_FILE,
		  .path = "d/f",
		  .path_len = 3,
		  .size = 2,
		  .executable = true },
		{ .kind = STREAM_REFUSED, .path = "s", .path_len = 1, .reason = STREAM_SYMLINK },
	};
	auto_fd fd = memfd_create("stream", MFD_CLOEXEC);
	struct stream_writer writer;
	uint8_t got[sizeof(want) + 1];
	struct err err = ERR_INIT;

	stream_writer_open(&writer, fd, &STREAM_LIMITS_DEFAULT);
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		CHECK_OK(stream_writer_entry(&writer, &entries[i], &err));
		if (entries[i].size > 0) {
			CHECK_OK(stream_writer_content(&writer, "h", 1, &err));
			CHECK_OK(stream_writer_content(&writer, "i", 1, &err));
		}
	}
	CHECK_OK(stream_writer_close(&writer, &err));
	CHECK_INT(pread(fd, got, sizeof(got), 0), sizeof(want));
	CHECK(memcmp(got, want, sizeof(want)) == 0);
}

TEST(a_slash_sorts_before_every_other_byte)
{
	static const char *const sorted[] = { "a",     "a/",  "a/b", "a/b/c", "a/b\x01",
					      "a\x01", "a-b", "ab",  "b",     "\xff" };

	for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
		for (size_t j = 0; j < ARRAY_LEN(sorted); j++) {
			int order = stream_compare(sorted[i], strlen(sorted[i]), sorted[j],
						   strlen(sorted[j]));

			CHECK_INT((order > 0) - (order < 0), (i > j) - (i < j));
		}
}

TEST(limits_that_can_not_be_kept_are_named)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct err err = ERR_INIT;

	CHECK_OK(stream_limits_check(&limits, &err));
	limits.path = 511;
	CHECK_INT(stream_limits_check(&limits, &err), -1);
	CHECK_STR(err.text, "tree limit 'path': 511 is not within 512..4096");
	limits = STREAM_LIMITS_DEFAULT;
	limits.depth = 0;
	CHECK_INT(stream_limits_check(&limits, &err), -1);
	CHECK_STR(err.text, "tree limit 'depth': 0 is not within 1..512");
	limits = STREAM_LIMITS_DEFAULT;
	limits.total = UINT64_MAX;
	CHECK_INT(stream_limits_check(&limits, &err), -1);
	CHECK_STR(err.text, "tree limit 'total': 18446744073709551615 is not within "
			    "0..1125899906842624");
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_writer_writes_nothing_that_the_grammar_forbids)
{
	auto_fd fd = memfd_create("stream", MFD_CLOEXEC);
	struct stream_entry entry = { .kind = STREAM_FILE, .path = "b", .path_len = 1, .size = 2 };
	struct stream_writer writer;
	struct err err = ERR_INIT;

	stream_writer_open(&writer, fd, &STREAM_LIMITS_DEFAULT);
	CHECK_OK(stream_writer_entry(&writer, &entry, &err));
	CHECK_INT(stream_writer_content(&writer, "123", 3, &err), -1);
	CHECK_STR(err.text, "tree stream: more content than the entry's size");
	CHECK_INT(stream_writer_close(&writer, &err), -1);
	CHECK_STR(err.text, "tree stream: the content of an entry is not complete");
	entry.path = "c";
	CHECK_INT(stream_writer_entry(&writer, &entry, &err), -1);
	CHECK_OK(stream_writer_content(&writer, "12", 2, &err));
	entry.path = "a";
	CHECK_INT(stream_writer_entry(&writer, &entry, &err), -1);
	CHECK_STR(err.text,
		  "tree stream: 'a': not behind the entry before it in the order of paths");
	CHECK_OK(stream_writer_close(&writer, &err));
	CHECK_INT(lseek(fd, 0, SEEK_END), STREAM_HEADER + STREAM_HEADER + 1 + 2 + STREAM_END);
}

TEST(a_path_is_shown_escaped_and_short)
{
	char path[4096], shown[256];

	stream_show(shown, "a\nb\x1b[0m", 7);
	CHECK_STR(shown, "a\\x0ab\\x1b[0m");
	memset(path, '\n', sizeof(path));
	stream_show(shown, path, sizeof(path));
	CHECK_INT(strlen(shown), 203);
	CHECK(strstr(shown, "..."));
	memset(path, 'x', sizeof(path));
	stream_show(shown, path, 255);
	CHECK_INT(strlen(shown), 255);
	stream_show(shown, path, 256);
	CHECK_INT(strlen(shown), 203);
}

TEST(each_reason_has_a_name)
{
	for (int reason = 0; reason < STREAM_REASONS; reason++)
		CHECK(strcmp(names_text(stream_reason_names, reason), "?") != 0);
}
