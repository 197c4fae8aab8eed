/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

void opened_done(struct opened *opened)
{
	for (size_t i = 0; i < opened->plan.task_count; i++)
		fd_close(&opened->plan.task_fds[i]);
	for (size_t i = 0; i < opened->plan.agent_count; i++)
		fd_close(&opened->plan.agents[i].program_fd);
	policy_file_done(&opened->plan.policy);
	fd_close(&opened->plan.aka.fd);
	fd_close(&opened->plan.aka.set_fd);
	fd_close(&opened->plan.aka.heldout_fd);
	fd_close(&opened->aka_config_fd);
	aka_config_done(&opened->aka_config);
	arena_done(&opened->arena);
	fd_close(&opened->config_fd);
	run_config_done(&opened->config);
}

int opened_input(int folder_fd, const char *path, int flags, const char *what, struct err *err)
{
	int fd = openat(folder_fd, path, flags | O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, "%s '%s'", what, path);
		err->kind = ERR_INPUT;
	}
	return fd;
}

int opened_file(int folder_fd, const char *path, const char *what, struct err *err)
{
	auto_fd fd = opened_input(folder_fd, path, O_NONBLOCK | O_NOCTTY, what, err);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "%s '%s': it is no regular file", what, path);
	return fd_take(&fd);
}

static int open_task(int folder_fd, const char *path, struct err *err)
{
	auto_fd fd = opened_input(folder_fd, path, O_DIRECTORY, "task", err);

	if (fd < 0 && err->sys == ENOENT && !strchr(path, '/'))
		return err_set(err, ERR_INPUT,
			       "task '%s': there is no such folder; 'proctor tasks list' shows "
			       "those of the tasks that came with proctor",
			       path);
	if (fd >= 0 && faccessat(fd, "task.yaml", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return err_set(err, ERR_INPUT,
			       "task '%s': there is no task.yaml in this folder; 'proctor tasks "
			       "list %s' shows tasks in those below it",
			       path, path);
	return fd_take(&fd);
}

int opened_task(struct opened *opened, int folder_fd, const char *path, struct err *err)
{
	struct run_plan *plan = &opened->plan;
	int fd;

	if (plan->task_count == RUN_TASKS_MAX)
		return err_set(err, ERR_USAGE, "more than %d tasks", RUN_TASKS_MAX);
	fd = open_task(folder_fd, path, err);
	if (fd < 0)
		return -1;
	plan->task_paths[plan->task_count] = path;
	plan->task_fds[plan->task_count++] = fd;
	return 0;
}

int opened_agent(struct opened *opened, int folder_fd, const char *name, const char *solution,
		 const char *program, struct err *err)
{
	struct run_plan *plan = &opened->plan;
	struct run_agent agent = { .name = name, .solution = solution, .program_fd = -1 };

	if (plan->agent_count == RUN_AGENTS_MAX)
		return err_set(err, ERR_USAGE, "more than %d agents", RUN_AGENTS_MAX);
	for (size_t i = 0; i < plan->agent_count; i++)
		if (strcmp(plan->agents[i].name, name) == 0)
			return err_set(err, ERR_USAGE, "agent '%s' is given twice", name);
	if (!solution) {
		agent.program_fd = opened_file(folder_fd, program, "agent", err);
		if (agent.program_fd < 0)
			return -1;
	}
	plan->agents[plan->agent_count++] = agent;
	return 0;
}

int opened_policy(struct opened *opened, int folder_fd, const char *path, struct err *err)
{
	return policy_file_open(&opened->plan.policy, folder_fd, path, err);
}

int opened_config_folder(struct opened *opened, const char *path, const char **name_out,
			 struct err *err)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	if ((size_t) (slash ? slash - path : 0) >= sizeof(folder) - 1)
		return err_set(err, ERR_INPUT, "run plan: its path is too long");
	memcpy(folder, path, slash ? (size_t) (slash - path) + 1 : 0);
	folder[slash ? slash - path + 1 : 0] = '\0';
	opened->config_fd =
		opened_input(AT_FDCWD, slash ? folder : ".", O_DIRECTORY, "the folder", err);
	*name_out = slash ? slash + 1 : path;
	return opened->config_fd < 0 ? -1 : 0;
}

static int open_agents(struct opened *opened, const char *name, struct err *err)
{
	const struct run_config *config = &opened->config;

	for (uint64_t i = 0; i < config->agent_count; i++) {
		const struct run_config_agent *agent = &config->agents[i];

		if (opened_agent(opened, opened->config_fd, agent->name, agent->solution,
				 agent->program, err) < 0)
			return err_wrap(err, "%s:%d", name, agent->line);
		opened->plan.agents[i].where =
			arena_printf(&opened->config.arena, "%s:%d", name, agent->line);
	}
	return 0;
}

/* Whoever comes from that benchmark has files of another kind. */
static int hint_at_aka(int folder_fd, const char *name, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err ignored = ERR_INIT;
	auto_fd fd = opened_file(folder_fd, name, "run plan", &ignored);

	if (fd < 0 || io_read_fd(fd, RUN_CONFIG_FILE_MAX, name, &text, &ignored) < 0 ||
	    !aka_config_is(text.text, text.len))
		return -1;
	return err_set(
		err, ERR_INPUT,
		"'%s' is a run configuration of AgentKernelArena: say where its checkout is, "
		"with --aka FOLDER, and who sits down to its tasks, with --agent",
		name);
}

int opened_config(struct opened *opened, const char *name, struct err *err)
{
	struct run_config *config = &opened->config;
	struct run_plan *plan = &opened->plan;

	if (run_config_load(opened->config_fd, name, config, err) < 0)
		return hint_at_aka(opened->config_fd, name, err);
	for (uint64_t i = 0; i < config->task_count; i++)
		if (opened_task(opened, opened->config_fd, config->tasks[i].path, err) < 0)
			return err_wrap(err, "%s:%d", config->tasks[i].file, config->tasks[i].line);
	if (open_agents(opened, name, err) < 0)
		return -1;
	if (config->policy && opened_policy(opened, opened->config_fd, config->policy, err) < 0)
		return err_wrap(err, "%s:%d: key 'policy'", name, config->policy_line);
	plan->name = config->name;
	plan->labels = config->labels;
	plan->label_count = config->label_count;
	plan->repeats = (uint32_t) config->repeats;
	plan->seats = (uint32_t) config->seats;
	plan->retries = config->retries == RUN_CONFIG_AS_POLICY ? -1 : (int64_t) config->retries;
	return 0;
}
