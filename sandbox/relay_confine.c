/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/landlock.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the audit number of this machine is not known here"
#endif

/* Descriptors beside two a connection: those that are kept, epoll, one that is being refused. */
enum { OWN_FDS = 32, KEEP_MAX = 16 };

/* What the loop, the log and the heap take; and what sanitizers ask for before a process ends. */
static const int calls[] = {
	/* clang-format off */
	SYS_accept4, SYS_brk, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_connect, SYS_epoll_create1,
	SYS_epoll_ctl, SYS_epoll_pwait, SYS_exit, SYS_exit_group, SYS_fsync, SYS_futex, SYS_getrandom, SYS_getsockname, SYS_getsockopt,
	SYS_madvise, SYS_mremap, SYS_munmap, SYS_recvfrom, SYS_restart_syscall, SYS_sendto, SYS_setsockopt, SYS_shutdown,
	SYS_socket, SYS_sigaltstack, SYS_write,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	/* clang-format on */
};

static int compare(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

static int close_others(const int *keep, size_t count, struct err *err)
{
	int sorted[KEEP_MAX], next = STDERR_FILENO + 1;

	if (count > KEEP_MAX)
		return err_set(err, ERR_SYS, "a relay that keeps %zu descriptors", count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = keep[i];
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i <= count; i++) {
		const unsigned int last = i < count ? (unsigned int) sorted[i] - 1 : ~0U;

		if (i < count && sorted[i] < next)
			continue;
		if ((unsigned int) next <= last && close_range((unsigned int) next, last, 0) < 0)
			return err_sys(err, "close descriptors");
		next = i < count ? sorted[i] + 1 : next;
	}
	return 0;
}

static int leave_standard(struct err *err)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return err_host(err, "open '/dev/null'");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return err_sys(err, "replace descriptor %d", fd);
	return 0;
}

static int limit(uint32_t connections, struct err *err)
{
	const rlim_t need = 2 * (rlim_t) connections + OWN_FDS;
	const struct rlimit files = { need, need }, none = { 0, 0 };
	struct rlimit now;

	if (getrlimit(RLIMIT_NOFILE, &now) < 0)
		return err_sys(err, "ask for the limit of descriptors");
	if (now.rlim_max < need)
		return err_set(err, ERR_HOST,
			       "a relay of %u connections takes %llu descriptors, and the limit is "
			       "%llu: raise it (ulimit -Hn), or allow fewer connections",
			       connections, (unsigned long long) need,
			       (unsigned long long) now.rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ||
	    setrlimit(RLIMIT_NPROC, &none) < 0)
		return err_sys(err, "set limits");
	return 0;
}

static void add(struct sock_fprog *program, struct sock_filter instruction)
{
	program->filter[program->len++] = instruction;
}

/* All else ends the process: it is none of its work. */
static int filter(struct err *err)
{
	struct sock_filter code[2 * ARRAY_LEN(calls) + 12];
	struct sock_fprog program = { .filter = code };

	add(&program, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, arch)));
	add(&program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
	add(&program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	add(&program, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		add(&program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    (uint32_t) calls[i], 0, 1));
		add(&program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	/* Memory, but none that can be executed. */
	add(&program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3));
	add(&program, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, args[2])));
	add(&program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0));
	add(&program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	add(&program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_host(err, "install the relay's filter of system calls");
	return 0;
}

static int give_up(pid_t parent, struct err *err)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(err, "set up signals");
	if (getppid() != parent)
		return err_set(err, ERR_SYS, "who has started the relay has gone");
	prctl(PR_SET_NAME, "proctor-relay");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "give privileges up");
	return 0;
}

int relay_confine(const int *keep, size_t count, pid_t parent, uint32_t connections,
		  struct err *err)
{
	/* Without a rule: no file. A socket's path is no file to Landlock. */
	const struct landlock_slice nothing = { .count = 0 };

	if (give_up(parent, err) < 0 || leave_standard(err) < 0 ||
	    close_others(keep, count, err) < 0 || limit(connections, err) < 0 ||
	    landlock_restrict(&nothing, err) < 0 || filter(err) < 0)
		return err_wrap(err, "relay");
	return 0;
}
