/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/plain_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/judge/constants.h"
#include "harness/judge/raw_clock.h"
#include "harness/run/compose.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/syscalls.h"

/* What is left to a process after SIGKILL: the call that it is in. */
enum { END_MS = 10000 };

void plain_source_init(struct plain_source *source)
{
	*source = (struct plain_source){ .running = { PROCESS_INIT, PROCESS_INIT } };
}

/* Standard descriptors to nowhere, and the worker's to 3, 4 and 5 by way of higher numbers. */
static void place_fds(const struct worker_fds *fds)
{
	const int given[] = { fds->control_fd, fds->inputs_fd, fds->outputs_fd };
	int high[ARRAY_LEN(given)], null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		high[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 10);
	for (int i = 0; i < 3; i++)
		if (null < 0 || high[i] < 0 || dup2(null, i) < 0 || dup2(high[i], 3 + i) < 0)
			_exit(126);
}

/* A worker's working folder is that of its library, as with the judge. */
static int confine(const struct plain_source *source, const struct plain_implementation *what,
		   uint64_t tasks, struct err *err)
{
	auto_fd program = open(source->program, O_PATH | O_CLOEXEC);
	auto_fd folder =
		what->shared_object ? open(what->folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (program < 0 || (what->shared_object && (folder < 0 || fchdir(folder) < 0)) ||
	    (!what->shared_object && chdir("/") < 0))
		return err_sys(err, "open the worker's files");
	return confine_worker(source->confinement, program, folder, tasks, err);
}

no_return static void become_worker(const struct plain_source *source,
				    const struct plain_implementation *what,
				    const struct worker_fds *fds, uint64_t tasks)
{
	const char *argv[] = { "proctor-worker", what->shared_object, what->symbol, NULL };
	char *const *args, *const *env;
	const char *const *environment = compose_environment;
	struct err err = ERR_INIT;
	cpu_set_t only;

	memcpy(&args, &(const char **){ argv }, sizeof(args)); /* execve's old prototype */
	memcpy(&env, &environment, sizeof(env));
	CPU_ZERO(&only);
	CPU_SET(source->cpu, &only);
	signal(SIGPIPE, SIG_DFL);
	if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    sched_setaffinity(0, sizeof(only), &only) < 0)
		_exit(126);
	place_fds(fds);
	if (source->confinement && confine(source, what, tasks, &err) < 0)
		_exit(126);
	execve(source->program, args, env);
	_exit(127);
}

static int start(void *context, enum worker_role role, const struct worker_fds *fds,
		 struct worker *out, struct err *err)
{
	struct plain_source *source = context;
	uint32_t slot = role == WORKER_ORACLE ? 0 : 1;
	const uint64_t tasks = source->confinement ? confine_tasks() : 0;
	int side = process_fork(&source->running[slot], err);

	if (side < 0)
		return -1;
	if (side == 0)
		become_worker(source, &source->roles[role], fds, tasks);
	/* The same as in the child: whichever of both comes first. */
	if (setpgid(source->running[slot].pid, 0) < 0 && errno != EACCES && errno != ESRCH)
		return err_sys(err, "make a process group of a worker");
	*out = (struct worker){ .pid_fd = source->running[slot].pid_fd, .handle = slot };
	return 0;
}

/*
 * Its group is not reaped before stop(), so that the number stays its own. The worker itself may
 * have left it.
 */
static void signal_worker(const struct process *process, int signal)
{
	kill(-process->pid, signal);
	sys_pidfd_send_signal(process->pid_fd, signal);
}

static int hold(void *context, const struct worker *worker, struct err *err)
{
	struct plain_source *source = context;
	const struct process *process = &source->running[worker->handle];
	int64_t deadline = raw_clock_ns() + JUDGE_HOLD_NS;

	signal_worker(process, SIGSTOP);
	for (;;) {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_PIDFD, (id_t) process->pid_fd, &info,
			   WSTOPPED | WEXITED | WNOWAIT | WNOHANG) < 0)
			return err_sys(err, "see process %d stop", (int) process->pid);
		if (info.si_pid != 0)
			return 0;
		if (raw_clock_ns() > deadline)
			return 1; /* in vfork, say */
	}
}

static void release(void *context, const struct worker *worker)
{
	struct plain_source *source = context;

	signal_worker(&source->running[worker->handle], SIGCONT);
}

static struct worker_end end_of(int status, bool was_alive)
{
	if (was_alive)
		return (struct worker_end){ .ending = WORKER_STOPPED };
	if (WIFEXITED(status))
		return (struct worker_end){ .ending = WORKER_EXITED, .code = WEXITSTATUS(status) };
	return (struct worker_end){ .ending = WORKER_SIGNALED, .code = WTERMSIG(status) };
}

static int stop(void *context, struct worker *worker, struct worker_end *out, struct err *err)
{
	struct plain_source *source = context;
	struct process *process = &source->running[worker->handle];
	siginfo_t info = { .si_pid = 0 };
	int rc, status = 0;

	if (waitid(P_PIDFD, (id_t) process->pid_fd, &info, WEXITED | WNOWAIT | WNOHANG) < 0)
		return err_sys(err, "look at process %d", (int) process->pid);
	signal_worker(process, SIGKILL);
	rc = process_wait(process, clock_after_ms(END_MS), &status, err);
	if (rc == 0)
		return err_set(err, ERR_HOST, "process %d does not end", (int) process->pid);
	if (rc < 0)
		return -1;
	*out = end_of(status, info.si_pid == 0);
	*worker = WORKER_INIT;
	return 0;
}

struct worker_source plain_source_workers(struct plain_source *source)
{
	return (struct worker_source){
		.context = source,
		.start = start,
		.hold = hold,
		.release = release,
		.stop = stop,
	};
}
