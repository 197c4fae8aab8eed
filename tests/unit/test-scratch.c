/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/scratch.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/str.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static struct err err;

TEST(it_is_removed_with_all_that_is_in_it_and_nothing_beyond)
{
	struct scratch scratch = SCRATCH_INIT;
	auto_fd inner = -1;
	struct stat info;

	tree_make_file(check_folder(), "outside", "kept", 0644);
	CHECK_OK(scratch_open(check_folder_path(), "try", &scratch, &err));
	CHECK(strncmp(scratch.path, check_folder_path(), strlen(check_folder_path())) == 0);
	inner = scratch_make(&scratch, "inner", &err);
	CHECK(inner >= 0);
	tree_make_file(inner, "file", "x", 0000);
	CHECK(symlinkat("../../outside", inner, "link") == 0);
	CHECK(symlinkat(check_folder_path(), inner, "folder-link") == 0);
	CHECK(mkdirat(inner, "deep", 0755) == 0);
	scratch_done(&scratch);
	CHECK_INT(scratch.fd, -1);
	CHECK_STR(scratch.path, "");
	CHECK(fstatat(check_folder(), "outside", &info, 0) == 0);
	CHECK(rmdir(check_folder_path()) < 0); /* "outside" alone is in it */
	CHECK(unlinkat(check_folder(), "outside", 0) == 0);
	CHECK(rmdir(check_folder_path()) == 0);
	CHECK(mkdir(check_folder_path(), 0700) == 0); /* the library removes it */
	scratch_done(&scratch);
}

TEST(two_of_one_name_differ_and_a_name_is_made_once)
{
	cleanup(scratch_done) struct scratch one = SCRATCH_INIT, other = SCRATCH_INIT;
	auto_fd first = -1;

	CHECK_OK(scratch_open(check_folder_path(), "try", &one, &err));
	CHECK_OK(scratch_open(check_folder_path(), "try", &other, &err));
	CHECK(strcmp(one.path, other.path) != 0);
	first = scratch_make(&one, "a", &err);
	CHECK(first >= 0);
	CHECK_INT(scratch_make(&one, "a", &err), -1);
}

TEST(what_a_killed_program_has_left_is_removed_and_what_is_in_use_is_not)
{
	cleanup(scratch_done) struct scratch used = SCRATCH_INIT, next = SCRATCH_INIT;
	struct stat info;

	CHECK_OK(scratch_open(check_folder_path(), "try", &used, &err));
	CHECK(mkdirat(check_folder(), "try-ABCdef", 0700) == 0);
	tree_make_file(check_folder(), "try-ABCdef/big", "x", 0600);
	CHECK(mkdirat(check_folder(), "try-ABCdefg", 0700) == 0);
	CHECK(mkdirat(check_folder(), "tri-ABCdef", 0700) == 0);
	CHECK(symlinkat("try-ABCdefg", check_folder(), "try-AAAAAA") == 0);
	CHECK_OK(scratch_open(check_folder_path(), "try", &next, &err));
	CHECK(fstatat(check_folder(), "try-ABCdef", &info, 0) < 0);
	CHECK(fstatat(check_folder(), "try-ABCdefg", &info, 0) == 0);
	CHECK(fstatat(check_folder(), "tri-ABCdef", &info, 0) == 0);
	CHECK(fstatat(check_folder(), "try-AAAAAA", &info, 0) == 0);
	CHECK(stat(used.path, &info) == 0);
}

TEST(its_path_starts_at_the_root_whatever_its_parent_is_called)
{
	cleanup(scratch_done) struct scratch scratch = SCRATCH_INIT;
	cleanup(str_done) struct str deep = STR_INIT;

	CHECK(chdir(check_folder_path()) == 0);
	CHECK_OK(scratch_open(".", "try", &scratch, &err));
	CHECK(scratch.path[0] == '/');
	CHECK(chdir("/") == 0);
	scratch_done(&scratch);
	CHECK(rmdir(check_folder_path()) == 0);
	CHECK(mkdir(check_folder_path(), 0700) == 0);
	str_addf(&deep, "%s", check_folder_path());
	for (int i = 0; i < 3; i++) {
		str_addf(&deep, "/%0100d", 0);
		CHECK(mkdir(deep.text, 0700) == 0);
	}
	CHECK_INT(scratch_open(deep.text, "try", &scratch, &err), -1);
	CHECK(strstr(err.text, "its path would be longer than 255 bytes"));
}

TEST(a_parent_that_is_not_there_is_the_hosts_fault_and_is_named)
{
	struct scratch scratch = SCRATCH_INIT;

	CHECK_INT(scratch_open("/nonexistent", "try", &scratch, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "'/nonexistent'"));
	scratch_done(&scratch);
}
