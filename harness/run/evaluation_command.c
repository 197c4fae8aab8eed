/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_command.h"

#include <stdio.h>

#include "sandbox/base/fd.h"

void command_done(struct command *command)
{
	fd_close(&command->left_fd);
	evaluator_result_done(&command->result);
}

int command_run(struct command *command, struct err *err)
{
	const struct evaluation_job *job = command->job;
	const struct aka_action *action = &job->task->steps[command->step];
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct evaluator_job what = {
		.run = job->run,
		.name = command->name,
		.folder_fd = job->folder_fd,
		.tree_fd = command->tree_fd,
		.wall_s = action->wall_s,
		.argv = aka_command_plan(&action->commands[command->index],
					 job->run->planned.aka.python, action->extra, &arena),
	};
	int result;

	job->say(job->user, command->name);
	command->left_fd = what.left_fd = evaluator_file(job->folder_fd, err);
	if (what.left_fd < 0)
		return -1;
	result = evaluator_run(&what, &command->result, err);
	*job->stopped = command->result.stopped;
	return result < 0 ? err_wrap(err, "%s", command->name) : 0;
}

void command_name(const struct evaluation_job *job, const char *step, size_t index,
		  char out[COMMAND_NAME_MAX])
{
	const char *prefix = job->prefix ? job->prefix : "";

	if (index == 0)
		snprintf(out, COMMAND_NAME_MAX, "%s%s", prefix, step);
	else
		snprintf(out, COMMAND_NAME_MAX, "%s%s-%zu", prefix, step, index + 1);
}
