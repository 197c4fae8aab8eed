/* SPDX-License-Identifier: Apache-2.0 */

/* Parts of the kernel that no agent needs, and the machine itself. */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/kexec.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <asm/ldt.h>

static void bpf(const struct scene *scene)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	(void) scene;
	if (fd >= 0 && fcntl((int) fd, F_GETFD) >= 0)
		got("a map of BPF");
	held_by("bpf");
}

static void io_uring(const struct scene *scene)
{
	struct io_uring_params params = { .flags = 0 };
	long fd = syscall(SYS_io_uring_setup, 4, &params);

	(void) scene;
	if (fd >= 0 && params.sq_entries >= 4)
		got("a ring that makes calls past the filter");
	held_by("io_uring_setup");
}

static void perf(const struct scene *scene)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.exclude_kernel = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t count = 0;

	(void) scene;
	if (fd >= 0 && read((int) fd, &count, sizeof(count)) == sizeof(count))
		got("a counter of the profiler");
	held_by("perf_event_open");
}

static void userfaultfd(const struct scene *scene)
{
	static const int flags[] = { 1 /* UFFD_USER_MODE_ONLY */, 0 };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct uffdio_api api = { .api = UFFD_API };
		long fd = syscall(SYS_userfaultfd, flags[i] | O_CLOEXEC);

		if (fd >= 0 && ioctl((int) fd, UFFDIO_API, &api) == 0)
			got("page faults to answer when it pleases us");
	}
	if (open("/dev/userfaultfd", O_RDWR | O_CLOEXEC) >= 0)
		got("/dev/userfaultfd");
	held_by("userfaultfd");
}

static void keys(const struct scene *scene)
{
	char text[16] = "";
	long ring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	long key = syscall(SYS_add_key, "user", scene->tag, "data", 4UL, KEY_SPEC_PROCESS_KEYRING);

	if (key >= 0 && syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text)) == 4)
		got("keeps data in a keyring");
	if (ring >= 0)
		got("a keyring of our own");
	held_by("add_key");
}

/* -- calls by other tables -- */

static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

static void run_alone(void (*attempt)(void), const char *what)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (sigsetjmp(back, 1) == 0) {
			signal(SIGSEGV, on_fault);
			signal(SIGILL, on_fault);
			attempt();
		}
		not_here("this kernel has no %s", what);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		broken("wait for a child: %s", strerror(errno));
	if (WIFSIGNALED(status))
		held("%s: it was killed by signal %d", what, WTERMSIG(status));
	_exit(0); /* it has said the word */
}

static void call_i386(void)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L /* getpid */) : "memory");
	if (result == getpid())
		got("a call by the table of i386");
	held("int 0x80: %s", strerror((int) -result));
#endif
}

static void foreign_table(const struct scene *scene)
{
	(void) scene;
	run_alone(call_i386, "calls of i386");
}

static void call_x32(void)
{
#if defined(__x86_64__)
	long result = syscall(0x40000000 | SYS_getpid);

	if (result == getpid())
		got("a call by the table of x32");
	held_by("getpid of x32");
#endif
}

static void x32_table(const struct scene *scene)
{
	(void) scene;
	run_alone(call_x32, "calls of x32");
}

/* A domain is an int to the kernel: what compares all 64 bits lets it pass. */
static void long_arguments(const struct scene *scene)
{
	static const int domains[] = { AF_ALG, AF_VSOCK, AF_PACKET, AF_KEY };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(domains); i++)
		if (syscall(SYS_socket, UINT64_C(0x100000000) | (unsigned int) domains[i], SOCK_RAW,
			    0) >= 0 ||
		    syscall(SYS_socket, UINT64_C(0x100000000) | (unsigned int) domains[i],
			    SOCK_SEQPACKET, 0) >= 0)
			got("a socket of domain %d, by an argument that is too long", domains[i]);
	held_by("socket");
}

static void local_descriptors(const struct scene *scene)
{
	(void) scene;
#if defined(__x86_64__)
	struct user_desc entry = { .entry_number = 0, .limit = 1, .seg_32bit = 0 };

	if (syscall(SYS_modify_ldt, 1, &entry, sizeof(entry)) == 0)
		got("a 16-bit segment");
	held_by("modify_ldt");
#else
	not_here("this machine has no segments");
#endif
}

/* -- the machine -- */

/* What is no module is refused as no module: by then the call has got as far as the loader. */
static void module(const struct scene *scene)
{
	static char nonsense[64] = "no module";

	(void) scene;
	if (syscall(SYS_init_module, nonsense, sizeof(nonsense), "") == 0 || errno == ENOEXEC)
		got("the kernel looks at our module");
	held_by("init_module");
}

/* No segments: what was loaded before, if anything was, is let go. */
static void kexec(const struct scene *scene)
{
	(void) scene;
	if (syscall(SYS_kexec_load, 0UL, 0UL, NULL, 0UL) == 0)
		got("says which kernel is next");
	held_by("kexec_load");
}

/* Whether Ctrl-Alt-Del starts anew at once: nothing else. */
static void reboot(const struct scene *scene)
{
	(void) scene;
	if (syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF,
		    NULL) == 0)
		got("reboot() takes our commands");
	held_by("reboot");
}

