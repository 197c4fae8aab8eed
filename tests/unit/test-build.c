/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/build.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/tree.h"

static struct jails jails;
static struct run run;
static struct build_result result;
static struct err err;

static void open_run(void)
{
	jails_start(&jails);
	run.stop_fd = -1;
	run.launcher = &jails.launcher;
	run.policy = policy_default();
}

/* Builds @tree with `sh -c @script`, which has to leave "x.so"; $0 is the folder for it. */
static int build(const char *script, const char *tree, int *out_fd)
{
	static const char *const out[] = { "x.so" };
	const char *const argv[] = { "/bin/sh", "-c", script, "{out}" };
	struct task_build what = {
		.argv = { argv, ARRAY_LEN(argv) },
		.out = { out, ARRAY_LEN(out) },
		.wall_ms = 1500,
	};
	auto_fd tree_stream = tree_fd(tree);
	static int number;
	char name[16];

	snprintf(name, sizeof(name), "build%d", number++);
	err = (struct err) ERR_INIT;
	*out_fd = tree_empty_fd();
	return build_tree(&(struct build_job){ .run = &run,
					       .build = &what,
					       .tree_fd = tree_stream,
					       .folder_fd = check_folder(),
					       .name = name,
					       .products_fd = *out_fd },
			  &result, &err);
}

TEST(what_the_build_leaves_comes_out_with_its_digest)
{
	auto_fd one = -1, other = -1;
	struct digest first;

	open_run();
	CHECK_OK(
		build("mkdir $0/d; cp b $0/x.so; cp a $0/d/y; echo seen", "\nf a=1\nf b=22", &one));
	CHECK(result.is_built);
	CHECK_STR(result.why, "");
	CHECK_TREE(one, "\nd d\nf d/y=1\nf x.so=22");
	CHECK_STR(jails_text("build0.stdout"), "seen\n");
	first = result.digest;
	CHECK_OK(build("cp b $0/x.so; mkdir $0/d; cp a $0/d/y", "\nf a=1\nf b=22", &other));
	CHECK(memcmp(&first, &result.digest, sizeof(first)) == 0);
	fd_close(&one);
	fd_close(&other);
	jails_end(&jails);
}

TEST(a_build_that_does_not_build_is_a_result_with_words)
{
	static const struct {
		const char *script, *why;
	} rows[] = {
		{ "echo no such thing >&2; exit 3", "the build ended with code 3" },
		{ "kill -ABRT $$", "the build was ended by signal 6" },
		{ "exit 0", "the build left no 'x.so'" },
		{ "mkdir $0/x.so", "the build left no 'x.so'" },
		{ "ln -s /etc/passwd $0/x.so", "the build left no 'x.so'" },
		{ "truncate -s 40M $0/x.so", "the build's 'x.so' is larger than 32 MiB" },
		{ "i=0; while [ $i -lt 600 ]; do echo >$0/$i; i=$((i+1)); done; echo >$0/x.so",
		  "the build left no 'x.so'" },
		{ "echo >$0/x.so; while :; do :; done", "the build was ended: timeout" },
		{ "echo >$0/x.so; yes", "the build was ended: output" },
	};
	char name[32];

	open_run();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_fd out = -1;

		CHECK_OK(build(rows[i].script, "\nf a=1", &out));
		CHECK(!result.is_built);
		CHECK_STR(result.why, rows[i].why);
		CHECK(!result.stopped);
		snprintf(name, sizeof(name), "build%zu.stderr", i);
		CHECK_STR(jails_text(name), i == 0 ? "no such thing\n" : "");
	}
	jails_end(&jails);
}

TEST(a_compiler_that_is_not_there_is_the_builds_failure)
{
	static const char *const argv[] = { "/nonexistent/cc" };
	static const char *const out[] = { "x.so" };
	struct task_build what = { .argv = { argv, 1 }, .out = { out, 1 } };
	auto_fd tree = -1, products = -1;

	open_run();
	tree = tree_fd("\nf a=1");
	products = tree_empty_fd();
	CHECK_OK(build_tree(&(struct build_job){ .run = &run,
						 .build = &what,
						 .tree_fd = tree,
						 .folder_fd = check_folder(),
						 .name = "b",
						 .products_fd = products },
			    &result, &err));
	CHECK(!result.is_built);
	CHECK_STR(result.why,
		  "jail 'build': start: execute '/nonexistent/cc': No such file or directory");
	fd_close(&tree);
	fd_close(&products);
	jails_end(&jails);
}

TEST(what_fails_on_our_side_is_an_error)
{
	auto_fd stop = -1, out = -1;

	open_run();
	stop = eventfd(1, EFD_CLOEXEC);
	run.stop_fd = stop;
	CHECK_INT(build("sleep 20", "\nf a=1", &out), -1);
	CHECK_STR(err.text, "stopped by the operator");
	CHECK(result.stopped && !result.is_built);
	run.stop_fd = -1;
	fd_close(&stop);
	fd_close(&out);
	process_kill(&jails.launcher.process);
	CHECK_INT(build("exit 0", "\nf a=1", &out), -1);
	CHECK(strstr(err.text, "ask the launcher for jail 'build': "));
	CHECK(!result.stopped && !result.is_built);
	fd_close(&out);
	launcher_done(&jails.launcher);
	CHECK_INT(jails_count_fds(getpid()), jails.fds);
}
