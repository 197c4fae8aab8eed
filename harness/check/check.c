/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proctor-check: an agent tries its work, in its own jail, as the judge will mark it
 *
 * The same marking over the cases that the agent sees, with a key of its own; nothing that comes
 * out of it counts. It finds the task beside itself, see harness/run/given.h.
 */

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/check/findings.h"
#include "harness/check/leftovers.h"
#include "harness/check/plain_source.h"
#include "harness/console/options.h"
#include "harness/console/signals.h"
#include "harness/run/cpus.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/path.h"
#include "sandbox/base/process.h"

enum { EXIT_VALID, EXIT_NOT, EXIT_USAGE, EXIT_NOT_BUILT, EXIT_HOST };

struct check_options {
	bool quick;
	const char *workspace, *task;
	int json_fd;
};

#define AT(member) offsetof(struct check_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "json",      "[=FD]",  OPTION_FD,   AT(json_fd),   0, 0, "write one JSON object to FD (1, in place of the text)" },
	{ "quick",     NULL,     OPTION_FLAG, AT(quick),     0, 0, "is it right? Nothing is timed" },
	{ "task",      "FOLDER", OPTION_TEXT, AT(task),      0, 0, "the task as an agent is given it (beside this program)" },
	{ "workspace", "FOLDER", OPTION_TEXT, AT(workspace), 0, 0, "what is tried (/work)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor-check [OPTION]…",
	.about =
		"Builds the workspace as the judge will, marks it by the judge's own protocol on "
		"the cases of the task that\nare seen, and says what came of it. Hidden cases, and "
		"the mark itself, are the judge's.\n"
		"Exit codes: 0 VALID; 1 not; 2 usage; 3 it does not build; 4 this host or task.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* What is open while a workspace is tried. */
struct trying {
	const struct check_options *options;
	char folder[PATH_MAX]; /* of the task */
	int task_fd, pristine_fd, workspace_fd, stop_fd;
	struct task task;
	struct scratch scratch;
	struct leftovers leftovers;
	struct given_limits limits;
	struct confinement confinement;
	struct candidate candidate;
	struct checked checked;
};

static void trying_done(struct trying *trying)
{
	struct err err = ERR_INIT;

	if (leftovers_end(&trying->leftovers, &err) < 0)
		log_say(LOG_WARNING, "check.left", "%s", err.text);
	candidate_done(&trying->candidate);
	scratch_done(&trying->scratch);
	task_done(&trying->task);
	fd_close(&trying->task_fd);
	fd_close(&trying->pristine_fd);
	fd_close(&trying->workspace_fd);
	fd_close(&trying->stop_fd);
}

/* The folder above that of the running program. */
static int find_task(struct trying *trying, struct err *err)
{
	ssize_t len;
	char *slash;

	/* Workers that are told the path work elsewhere. */
	if (trying->options->task)
		return realpath(trying->options->task, trying->folder)
			     ? 0
			     : err_host(err, "open '%s'", trying->options->task);
	len = readlink("/proc/self/exe", trying->folder, sizeof(trying->folder) - 1);
	if (len < 0)
		return err_sys(err, "find the running program");
	trying->folder[len] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(trying->folder, '/');
		if (slash)
			*slash = '\0';
	}
	return 0;
}

static int open_folder(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_host(err, "open '%s'", path) : fd;
}

static int open_task(struct trying *trying, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	const char *workspace = trying->options->workspace;

	if (find_task(trying, err) < 0)
		return -1;
	trying->task_fd = open_folder(trying->folder, err);
	if (trying->task_fd < 0 ||
	    io_read_file(trying->task_fd, "task.yaml", TASK_FILE_MAX, &text, err) < 0 ||
	    task_parse_given("task.yaml", text.text, text.len, &trying->task, err) < 0)
		return err_wrap(err, "the task in '%s'", trying->folder);
	str_clear(&text);
	if (io_read_file(trying->task_fd, GIVEN_LIMITS_FILE, GIVEN_LIMITS_MAX, &text, err) < 0 ||
	    given_limits_parse(GIVEN_LIMITS_FILE, text.text, text.len, &trying->limits, err) < 0)
		return err_wrap(err, "the task in '%s'", trying->folder);
	trying->pristine_fd = path_open_folder(trying->task_fd, "workspace", err);
	if (trying->pristine_fd < 0)
		return -1;
	trying->workspace_fd = open_folder(workspace ? workspace : "/work", err);
	return trying->workspace_fd < 0 ? -1 : 0;
}

static const char *below(struct arena *arena, const char *folder, const char *name)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

static struct plain_implementation implementation(struct arena *arena, const char *folder,
						  const char *library, const char *symbol)
{
	return (struct plain_implementation){
		.shared_object = below(arena, folder, library),
		.symbol = symbol,
		.folder = folder,
	};
}

static void take_roles(const struct trying *trying, struct arena *arena,
		       struct plain_source *source)
{
	const struct task *task = &trying->task;

