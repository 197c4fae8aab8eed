/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "harness/aka/aka_timing.h"
#include "harness/cli/cli.h"
#include "harness/cli/opened.h"
#include "harness/cli/opened_aka.h"
#include "harness/cli/run_dry.h"
#include "harness/cli/running.h"
#include "harness/console/options.h"

struct run_options {
	struct texts agents;
	const char *policy, *folder, *config, *gpus;
	struct opened_aka aka;
	uint64_t repeats, seats, retries;
	bool is_dry;
	int json_fd;
};

#define AT(member) offsetof(struct run_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "agent",    "scripted:WHAT", OPTION_TEXTS, AT(agents), 0, 0, "a solution of the task, or a program if WHAT has a '/'; may be repeated" },
	{ "attempts", "COUNT",  OPTION_COUNT, AT(repeats), 1, RUN_ATTEMPTS_MAX, "attempts of each agent on each task (1)" },
	{ "config",   "FILE",   OPTION_TEXT,  AT(config),  0, 0, "a run plan, see proctor-run-plan(5), that names tasks, agents and policy; with --aka: a run configuration of AgentKernelArena, whose tasks these are" },
	{ "policy",   "NAME|FILE", OPTION_TEXT, AT(policy), 0, 0, "the limits of the jails: default, profiler, agentkernelarena, or a file; see proctor-policy(5) (default)" },
	{ "run",      "FOLDER", OPTION_TEXT,  AT(folder),  0, 0, "where the run is kept; must not exist, or be empty (./run-ID)" },
	{ "seats",    "COUNT",  OPTION_COUNT, AT(seats),   1, RUN_SEATS_MAX, "attempts at one time (1, or the run plan's)" },
	{ "retries",  "COUNT",  OPTION_COUNT, AT(retries), 0, 10, "new attempts for one that ended INFRA (the run plan's, or the policy's)" },
	{ "gpus",     "NAME,…", OPTION_TEXT,  AT(gpus),    0, 0, "which GPUs, one seat after the other: their places in the list of proctor doctor, or names of site.conf (any that are free)" },
	{ "aka",      "FOLDER", OPTION_TEXT,  AT(aka.folder),     0, 0, "the tasks are those of this checkout of AgentKernelArena that each TASK selects" },
	{ "set",      "NAME|FILE", OPTION_TEXT, AT(aka.set),   0, 0, "with --aka: those of a set, in place of TASK: paper-196, curated-60, or a file" },
	{ "arch",     "ARCH",   OPTION_TEXT,  AT(aka.arch),    0, 0, "with --aka: the architecture of the GPUs, gfx942; tasks that need another one are not run" },
	{ "gpu-model", "NAME",  OPTION_TEXT,  AT(aka.gpu_model), 0, 0, "with --aka: what its reports call the GPUs (unknown)" },
	{ "python",   "PATH",   OPTION_TEXT,  AT(aka.python),  0, 0, "with --aka: the interpreter that its commands run with, as the jail sees it (python3)" },
	{ "rounds",   "COUNT",  OPTION_COUNT, AT(aka.rounds),  1, AKA_ROUNDS_MAX, "with --aka: rounds of baseline, candidate, candidate, baseline at most (2)" },
	{ "held-out", "FOLDER", OPTION_TEXT,  AT(aka.heldout), 0, 0, "with --aka: also on shapes that agents do not know, FOLDER/TASK/held_out_shapes.yaml" },
	{ "dry-run",  NULL,     OPTION_FLAG,  AT(is_dry),  0, 0, "with --aka: tell all that would be done, and in which jails, and do nothing" },
	{ "json",     "[=FD]",  OPTION_FD,    AT(json_fd), 0, 0, "write the report as one JSON object to FD (1, in place of the tables)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage =
		"proctor run [OPTION]… --agent scripted:WHAT TASK…\n       proctor run [OPTION]… "
		"--config FILE\n       proctor run [OPTION]… --aka FOLDER --agent scripted:PROGRAM "
		"[TASK…]",
	.about = "Sits each agent down to each TASK (a folder with a task.yaml), freezes what it "
		 "leaves, "
		 "and marks it.\nExit codes: 0 every attempt is VALID; 1 some are not; 2 usage; 3 "
		 "a task or "
		 "policy; 4 this host; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

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

static int open_folder(struct running *running, const char *id, const char *path,
		       const struct account *account, struct err *err)
{
	char made[128];

	snprintf(made, sizeof(made), "run-%s", id);
	if (running_name(running, path ? path : made, err) < 0)
		return -1;
	running->place.folder_fd = run_folder_open(&running->made, running->folder, account, err);
	return running->place.folder_fd < 0 ? -1 : 0;
}

/* "scripted:WHAT", the agents that there are so far. */
static int add_agent(struct opened *opened, const char *name, struct err *err)
{
	static const char prefix[] = "scripted:";
	const char *what = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || what[0] == '\0')
		return err_set(err, ERR_USAGE,
			       "option --agent: '%s' is not scripted:SOLUTION or "
			       "scripted:./PROGRAM, the agents that there are so far",
			       name);
	if (strchr(what, '/'))
		return opened_agent(opened, AT_FDCWD, name, NULL, what, err);
	return opened_agent(opened, AT_FDCWD, name, what, NULL, err);
}

