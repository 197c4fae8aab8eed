/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The walls of a jail, tried from inside: each test is an attempt that has to fail.
 *
 * Run as the payload of a jail, where every test passes. Run bare as root, where there are no
 * walls, most of them fail: tests/e2e/20-walls.sh looks at both.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"
#include "tests/lib/check.h"

/* The call must fail, and in one of these two ways. */
#define CHECK_REFUSED(call, one, other)                    \
	do {                                               \
		errno = 0;                                 \
		CHECK((long) (call) < 0);                  \
		CHECK(errno == (one) || errno == (other)); \
	} while (0)

static void read_status(const char *key, char *value, size_t room)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[512];

	CHECK(file);
	value[0] = '\0';
	while (fgets(line, sizeof(line), file)) {
		size_t len = strlen(key);

		if (strncmp(line, key, len) == 0 && line[len] == ':')
			snprintf(value, room, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
	}
	fclose(file);
	value[strcspn(value, "\n")] = '\0';
}

#define CHECK_STATUS(key, want)                           \
	do {                                              \
		char value_[256];                         \
		read_status(key, value_, sizeof(value_)); \
		CHECK_STR(value_, want);                  \
	} while (0)

TEST(host_root_is_not_mapped)
{
	static const char *const maps[] = { "/proc/self/uid_map", "/proc/self/gid_map" };

	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		FILE *file = fopen(maps[i], "re");
		unsigned int inside, outside, count, lines = 0;

		CHECK(file);
		while (fscanf(file, "%u %u %u", &inside, &outside, &count) == 3) {
			CHECK(outside > 0);
			lines++;
		}
		CHECK_INT(lines, 1);
		fclose(file);
	}
}

TEST(the_user_is_not_root)
{
	CHECK(getuid() != 0 && geteuid() != 0 && getgid() != 0 && getegid() != 0);
}

TEST(every_capability_set_is_empty)
{
	CHECK_STATUS("CapBnd", "0000000000000000");
	CHECK_STATUS("CapPrm", "0000000000000000");
	CHECK_STATUS("CapEff", "0000000000000000");
	CHECK_STATUS("CapInh", "0000000000000000");
	CHECK_STATUS("CapAmb", "0000000000000000");
}

TEST(no_new_privileges_is_set)
{
	CHECK_STATUS("NoNewPrivs", "1");
}

TEST(a_system_call_filter_is_on)
{
	CHECK_STATUS("Seccomp", "2");
}

TEST(there_is_no_supplementary_group)
{
	CHECK_INT(getgroups(0, NULL), 0);
}

TEST(the_only_interface_is_loopback)
{
	struct ifaddrs *list;

	CHECK(getifaddrs(&list) == 0);
	for (const struct ifaddrs *at = list; at; at = at->ifa_next)
		CHECK_STR(at->ifa_name, "lo");
	freeifaddrs(list);
}

TEST(no_process_of_the_host_is_seen)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	CHECK(proc);
	while ((entry = readdir(proc)))
		count += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
	closedir(proc);
	/* pid 1, the payload, and this test. */
	CHECK(count <= 3);
	CHECK(getpid() < 1000);
}

TEST(no_descriptor_above_2_was_inherited)
{
	for (int fd = 3; fd < 4096; fd++)
		CHECK(fcntl(fd, F_GETFD) < 0);
}

TEST(the_root_can_not_be_written)
{
	static const char *const places[] = { "/new",     "/etc/new",     "/usr/new",
					      "/sys/new", "/usr/bin/new", "/etc/passwd" };

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		CHECK_REFUSED(open(places[i], O_WRONLY | O_CREAT, 0600), EROFS, EACCES);
	CHECK_REFUSED(mkdir("/folder", 0700), EROFS, EACCES);
	CHECK_REFUSED(unlink("/etc/passwd"), EROFS, EACCES);
}

TEST(dev_can_not_be_written)
{
	CHECK_REFUSED(open("/dev/new", O_WRONLY | O_CREAT, 0600), EROFS, EACCES);
	CHECK_REFUSED(unlink("/dev/null"), EROFS, EACCES);
	CHECK_REFUSED(mkdir("/dev/folder", 0700), EROFS, EACCES);
	CHECK_REFUSED(symlink("null", "/dev/link"), EROFS, EACCES);
}