	source->roles[WORKER_ORACLE] =
		implementation(arena, below(arena, trying->folder, "oracle"),
			       task->oracle.build.out.items[0], task->oracle.symbol);
	source->roles[WORKER_BASELINE] =
		implementation(arena, below(arena, trying->folder, "baseline"),
			       task->baseline.out.items[0], task->entry.symbol);
	source->roles[WORKER_CANDIDATE] =
		implementation(arena, below(arena, trying->scratch.path, "out"),
			       task->build.out.items[0], task->entry.symbol);
}

static int mark(struct trying *trying, struct err *err)
{
	struct task *task = &trying->task;
	struct worker_source workers;
	struct plain_source source;
	struct checking what = {
		.task = task,
		.source = &workers,
		.is_quick = trying->options->quick,
		.deadline = clock_after_ms(task->mark.wall_ms),
		.stop_fd = trying->stop_fd,
	};
	cpu_set_t allowed;
	struct cpus cpus;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(err, "ask for our CPUs");
	if (cpus_choose(&allowed, &cpus, err) < 0)
		return -1;
	what.judge_cpu = cpus.judge;
	what.worker_cpu = cpus.worker;
	plain_source_init(&source);
	source.program = below(&task->arena, trying->folder, "bin/proctor-worker");
	source.cpu = cpus.worker;
	source.confinement = &trying->confinement;
	take_roles(trying, &task->arena, &source);
	workers = plain_source_workers(&source);
	return checking_run(&what, &trying->checked, err);
}

static int try(struct trying *trying, const char *temporary, struct err *err)
{
	struct candidate_job job = { .task = &trying->task, .in = &trying->scratch };

	trying->stop_fd = signals_open_stop(err);
	if (trying->stop_fd < 0 || leftovers_adopt(&trying->leftovers, err) < 0 ||
	    open_task(trying, err) < 0 ||
	    scratch_open(temporary, "proctor-check", &trying->scratch, err) < 0)
		return -1;
	job.workspace_fd = trying->workspace_fd;
	job.pristine_fd = trying->pristine_fd;
	job.stop_fd = trying->stop_fd;
	job.limits = &trying->limits;
	job.confinement = &trying->confinement;
	if (confine_open(&trying->confinement, &trying->limits, err) < 0)
		return -1;
	if (candidate_make(&job, &trying->candidate, err) < 0 ||
	    leftovers_end(&trying->leftovers, err) < 0)
		return -1;
	if (trying->candidate.is_built && mark(trying, err) < 0)
		return -1;
	if (trying->candidate.stopped || trying->checked.stopped)
		return err_set(err, ERR_SYS, "stopped by signal %d",
			       signals_which(trying->stop_fd));
	return 0;
}

static int tell(const struct trying *trying, struct err *err)
{
	const struct findings findings = {
		.task = &trying->task,
		.candidate = &trying->candidate,
		.checked = trying->candidate.is_built ? &trying->checked : NULL,
		.is_confined = confine_has_walls(),
	};
	const struct table_style style = { .has_color = false };
	cleanup(str_done) struct str text = STR_INIT;
	int json_fd = trying->options->json_fd;
	struct json_writer json;

	if (json_fd != STDOUT_FILENO) {
		findings_print(&findings, &style, &text);
		if (io_write_waiting(STDOUT_FILENO, text.text, text.len, "the results", err) < 0)
			return -1;
	}
	if (json_fd >= 0) {
		str_clear(&text);
		json_writer_init(&json, &text);
		findings_put(&findings, &json);
		str_add(&text, "\n", 1);
		if (io_write_waiting(json_fd, text.text, text.len, "the results", err) < 0)
			return -1;
	}
	if (!trying->candidate.is_built)
		return EXIT_NOT_BUILT;
	return trying->checked.set.mark.kind == MARK_VALID ? EXIT_VALID : EXIT_NOT;
}

int main(int argc, char **argv)
{
	struct check_options options = { .json_fd = -1 };
	cleanup(trying_done) struct trying trying = {
		.options = &options,
		.task_fd = -1,
		.pristine_fd = -1,
		.workspace_fd = -1,
		.stop_fd = -1,
		.task = TASK_INIT,
		.scratch = SCRATCH_INIT,
		.leftovers = LEFTOVERS_INIT,
		.candidate = CANDIDATE_INIT,
	};
	const char *temporary = getenv("TMPDIR");
	struct err err = ERR_INIT;
	int code = -1, first, asked = options_parse(&table, argc, argv, &options, &first, &err);

	signal(SIGPIPE, SIG_IGN);
	process_expect_children();
	log_open("proctor-check", LOG_NOTICE, -1);
	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked == 0 && first < argc)
		asked = err_set(&err, ERR_USAGE, "there is no argument '%s'; see --help",
				argv[first]);
	if (asked == 0 && try(&trying, temporary && temporary[0] ? temporary : "/tmp", &err) == 0)
		code = tell(&trying, &err);
	if (code >= 0)
		return code;
	log_say(LOG_ERROR, "check.failed", "%s", err.text);
	return err.kind == ERR_USAGE ? EXIT_USAGE : EXIT_HOST;
}
