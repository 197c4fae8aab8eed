/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_command.h"

#include "tests/lib/check.h"

TEST(commands_of_a_step_are_counted_from_the_second_on)
{
	struct evaluation_job job = { .prefix = NULL };
	char name[COMMAND_NAME_MAX];

	command_name(&job, "compile", 0, name);
	CHECK_STR(name, "compile");
	command_name(&job, "compile", 1, name);
	CHECK_STR(name, "compile-2");
	job.prefix = "unseen-";
	command_name(&job, "perf-01-baseline", 11, name);
	CHECK_STR(name, "unseen-perf-01-baseline-12");
}