TEST(dev_has_the_named_nodes_and_no_other)
{
	static const char *const named[] = { ".",     "..",     "fd",     "full",    "null",
					     "ptmx",  "pts",    "random", "shm",     "stderr",
					     "stdin", "stdout", "tty",    "urandom", "zero" };
	DIR *dev = opendir("/dev");
	const struct dirent *entry;

	CHECK(dev);
	while ((entry = readdir(dev))) {
		bool known = false;

		for (size_t i = 0; i < ARRAY_LEN(named); i++)
			known = known || strcmp(entry->d_name, named[i]) == 0;
		if (!known)
			check_fail(__FILE__, __LINE__, "/dev/%s", entry->d_name);
	}
	closedir(dev);
}

TEST(device_nodes_can_not_be_made)
{
	CHECK_REFUSED(mknod("null", S_IFCHR | 0666, makedev(1, 3)), EPERM, EPERM);
	CHECK_REFUSED(mknod("disk", S_IFBLK | 0666, makedev(254, 0)), EPERM, EPERM);
	CHECK_REFUSED(mknodat(AT_FDCWD, "/tmp/mem", S_IFCHR | 0666, makedev(1, 1)), EPERM, EPERM);
}

/* How many files below the folder this process may not read; one that it can open all the same
 * ends the test. */
static int count_closed(const char *path, int depth)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (!folder || depth > 12)
		return 0;
	while ((entry = readdir(folder))) {
		char below[4096];
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (lstat(below, &info) < 0)
			continue;
		if (S_ISDIR(info.st_mode))
			count += count_closed(below, depth + 1);
		if (!S_ISREG(info.st_mode) || (info.st_mode & S_IROTH))
			continue;
		count++;
		if (open(below, O_RDONLY) >= 0)
			check_fail(__FILE__, __LINE__, "%s was opened", below);
	}
	closedir(folder);
	return count;
}

/* The caller has put one root-only file below /usr/local, so that there is something to find. */
TEST(no_file_that_the_host_keeps_for_root_is_readable)
{
	CHECK(open("/etc/shadow", O_RDONLY) < 0);
	CHECK(count_closed("/usr/local", 0) + count_closed("/usr/lib", 0) +
		      count_closed("/etc", 0) >
	      0);
}

TEST(nothing_can_be_mounted)
{
	CHECK_REFUSED(mount("none", "/tmp", "tmpfs", 0, NULL), EPERM, EPERM);
	CHECK_REFUSED(mount("/usr", "/tmp", NULL, MS_BIND, NULL), EPERM, EPERM);
	CHECK_REFUSED(mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM, EPERM);
	CHECK_REFUSED(umount2("/proc/sys", MNT_DETACH), EPERM, EPERM);
	CHECK_REFUSED(fsopen("tmpfs", 0), EPERM, EPERM);
	CHECK_REFUSED(open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE), EPERM, EPERM);
	CHECK_REFUSED(sys_pivot_root(".", "."), EPERM, EPERM);
	CHECK_REFUSED(chroot("/tmp"), EPERM, EPERM);
}

TEST(no_namespace_can_be_made_by_unshare)
{
	static const int kinds[] = { CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
				     CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		CHECK_REFUSED(unshare(kinds[i]), EPERM, EPERM);
}

TEST(no_namespace_can_be_made_by_clone)
{
	CHECK_REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM, EPERM);
	CHECK_REFUSED(syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0), EPERM, EPERM);
}

TEST(no_namespace_can_be_made_by_clone3)
{
	struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	pid_t pid = sys_clone3(&args);

	if (pid == 0)
		_exit(0);
	CHECK(pid < 0);
	CHECK(errno == ENOSYS || errno == EPERM);
}

TEST(no_namespace_can_be_joined)
{
	int fd = open("/proc/self/ns/user", O_RDONLY);

	CHECK_REFUSED(setns(fd, CLONE_NEWUSER), EPERM, EPERM);
}

TEST(no_process_can_be_traced)
{
	CHECK_REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM, EPERM);
	CHECK_REFUSED(ptrace(PTRACE_ATTACH, 1, NULL, NULL), EPERM, EPERM);
	CHECK_REFUSED(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL), EPERM, EPERM);
}

