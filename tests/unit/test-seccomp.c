/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/wire.h"
#include "tests/lib/check.h"

/* Puts this process under the filter; what a test checks after that runs inside. */
static void enter(uint32_t extras)
{
	struct seccomp_program program;
	struct err err = ERR_INIT;

	CHECK_OK(seccomp_compile(SECCOMP_PROFILE_PLAIN, extras, &program, &err));
	check_note("%u instructions", program.count);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_OK(seccomp_install(&program, NULL, &err));
}

/* A child, so that the test's own process stays able to end in the usual way. */
static int status_of(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		run();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

struct call {
	const char *name;
	long number, args[5];
	int error; /* 0: the filter lets it through, whatever the kernel says then */
};

#define HIGH 0x700000000L /* garbage that the kernel does not look at */

static void check_calls(const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct call *call = &calls[i];
		long got;

		errno = 0;
		got = syscall(call->number, call->args[0], call->args[1], call->args[2],
			      call->args[3], call->args[4]);
		if (call->error != 0 && (got != -1 || errno != call->error))
			check_fail(__FILE__, __LINE__, "%s: %ld, %s and not %s", call->name, got,
				   strerror(errno), strerror(call->error));
		if (call->error == 0 && got == -1 && (errno == ENOSYS || errno == EPERM))
			check_fail(__FILE__, __LINE__, "%s: %s", call->name, strerror(errno));
	}
}

