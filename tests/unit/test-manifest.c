/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/manifest.h"

#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define SAMPLE "\nd a\nf a/b=abc\nx a/run=\nr l symlink 0\nf z=content"

static void read_text(const char *text, struct manifest *out)
{
	auto_fd fd = tree_fd(text);
	struct err err = ERR_INIT;

	CHECK_OK(manifest_read(fd, &STREAM_LIMITS_DEFAULT, out, &err));
}

static struct digest root_of(const char *text)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;

	read_text(text, &manifest);
	return manifest.root;
}

TEST(a_manifest_lists_the_entries_of_a_stream_with_their_digests)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct digest abc = digest_sha256("abc", 3), none = digest_sha256("", 0);
	const struct manifest_entry *entries;

	read_text(SAMPLE, &manifest);
	entries = manifest.entries;
	CHECK_INT(manifest.count, 5);
	CHECK_INT(entries[0].kind, STREAM_FOLDER);
	CHECK_STR(entries[0].path, "a");
	CHECK_INT(entries[1].kind, STREAM_FILE);
	CHECK_STR(entries[1].path, "a/b");
	CHECK_INT(entries[1].path_len, 3);
	CHECK_INT(entries[1].size, 3);
	CHECK(!entries[1].executable);
	CHECK(digest_equal(&entries[1].digest, &abc));
	CHECK(entries[2].executable);
	CHECK(digest_equal(&entries[2].digest, &none));
	CHECK_INT(entries[3].kind, STREAM_REFUSED);
	CHECK_INT(entries[3].reason, STREAM_SYMLINK);
	CHECK_STR(entries[4].path, "z");
	CHECK_INT(manifest.counts.folders, 1);
	CHECK_INT(manifest.counts.files, 3);
	CHECK_INT(manifest.counts.refused, 1);
	CHECK_INT(manifest.counts.bytes, 10);
}

TEST(the_root_is_the_digest_that_the_header_defines)
{
	/* Written down by hand from the definition. */
	static const uint8_t parts[] = {
		/* clang-format off */
		'p','r','o','c','t','o','r','/','t','r','e','e','/','1','\n',
		2,1,0,0, 1,0,0,0, 3,0,0,0,0,0,0,0, 'f',
		0xba,0x78,0x16,0xbf,0x8f,0x01,0xcf,0xea,0x41,0x41,0x40,0xde,0x5d,0xae,0x22,0x23,
		0xb0,0x03,0x61,0xa3,0x96,0x17,0x7a,0x9c,0xb4,0x10,0xff,0x61,0xf2,0x00,0x15,0xad,
		3,0,2,0, 1,0,0,0, 0,0,0,0,0,0,0,0, 'g',
		4,0,0,0, 0,0,0,0, 0,0,0,0,0,0,0,0,
		0,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 3,0,0,0,0,0,0,0,
		/* clang-format on */
	};
	struct digest want = digest_sha256(parts, sizeof(parts));
	struct digest got = root_of("\nx f=abc\nr g fifo 0");

	CHECK(digest_equal(&got, &want));
}

TEST(the_root_stays_what_it_is)
{
	/* Changing these values makes every recorded root unverifiable: a new version then. */
	struct digest empty = root_of(""), sample = root_of(SAMPLE);
	char text[DIGEST_HEX];

	digest_hex(&empty, text);
	CHECK_STR(text, "4b7908d051230f506f859ee432db04f989637c2c717ffdc04f51393bb60054c8");
	digest_hex(&sample, text);
	CHECK_STR(text, "0caba6df2384a15778ffe1df0cc5d52e94fd59280f027741280449b5c9606d3e");
}

TEST(whatever_differs_between_two_trees_changes_the_root)
{
	static const char *const trees[] = {
		"",
		"\nd a",
		"\nf a=",
		"\nx a=",
		"\nr a fifo 0",
		"\nr a socket 0",
		"\nr a oversize 5",
		"\nr a oversize 6",
		"\nf b=",
		"\nf a=1",
		"\nf a=2",
		"\nd a\nf a/b=",
		"\nf a=\nf b=",
	};

	for (size_t i = 0; i < ARRAY_LEN(trees); i++)
		for (size_t j = 0; j < ARRAY_LEN(trees); j++) {
			struct digest a = root_of(trees[i]), b = root_of(trees[j]);

			CHECK_INT(digest_equal(&a, &b), i == j);
		}
}

TEST(a_stream_in_pieces_has_the_same_manifest)
{
	auto_fd fd = tree_fd(SAMPLE);
	struct digest want = root_of(SAMPLE);
	uint8_t bytes[1024];
	ssize_t len = pread(fd, bytes, sizeof(bytes), 0);

	for (size_t step = 1; step < (size_t) len; step++) {
		cleanup(manifest_builder_done) struct manifest_builder builder;
		cleanup(manifest_done) struct manifest made = MANIFEST_INIT;
		struct err err = ERR_INIT;

		manifest_builder_open(&builder, &STREAM_LIMITS_DEFAULT);
		for (size_t at = 0; at < (size_t) len; at += step)
			CHECK_OK(manifest_builder_feed(&builder, bytes + at,
						       MIN_OF(step, (size_t) len - at), &err));
		CHECK_OK(manifest_builder_close(&builder, &made, &err));
		CHECK(digest_equal(&made.root, &want));
		CHECK_INT(made.count, 5);
	}
}

TEST(a_stream_that_is_cut_off_has_no_manifest)
{
	auto_fd fd = tree_fd(SAMPLE);
	off_t len = lseek(fd, 0, SEEK_END);
	struct manifest made = MANIFEST_INIT;

	while (--len >= 0) {
		struct err err = ERR_INIT;

		CHECK_INT(ftruncate(fd, len), 0);
		CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
		CHECK_INT(manifest_read(fd, &STREAM_LIMITS_DEFAULT, &made, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(strstr(err.text, "cut off"));
		CHECK(!made.entries);
	}
}

TEST(bytes_behind_a_stream_are_an_error_in_the_next_piece_too)
{
	auto_fd fd = tree_fd(SAMPLE);
	cleanup(manifest_builder_done) struct manifest_builder builder;
	struct err err = ERR_INIT;
	uint8_t bytes[1024];
	ssize_t len = pread(fd, bytes, sizeof(bytes), 0);

	manifest_builder_open(&builder, &STREAM_LIMITS_DEFAULT);
	CHECK_OK(manifest_builder_feed(&builder, bytes, (size_t) len, &err));
	CHECK_INT(manifest_builder_feed(&builder, "x", 1, &err), -1);
	CHECK_STR(err.text, "tree stream: bytes follow its end");
}

TEST(a_large_tree_has_room)
{
	cleanup(mem_free) struct raw *raw = mem_alloc(1, sizeof(*raw));
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct err err = ERR_INIT;

	raw_begin(raw);
	for (int i = 0; i < 3000; i++) {
		const char path[] = { 'n',
				      (char) ('0' + i / 1000),
				      (char) ('0' + i / 100 % 10),
				      (char) ('0' + i / 10 % 10),
				      (char) ('0' + i % 10),
				      '\0' };

		raw_file(raw, path, "");
	}
	raw_end(raw);
	{
		auto_fd fd = raw_fd(raw);

		CHECK_OK(manifest_read(fd, &STREAM_LIMITS_DEFAULT, &manifest, &err));
	}
	CHECK_INT(manifest.count, 3000);
	CHECK_STR(manifest.entries[2999].path, "n2999");
}
