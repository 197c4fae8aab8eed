/* SPDX-License-Identifier: Apache-2.0 */

/* Other processes: those of the host, and pid 1, which belongs to the launcher. */
#include "tests/attacks/attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"

/* Is the process of this number the one that the drill has put there? Numbers are reused. */
static bool is_victim(const struct scene *scene, long pid)
{
	char path[64], name[64];

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	if (read_text(path, name, sizeof(name)) <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	return strcmp(name, scene->tag) == 0;
}

static void see_victim(const struct scene *scene)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	while (proc && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);

		count += pid > 0;
		if (pid > 0 && is_victim(scene, pid))
			got("process %ld of the host", pid);
	}
	held("%d processes are seen, all of them ours", count);
}

static void signal_victim(const struct scene *scene)
{
	if (kill((pid_t) scene->victim, 0) < 0)
		held_by("kill");
	if (is_victim(scene, scene->victim))
		got("may signal process %ld of the host", scene->victim);
	held("the process of this number is our own");
}

/* SIGCONT does nothing to who is not stopped. */
static void signal_init(const struct scene *scene)
{
	(void) scene;
	if (kill(1, SIGCONT) == 0)
		got("pid 1 takes our signals");
	held_by("kill");
}

/* Only the reading of its process descriptor can follow: nothing is done to it. */
static void signal_init_by_descriptor(const struct scene *scene)
{
	int fd = sys_pidfd_open(1, 0);

	(void) scene;
	if (fd < 0)
		held_by("pidfd_open");
	if (sys_pidfd_send_signal(fd, SIGCONT) == 0)
		got("pid 1 takes our signals");
	held_by("pidfd_send_signal");
}

/* The victim, pid 1, and whoever started us: without the bare control's own. */
static size_t targets_of(const struct scene *scene, long out[3])
{
	size_t count = 0;

	out[count++] = scene->victim;
	if (!scene->bare) {
		out[count++] = 1;
		out[count++] = getppid();
	}
	return count;
}

static void trace(const struct scene *scene)
{
	long targets[3];
	size_t count = targets_of(scene, targets);

	for (size_t i = 0; i < count; i++) {
		if (ptrace(PTRACE_SEIZE, targets[i], 0, 0) < 0)
			continue;
		if (status_number("TracerPid", 10) >= 0)
			got("traces process %ld", targets[i]);
	}
	held_by("ptrace");
}

/* A tracer that ends leaves its tracee stopped: most jails then never end. */
static void trace_own_child(const struct scene *scene)
{
	pid_t pid = fork();
	int status;

	(void) scene;
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			held_by("ptrace");
		raise(SIGTRAP);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid)
		broken("wait for a child: %s", strerror(errno));
	if (WIFSTOPPED(status))
		got("traces a process");
	_exit(0);
}

/* Where memory of the process is, if that can be seen; else where static programs have theirs. */
static uintptr_t address_in(long pid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0x400000;
	return (uintptr_t) strtoul(text, NULL, 16);
}

static void read_memory(const struct scene *scene)
{
	long targets[3];
	size_t count = targets_of(scene, targets);

	for (size_t i = 0; i < count; i++) {
		uintptr_t at = address_in(targets[i]);
		char byte[16];
		struct iovec ours = { byte, sizeof(byte) }, theirs = { NULL, sizeof(byte) };

		memcpy(&theirs.iov_base, &at, sizeof(at));
		if (process_vm_readv((pid_t) targets[i], &ours, 1, &theirs, 1, 0) > 0)
			got("read memory of process %ld", targets[i]);
	}
	held_by("process_vm_readv");
}

static void open_memory(const struct scene *scene)
{
	long targets[3];
	size_t count = targets_of(scene, targets);

	for (size_t i = 0; i < count; i++) {
		char path[64], byte[16];
		int fd;

		snprintf(path, sizeof(path), "/proc/%ld/mem", targets[i]);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && pread(fd, byte, sizeof(byte), (off_t) address_in(targets[i])) > 0)
			got("opened the memory of process %ld to write", targets[i]);
	}
	held_by("open a process's memory");
}

static void steal_descriptor(const struct scene *scene)
{
	long targets[3];
	size_t count = targets_of(scene, targets);

	for (size_t i = 0; i < count; i++) {
		int process = sys_pidfd_open((pid_t) targets[i], 0);

		for (int fd = 0; process >= 0 && fd < 16; fd++) {
			long mine = syscall(SYS_pidfd_getfd, process, fd, 0);

			if (mine >= 0 && fcntl((int) mine, F_GETFD) >= 0)
				got("has descriptor %d of process %ld", fd, targets[i]);
		}
	}
	held_by("pidfd_getfd");
}

/* Orders addresses of the kernel: what lies where is half of many a way in. */
static void compare(const struct scene *scene)
{
	long result = syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0);

	(void) scene;
	if (result >= 0)
		got("kcmp tells the order of the kernel's objects");
	held_by("kcmp");
}

static void move_pages_of(const struct scene *scene)
{
	static char page[8192];
	void *pages[1] = { page };
	int where = -1;

	(void) scene;
	page[0] = page[4096] = 1;
	if (syscall(SYS_move_pages, 0, 1UL, pages, NULL, &where, 0) == 0 && where >= 0)
		got("move_pages tells where memory lies: node %d", where);
	held_by("move_pages");
}

static void advise(const struct scene *scene)
{
	static char page[8192];
	struct iovec range = { page, 4096 };
	int process = sys_pidfd_open((pid_t) (scene->bare ? getpid() : 1), 0);

	if (process < 0)
		held_by("pidfd_open");
	range.iov_base = (char *) (((uintptr_t) page + 4095) & ~(uintptr_t) 4095);
	if (syscall(SYS_process_madvise, process, &range, 1UL, MADV_COLD, 0) > 0)
		got("may push out the memory of a process");
	held_by("process_madvise");
}

static void init_secrets(const struct scene *scene)
{
	static const char *const files[] = { "environ", "maps",    "auxv", "smaps",
					     "stack",   "syscall", "io",   "pagemap" };
	char text[4096];

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (read_text(below("/proc/1", files[i]), text, sizeof(text)) > 0)
			got("read /proc/1/%s", files[i]);
	held_by("read what is pid 1's own");
}

static void init_root(const struct scene *scene)
{
	static const char *const folders[] = { "root", "cwd", "fd", "fdinfo", "map_files", "ns" };
	char target[256];

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		DIR *folder = opendir(below("/proc/1", folders[i]));

		if (folder && readdir(folder) && strcmp(folders[i], "ns") != 0)
			got("listed /proc/1/%s", folders[i]);
		if (folder)
			closedir(folder);
	}
	if (readlink("/proc/1/ns/mnt", target, sizeof(target)) > 0)
		got("read /proc/1/ns/mnt");
	held_by("list what is pid 1's own");
}

/* clang-format off */
const struct attack attacks_on_processes[] = {
	{ "proc-see",               see_victim },
	{ "proc-signal",            signal_victim },
	{ "proc-signal-init",       signal_init },
	{ "proc-signal-descriptor", signal_init_by_descriptor },
	{ "proc-trace",             trace },
	{ "proc-trace-child",       trace_own_child },
	{ "proc-read-memory",       read_memory },
	{ "proc-open-memory",       open_memory },
	{ "proc-steal-descriptor",  steal_descriptor },
	{ "proc-compare",           compare },
	{ "proc-move-pages",        move_pages_of },
	{ "proc-advise",            advise },
	{ "proc-init-secrets",      init_secrets },
	{ "proc-init-root",         init_root },
	{ NULL,                     NULL },
};
/* clang-format on */