static void try_unknown(void)
{
	static const struct call calls[] = {
		{ "clone3", SYS_clone3, { 0 }, ENOSYS },
		{ "a number that nobody has", 9999, { 0 }, ENOSYS },
		{ "io_setup", SYS_io_setup, { 0 }, ENOSYS },
		{ "remap_file_pages", SYS_remap_file_pages, { 0 }, ENOSYS },
		{ "set_mempolicy_home_node", 450, { 0 }, ENOSYS },
		{ "statmount", 457, { 0 }, ENOSYS },
		{ "open_tree_attr", 467, { 0 }, ENOSYS },
	};

	enter(0);
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(what_no_list_names_is_not_there)
{
	CHECK_INT(status_of(try_unknown), 0);
}

static void try_refused(void)
{
	static const struct call calls[] = {
		{ "unshare", SYS_unshare, { CLONE_NEWUSER }, EPERM },
		{ "setns", SYS_setns, { -1 }, EPERM },
		{ "mount", SYS_mount, { 0 }, EPERM },
		{ "umount2", SYS_umount2, { 0 }, EPERM },
		{ "open_tree", SYS_open_tree, { -1 }, EPERM },
		{ "move_mount", SYS_move_mount, { -1 }, EPERM },
		{ "fsopen", SYS_fsopen, { 0 }, EPERM },
		{ "mount_setattr", SYS_mount_setattr, { -1 }, EPERM },
		{ "pivot_root", SYS_pivot_root, { 0 }, EPERM },
		{ "chroot", SYS_chroot, { 0 }, EPERM },
		{ "ptrace", SYS_ptrace, { 0 }, EPERM },
		{ "process_vm_readv", SYS_process_vm_readv, { 1 }, EPERM },
		{ "process_vm_writev", SYS_process_vm_writev, { 1 }, EPERM },
		{ "pidfd_getfd", SYS_pidfd_getfd, { -1 }, EPERM },
		{ "kcmp", SYS_kcmp, { 1, 1 }, EPERM },
		{ "bpf", SYS_bpf, { 0 }, EPERM },
		{ "keyctl", SYS_keyctl, { 0 }, EPERM },
		{ "add_key", SYS_add_key, { 0 }, EPERM },
		{ "request_key", SYS_request_key, { 0 }, EPERM },
		{ "perf_event_open", SYS_perf_event_open, { 0 }, EPERM },
		{ "userfaultfd", SYS_userfaultfd, { 1 }, EPERM },
		{ "io_uring_setup", SYS_io_uring_setup, { 1 }, EPERM },
		{ "io_uring_enter", SYS_io_uring_enter, { -1 }, EPERM },
		{ "io_uring_register", SYS_io_uring_register, { -1 }, EPERM },
		{ "open_by_handle_at", SYS_open_by_handle_at, { -1 }, EPERM },
		{ "personality", SYS_personality, { 0xffffffff }, EPERM },
		{ "syslog", SYS_syslog, { 10 }, EPERM },
		{ "quotactl", SYS_quotactl, { 0 }, EPERM },
		{ "swapon", SYS_swapon, { 0 }, EPERM },
		{ "reboot", SYS_reboot, { 0 }, EPERM },
		{ "kexec_load", SYS_kexec_load, { 0 }, EPERM },
		{ "init_module", SYS_init_module, { 0 }, EPERM },
		{ "delete_module", SYS_delete_module, { 0 }, EPERM },
		{ "clock_settime", SYS_clock_settime, { 0 }, EPERM },
		{ "settimeofday", SYS_settimeofday, { 0 }, EPERM },
		{ "adjtimex", SYS_adjtimex, { 0 }, EPERM },
		{ "seccomp", SYS_seccomp, { 0 }, EPERM },
#ifdef SYS_iopl
		{ "iopl", SYS_iopl, { 3 }, EPERM },
		{ "ioperm", SYS_ioperm, { 0, 1, 1 }, EPERM },
		{ "modify_ldt", SYS_modify_ldt, { 0 }, EPERM },
#endif
	};

	enter(SECCOMP_BIT(SECCOMP_EXTRA_GPU));
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(what_opens_the_jail_is_refused)
{
	CHECK_INT(status_of(try_refused), 0);
}

static void try_arguments(void)
{
	static const struct call calls[] = {
		{ "clone a user namespace", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
		{ "clone a mount namespace", SYS_clone, { CLONE_NEWNS | SIGCHLD }, EPERM },
		{ "clone a PID namespace", SYS_clone, { HIGH | CLONE_NEWPID | SIGCHLD }, EPERM },
		{ "clone a cgroup namespace", SYS_clone, { CLONE_NEWCGROUP }, EPERM },
		{ "TIOCSTI", SYS_ioctl, { 0, TIOCSTI }, EPERM },
		{ "TIOCSTI with garbage", SYS_ioctl, { 0, HIGH | TIOCSTI }, EPERM },
		{ "TIOCLINUX", SYS_ioctl, { 0, TIOCLINUX }, EPERM },
		{ "TIOCLINUX with garbage", SYS_ioctl, { -1, HIGH | TIOCLINUX }, EPERM },
		{ "another ioctl", SYS_ioctl, { -1, FIONREAD }, EBADF },
		{ "a sign-extended ioctl", SYS_ioctl, { -1, (int) 0x80045430 }, EBADF },
		{ "AF_UNIX", SYS_socket, { AF_UNIX, SOCK_STREAM }, 0 },
		{ "AF_INET", SYS_socket, { AF_INET, SOCK_STREAM }, 0 },
		{ "AF_INET6", SYS_socket, { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC }, 0 },
		{ "rtnetlink", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE }, 0 },
		{ "nfnetlink", SYS_socket, { AF_NETLINK, SOCK_RAW, 12 }, EAFNOSUPPORT },
		{ "uevents", SYS_socket, { AF_NETLINK, SOCK_RAW, HIGH | 15 }, EAFNOSUPPORT },
		{ "AF_VSOCK", SYS_socket, { AF_VSOCK, SOCK_STREAM }, EAFNOSUPPORT },
		{ "AF_VSOCK with garbage",
		  SYS_socket,
		  { HIGH | AF_VSOCK, SOCK_STREAM },
		  EAFNOSUPPORT },
		{ "AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW }, EAFNOSUPPORT },
		{ "AF_PACKET by its oldest name", SYS_socket, { AF_INET, SOCK_PACKET }, EPERM },
		{ "the same, close-on-exec",
		  SYS_socket,
		  { AF_INET, SOCK_PACKET | SOCK_CLOEXEC },
		  EPERM },
		{ "AF_ALG", SYS_socket, { AF_ALG, SOCK_SEQPACKET }, EAFNOSUPPORT },
		{ "AF_KEY", SYS_socket, { AF_KEY, SOCK_RAW }, EAFNOSUPPORT },
		{ "a pair of AF_TIPC", SYS_socketpair, { AF_TIPC, SOCK_STREAM }, EAFNOSUPPORT },
		{ "PR_SET_NAME", SYS_prctl, { PR_SET_NAME, (long) "name" }, 0 },
		{ "PR_CAPBSET_READ", SYS_prctl, { PR_CAPBSET_READ }, 0 },
		{ "PR_SET_MM", SYS_prctl, { PR_SET_MM, 1 }, EPERM },
		{ "PR_SET_SECUREBITS", SYS_prctl, { PR_SET_SECUREBITS }, EPERM },
		{ "PR_CAPBSET_DROP", SYS_prctl, { HIGH | PR_CAPBSET_DROP, 1 }, EPERM },
		{ "PR_CAP_AMBIENT raise",
		  SYS_prctl,
		  { PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE },
		  EPERM },
	};

	enter(0);
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(arguments_are_compared_as_the_kernel_reads_them)
{
	CHECK_INT(status_of(try_arguments), 0);
}

#define KFD(number) (0xc0184b00L | (number)) /* read and write, 24 bytes */

static void try_kfd(void)
{
	static const struct call calls[] = {
		{ "GET_VERSION", SYS_ioctl, { -1, 0x80084b01L }, EBADF },
		{ "CREATE_QUEUE", SYS_ioctl, { -1, KFD(0x02) }, EBADF },
		{ "WAIT_EVENTS", SYS_ioctl, { -1, KFD(0x0c) }, EBADF },
		{ "number 0", SYS_ioctl, { -1, KFD(0x00) }, EPERM },
		{ "the debugger of old", SYS_ioctl, { -1, KFD(0x0d) }, EPERM },
		{ "the same, its last", SYS_ioctl, { -1, KFD(0x10) }, EPERM },
		{ "SET_SCRATCH_BACKING_VA", SYS_ioctl, { -1, KFD(0x11) }, EBADF },
		{ "ACQUIRE_VM", SYS_ioctl, { -1, KFD(0x15) }, EBADF },
		{ "UNMAP_MEMORY_FROM_GPU", SYS_ioctl, { -1, KFD(0x19) }, EBADF },
		{ "SET_CU_MASK", SYS_ioctl, { -1, KFD(0x1a) }, EPERM },
		{ "GET_QUEUE_WAVE_STATE", SYS_ioctl, { -1, KFD(0x1b) }, EPERM },
		{ "GET_DMABUF_INFO", SYS_ioctl, { -1, KFD(0x1c) }, EBADF },
		{ "IMPORT_DMABUF", SYS_ioctl, { -1, KFD(0x1d) }, EBADF },
		{ "ALLOC_QUEUE_GWS", SYS_ioctl, { -1, KFD(0x1e) }, EBADF },
		{ "SMI_EVENTS", SYS_ioctl, { -1, KFD(0x1f) }, EPERM },
		{ "SMI_EVENTS of another size", SYS_ioctl, { -1, 0x4b1fL }, EPERM },
		{ "SMI_EVENTS with garbage", SYS_ioctl, { -1, HIGH | KFD(0x1f) }, EPERM },
		{ "SVM", SYS_ioctl, { -1, 0x40184b20L }, EBADF },
		{ "SET_XNACK_MODE", SYS_ioctl, { -1, KFD(0x21) }, EPERM },
		{ "CRIU_OP", SYS_ioctl, { -1, KFD(0x22) }, EPERM },
		{ "AVAILABLE_MEMORY", SYS_ioctl, { -1, KFD(0x23) }, EBADF },
		{ "EXPORT_DMABUF", SYS_ioctl, { -1, KFD(0x24) }, EBADF },
		{ "RUNTIME_ENABLE", SYS_ioctl, { -1, KFD(0x25) }, EBADF },
		{ "DBG_TRAP", SYS_ioctl, { -1, KFD(0x26) }, EPERM },
		{ "one that is newer", SYS_ioctl, { -1, KFD(0x27) }, EPERM },
		{ "IPC_IMPORT_HANDLE", SYS_ioctl, { -1, KFD(0x80) }, EPERM },
		{ "IPC_EXPORT_HANDLE", SYS_ioctl, { -1, KFD(0x81) }, EPERM },
		{ "CROSS_MEMORY_COPY", SYS_ioctl, { -1, KFD(0x83) }, EPERM },
		{ "RLC_SPM", SYS_ioctl, { -1, KFD(0x84) }, EPERM },
		{ "PC_SAMPLE", SYS_ioctl, { -1, KFD(0x85) }, EPERM },
		{ "its last", SYS_ioctl, { -1, KFD(0xff) }, EPERM },
		/* Under another letter, which kfd does not look at. */
		{ "SET_CU_MASK as DRM's", SYS_ioctl, { -1, 0xc018641aL }, EPERM },
		{ "GET_QUEUE_WAVE_STATE as nobody's", SYS_ioctl, { -1, 0xc018001bL }, EPERM },
		{ "SMI_EVENTS as a terminal's", SYS_ioctl, { -1, 0xc008541fL }, EPERM },
		{ "SMI_EVENTS of a byte", SYS_ioctl, { -1, 0x0001541fL }, EPERM },
		{ "SET_XNACK_MODE as NVIDIA's", SYS_ioctl, { -1, 0xc0044621L }, EPERM },
		{ "CRIU_OP of the largest size", SYS_ioctl, { -1, 0x3fff6622L }, EPERM },
		{ "DBG_TRAP with garbage", SYS_ioctl, { -1, HIGH | 0xc018ff26L }, EPERM },
		{ "IPC_IMPORT_HANDLE as DRM's", SYS_ioctl, { -1, 0xc0306480L }, EPERM },
		{ "PC_SAMPLE as DRM's", SYS_ioctl, { -1, 0xc0206485L }, EPERM },
		{ "PROFILER as DRM's", SYS_ioctl, { -1, 0xc0206486L }, EPERM },
		{ "FIONREAD", SYS_ioctl, { -1, FIONREAD }, EBADF },
		{ "FIONBIO", SYS_ioctl, { -1, FIONBIO }, EBADF },
		{ "UVM_UNREGISTER_GPU", SYS_ioctl, { -1, 38 }, EBADF },
		/* Neighbours: other drivers' letters. */
		{ "DRM", SYS_ioctl, { -1, 0xc0406400L }, EBADF },
		{ "DRM_IOCTL_PRIME_HANDLE_TO_FD", SYS_ioctl, { -1, 0xc00c642dL }, EBADF },
		{ "the last of amdgpu's", SYS_ioctl, { -1, 0xc018645aL }, EBADF },
		{ "NVIDIA's first", SYS_ioctl, { -1, 0xc0384627L }, EBADF },
		{ "NVIDIA's last", SYS_ioctl, { -1, 0xc03846d7L }, EBADF },
		{ "the letter below", SYS_ioctl, { -1, 0xc0184affL }, EBADF },
		{ "the letter above", SYS_ioctl, { -1, 0xc0184c00L }, EBADF },
	};

	enter(SECCOMP_BIT(SECCOMP_EXTRA_GPU));
	check_calls(calls, ARRAY_LEN(calls));
}

/* There is no kfd in such a jail: other drivers' requests with these numbers pass. */
static void try_no_gpu(void)
{
	static const struct call calls[] = {
		{ "FS_IOC_FSGETXATTR", SYS_ioctl, { -1, 0x801c581fL }, EBADF },
		{ "USBDEVFS_GET_CAPABILITIES", SYS_ioctl, { -1, 0x8004551aL }, EBADF },
		{ "KVM_GET_REGS", SYS_ioctl, { -1, 0x8090ae81L }, EBADF },
		{ "KFD_SMI_EVENTS", SYS_ioctl, { -1, KFD(0x1f) }, EPERM },
	};

	enter(0);
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(without_a_gpu_numbers_of_kfd_are_other_drivers)
{
	CHECK_INT(status_of(try_no_gpu), 0);
}

TEST(requests_of_kfd_are_those_that_run_kernels)
{
	CHECK_INT(status_of(try_kfd), 0);
}

static void try_kfd_profiling(void)
{
	static const struct call calls[] = {
		{ "DBG_TRAP", SYS_ioctl, { -1, KFD(0x26) }, EBADF },
		{ "GET_QUEUE_WAVE_STATE", SYS_ioctl, { -1, KFD(0x1b) }, EBADF },
		{ "CRIU_OP", SYS_ioctl, { -1, KFD(0x22) }, EPERM },
		{ "SMI_EVENTS", SYS_ioctl, { -1, KFD(0x1f) }, EPERM },
		{ "RLC_SPM", SYS_ioctl, { -1, KFD(0x84) }, EPERM },
		{ "DBG_TRAP under another letter", SYS_ioctl, { -1, 0xc0184c26L }, EPERM },
	};

	enter(SECCOMP_BIT(SECCOMP_EXTRA_GPU) | SECCOMP_BIT(SECCOMP_EXTRA_PROFILER));
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(a_profiler_may_also_stop_and_read_its_own_waves)
{
	CHECK_INT(status_of(try_kfd_profiling), 0);
}

static void try_limits(void)
{
	const struct rlimit files = { 64, 64 };
	struct rlimit core, zero = { 0, 0 };

	enter(0);
	CHECK(getrlimit(RLIMIT_CORE, &core) == 0);
	CHECK(prlimit(0, RLIMIT_NOFILE, &files, NULL) == 0);
	CHECK(syscall(SYS_setrlimit, RLIMIT_NOFILE, &files) == 0);
	CHECK(prlimit(0, RLIMIT_CORE, &zero, NULL) < 0 && errno == EPERM);
	CHECK(syscall(SYS_prlimit64, 0, HIGH | RLIMIT_CORE, &zero, NULL) < 0 && errno == EPERM);
	/* A pointer whose lower half is 0 is a pointer all the same. */
	CHECK(syscall(SYS_prlimit64, 0, RLIMIT_CORE, 0x100000000L, NULL) < 0 && errno == EPERM);
	CHECK(syscall(SYS_setrlimit, HIGH | RLIMIT_CORE, &zero) < 0 && errno == EPERM);
}

TEST(the_core_limit_stays_and_others_can_be_lowered)
{
	CHECK_INT(status_of(try_limits), 0);
}

static void call_gpu_list(void)
{
	static const struct call calls[] = { { "set_mempolicy_home_node", 450, { 0 }, 0 } };

	enter(SECCOMP_BIT(SECCOMP_EXTRA_GPU));
	check_calls(calls, ARRAY_LEN(calls));
}

TEST(a_gpu_profile_has_more)
{
	if (syscall(450, 0, 0, 0, 0) < 0 && errno == ENOSYS)
		SKIP("this kernel has no set_mempolicy_home_node");
	CHECK_INT(status_of(call_gpu_list), 0);
}

/* The event that every kernel has: the CPU time of this process, without the kernel's part. */
static long open_event(pid_t pid, int cpu, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
	};

	errno = 0;
	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, flags);
}

static void try_profiling(void)
{
	uint64_t count = 0;
	long fd;

	enter(SECCOMP_BIT(SECCOMP_EXTRA_PROFILER));
	fd = open_event(0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		check_fail(__FILE__, __LINE__, "%s", strerror(errno));
	for (int i = 0; i < 100; i++)
		sched_yield();
	CHECK(read((int) fd, &count, sizeof(count)) == sizeof(count));
	CHECK(count > 0);
	CHECK(open_event(-1, 0, 0) < 0 && errno == EPERM);
	CHECK(open_event(0, 0, PERF_FLAG_PID_CGROUP) < 0 && errno == EPERM);
	CHECK(syscall(SYS_ptrace, 0, 0, 0, 0) < 0 && errno == EPERM);
}

TEST(the_list_of_profilers_opens_events_of_own_processes_only)
{
	long fd = open_event(0, -1, 0);

	if (fd < 0 && errno == EACCES)
		SKIP("kernel.perf_event_paranoid forbids it here");
	CHECK(fd >= 0);
	CHECK_INT(status_of(try_profiling), 0);
}

#ifdef __x86_64__
static void call_i386(void)
{
	long result = 20; /* getpid there, writev here */

	enter(0);
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
}

static void call_x32(void)
{
	enter(0);
	syscall(0x40000000L + SYS_getpid);
}

TEST(a_foreign_abi_ends_the_process)
{
	int status = status_of(call_i386);

	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGSYS);
	status = status_of(call_x32);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGSYS);
}
#endif

static void *say_yes(void *answer)
{
	*(int *) answer = 1;
	return answer;
}

static void start_threads(void)
{
	pthread_t threads[8];
	int answers[8] = { 0 };

	enter(0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		CHECK_INT(pthread_create(&threads[i], NULL, say_yes, &answers[i]), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK_INT(answers[i], 1);
	}
}

TEST(threads_start_without_clone3)
{
	CHECK_INT(status_of(start_threads), 0);
}

static int run_shell(const char *script, bool filtered)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		if (filtered)
			enter(0);
		execl("/bin/sh", "sh", "-euc", script, NULL);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Under the filter, in a folder of its own; skipped where the program is not installed. */
static void check_program(const char *program, const char *script)
{
	char folder[] = "/tmp/seccomp-XXXXXX", text[128];
	int status;

	snprintf(text, sizeof(text), "command -v %s >/dev/null", program);
	if (run_shell(text, false) != 0)
		SKIP("no %s here", program);
	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	status = run_shell(script, true);
	snprintf(text, sizeof(text), "rm -rf '%s'", folder);
	CHECK_INT(run_shell(text, false), 0);
	CHECK_INT(status, 0);
}

#define HELLO "printf '#include <stdio.h>\\nint main(void){return puts(\"hi\")<0;}\\n' >h.c; "

TEST(coreutils_work_inside)
{
	check_program("cp",
		      "echo a >f; cp -a f g; mv g h; ln -s h l; ln h hard; mkfifo p; ls -laR . "
		      ">/dev/null; sort f | tee k | wc -l >/dev/null; tail -c 1 f >/dev/null; "
		      "touch -d yesterday f; chmod 600 f; df . >/dev/null; stat f >/dev/null; "
		      "timeout 5 sleep 0.01; nice -n 5 true; nproc >/dev/null; id >/dev/null; "
		      "dd if=/dev/zero of=z bs=64k count=4 status=none; sync z; truncate -s 9 z; "
		      "date >/dev/null; env true; find . -type f | xargs sha256sum >/dev/null; "
		      "tar cf t.tar f h; tar tf t.tar >/dev/null; rm -r f h");
}

TEST(bash_works_inside)
{
	check_program("bash",
		      "bash -c 'set -m; sleep 0.01 & wait; echo $(echo x | cat) < <(echo y); "
		      "ulimit -n 100; trap : USR1; kill -USR1 $$' >/dev/null");
}

TEST(gcc_builds_inside)
{
	check_program("gcc",
		      HELLO "gcc -O2 -pipe -o h h.c; ./h >/dev/null; gcc -c -g h.c; ar rc l.a h.o");
}

TEST(clang_builds_inside)
{
	check_program("clang", HELLO "clang -O2 -o h h.c; ./h >/dev/null");
}

TEST(make_works_inside)
{
	check_program(
		"make",
		"printf 'all: a b\\na b:\\n\\techo $@ >$@\\n' >Makefile; make -j4 >/dev/null; "
		"test -f a -a -f b");
}

TEST(python_works_inside)
{
	check_program(
		"python3",
		"python3 -c 'import threading, subprocess, tempfile, socket, multiprocessing, "
		"mmap, asyncio, os, shutil\n"
		"[t.start() or t.join() for t in [threading.Thread(target=print) for _ in "
		"range(4)]]\n"
		"subprocess.run([\"true\"], check=True)\n"
		"multiprocessing.Pool(2).map(abs, [1, 2])\n"
		"asyncio.run(asyncio.create_subprocess_exec(\"true\"))\n"
		"socket.getaddrinfo(\"127.0.0.1\", 80)\n"
		"mmap.mmap(-1, 4096)\n"
		"f = tempfile.mkdtemp(); open(f + \"/a\", \"w\").write(\"x\"); shutil.copy(f + "
		"\"/a\", f + \"/b\"); shutil.rmtree(f)' "
		">/dev/null");
}

TEST(node_works_inside)
{
	check_program("node",
		      "node -e 'const {Worker} = require(\"worker_threads\"); "
		      "require(\"child_process\").execFileSync(\"true\"); "
		      "require(\"fs\").writeFileSync(\"f\", \"x\"); "
		      "new Worker(\"0\", {eval: true}).on(\"exit\", c => process.exit(c))'");
}

TEST(git_works_inside)
{
	check_program("git", "export HOME=$PWD; git init -q r; cd r; echo a >f; git add f; "
			     "git -c user.name=n -c user.email=e commit -qm m; git log >/dev/null; "
			     "git clone -q . ../c; git gc -q; git status >/dev/null");
}

/* The launcher counts by number and the client tells by name: both in the order of the list. */
TEST(the_numbers_of_refused_calls_are_in_the_order_of_their_names)
{
	static const struct {
		const char *name;
		int number;
	} some[] = { { "chroot", SYS_chroot },   { "ptrace", SYS_ptrace },
		     { "bpf", SYS_bpf },         { "mount", SYS_mount },
		     { "seccomp", SYS_seccomp }, { "vhangup", SYS_vhangup } };
	int32_t numbers[JAIL_DENIED_MAX];
	uint32_t count = seccomp_refused(numbers, JAIL_DENIED_MAX), found = 0;

	CHECK(count > 50);
	CHECK(jail_denied_name(count - 1) != NULL);
	CHECK(jail_denied_name(count) == NULL);
	for (uint32_t i = 0; i < count; i++) {
		for (size_t j = 0; j < ARRAY_LEN(some); j++) {
			if (strcmp(jail_denied_name(i), some[j].name) != 0)
				continue;
			CHECK_INT(numbers[i], some[j].number);
			found++;
		}
	}
	CHECK_INT(found, ARRAY_LEN(some));
}
