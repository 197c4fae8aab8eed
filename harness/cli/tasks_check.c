/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/check/scratch.h"
#include "harness/cli/cli.h"
#include "harness/config/catalog.h"
#include "harness/console/options.h"
#include "harness/console/signals.h"
#include "harness/report/vetted.h"
#include "harness/run/account.h"
#include "harness/run/timing_lease.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"

struct check_options {
	const char *policy;
	int json_fd;
};

#define AT(member) offsetof(struct check_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "json",   "[=FD]", OPTION_FD,   AT(json_fd), 0, 0, "write one JSON object to FD (1, in place of the text)" },
	{ "policy", "NAME|FILE", OPTION_TEXT, AT(policy), 0, 0, "the limits of the jails: default, profiler, agentkernelarena, or a file; see proctor-policy(5) (default)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor tasks check [OPTION]… FOLDER…",
	.about =
		"Tries out each task in FOLDER and below it in the jails that it will "
		"have: builds baseline and\noracle, lets them agree on seen and on drawn hidden "
		"cases, runs its `check` in an agent's jail, estimates the time\nof a marking, and "
		"looks whether each solution gets the mark that its NOTE.md says.\n"
		"Exit codes: 0 all are good; 2 usage; 3 a task is not, or is none; 4 this host; 5 "
		"internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

enum { FOLDERS_MAX = 64, WAIT_MS = 100 };

/* What is open for all tasks; `run` is a run without a folder, a journal and attempts. */
struct checking {
	const struct cli *cli;
	const struct check_options *options;
	size_t count;
	struct {
		int fd;
		const char *path;
	} folders[FOLDERS_MAX];
	struct policy_file policy;
	struct launcher launcher;
	struct run_place place;
	struct progress progress;
	struct run run;
	struct timing timing;
	struct str report;
	struct json_writer json;
	size_t tasks, bad;
};

static void checking_done(struct checking *checking)
{
	for (size_t i = 0; i < checking->count; i++)
		fd_close(&checking->folders[i].fd);
	launcher_done(&checking->launcher);
	timing_files_done(&checking->place.timing);
	policy_done(&checking->run.policy);
	progress_done(&checking->progress);
	policy_file_done(&checking->policy);
	fd_close(&checking->place.stop_fd);
	fd_close(&checking->run.null_fd);
	fd_close(&checking->run.worker_fd);
	str_done(&checking->report);
}

/* --- while we are root --- */

static int open_folders(struct checking *checking, int count, char **paths, struct err *err)
{
	if (count == 0 || count > FOLDERS_MAX)
		return err_set(err, ERR_USAGE, "proctor tasks check takes 1 to %d folders",
			       FOLDERS_MAX);
	for (int i = 0; i < count; i++) {
		int fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0) {
			err_sys(err, "folder '%s'", paths[i]);
			err->kind = ERR_INPUT;
			return -1;
		}
		checking->folders[checking->count].fd = fd;
		checking->folders[checking->count++].path = paths[i];
	}
	return 0;
}

/* Opens what the caller named, with his rights, and becomes the account. */
static int become(struct checking *checking, int count, char **paths, struct err *err)
{
	const char *policy = checking->options->policy;
	const struct cli *cli = checking->cli;
	struct account account;

	if (account_find(cli->sudo_uid, &account, err) < 0 || account_enter(&account, err) < 0 ||
	    open_folders(checking, count, paths, err) < 0 ||
	    (policy && policy_file_open(&checking->policy, AT_FDCWD, policy, err) < 0) ||
	    account_leave(err) < 0 ||
	    launcher_open(cli->programs, cli->socket, &checking->launcher, err) < 0 ||
	    timing_open(checking->launcher.is_service ? checking->launcher.socket_fd : -1,
			&checking->place.timing, err) < 0 ||
	    account_become(&account, err) < 0)
		return -1;
	checking->place.stop_fd = signals_open_stop(err);
	return checking->place.stop_fd < 0 ? -1 : 0;
}

/* --- as the account --- */

static int open_worker(struct checking *checking, struct err *err)
{
	cleanup(str_done) struct str program = STR_INIT;
	auto_fd file = launcher_open_program(checking->cli->programs, "proctor-worker", err);

	if (file < 0 || io_read_fd(file, STR_MAX - 1, "proctor-worker", &program, err) < 0)
		return -1;
	checking->run.worker_fd = io_memfd("proctor-worker", program.text, program.len, err);
	return checking->run.worker_fd < 0 ? -1 : 0;
}

