/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/cli/options.h"
#include "harness/cli/running.h"
#include "sandbox/base/fd.h"

struct run_options {
	struct texts agents;
	const char *policy, *folder;
	uint64_t repeats, seats, retries;
	int json_fd;
};

#define AT(member) offsetof(struct run_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "agent",    "scripted:WHAT", OPTION_TEXTS, AT(agents), 0, 0, "a solution of the task, or a program if WHAT has a '/'; may be repeated" },
	{ "attempts", "COUNT",  OPTION_COUNT, AT(repeats), 1, RUN_ATTEMPTS_MAX, "attempts of each agent on each task (1)" },
	{ "policy",   "FILE",   OPTION_TEXT,  AT(policy),  0, 0, "the limits of the jails; see policies/README.md (built in)" },
	{ "run",      "FOLDER", OPTION_TEXT,  AT(folder),  0, 0, "where the run is kept; must not exist (./run-ID)" },
	{ "seats",    "COUNT",  OPTION_COUNT, AT(seats),   1, RUN_SEATS_MAX, "attempts at one time (1)" },
	{ "retries",  "COUNT",  OPTION_COUNT, AT(retries), 0, 10, "new attempts for one that ended INFRA (the policy's)" },
	{ "json",     "[=FD]",  OPTION_FD,    AT(json_fd), 0, 0, "write the report as one JSON object to FD (1)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor run [OPTION]… --agent scripted:WHAT TASK…",
	.about = "Sits each agent down to each TASK (a folder with a task.yaml), freezes what it "
		 "leaves, "
		 "and marks it.\nExit codes: 0 every attempt is VALID; 1 some are not; 2 usage; 3 "
		 "a task or "
		 "policy; 4 this host; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* Everything that has to be opened while we are root. */
struct opened {
	struct run_plan plan;
	char id[64];
};

static void opened_done(struct opened *opened)
{
	for (size_t i = 0; i < opened->plan.task_count; i++)
		fd_close(&opened->plan.task_fds[i]);
	for (size_t i = 0; i < opened->plan.agent_count; i++)
		fd_close(&opened->plan.agents[i].program_fd);
	fd_close(&opened->plan.policy_fd);
}

/* Sorts by time, and two runs of one second differ. */
static int make_id(char *out, size_t room, struct err *err)
{
	uint32_t random;
	struct tm now;
	time_t seconds = time(NULL);

	if (getrandom(&random, sizeof(random), 0) != (ssize_t) sizeof(random))
		return err_sys(err, "draw a random number");
	gmtime_r(&seconds, &now);
	snprintf(out, room, "%04d%02d%02dT%02d%02d%02dZ-%06x", now.tm_year + 1900, now.tm_mon + 1,
		 now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec, random & 0xffffff);
	return 0;
}

static int open_input(const char *path, int flags, const char *what, struct err *err)
{
	int fd = open(path, flags | O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, "%s '%s'", what, path);
		err->kind = ERR_INPUT;
	}
	return fd;
}

/* A file with text; what could keep us waiting, or never ends, is none. */
static int open_file(const char *path, const char *what, struct err *err)
{
	auto_fd fd = open_input(path, O_NONBLOCK | O_NOCTTY, what, err);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "%s '%s': it is no regular file", what, path);
	return fd_take(&fd);
}

static int open_agent(const char *name, struct run_agent *out, struct err *err)
{
	static const char prefix[] = "scripted:";
	const char *what = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || what[0] == '\0')
		return err_set(err, ERR_USAGE,
			       "option --agent: '%s' is not scripted:SOLUTION or "
			       "scripted:./PROGRAM, the agents that there are so far",
			       name);
	*out = (struct run_agent){ .name = name, .solution = what, .program_fd = -1 };
	if (!strchr(what, '/'))
		return 0;
	out->solution = NULL;
	out->program_fd = open_file(what, "agent", err);
	return out->program_fd < 0 ? -1 : 0;
}

/* One that is there and empty is as good as a new one. */
static int make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno == EEXIST && rmdir(path) == 0 && mkdir(path, 0755) == 0)
		return 0;
	if (errno == ENOTEMPTY)
		err_set(err, ERR_INPUT,
			"the run's folder '%s' is not empty: name a new one, or go on with its run "
			"by `proctor resume`",
			path);
	else
		err_sys(err, "create the run's folder '%s'", path);
	err->kind = ERR_INPUT;
	return -1;
}

static int open_folder(struct running *running, const char *id, const char *path,
		       const struct account *account, struct err *err)
{
	snprintf(running->folder, sizeof(running->folder), "%s", path ? path : "");
	if (!path)
		snprintf(running->folder, sizeof(running->folder), "run-%s", id);
	if (make_folder(running->folder, err) < 0)
		return -1;
	running->place.folder_fd =
		open_input(running->folder, O_DIRECTORY | O_NOFOLLOW, "the run's folder", err);
	if (running->place.folder_fd < 0)
		return -1;
	if (fchown(running->place.folder_fd, account->uid, account->gid) < 0)
		return err_sys(err, "give '%s' to '%s'", running->folder, account->name);
	return 0;
}

static int open_all(struct opened *opened, const struct run_options *options, int count,
		    char **paths, struct err *err)
{
	struct run_plan *plan = &opened->plan;

	if (make_id(opened->id, sizeof(opened->id), err) < 0)
		return -1;
	plan->id = opened->id;
	plan->repeats = (uint32_t) options->repeats;
	plan->seats = (uint32_t) options->seats;
	plan->retries = options->retries == UINT64_MAX ? -1 : (int64_t) options->retries;
	for (size_t i = 0; i < options->agents.count; i++, plan->agent_count++)
		if (open_agent(options->agents.items[i], &plan->agents[i], err) < 0)
			return -1;
	for (int i = 0; i < count; i++, plan->task_count++) {
		plan->task_paths[i] = paths[i];
		plan->task_fds[i] = open_input(paths[i], O_DIRECTORY, "task", err);
		if (plan->task_fds[i] < 0)
			return -1;
	}
	if (options->policy) {
		plan->policy_path = options->policy;
		plan->policy_fd = open_file(options->policy, "policy", err);
		if (plan->policy_fd < 0)
			return -1;
	}
	return 0;
}

static int begin(const struct cli *cli, struct running *running, struct opened *opened,
		 const struct run_options *options, int count, char **paths, struct err *err)
{
	struct account account;

	if (account_find(cli->sudo_uid, &account, err) < 0 ||
	    open_all(opened, options, count, paths, err) < 0 ||
	    open_folder(running, opened->id, options->folder, &account, err) < 0 ||
	    running_become(running, cli, &account, err) < 0)
		return -1;
	running->json_fd = options->json_fd;
	return running_carry_out(running, cli, &opened->plan, err);
}

int cli_run(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(running_done) struct running running = RUNNING_INIT;
	cleanup(opened_done) struct opened opened = { .plan = { .policy_fd = -1, .retries = -1 } };
	struct run_options options = {
		.repeats = 1, .seats = 1, .retries = UINT64_MAX, .json_fd = -1
	};
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first == argc || options.agents.count == 0)
		return err_set(err, ERR_USAGE,
			       "a run needs a TASK and an --agent; see proctor run --help");
	if (argc - first > RUN_TASKS_MAX)
		return err_set(err, ERR_USAGE, "more than %d tasks", RUN_TASKS_MAX);
	return begin(cli, &running, &opened, &options, argc - first, argv + first, err);
}
