/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/brought.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/planned.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

static struct brought brought = { .arena = { .newest = NULL } };
static struct brought_difference *found;

/* A run with one task of this tree, and one agent of these files. */
static void read_run(const char *run, uint8_t tree, const char *agent, bool is_solution,
		     uint8_t files)
{
	struct digest digests[] = { { { files } } };
	struct planned_task task = { .name = "matmul", .tree = { { tree } }, .agents = digests };
	struct planned_agent what = { .name = agent, .is_solution = is_solution };
	const struct planned planned = { .run = run,
					 .tasks = &task,
					 .agents = &what,
					 .task_count = 1,
					 .agent_count = 1,
					 .repeats = 1,
					 .seats = 1 };
	struct err err = ERR_INIT;
	struct digest digest;

	CHECK_OK(planned_write(&planned, check_folder(), &digest, &err));
	brought_read(&brought, check_folder(), run, &digest);
}

static size_t compare(void)
{
	mem_free(&found);
	return brought_compare(&brought, &found);
}

static void end(void)
{
	mem_free(&found);
	brought_done(&brought);
	CHECK_INT(brought.count, 0);
}

TEST(agents_of_one_name_and_other_files_are_told_with_both_runs)
{
	read_run("run-1", 1, "mine", false, 7);
	read_run("run-2", 1, "mine", false, 7);
	read_run("run-3", 2, "mine", false, 8);
	read_run("run-4", 2, "mine", false, 9);
	read_run("run-1", 1, "other", false, 5);
	CHECK_INT(compare(), 1);
	CHECK_STR(found[0].agent, "mine");
	CHECK_STR(found[0].run, "run-1");
	CHECK_STR(found[0].other, "run-3");
	CHECK(!found[0].task);
	end();
}

TEST(agents_of_the_same_files_are_one)
{
	CHECK_INT(compare(), 0);
	read_run("run-1", 1, "mine", false, 7);
	read_run("run-2", 2, "mine", false, 7);
	read_run("run-1", 1, "other", true, 8);
	read_run("run-2", 1, "other", true, 8);
	CHECK_INT(compare(), 0);
	end();
}

TEST(solutions_are_compared_on_the_same_version_of_a_task)
{
	read_run("run-1", 1, "mine", true, 7);
	read_run("run-2", 2, "mine", true, 8);
	CHECK_INT(compare(), 0);
	read_run("run-3", 2, "mine", true, 9);
	CHECK_INT(compare(), 1);
	CHECK_STR(found[0].task, "matmul");
	CHECK_STR(found[0].run, "run-2");
	CHECK_STR(found[0].other, "run-3");
	end();
}

TEST(a_program_and_a_solution_are_not_the_same)
{
	read_run("run-1", 1, "mine", true, 7);
	read_run("run-2", 1, "mine", false, 7);
	CHECK_INT(compare(), 1);
	end();
}

TEST(of_a_plan_that_is_not_there_or_another_nothing_is_known)
{
	const struct digest none = { { 0 } };

	read_run("run-1", 1, "mine", false, 7);
	brought_read(&brought, check_folder(), "run-2", &none);
	CHECK(unlinkat(check_folder(), PLANNED_FILE, 0) == 0);
	brought_read(&brought, check_folder(), "run-3", &none);
	CHECK_INT(brought.count, 1);
	end();
}

TEST(a_plan_that_makes_no_sense_is_passed_over)
{
	static const char *const texts[] = {
		"", "[]", "{\"tasks\":[{}],\"agents\":[{}]}",
		"{\"tasks\":[{\"name\":\"a\",\"agents\":[]}],\"agents\":[{\"name\":\"x\"}]}"
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		auto_fd fd = openat(check_folder(), PLANNED_FILE,
				    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		const struct digest digest = digest_sha256(texts[i], strlen(texts[i]));

		CHECK_INT(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		brought_read(&brought, check_folder(), "run-1", &digest);
		CHECK_INT(brought.count, 0);
	}
	end();
}
