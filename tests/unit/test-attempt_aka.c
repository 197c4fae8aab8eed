/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_aka.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"
#include "tests/lib/tree.h"

static struct runs runs;
static struct record record;

/* Correct is "right", and its time stands behind it. */
#define RUNNER                                               \
	"case $1 in\ncompile) test -s kernel;;\n"            \
	"correctness) grep -q right kernel && echo pass;;\n" \
	"performance) " RUNS_AKA_REPORT("sed s/right// kernel") ";;\nesac\n"

static void run_script(const char *script)
{
	runs_aka(&runs, RUNNER, "right 2.0\n", NULL);
	runs_add(&runs, script);
	runs_open(&runs);
	record = runs_carry_out(&runs);
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
}

TEST(what_is_editable_is_carried_over_and_nothing_else)
{
	run_script("#!/bin/sh\necho 'right 1.0' >kernel; echo 'exit 0' >run.sh\n"
		   "mkdir build; echo '[]' >build/performance_report.json; echo >conftest.py");
	CHECK(record.is_built);
	CHECK_STR(record.seen.kind, "VALID");
	CHECK_STR(record.seen.verdict, "FAST");
	CHECK(record.aka.is_there && record.aka.compiles && record.aka.is_correct);
	CHECK(record.aka.speedup == 2 && record.aka.score == 320);
	CHECK(record.aka.strict_speedup == 2 && record.aka.strict_score == 320);
	CHECK_STR(record.tier, "IN-PROCESS");
	CHECK_INT(record.unused.total, 4);
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "record.json"), "{\"path\":\"run.sh\","));
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "task_result.yaml"), "speedup_ratio: 2.0\n"));
	runs_end(&runs);
}

TEST(what_does_not_compile_has_a_mark)
{
	run_script("#!/bin/sh\n>kernel");
	CHECK(!record.is_built);
	CHECK_STR(record.build_why, "compile: exit code 1");
	CHECK(!record.seen.kind);
	CHECK(record.aka.is_there && !record.aka.compiles && record.aka.score == 0);
	runs_end(&runs);
}

TEST(a_candidate_that_its_jail_can_not_hold_does_not_compile)
{
	runs.policy = "schema: 1\nname: small\nevaluator: { workspace: { size: 1MiB } }\n";
	run_script("#!/bin/sh\nhead -c 600000 /dev/zero >>kernel");
	CHECK(!record.is_built);
	CHECK(strstr(record.build_why, "the candidate has 6"));
	CHECK(!record.aka.compiles);
	runs_end(&runs);
}

#define TESTED                                                                     \
	"import sys\n\n\ndef work():\n    return 1\n\n\ndef test_work():\n"        \
	"    assert work() > 0\n\n\nif __name__ == '__main__':\n    test_work()\n" \
	"    print('pass')\n"

TEST(of_a_file_with_tests_only_the_functions_are_carried_over)
{
	auto_fd candidate = -1;

	runs_aka(&runs, "", TESTED, "correctness_timeout: 30\n");
	/* The file is what its commands run: so it holds its tests. */
	runs_aka_task("tested", "", TESTED, NULL);
	CHECK(unlinkat(check_folder(), "aka/tasks/triton2triton/own/config.yaml", 0) == 0);
	{
		auto_fd task = openat(check_folder(), "aka/tasks/triton2triton/own",
				      O_RDONLY | O_DIRECTORY);

		tree_make_file(task, "config.yaml",
			       "task_type: triton2triton\nsource_file_path: [kernel.py]\n"
			       "target_kernel_functions: [work]\n"
			       "compile_command: ['python3 -c \"import kernel\"']\n"
			       "correctness_command: ['python3 kernel.py']\n"
			       "performance_command: ['python3 kernel.py']\n",
			       0644);
		tree_make_file(task, "kernel.py", TESTED, 0644);
	}
	runs.plan.aka.selectors = (struct argv){ (const char *const[]){ RUNS_AKA_TASK, NULL }, 1 };
	runs_add(&runs, "#!/bin/sh\nsed -i 's/return 1/return 2/; s/assert/assert True or/' "
			"kernel.py\n");
	runs_open(&runs);
	record = runs_carry_out(&runs);
	CHECK(!record.infra);
	CHECK(record.is_built);
	CHECK_STR(record.seen.kind, "VALID");
	candidate = openat(check_folder(), RUNS_AKA_ATTEMPT "candidate.tree", O_RDONLY);
	{
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_OK(tree_text_fd(candidate, &text, &err));
		CHECK(strstr(text.text, "return 2"));
		CHECK(!strstr(text.text, "assert True"));
	}
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "record.json"),
		     "\"carried\":{\"replaced\":1,\"added\":0,\"missing\":0,\"idle\":1,"));
	fd_close(&candidate);
	runs_end(&runs);
}