static int prepare(struct checking *checking, struct err *err)
{
	const struct cli *cli = checking->cli;
	struct run *run = &checking->run;
	cpu_set_t allowed;

	progress_start(&checking->progress, STDERR_FILENO, cli->terminal, cli->width, 0,
		       clock_now());
	checking->place.programs = cli->programs;
	run->place = &checking->place;
	run->launcher = &checking->launcher;
	run->progress = &checking->progress;
	run->stop_fd = checking->place.stop_fd;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(err, "ask for our CPUs");
	if (cpus_choose(&allowed, &run->cpus, err) < 0)
		return -1;
	timing_init(&checking->timing, &checking->place.timing, &run->cpus);
	run->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (run->null_fd < 0)
		return err_sys(err, "open '/dev/null'");
	if (policy_file_read(&checking->policy, &run->policy, NULL, err) < 0)
		return -1;
	return open_worker(checking, err);
}

/* Its workers would disturb the markings of runs on this host. */
static int wait_for_turn(struct checking *checking, struct err *err)
{
	struct pollfd stop = { .fd = checking->place.stop_fd, .events = POLLIN };

	timing_want(&checking->timing, TIMING_MARK);
	while (!timing_try(&checking->timing, TIMING_MARK)) {
		progress_say(&checking->progress, "waits for a marking of another run",
			     clock_now());
		if (poll(&stop, 1, WAIT_MS) > 0)
			return err_set(err, ERR_SYS, "stopped by the operator");
	}
	return 0;
}

static int tell(struct checking *checking, const struct vetted *vetted, const char *path,
		struct err *err)
{
	const struct table_style style = { .has_color = checking->cli->color };
	cleanup(str_done) struct str text = STR_INIT;

	checking->bad += !vetted_is_good(vetted);
	progress_clear(&checking->progress);
	/* The text has it as well. */
	if (vetted->problem.kind != ERR_NONE && checking->options->json_fd == STDOUT_FILENO)
		log_say(LOG_ERROR, "task.broken", "task '%s': %s", path, vetted->problem.text);
	vetted_put(vetted, path, &checking->json);
	if (checking->options->json_fd == STDOUT_FILENO)
		return 0;
	vetted_print(vetted, path, &style, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "what was found", err);
}

/* Where the account may, which it may not everywhere. */
static int open_scratch(struct scratch *out, struct err *err)
{
	static const char name[] = "proctor-tasks-check";
	struct err first = ERR_INIT;

	if (scratch_open("/tmp", name, out, &first) == 0)
		return 0;
	return scratch_open("/var/tmp", name, out, err);
}

static int check_task(void *user, int folder_fd, const char *path, const struct err *why,
		      struct err *err)
{
	cleanup(mem_free) struct vetted *vetted = mem_alloc(1, sizeof(*vetted));
	cleanup(scratch_done) struct scratch scratch = SCRATCH_INIT;
	struct checking *checking = user;
	struct vetting vetting = { .run = &checking->run, .task_fd = folder_fd };
	int rc;

	checking->tasks++;
	if (why) {
		vetted->problem = *why;
		return tell(checking, vetted, path, err);
	}
	if (open_scratch(&scratch, err) < 0 || wait_for_turn(checking, err) < 0)
		return -1;
	vetting.folder_fd = scratch.fd;
	rc = vetting_run(&vetting, vetted, err);
	timing_give_back(&checking->timing, TIMING_MARK);
	if (rc < 0)
		return err_wrap(err, "task '%s'", path);
	return tell(checking, vetted, path, err);
}

static int write_json(struct checking *checking, struct err *err)
{
	json_put_end(&checking->json);
	json_put_end(&checking->json);
	str_add(&checking->report, "\n", 1);
	if (checking->options->json_fd < 0)
		return 0;
	return io_write_waiting(checking->options->json_fd, checking->report.text,
				checking->report.len, "what was found", err);
}

static int check_all(struct checking *checking, struct err *err)
{
	const struct catalog_visitor visitor = { check_task, checking };

	json_writer_init(&checking->json, &checking->report);
	json_put_object(&checking->json, NULL);
	json_put_array(&checking->json, "tasks");
	for (size_t i = 0; i < checking->count; i++) {
		size_t before = checking->tasks;

		if (catalog_walk(checking->folders[i].fd, checking->folders[i].path, &visitor,
				 err) < 0)
			return -1;
		if (checking->tasks == before)
			return err_set(err, ERR_INPUT,
				       "there is no task.yaml in '%s' or in a folder below it",
				       checking->folders[i].path);
	}
	if (write_json(checking, err) < 0)
		return -1;
	return checking->bad > 0 ? 3 : 0;
}

int cli_tasks_check(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct check_options options = { .json_fd = -1 };
	cleanup(checking_done) struct checking checking = {
		.cli = cli,
		.options = &options,
		.policy = POLICY_FILE_INIT,
		.launcher = LAUNCHER_INIT,
		.place = { .folder_fd = -1,
			   .secret_fd = -1,
			   .stop_fd = -1,
			   .timing = TIMING_FILES_INIT },
		.progress = PROGRESS_INIT,
		.run = { .null_fd = -1, .worker_fd = -1 },
		.report = STR_INIT,
	};
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0 || become(&checking, argc - first, argv + first, err) < 0 ||
	    prepare(&checking, err) < 0)
		return -1;
	return check_all(&checking, err);
}
