/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/candidate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/console/signals.h"
#include "harness/evidence/manifest.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/path.h"
#include "sandbox/base/process.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/collect.h"
#include "sandbox/unpack.h"

/* What is left to a process after SIGKILL: the call that it is in. */
enum { END_MS = 10000 };

static int collect(int folder_fd, const struct stream_limits *limits, struct err *err)
{
	auto_fd tree = memfd_create("proctor-tree", MFD_CLOEXEC);
	struct collect_report report;

	if (tree < 0)
		return err_sys(err, "create a memfd");
	if (collect_tree(folder_fd, limits, tree, &report, err) < 0)
		return -1;
	if (lseek(tree, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return fd_take(&tree);
}

static int merge(const struct candidate_job *job, struct candidate *out, struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd pristine = collect(job->pristine_fd, &limits, err);
	auto_fd frozen = pristine < 0 ? -1 : collect(job->workspace_fd, &limits, err);
	auto_fd merged = memfd_create("proctor-candidate", MFD_CLOEXEC);
	const struct tree_edit edit = {
		.pristine_fd = pristine,
		.frozen_fd = frozen,
		.editable = job->task->editable.items,
		.editable_count = job->task->editable.count,
		.limits = limits,
	};

	if (frozen < 0)
		return -1;
	if (merged < 0)
		return err_sys(err, "create a memfd");
	if (tree_merge(&edit, merged, &out->report, err) < 0)
		return -1;
	if (lseek(merged, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return fd_take(&merged);
}

static int make_source(const struct candidate_job *job, struct candidate *out, struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd tree = merge(job, out, err);
	auto_fd folder = tree < 0 ? -1 : scratch_make(job->in, "src", err);

	if (folder < 0)
		return -1;
	if (unpack_tree(tree, folder, &limits, &counts, err) < 0)
		return err_wrap(err, "unpack the candidate at '%s'", job->in->path);
	return 0;
}

no_return static void become_build(const struct candidate_job *job, int folder_fd,
				   const char *const *argv)
{
	struct err err = ERR_INIT;
	char *const *args;

	memcpy(&args, &argv, sizeof(args)); /* execvpe's old prototype */
	memcpy(&environ, &(const char *const *){ compose_environment }, sizeof(environ));
	signals_let_go();
	signal(SIGPIPE, SIG_DFL);
	if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || fchdir(folder_fd) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	if (job->confinement && confine_build(job->confinement, job->in->fd, &err) < 0) {
		dprintf(STDERR_FILENO, "%s\n", err.text);
		_exit(126);
	}
	execvpe(argv[0], args, environ);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Return: 1 when it has ended; 0 when it was cut off, by whom is in *out. */
static int wait_for(const struct process *process, int stop_fd, int64_t deadline,
		    struct candidate *out, struct err *err)
{
	struct pollfd ready[] = { { .fd = process->pid_fd, .events = POLLIN },
				  { .fd = stop_fd, .events = POLLIN } };

	for (;;) {
		int count = poll(ready, ARRAY_LEN(ready), clock_poll_ms(deadline));

		if (count < 0 && errno != EINTR)
			return err_sys(err, "wait for the build");
		if (count > 0 && ready[0].revents)
			return 1;
		out->stopped = count > 0;
		if (count > 0 || (count == 0 && clock_now() >= deadline))
			return 0;
	}
}

static void judge_status(int status, struct candidate *out)
{
	if (WIFSIGNALED(status))
		snprintf(out->why, sizeof(out->why), "the build was ended by signal %d",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		snprintf(out->why, sizeof(out->why), "the build ended with code %d",
			 WEXITSTATUS(status));
}

/* With what it has left behind; it may itself have left its group. */
static int end(struct process *process, int *status, struct err *err)
{
	int rc;

	kill(-process->pid, SIGKILL);
	sys_pidfd_send_signal(process->pid_fd, SIGKILL);
	rc = process_wait(process, clock_after_ms(END_MS), status, err);
	if (rc == 0)
		return err_set(err, ERR_HOST, "process %d of the build does not end",
			       (int) process->pid);
	return rc;
}

static int build(const struct candidate_job *job, struct candidate *out, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	auto_fd source = path_open_folder(job->in->fd, "src", err);
	struct process process = PROCESS_INIT;
	char folder[sizeof(job->in->path) + 8];
	const char *const *argv;
	int rc, status = 0;

	if (source < 0)
		return -1;
	snprintf(folder, sizeof(folder), "%s/out", job->in->path);
	argv = task_build_argv(&job->task->build, folder, &arena);
	rc = process_fork(&process, err);
	if (rc < 0)
		return err_wrap(err, "build");
	if (rc == 0)
		become_build(job, source, argv);
	rc = wait_for(&process, job->stop_fd, clock_after_ms(job->task->build.wall_ms), out, err);
	if (end(&process, &status, err) < 0 || rc < 0)
		return -1;
	if (rc == 0)
		snprintf(out->why, sizeof(out->why), "the build was ended: timeout");
	else
		judge_status(status, out);
	return 0;
}

static int look_at_products(const struct candidate_job *job, int folder_fd, struct candidate *out,
			    struct err *err)
{
	const struct stream_limits limits =
		job->limits ? given_limits_products(job->limits) : STREAM_LIMITS_DEFAULT;
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	auto_fd tree = collect(folder_fd, &limits, err);

	if (tree < 0 || manifest_read(tree, &limits, &manifest, err) < 0)
		return err_wrap(err, "what the build left");
	build_judge_products(&manifest, &job->task->build.out, &limits, out->why, sizeof(out->why));
	return 0;
}

/* Return: false, with the reason in out->why: the judge's jail could not even unpack it. */
static bool can_be_built(const struct candidate_job *job, struct candidate *out)
{
	struct stream_limits limits;

	if (!job->limits)
		return true;
	limits = given_limits_candidate(job->limits);
	return build_takes(&limits, &out->report.counts, "build", out->why, sizeof(out->why));
}

int candidate_make(const struct candidate_job *job, struct candidate *out, struct err *err)
{
	cleanup(candidate_done) struct candidate made = CANDIDATE_INIT;
	auto_fd products = -1;

	if (make_source(job, &made, err) < 0)
		return -1;
	products = scratch_make(job->in, "out", err);
	if (products < 0 || (can_be_built(job, &made) && build(job, &made, err) < 0))
		return -1;
	if (made.why[0] == '\0' && look_at_products(job, products, &made, err) < 0)
		return -1;
	made.is_built = made.why[0] == '\0';
	*out = take(made, CANDIDATE_INIT);
	return 0;
}

void candidate_done(struct candidate *candidate)
{
	tree_report_done(&candidate->report);
}
