/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/fork_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/judge/constants.h"
#include "harness/judge/raw_clock.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/syscalls.h"

void fork_source_init(struct fork_source *source)
{
	*source = (struct fork_source){ .running = { PROCESS_INIT, PROCESS_INIT } };
}

static struct fork_implementation implementation(const struct fork_source *source,
						 enum worker_role role)
{
	switch (role) {
	case WORKER_ORACLE:
		return source->oracle;
	case WORKER_BASELINE:
		return source->baseline;
	case WORKER_CANDIDATE:
		return source->candidate;
	case WORKER_PATH:
		break;
	}
	return (struct fork_implementation){ .library = NULL };
}

/* The three descriptors to 3, 4 and 5, by way of numbers that are none of these. */
static void pass_fds(const struct worker_fds *fds)
{
	int high[] = {
		fcntl(fds->control_fd, F_DUPFD_CLOEXEC, 10),
		fcntl(fds->inputs_fd, F_DUPFD_CLOEXEC, 10),
		fcntl(fds->outputs_fd, F_DUPFD_CLOEXEC, 10),
	};

	for (int i = 0; i < 3; i++)
		if (high[i] < 0 || dup2(high[i], 3 + i) < 0)
			_exit(126);
}

no_return static void become_worker(const struct fork_source *source,
				    struct fork_implementation what, const struct worker_fds *fds)
{
	char *const argv[] = { (char *) (uintptr_t) "proctor-worker",
			       (char *) (uintptr_t) what.library, (char *) (uintptr_t) what.symbol,
			       NULL };
	/* From zero; a sanitized worker has to die of a signal as any other does. */
	char *const env[] = { (char *) (uintptr_t) "ASAN_OPTIONS=handle_segv=0", NULL };
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(source->cpu, &only);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || sched_setaffinity(0, sizeof(only), &only) < 0)
		_exit(126);
	pass_fds(fds);
	execve(source->program, argv, env);
	_exit(127);
}

static int start(void *context, enum worker_role role, const struct worker_fds *fds,
		 struct worker *out, struct err *err)
{
	struct fork_source *source = context;
	uint32_t slot = role == WORKER_ORACLE ? 0 : 1;
	struct fork_implementation what = implementation(source, role);
	int side = process_fork(&source->running[slot], err);

	if (side < 0)
		return -1;
	if (side == 0)
		become_worker(source, what, fds);
	source->started++;
	source->candidates += role == WORKER_CANDIDATE;
	*out = (struct worker){ .pid_fd = source->running[slot].pid_fd, .handle = slot };
	return 0;
}

static int hold(void *context, const struct worker *worker, struct err *err)
{
	struct fork_source *source = context;
	const struct process *process = &source->running[worker->handle];
	int64_t deadline = raw_clock_ns() + JUDGE_HOLD_NS;

	if (sys_pidfd_send_signal(process->pid_fd, SIGSTOP) < 0 && errno != ESRCH)
		return err_sys(err, "stop process %d", (int) process->pid);
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
	struct fork_source *source = context;

	sys_pidfd_send_signal(source->running[worker->handle].pid_fd, SIGCONT);
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
	struct fork_source *source = context;
	struct process *process = &source->running[worker->handle];
	siginfo_t info = { .si_pid = 0 };
	int status = 0;

	if (waitid(P_PIDFD, (id_t) process->pid_fd, &info, WEXITED | WNOWAIT | WNOHANG) < 0)
		return err_sys(err, "look at process %d", (int) process->pid);
	sys_pidfd_send_signal(process->pid_fd, SIGKILL);
	if (process_wait(process, CLOCK_NEVER, &status, err) < 0)
		return -1;
	*out = end_of(status, info.si_pid == 0);
	*worker = WORKER_INIT;
	return 0;
}

struct worker_source fork_source_workers(struct fork_source *source)
{
	return (struct worker_source){
		.context = source,
		.start = start,
		.hold = hold,
		.release = release,
		.stop = stop,
	};
}