TEST(pid_1_keeps_its_secrets)
{
	CHECK(open("/proc/1/mem", O_RDONLY) < 0);
	CHECK(open("/proc/1/environ", O_RDONLY) < 0);
	CHECK(open("/proc/1/maps", O_RDONLY) < 0);
	CHECK(open("/proc/1/exe", O_RDONLY) < 0);
	CHECK(opendir("/proc/1/fd") == NULL);
	CHECK(opendir("/proc/1/root") == NULL);
}

TEST(pid_1_can_not_be_signalled)
{
	CHECK_REFUSED(kill(1, SIGKILL), EPERM, EPERM);
	CHECK_REFUSED(kill(1, SIGSTOP), EPERM, EPERM);
}

TEST(bpf_is_refused)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	CHECK_REFUSED(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)), EPERM, EPERM);
}

TEST(io_uring_is_refused)
{
	struct io_uring_params params = { .flags = 0 };

	CHECK_REFUSED(syscall(SYS_io_uring_setup, 4, &params), EPERM, ENOSYS);
}

TEST(keyrings_are_refused)
{
	CHECK_REFUSED(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL), EPERM, EPERM);
	CHECK_REFUSED(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0),
		      EPERM, EPERM);
	CHECK_REFUSED(syscall(SYS_add_key, "user", "name", "data", 4, KEY_SPEC_PROCESS_KEYRING),
		      EPERM, EPERM);
}

TEST(perf_events_are_refused)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.exclude_kernel = 1 };

	CHECK_REFUSED(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), EPERM, EPERM);
}

TEST(userfaultfd_is_refused)
{
	CHECK_REFUSED(syscall(SYS_userfaultfd, 0), EPERM, EPERM);
	CHECK_REFUSED(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */), EPERM, EPERM);
}

TEST(sockets_that_reach_past_the_network_namespace_are_refused)
{
	static const int families[] = { AF_VSOCK,     AF_PACKET, AF_ALG, AF_TIPC,
					AF_BLUETOOTH, AF_RDS,    AF_XDP };

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		CHECK_REFUSED(socket(families[i], SOCK_STREAM, 0), EPERM, EAFNOSUPPORT);
	CHECK_REFUSED(socket(AF_NETLINK, SOCK_RAW, 12 /* NETLINK_NETFILTER */), EPERM,
		      EAFNOSUPPORT);
}

TEST(files_can_not_be_opened_by_handle)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} file = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount_id;
	int root = open("/usr", O_RDONLY | O_DIRECTORY);

	best_effort(name_to_handle_at(root, "", &file.handle, &mount_id, AT_EMPTY_PATH));
	CHECK_REFUSED(open_by_handle_at(root, &file.handle, O_RDONLY), EPERM, EPERM);
}

TEST(terminals_take_no_injected_input)
{
	char letter = 'x';

	CHECK_REFUSED(ioctl(0, TIOCSTI, &letter), EPERM, EPERM);
	CHECK_REFUSED(syscall(SYS_ioctl, 0, UINT64_C(0x100000000) | TIOCSTI, &letter), EPERM,
		      EPERM);
}

TEST(kernel_settings_can_not_be_written)
{
	static const char *const files[] = { "/proc/sys/kernel/core_pattern",
					     "/proc/sys/kernel/modprobe",
					     "/proc/sys/vm/overcommit_memory",
					     "/proc/sysrq-trigger" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		CHECK(open(files[i], O_WRONLY) < 0);
}

/* A call by the table of a foreign ABI ends the process. */
TEST(foreign_system_call_tables_are_closed)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		long result;

		__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L /* getpid */) : "memory");
		_exit(result > 0 ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGSYS);
}

TEST(an_unknown_system_call_looks_like_an_old_kernel)
{
	CHECK_REFUSED(syscall(9999), ENOSYS, ENOSYS);
}

TEST(no_set_user_id_bit_works)
{
	struct stat info;

	CHECK(stat("/usr/bin/passwd", &info) < 0 || (info.st_mode & S_ISUID));
	CHECK_STATUS("NoNewPrivs", "1");
	CHECK(setuid(0) < 0 && seteuid(0) < 0 && setgid(0) < 0);
}
