/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluator.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/tree.h"

static struct jails jails;
static struct run run;
static struct evaluator_result result;
static struct err err;

static void open_run(void)
{
	jails_start(&jails);
	run.stop_fd = -1;
	run.launcher = &jails.launcher;
	run.policy = policy_default();
	run.policy.evaluator.output = 100000;
	run.planned.aka.python = "/usr/bin/python3";
}

/* Runs `sh -c script` over the tree. Return: what it left. */
static int evaluate(const char *script, const char *tree, int *result_out)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	auto_fd stream = tree_fd(tree);
	int left = tree_empty_fd();
	static int number;
	char name[16];
	const struct evaluator_job job = {
		.run = &run,
		.name = name,
		.folder_fd = check_folder(),
		.tree_fd = stream,
		.argv = { argv, 3 },
		.wall_s = 2,
		.left_fd = left,
	};

	snprintf(name, sizeof(name), "run%d", number++);
	result = EVALUATOR_RESULT_INIT;
	err = (struct err) ERR_INIT;
	*result_out = evaluator_run(&job, &result, &err);
	return left;
}

TEST(a_tree_goes_in_and_what_was_made_of_it_comes_out)
{
	int done;
	auto_fd left = -1;

	open_run();
	left = evaluate("cat a; echo 2 >b; rm a; echo >&2 e", "\nf a=1", &done);
	CHECK_OK(done);
	CHECK(result.said.is_success && result.has_left);
	CHECK_STR(result.said.out.text, "1");
	CHECK_STR(result.said.err.text, "e\n");
	CHECK_STR(result.why, "");
	CHECK_TREE(left, "\nf b=2\n");
	CHECK(result.wall_ns > 0);
	evaluator_result_done(&result);
	fd_close(&left);
	jails_end(&jails);
}

TEST(caches_are_fresh_and_python_leaves_no_bytecode)
{
	int done;
	auto_fd left = -1;

	open_run();
	left = evaluate("echo $HOME $TRITON_CACHE_DIR $PYTHONDONTWRITEBYTECODE "
			"$AGENT_KERNEL_ARENA_PYTHON; ls /tmp; ls /sys/class/net 2>/dev/null",
			"\nf a=1", &done);
	CHECK_OK(done);
	CHECK(strstr(result.said.out.text, "/tmp /tmp/triton 1 /usr/bin/python3\n"));
	evaluator_result_done(&result);
	fd_close(&left);
	jails_end(&jails);
}

TEST(however_a_command_ends_is_a_result)
{
	static const struct {
		const char *script, *why;
	} rows[] = {
		{ "exit 3", "exit code 3" },
		{ "kill -ABRT $$", "ended by signal 6" },
		{ "sleep 20", "timeout" },
		{ "head -c 200000 /dev/zero", "output" },
	};

	open_run();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int done;
		auto_fd left = evaluate(rows[i].script, "\nf a=1", &done);

		CHECK_OK(done);
		CHECK(left >= 0 && !result.said.is_success);
		CHECK_STR(result.why, rows[i].why);
		evaluator_result_done(&result);
	}
	jails_end(&jails);
}

TEST(output_that_is_no_text_is_a_failed_command)
{
	int done;
	auto_fd left = -1;

	open_run();
	left = evaluate("printf '\\377'", "\nf a=1", &done);
	CHECK_OK(done);
	CHECK(!result.said.is_success);
	CHECK(strstr(result.said.err.text, "codec can't decode"));
	evaluator_result_done(&result);
	fd_close(&left);
	jails_end(&jails);
}
