/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/image.h"

#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/evidence/digest.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct image_source source;
static struct image_identity identity;
static struct err err;

static bool counts_down(const void *context)
{
	int *left = *(int *const *) context;

	return (*left)-- > 0;
}

static int left = 1000000, *const left_at = &left;
static const struct image_wish wish = { counts_down, &left_at };

static void put(const void *bytes, size_t len)
{
	auto_fd fd =
		openat(check_folder(), "image", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && fchmod(fd, 0644) == 0);
	CHECK_OK(io_write_all(fd, bytes, len, "image", &err));
	snprintf(source.name, sizeof(source.name), "test");
	snprintf(source.path, sizeof(source.path), "%s/image", check_folder_path());
}

/* As much of an image as anybody looks at: what it is, and how long. */
static void put_image(enum image_kind kind, uint64_t says, size_t has)
{
	static unsigned char bytes[64 * 1024];
	const uint32_t squashfs = htole32(0x73717368), erofs = htole32(0xe0f5e1e2);
	const uint32_t blocks = htole32((uint32_t) (says / 4096));
	const uint64_t size = htole64(says);

	memset(bytes, 0, sizeof(bytes));
	if (kind == IMAGE_SQUASHFS) {
		memcpy(bytes, &squashfs, 4);
		memcpy(bytes + 40, &size, 8);
	} else {
		memcpy(bytes + 1024, &erofs, 4);
		bytes[1024 + 12] = 12;
		memcpy(bytes + 1024 + 36, &blocks, 4);
	}
	put(bytes, has);
	source.kind = kind;
}

static int open_it(void)
{
	auto_fd fd = image_open_file(&source, &identity, &err);

	return fd < 0 ? -1 : 0;
}

static void check_refused(const char *part)
{
	CHECK_INT(open_it(), -1);
	CHECK_INT(err.kind, ERR_HOST);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.text, part);
	CHECK(strstr(err.text, source.path) != NULL);
}

static void need_root(void)
{
	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
}

TEST(an_image_is_known_by_what_it_says_of_itself)
{
	need_root();
	put_image(IMAGE_SQUASHFS, 8192, 8192);
	CHECK_OK(open_it());
	CHECK_INT(identity.size, 8192);
	source.kind = IMAGE_EROFS;
	check_refused("is no erofs image");
	put_image(IMAGE_EROFS, 8192, 8192);
	CHECK_OK(open_it());
	source.kind = IMAGE_SQUASHFS;
	check_refused("is no squashfs image");
}

TEST(what_is_cut_off_empty_or_something_else_is_no_image)
{
	need_root();
	put_image(IMAGE_SQUASHFS, 8193, 8192);
	check_refused("is cut off: it has 8192 bytes of 8193; copy it anew");
	put_image(IMAGE_EROFS, 12288, 8192);
	check_refused("is cut off: it has 8192 bytes of 12288");
	put("", 0);
	check_refused("is no erofs image");
	put("hsqs", 4);
	source.kind = IMAGE_SQUASHFS;
	check_refused("is no squashfs image");
	put("#!/bin/sh\n", 10);
	check_refused("is no squashfs image");
}

/* Sizes that would overflow whoever computes with them. */
TEST(absurd_sizes_are_cut_off_images)
{
	need_root();
	put_image(IMAGE_SQUASHFS, UINT64_MAX, 4096);
	check_refused("is cut off: it has 4096 bytes of 18446744073709551615");
	put_image(IMAGE_EROFS, UINT64_C(0xffffffff) * 4096, 4096);
	check_refused("is cut off");
}

TEST(root_alone_may_be_able_to_write_it)
{
	need_root();
	put_image(IMAGE_SQUASHFS, 4096, 4096);
	CHECK(fchmodat(check_folder(), "image", 0664, 0) == 0);
	check_refused("has mode 0664: root alone may be able to write it");
	CHECK(fchmodat(check_folder(), "image", 0600, 0) == 0);
	CHECK_OK(open_it());
	CHECK(fchownat(check_folder(), "image", 1, 0, 0) == 0);
	check_refused("belongs to user 1");
}

