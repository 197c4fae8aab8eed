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
#include "harness/cli/signals.h"
#include "harness/report/attempts.h"
#include "harness/run/account.h"
#include "harness/run/launcher.h"
#include "harness/run/run.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"

struct run_options {
	struct texts agents;
	const char *policy, *folder;
	uint64_t repeats;
	int json_fd;
};

#define AT(member) offsetof(struct run_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "agent",    "scripted:WHAT", OPTION_TEXTS, AT(agents), 0, 0, "a solution of the task, or a program if WHAT has a '/'; may be repeated" },
	{ "attempts", "COUNT",  OPTION_COUNT, AT(repeats), 1, RUN_ATTEMPTS_MAX, "attempts of each agent on each task (1)" },
	{ "policy",   "FILE",   OPTION_TEXT,  AT(policy),  0, 0, "the limits of the jails; see policies/README.md (built in)" },
	{ "run",      "FOLDER", OPTION_TEXT,  AT(folder),  0, 0, "where the run is kept; must not exist (./run-ID)" },
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
	char id[64], folder[512];
};

static void opened_done(struct opened *opened)
{
	for (size_t i = 0; i < opened->plan.task_count; i++)
		fd_close(&opened->plan.task_fds[i]);
	for (size_t i = 0; i < opened->plan.agent_count; i++)
		fd_close(&opened->plan.agents[i].program_fd);
	fd_close(&opened->plan.policy_fd);
	fd_close(&opened->plan.folder_fd);
	fd_close(&opened->plan.stop_fd);
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

static int open_folder(struct opened *opened, const char *path, const struct account *account,
		       struct err *err)
{
	snprintf(opened->folder, sizeof(opened->folder), "%s", path ? path : "");
	if (!path)
		snprintf(opened->folder, sizeof(opened->folder), "run-%s", opened->id);
	if (mkdir(opened->folder, 0755) < 0) {
		err_sys(err, "create the run's folder '%s'", opened->folder);
		err->kind = ERR_INPUT;
		return -1;
	}
	opened->plan.folder_fd =
		open_input(opened->folder, O_DIRECTORY | O_NOFOLLOW, "the run's folder", err);
	if (opened->plan.folder_fd < 0)
		return -1;
	if (fchown(opened->plan.folder_fd, account->uid, account->gid) < 0)
		return err_sys(err, "give '%s' to '%s'", opened->folder, account->name);
	return 0;
}

static int open_all(struct opened *opened, const struct run_options *options, int count,
		    char **paths, const struct account *account, struct err *err)
{
	struct run_plan *plan = &opened->plan;

	if (make_id(opened->id, sizeof(opened->id), err) < 0)
		return -1;
	plan->id = opened->id;
	plan->repeats = (uint32_t) options->repeats;
	for (size_t i = 0; i < options->agents.count; i++, plan->agent_count++)
		if (open_agent(options->agents.items[i], &plan->agents[i], err) < 0)
			return -1;
	for (int i = 0; i < count; i++, plan->task_count++) {
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
	return open_folder(opened, options->folder, account, err);
}

static struct score_summary summarise(const struct run *run)
{
	cleanup(mem_free) struct score_result *results =
		mem_alloc(run->record_count, sizeof(*results));

	for (size_t i = 0; i < run->record_count; i++)
		results[i] = record_result(&run->records[i]);
	return score_summarise(results, run->record_count);
}

static int print_report(const struct run *run, bool color, struct err *err)
{
	cleanup(table_done) struct table report = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const struct table_style style = { .has_color = color };
	struct score_summary summary = summarise(run);

	attempts_table(run->records, run->record_count, &report);
	table_print(&report, &style, &text);
	attempts_add_summary(&summary, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the report", err);
}

static int write_json(const struct run *run, int fd, const char *folder, struct err *err)
{
	cleanup(table_done) struct table report = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct score_summary summary = summarise(run);
	struct json_writer json;

	attempts_table(run->records, run->record_count, &report);
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "run", run->plan->id);
	json_put_text(&json, "folder", folder);
	table_put(&report, &json, "attempts");
	attempts_put_summary(&summary, &json, "summary");
	json_put_end(&json);
	str_add(&text, "\n", 1);
	return io_write_waiting(fd, text.text, text.len, "the JSON report", err);
}

/* 0 only if every planned attempt is VALID, seen and unseen. */
static int exit_code(const struct run *run)
{
	size_t planned = run->plan->task_count * run->plan->agent_count * run->plan->repeats;

	if (run->record_count < planned)
		return 1;
	for (size_t i = 0; i < run->record_count; i++) {
		const struct record *record = &run->records[i];

		if (!record->seen.kind || strcmp(record->seen.kind, "VALID") != 0)
			return 1;
		if (record->unseen.kind && strcmp(record->unseen.kind, "VALID") != 0)
			return 1;
	}
	return 0;
}

static int carry_out(const struct cli *cli, const struct run_options *options,
		     struct opened *opened, const struct launcher *launcher, struct err *err)
{
	cleanup(progress_done) struct progress progress = PROGRESS_INIT;
	const struct run_plan *plan = &opened->plan;
	cleanup(run_done) struct run run;
	int result;

	progress_start(&progress, STDERR_FILENO, cli->terminal, cli->width,
		       plan->task_count * plan->agent_count * plan->repeats, clock_now());
	result = run_open(&run, plan, launcher, &progress, err);
	if (result == 0)
		result = run_attempts(&run, err);
	progress_clear(&progress);
	if (result < 0)
		return err_wrap(err, "run '%s'", opened->folder);
	if (options->json_fd != STDOUT_FILENO && print_report(&run, cli->color, err) < 0)
		return -1;
	if (options->json_fd >= 0 && write_json(&run, options->json_fd, opened->folder, err) < 0)
		return -1;
	log_say(LOG_NOTICE, "run.kept", "%s: %s", run.stopped ? "stopped" : "done", opened->folder);
	return exit_code(&run);
}

int cli_run(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(launcher_done) struct launcher launcher = LAUNCHER_INIT;
	static const struct opened nothing = {
		.plan = { .folder_fd = -1, .policy_fd = -1, .stop_fd = -1 },
	};
	cleanup(opened_done) struct opened opened = nothing;
	struct run_options options = { .repeats = 1, .json_fd = -1 };
	struct account account;
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
	if (account_find(cli->sudo_uid, &account, err) < 0 ||
	    open_all(&opened, &options, argc - first, argv + first, &account, err) < 0 ||
	    launcher_start(cli->programs, &launcher, err) < 0 || account_become(&account, err) < 0)
		return -1;
	opened.plan.programs = cli->programs;
	opened.plan.stop_fd = signals_open_stop(err);
	if (opened.plan.stop_fd < 0)
		return -1;
	return carry_out(cli, &options, &opened, &launcher, err);
}
