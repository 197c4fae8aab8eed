/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/given.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/given_limits.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static struct err err;
static struct policy policy;
static struct given given;

static void put_tree(const char *name, const char *text)
{
	auto_fd from = tree_fd(text);
	auto_fd to = openat(check_folder(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	char bytes[8192];
	ssize_t len = read(from, bytes, sizeof(bytes));

	CHECK(len > 0);
	CHECK_INT(write(to, bytes, (size_t) len), len);
}

static void prepare(void)
{
	int folder = check_folder();

	tree_make_file(folder, "README.md", "read me", 0644);
	tree_make_file(folder, "task.yaml", "name: t\nhidden: { odd: secret } # secret\n", 0644);
	tree_make_file(folder, "proctor-check", "the check", 0755);
	tree_make_file(folder, "proctor-worker", "the worker", 0755);
	CHECK(mkdirat(folder, "solutions", 0755) == 0);
	tree_make_file(folder, "solutions/answer.c", "secret", 0644);
	put_tree("pristine.tree", "\nf a.c=int a;\nd sub\nf sub/b.h=int b;");
	put_tree("evaluate.tree", "\nf oracle.c=int o;");
	put_tree("baseline.tree", "\nx a.so=built\nr link symlink 0");
	put_tree("oracle.tree", "\nx oracle.so=built too");
	policy = policy_default();
	given = (struct given){ .task_fd = folder,
				.trees_fd = folder,
				.programs = check_folder_path(),
				.policy = &policy };
}

TEST(an_agent_is_given_all_that_it_is_marked_by_and_nothing_else)
{
	cleanup(str_done) struct str text = STR_INIT, want = STR_INIT;
	auto_fd tree = tree_empty_fd();
	struct given_limits limits;

	prepare();
	limits = given_limits_of(&policy);
	given_limits_text(&limits, &text);
	CHECK_OK(given_pack(&given, tree, &err));
	str_addf(&want, "%s%s%s",
		 "\nf README.md=read me"
		 "\nd baseline\nx baseline/a.so=built"
		 "\nd bin\nx bin/proctor-check=the check\nx bin/proctor-worker=the worker"
		 "\nd evaluate\nf evaluate/oracle.c=int o;"
		 "\nf limits.yaml=",
		 text.text,
		 "\nd oracle\nx oracle/oracle.so=built too"
		 "\nf task.yaml="
		 "# The task as its agent is given it. It is marked on hidden cases as well, "
		 "which keep the\n# constraints in `where`.\nname: t\n"
		 "\nd workspace\nf workspace/a.c=int a;\nd workspace/sub"
		 "\nf workspace/sub/b.h=int b;");
	CHECK_TREE(tree, want.text);
}

TEST(what_is_missing_is_named)
{
	auto_fd tree = tree_empty_fd();

	prepare();
	CHECK(unlinkat(check_folder(), "oracle.tree", 0) == 0);
	CHECK_INT(given_pack(&given, tree, &err), -1);
	CHECK(strncmp(err.text, "what the agent is given: 'oracle': ", 35) == 0);
}

TEST(a_program_that_is_nowhere_is_the_hosts_fault)
{
	auto_fd tree = tree_empty_fd();

	prepare();
	CHECK(unlinkat(check_folder(), "proctor-check", 0) == 0);
	if (given_pack(&given, tree, &err) == 0)
		return; /* another one is installed */
	CHECK_INT(err.kind, ERR_HOST);
}