TEST(root_alone_may_be_able_to_put_another_file_there)
{
	char real[PATH_MAX], path[PATH_MAX];

	need_root();
	put_image(IMAGE_SQUASHFS, 4096, 4096);
	CHECK(mkdirat(check_folder(), "way", 0755) == 0);
	CHECK(renameat(check_folder(), "image", check_folder(), "way/image") == 0);
	snprintf(real, sizeof(real), "%s/way/image", check_folder_path());
	snprintf(path, sizeof(path), "%s/link", check_folder_path());
	CHECK(symlinkat("way/image", check_folder(), "link") == 0);
	for (int i = 0; i < 2; i++) {
		/* By its own path, and by a link to it. */
		snprintf(source.path, sizeof(source.path), "%s", i == 0 ? real : path);
		CHECK_OK(open_it());
		CHECK(fchmodat(check_folder(), "way", 0775, 0) == 0);
		check_refused("way', on the way to '");
		CHECK(strstr(err.text, "has mode 0775: root alone may be able to put another file "
				       "there"));
		/* Nobody takes root's file away there. */
		CHECK(fchmodat(check_folder(), "way", 01777, 0) == 0);
		CHECK_OK(open_it());
		CHECK(fchmodat(check_folder(), "way", 0755, 0) == 0);
		CHECK(fchownat(check_folder(), "way", 1, 0, 0) == 0);
		check_refused("belongs to user 1");
		CHECK(fchownat(check_folder(), "way", 0, 0, 0) == 0);
	}
	CHECK(fchownat(check_folder(), "link", 1, 0, AT_SYMLINK_NOFOLLOW) == 0);
	check_refused("link', on the way to '");
}

TEST(a_folder_is_a_folder_and_a_file_is_a_file)
{
	need_root();
	put_image(IMAGE_SQUASHFS, 4096, 4096);
	source.kind = IMAGE_FOLDER;
	check_refused("Not a directory");
	CHECK(mkdirat(check_folder(), "folder", 0755) == 0);
	snprintf(source.path, sizeof(source.path), "%s/folder", check_folder_path());
	CHECK_OK(open_it());
	CHECK(fchmodat(check_folder(), "folder", 0777, 0) == 0);
	check_refused("has mode 0777");
	source.kind = IMAGE_EROFS;
	check_refused("is no regular file");
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	snprintf(source.path, sizeof(source.path), "%s/fifo", check_folder_path());
	check_refused("is no regular file");
	snprintf(source.path, sizeof(source.path), "%s/none", check_folder_path());
	check_refused("No such file");
}

TEST(a_file_that_is_written_is_another_one)
{
	struct image_identity before;

	need_root();
	put_image(IMAGE_SQUASHFS, 4096, 4096);
	CHECK_OK(open_it());
	before = identity;
	CHECK_OK(open_it());
	CHECK(image_is_same(&before, &identity));
	/* Whoever sets the time of writing back can not do so with that of the change. */
	CHECK(utimensat(check_folder(), "image",
			(const struct timespec[]){ before.written, before.written }, 0) == 0);
	CHECK_OK(open_it());
	CHECK(!image_is_same(&before, &identity));
}

TEST(a_digest_is_that_of_the_whole_file)
{
	static const size_t sizes[] = { 0, 1, 4096, (1 << 20) - 1, 1 << 20, (2 << 20) + 77 };
	static unsigned char bytes[3 << 20];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char) (i * 7 + i / 251);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char got[IMAGE_DIGEST_SIZE], want[DIGEST_HEX];
		struct digest digest = digest_sha256(bytes, sizes[i]);
		auto_fd fd = -1;

		put(bytes, sizes[i]);
		fd = openat(check_folder(), "image", O_RDONLY | O_CLOEXEC);
		/* From its beginning, wherever the descriptor stands. */
		CHECK(lseek(fd, 1, SEEK_SET) == 1);
		CHECK_OK(image_digest(fd, &wish, got, &err));
		digest_hex(&digest, want);
		CHECK_STR(got, want);
	}
}

TEST(what_can_not_be_read_has_no_digest)
{
	char got[IMAGE_DIGEST_SIZE];

	CHECK_INT(image_digest(check_folder(), &wish, got, &err), -1);
	CHECK_STR(err.text, "digest: read it: Is a directory");
}

TEST(nothing_is_read_to_its_end_that_nobody_waits_for)
{
	char got[IMAGE_DIGEST_SIZE];
	auto_fd fd = -1;

	put_image(IMAGE_SQUASHFS, 4096, 4096);
	/* Holes: so long that the end is not reached by accident. */
	CHECK(truncate(source.path, INT64_C(1) << 40) == 0);
	fd = open(source.path, O_RDONLY | O_CLOEXEC);
	left = 3;
	CHECK_INT(image_digest(fd, &wish, got, &err), -1);
	CHECK_STR(err.text, "digest: nobody waits for it any more");
	CHECK_INT(left, -1);
}
