/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/tree_files.h"

#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define TREE "\nf a=1\nd b\nx b/run=two\nf c=333"

static const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
static struct err err;

static struct tree_file file(const char *path, const char *content)
{
	struct tree_file made = { .path = path, .is_there = content != NULL, .bytes = STR_INIT };

	if (content)
		str_addf(&made.bytes, "%s", content);
	return made;
}

static int put(const char *tree, struct tree_file *files, size_t count)
{
	auto_fd from = tree_fd(tree);
	auto_fd out = tree_empty_fd();
	int result;

	err = (struct err) ERR_INIT;
	result = tree_files_put(from, &limits, files, count, out, &err);
	tree_files_done(files, count);
	return result < 0 ? -1 : fd_take(&out);
}

TEST(files_are_read_from_wherever_the_descriptor_stands)
{
	struct tree_file files[] = { file("b/run", NULL), file("nowhere", NULL), file("c", NULL),
				     file("b", NULL) };
	auto_fd fd = tree_fd(TREE);

	for (int i = 0; i < 2; i++) {
		CHECK_OK(tree_files_read(fd, &limits, files, ARRAY_LEN(files), 3, &err));
		CHECK(files[0].is_there && files[2].is_there);
		CHECK_STR(files[0].bytes.text, "two");
		CHECK_STR(files[2].bytes.text, "333");
		CHECK(!files[1].is_there && !files[3].is_there);
		tree_files_done(files, ARRAY_LEN(files));
	}
}

TEST(a_file_that_is_too_large_is_noted_and_not_read)
{
	struct tree_file files[] = { file("c", NULL) };
	auto_fd fd = tree_fd(TREE);

	CHECK_OK(tree_files_read(fd, &limits, files, 1, 2, &err));
	CHECK(files[0].is_there && files[0].is_too_large);
	CHECK_INT(files[0].bytes.len, 0);
	tree_files_done(files, 1);
}

TEST(a_stream_that_is_cut_off_is_an_error)
{
	struct tree_file files[] = { file("c", NULL) };
	auto_fd fd = tree_fd(TREE);

	CHECK(ftruncate(fd, lseek(fd, 0, SEEK_END) - 1) == 0);
	CHECK_INT(tree_files_read(fd, &limits, files, 1, 9, &err), -1);
	tree_files_done(files, 1);
}

TEST(content_is_replaced_and_executable_bits_stay)
{
	struct tree_file files[] = { file("b/run", "new content"), file("c", "") };
	auto_fd out = put(TREE, files, ARRAY_LEN(files));

	CHECK_OK(out);
	CHECK_TREE(out, "\nf a=1\nd b\nx b/run=new content\nf c=");
}

TEST(what_is_not_there_is_left_out)
{
	struct tree_file files[] = { file("a", NULL), file("zz", NULL) };
	auto_fd out = put(TREE, files, ARRAY_LEN(files));

	CHECK_OK(out);
	CHECK_TREE(out, "\nd b\nx b/run=two\nf c=333");
}

TEST(new_files_have_their_places)
{
	struct tree_file files[] = { file("0", "first"), file("b/a", "inside"), file("d", "last") };
	auto_fd out = put(TREE, files, ARRAY_LEN(files));

	CHECK_OK(out);
	CHECK_TREE(out, "\nf 0=first\nf a=1\nd b\nf b/a=inside\nx b/run=two\nf c=333\nf d=last");
}

TEST(what_has_no_place_is_refused)
{
	struct tree_file unordered[] = { file("c", "x"), file("a", "x") };
	struct tree_file twice[] = { file("c", "x"), file("c", "x") };
	struct tree_file folder[] = { file("b", "x") };
	struct tree_file orphan[] = { file("nowhere/x", "x") };

	CHECK_INT(put(TREE, unordered, 2), -1);
	CHECK_STR(err.text, "'c' and 'a' are not in order");
	CHECK_INT(put(TREE, twice, 2), -1);
	CHECK_INT(put(TREE, folder, 1), -1);
	CHECK_STR(err.text, "'b' is no file in the tree");
	CHECK_INT(put(TREE, orphan, 1), -1);
	CHECK(strstr(err.text, "put 'nowhere/x' into a tree"));
}
