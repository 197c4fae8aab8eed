/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_tree.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

static struct arena arena;
static struct aka_tree tree = AKA_TREE_INIT;
static struct err err;

static const char *found(void)
{
	cleanup(str_done) struct str out = STR_INIT;

	aka_tree_done(&tree);
	if (aka_tree_open(check_folder(), "top", &tree, &err) < 0)
		return err.text;
	for (size_t i = 0; i < tree.count; i++)
		str_addf(&out, "%s%s%s ", tree.entries[i].name, tree.entries[i].why ? "!" : "",
			 tree.entries[i].why ? tree.entries[i].why : "");
	return arena_copy(&arena, out.text, out.len);
}

TEST(every_folder_with_a_config_is_a_task_in_the_order_of_the_names)
{
	hosts_put("tasks/b/two/config.yaml", "");
	hosts_put("tasks/a-b/config.yaml", "");
	hosts_put("tasks/a/one/config.yaml", "");
	hosts_put("tasks/a/one/below/config.yaml", "");
	hosts_put("tasks/a/none/README.md", "");
	hosts_put("tasks/config.yaml", "");
	hosts_put("elsewhere/config.yaml", "");
	hosts_put("tasks/.git/config.yaml", "");
	hosts_link("tasks/link", "b");
	CHECK_STR(found(), "a-b a/one a/one/below b/two ");
	aka_tree_done(&tree);
	CHECK_INT(tree.fd, -1);
}

TEST(a_folder_without_tasks_is_no_checkout)
{
	CHECK_STR(found(), "'top' is no checkout of AgentKernelArena: open 'tasks': No such file "
			   "or directory");
	CHECK_INT(err.kind, ERR_INPUT);
	hosts_put("tasks/README.md", "");
	CHECK_STR(found(), "");
}

TEST(a_link_in_the_place_of_the_tasks_is_not_followed)
{
	hosts_put("other/a/config.yaml", "");
	CHECK(symlinkat("other", check_folder(), "tasks") == 0);
	CHECK(strstr(found(), "is no checkout of AgentKernelArena"));
}

TEST(what_lies_too_deep_is_told)
{
	cleanup(str_done) struct str path = STR_INIT;

	str_addf(&path, "tasks");
	for (int i = 0; i < AKA_DEPTH_MAX + 1; i++)
		str_addf(&path, "/d");
	str_addf(&path, "/config.yaml");
	hosts_put(path.text, "");
	CHECK(strstr(found(), "/d!what lies deeper is not looked into"));
	CHECK_INT(tree.count, 1);
}

TEST(a_folder_that_can_not_be_read_is_told_and_the_others_found)
{
	hosts_put("tasks/a/config.yaml", "");
	hosts_put("tasks/b/c/config.yaml", "");
	if (geteuid() == 0)
		CHECK(fchownat(check_folder(), "tasks/b", 1, 1, 0) == 0 &&
		      setresgid(65534, 65534, 65534) == 0);
	CHECK(fchmodat(check_folder(), "tasks/b", geteuid() == 0 ? 0700 : 0, 0) == 0);
	if (geteuid() == 0)
		CHECK(fchmod(check_folder(), 0755) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHECK_STR(found(), "a b!open the folder: Permission denied ");
	_exit(0); /* who dropped root can not remove the folder: the library's parent does */
}
