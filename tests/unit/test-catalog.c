/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/catalog.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

static struct err err;
static struct str seen;

static int note(void *user, int folder_fd, const char *path, const struct err *why,
		struct err *error)
{
	(void) user;
	str_addf(&seen, "%s%s\n", path, why ? why->text : "");
	CHECK_INT(folder_fd >= 0, !why);
	if (strstr(path, "enough"))
		return err_set(error, ERR_INPUT, "enough");
	return 0;
}

static int walk(void)
{
	static const struct catalog_visitor visitor = { note, NULL };

	seen = STR_INIT;
	return catalog_walk(check_folder(), "top", &visitor, &err);
}

TEST(tasks_are_found_in_the_order_of_their_names_and_nothing_else)
{
	hosts_put("c2c/zeta/task.yaml", "");
	hosts_put("c2c/alpha/task.yaml", "");
	hosts_put("hip/one/two/task.yaml", "");
	hosts_put("c2c/none/README.md", "");
	hosts_put("README.md", "");
	hosts_put(".git/task.yaml", "");
	CHECK(symlinkat("c2c", check_folder(), "link") == 0);
	CHECK_OK(walk());
	CHECK_STR(seen.text, "top/c2c/alpha\ntop/c2c/zeta\ntop/hip/one/two\n");
	str_done(&seen);
}

TEST(a_task_is_found_where_it_is_named_and_has_no_task_in_it)
{
	hosts_put("task.yaml", "");
	hosts_put("workspace/task.yaml", "");
	CHECK_OK(walk());
	CHECK_STR(seen.text, "top\n");
	str_done(&seen);
}

TEST(a_folder_too_deep_is_not_looked_into)
{
	hosts_put("1/2/3/4/task.yaml", "");
	hosts_put("1/2/3/5/6/task.yaml", "");
	CHECK_OK(walk());
	CHECK_STR(seen.text, "top/1/2/3/4\n");
	str_done(&seen);
}

TEST(a_folder_that_can_not_be_read_is_told_and_the_walk_goes_on)
{
	hosts_put("a/task.yaml", "");
	hosts_put("closed/task.yaml", "");
	hosts_put("z/task.yaml", "");
	if (geteuid() == 0)
		CHECK(fchownat(check_folder(), "closed", 1, 1, 0) == 0 &&
		      setresgid(65534, 65534, 65534) == 0);
	CHECK(fchmodat(check_folder(), "closed", geteuid() == 0 ? 0700 : 0, 0) == 0);
	if (geteuid() == 0)
		CHECK(fchmod(check_folder(), 0755) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHECK_OK(walk());
	CHECK_STR(seen.text, "top/a\ntop/closedopen the folder: Permission denied\ntop/z\n");
	str_done(&seen);
	_exit(0); /* who dropped root can not remove the folder: the library's parent does */
}

TEST(a_visitor_ends_the_walk_with_its_own_error)
{
	hosts_put("enough/task.yaml", "");
	hosts_put("more/task.yaml", "");
	CHECK_INT(walk(), -1);
	CHECK_STR(err.text, "enough");
	CHECK_STR(seen.text, "top/enough\n");
	str_done(&seen);
}

TEST(more_entries_than_anybody_needs_are_refused)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	size_t count = 7;
	char name[32];

	for (int i = 0; i <= CATALOG_NAMES_MAX - 2; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CHECK(symlinkat("x", check_folder(), name) == 0);
	}
	CHECK(!catalog_names(check_folder(), &arena, &count, &err));
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "the folder has more than 10000 entries");
	CHECK_INT(count, 7);
	CHECK(!catalog_names(-1, &arena, &count, &err));
}