/* What only means something for tasks of AgentKernelArena. */
static int check_aka(const struct run_options *options, int count, struct err *err)
{
	const struct {
		const char *name;
		bool is_given;
	} needs[] = {
		{ "set", options->aka.set },
		{ "arch", options->aka.arch },
		{ "gpu-model", options->aka.gpu_model },
		{ "python", options->aka.python },
		{ "rounds", options->aka.rounds > 0 },
		{ "held-out", options->aka.heldout },
		{ "dry-run", options->is_dry },
	};
	const int named = (count > 0) + (options->aka.set != NULL) + (options->config != NULL);

	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		if (!options->aka.folder && needs[i].is_given)
			return err_set(err, ERR_USAGE, "option --%s: only together with --aka",
				       needs[i].name);
	if (options->aka.folder && named > 1)
		return err_set(err, ERR_USAGE,
			       "option --aka: its tasks are named by TASK, by --set or by "
			       "--config, and not by two of them");
	return 0;
}

static int open_tasks(struct opened *opened, const struct run_options *options, int count,
		      char **paths, struct err *err)
{
	const struct argv selectors = { (const char *const *) paths, (uint64_t) count };
	struct opened_aka aka = options->aka;

	if (aka.folder) {
		aka.config = options->config;
		return opened_aka_open(opened, &aka, &selectors, err);
	}
	for (int i = 0; i < count; i++)
		if (opened_task(opened, AT_FDCWD, paths[i], err) < 0)
			return -1;
	return 0;
}

static int open_named(struct opened *opened, const struct run_options *options, int count,
		      char **paths, struct err *err)
{
	struct run_plan *plan = &opened->plan;

	if ((count == 0 && !options->aka.folder) ||
	    (options->agents.count == 0 && !options->is_dry))
		return err_set(err, ERR_USAGE,
			       "a run needs a TASK and an --agent, or a --config; see proctor run "
			       "--help");
	plan->repeats = options->repeats == 0 ? 1 : (uint32_t) options->repeats;
	plan->seats = 1;
	for (size_t i = 0; i < options->agents.count; i++)
		if (add_agent(opened, options->agents.items[i], err) < 0)
			return -1;
	if (open_tasks(opened, options, count, paths, err) < 0)
		return -1;
	return options->policy ? opened_policy(opened, AT_FDCWD, options->policy, err) : 0;
}

/* What is said twice, by the plan and by an option, would have to be guessed. */
static int check_config(const struct run_options *options, int count, struct err *err)
{
	if (count > 0 || options->agents.count > 0 || options->policy || options->repeats > 0)
		return err_set(err, ERR_USAGE,
			       "option --config: tasks, agents, attempts and policy are the run "
			       "plan's to name");
	return 0;
}

/* What is named on the command line is opened with the rights of whoever typed it. */
static int open_all(const struct run_options *options, int count, char **paths,
		    struct opened *opened, struct err *err)
{
	const char *config;

	if (check_aka(options, count, err) < 0 ||
	    (options->gpus && opened_gpus(opened, "option --gpus", options->gpus, err) < 0))
		return -1;
	if (!options->config || options->aka.folder)
		return open_named(opened, options, count, paths, err);
	if (check_config(options, count, err) < 0)
		return -1;
	return opened_config_folder(opened, options->config, &config, err);
}

static int begin(const struct cli *cli, struct opened *opened, const struct run_options *options,
		 const struct account *account, struct running *running, struct err *err)
{
	const char *slash = options->config ? strrchr(options->config, '/') : NULL;

	if (make_id(opened->id, sizeof(opened->id), err) < 0 ||
	    open_folder(running, opened->id, options->folder, account, err) < 0 ||
	    account_leave(err) < 0 || running_become(running, cli, account, true, err) < 0 ||
	    opened_aka_read(opened, options->seats > 0, err) < 0 ||
	    (options->config && !options->aka.folder &&
	     opened_config(opened, slash ? slash + 1 : options->config, err) < 0))
		return -1;
	opened->plan.id = opened->id;
	if (options->seats > 0)
		opened->plan.seats = (uint32_t) options->seats;
	if (options->retries != UINT64_MAX)
		opened->plan.retries = (int64_t) options->retries;
	running->json_fd = options->json_fd;
	return running_carry_out(running, cli, &opened->plan, err);
}

static int tell_opened(const struct cli *cli, struct opened *opened,
		       const struct run_options *options, struct err *err)
{
	if (opened_aka_read(opened, options->seats > 0, err) < 0)
		return -1;
	if (options->seats > 0)
		opened->plan.seats = (uint32_t) options->seats;
	return run_dry(cli, &opened->plan, options->json_fd, err);
}

static int tell(const struct cli *cli, struct opened *opened, const struct run_options *options,
		int count, char **paths, struct err *err)
{
	if (open_all(options, count, paths, opened, err) < 0)
		return -1;
	return tell_opened(cli, opened, options, err);
}

int cli_run(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(running_done) struct running running = RUNNING_INIT;
	cleanup(opened_done) struct opened opened = OPENED_INIT;
	struct run_options options = { .retries = UINT64_MAX, .json_fd = -1 };
	struct account account;
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0 || (!options.is_dry && running_check_launcher(cli, err) < 0))
		return -1;
	if (options.is_dry && geteuid() != 0)
		return tell(cli, &opened, &options, argc - first, argv + first, err);
	if (account_find(cli->sudo_uid, &account, err) < 0 || account_enter(&account, err) < 0 ||
	    open_all(&options, argc - first, argv + first, &opened, err) < 0)
		return -1;
	if (options.is_dry)
		return account_leave(err) < 0 || account_become(&account, err) < 0
			     ? -1
			     : tell_opened(cli, &opened, &options, err);
	return begin(cli, &opened, &options, &account, &running, err);
}