/* To what it is. */
static void set_clock(const struct scene *scene)
{
	struct timespec now;
	struct timex same = { .modes = 0 };

	(void) scene;
	clock_gettime(CLOCK_REALTIME, &now);
	if (clock_settime(CLOCK_REALTIME, &now) == 0)
		got("sets the clock");
	if (adjtimex(&same) >= 0) {
		same.modes = ADJ_FREQUENCY;
		if (adjtimex(&same) >= 0)
			got("sets how fast the clock goes");
	}
	held_by("clock_settime");
}

static void host_name(const struct scene *scene)
{
	struct utsname name;

	(void) scene;
	if (uname(&name) == 0 && sethostname(name.nodename, strlen(name.nodename)) == 0)
		got("sets the host's name");
	held_by("sethostname");
}

static void ports(const struct scene *scene)
{
	(void) scene;
#if defined(__x86_64__)
	if (syscall(SYS_ioperm, 0x80UL, 1UL, 1) == 0)
		got("a port of the machine");
	if (syscall(SYS_iopl, 3) == 0)
		got("all ports of the machine");
	if (scene->bare && (errno == ENOSYS || errno == EPERM))
		not_here("this kernel gives ports to nobody: %s", strerror(errno));
	held_by("ioperm");
#else
	not_here("this machine has no ports");
#endif
}

/* No file: what was on is off, and it is off nearly everywhere. */
static void accounting(const struct scene *scene)
{
	(void) scene;
	if (syscall(SYS_acct, NULL) == 0)
		got("turned the host's accounting off");
	held_by("acct");
}

static void watch_everything(const struct scene *scene)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY);

	if (fd < 0)
		held_by("fanotify_init");
	if (fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, scene->bait) == 0)
		got("sees every file that is opened below %s", scene->bait);
	held_by("fanotify_mark");
}

static void memory_map(const struct scene *scene)
{
	needs_capability(scene, CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE");
	if (prctl(PR_SET_MM, PR_SET_MM_START_BRK, (unsigned long) sbrk(0), 0, 0) == 0)
		got("says where its memory is");
	held_by("prctl(PR_SET_MM)");
}

/* -- terminals -- */

/* A terminal of our own that controls us, as a shell would be given: what is typed into it for us?
 */
static int open_terminal(const struct scene *scene)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, number;
	struct termios raw;
	char path[32];

	(void) scene;
	if (master < 0 || ioctl(master, TIOCGPTN, &number) < 0 ||
	    ioctl(master, TIOCSPTLCK, &(int){ 0 }) < 0)
		not_here("no terminal can be opened: %s", strerror(errno));
	snprintf(path, sizeof(path), "/dev/pts/%d", number);
	setsid();
	slave = open(path, O_RDWR | O_CLOEXEC);
	if (slave < 0)
		not_here("no terminal can be opened: %s", strerror(errno));
	best_effort(ioctl(slave, TIOCSCTTY, 0));
	if (tcgetattr(slave, &raw) == 0) {
		cfmakeraw(&raw);
		raw.c_cc[VMIN] = 0;
		tcsetattr(slave, TCSANOW, &raw);
	}
	return slave;
}

static void type_at(const struct scene *scene, unsigned long request)
{
	char letter = 'x', read_back = 0;
	int terminal;
	pid_t pid = fork(); /* who leads a group already can lead no session */

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	terminal = open_terminal(scene);
	if (syscall(SYS_ioctl, terminal, request, &letter) < 0)
		held_by("ioctl(TIOCSTI)");
	if (read(terminal, &read_back, 1) == 1 && read_back == letter)
		got("typed a letter into a terminal");
	broken("a letter was typed and never came");
}

static void type(const struct scene *scene)
{
	type_at(scene, TIOCSTI);
}

static void type_long(const struct scene *scene)
{
	type_at(scene, UINT64_C(0x100000000) | TIOCSTI);
}

/* Asks a console for its state; other numbers of the same request paste text. */
static void console(const struct scene *scene)
{
	static const char *const consoles[] = { "/dev/tty0", "/dev/tty1", "/dev/console" };
	char code = 6; /* TIOCL_GETSHIFTSTATE */

	for (size_t i = 0; i < ARRAY_LEN(consoles); i++) {
		int fd = open(consoles[i], O_RDWR | O_NOCTTY | O_CLOEXEC);

		if (fd >= 0 && ioctl(fd, TIOCLINUX, &code) >= 0)
			got("the console takes our commands");
		if (fd >= 0 && !scene->bare)
			got("opened %s", consoles[i]);
	}
	held_by("open a console");
}

/* clang-format off */
const struct attack attacks_on_the_kernel[] = {
	{ "kernel-bpf",            bpf },
	{ "kernel-io-uring",       io_uring },
	{ "kernel-perf",           perf },
	{ "kernel-userfaultfd",    userfaultfd },
	{ "kernel-keys",           keys },
	{ "kernel-foreign-table",  foreign_table },
	{ "kernel-x32-table",      x32_table },
	{ "kernel-long-arguments", long_arguments },
	{ "kernel-segments",       local_descriptors },
	{ "kernel-module",         module },
	{ "kernel-kexec",          kexec },
	{ "kernel-reboot",         reboot },
	{ "kernel-clock",          set_clock },
	{ "kernel-host-name",      host_name },
	{ "kernel-ports",          ports },
	{ "kernel-accounting",     accounting },
	{ "kernel-fanotify",       watch_everything },
	{ "kernel-memory-map",     memory_map },
	{ "tty-type",              type },
	{ "tty-type-long",         type_long },
	{ "tty-console",           console },
	{ NULL,                    NULL },
};
/* clang-format on */
