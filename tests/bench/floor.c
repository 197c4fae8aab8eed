/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-floor UNIFIED MEMORY PIDS DEVICES FILTER [COMMAND…]: the least that a launch can cost
 *
 * Long-lived as the launcher: for each byte on standard input it starts COMMAND (/bin/true) behind
 * the walls of our jails, waits until nothing of it is left, and writes a byte. The arguments are
 * descriptors that bench-launch has opened: our folders in the control groups (-1: no v1 hierarchy
 * of that kind), the device program and the system call filter. What is mounted, written to the
 * control group and made in /dev comes from the tables of the jail itself.
 *
 * The calls are those of `strace -f` on a launch that change the kernel's state: namespaces,
 * mounts, control groups, credentials, filters, the program. Left out, and so what a launcher may
 * cost on top:
 *
 *	the request and the events      nobody asks, nobody is told
 *	the monitor's fork              this program is monitor and launcher; nothing is begun early
 *	the lease                       one jail at a time, in a range of its own
 *	pid 1's program                 it goes on as a copy of this one
 *	reading limits back, usage      nothing is checked or reported
 *	signals, timers, keyring, nice  there is nobody's context to reset
 *	looking at sources and masks    once, at the start
 *	answering refused calls         the listener is made and let go
 */

#include "tests/bench/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"

#define BUILD_AT "/tmp"

/* -- mounts -- */

static int new_mount(const char *type, const struct mount_option *options, uint64_t attributes)
{
	int context = (int) need(fsopen(type, FSOPEN_CLOEXEC), type), made;

	for (; options && options->key; options++)
		need(fsconfig(context, FSCONFIG_SET_STRING, options->key, options->value, 0),
		     options->key);
	need(fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0), type);
	made = (int) need(fsmount(context, FSMOUNT_CLOEXEC, (unsigned int) attributes), type);
	close(context);
	return made;
}

static void set_attributes(int fd, uint64_t attributes)
{
	struct mount_attr change = { .attr_set = attributes };

	need(mount_setattr(fd, "", AT_EMPTY_PATH, &change, sizeof(change)), "mount_setattr");
}

static void attach(int fd, int root_fd, const char *at)
{
	need(move_mount(fd, "", root_fd, at, MOVE_MOUNT_F_EMPTY_PATH), at);
	close(fd);
}

/* The folders above, where they are not there yet. */
static void make_parents(int root_fd, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		char above[128];

		snprintf(above, sizeof(above), "%.*s", (int) (slash - path), path);
		mkdirat(root_fd, above, 0755);
	}
}

static void make_target(int root_fd, const char *path, bool is_folder)
{
	for (int try = 0; try < 2; try++) {
		if ((is_folder ? mkdirat(root_fd, path, 0755)
			       : mknodat(root_fd, path, S_IFREG | 0444, 0)) == 0)
			return;
		if (errno != ENOENT)
			return;
		make_parents(root_fd, path);
	}
}

static void put_bind(int root_fd, const struct plan_row *row, bool is_folder)
{
	int tree = (int) need(open_tree(AT_FDCWD, row->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
			      row->source);

	set_attributes(tree, mounts_form(PLAN_BIND)->attributes);
	make_target(root_fd, row->target, is_folder);
	attach(tree, root_fd, row->target);
}

static void put_text(int root_fd, const struct plan_row *row)
{
	int fd = (int) need(openat(root_fd, row->target, O_WRONLY | O_CREAT | O_CLOEXEC, 0444),
			    row->target);

	need(write(fd, row->source, strlen(row->source)), row->target);
	close(fd);
}

/* A clone has what its source has: masks are covered already. */
static void put_clone(int root_fd, int source_fd, const char *source, const struct plan_row *row)
{
	int tree = (int) need(open_tree(source_fd, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
			      row->target);

	if (row->kind == PLAN_READ_ONLY)
		set_attributes(tree, mounts_form(row->kind)->attributes);
	attach(tree, root_fd, row->target);
}

static void put_new(int root_fd, const struct plan_row *row, const struct mount_option *options)
{
	const struct mount_form *form = mounts_form(row->kind);

	make_target(root_fd, row->target, true);
	attach(new_mount(form->type, options ? options : form->options, form->attributes), root_fd,
	       row->target);
}

static void put(const struct floor *floor, size_t at, int root_fd, int dev_fd, int masks_fd)
{
	const struct plan_row *row = &floor->plan.rows[at];

	switch (row->kind) {
	case PLAN_FOLDER:
		make_target(root_fd, row->target, true);
		break;
	case PLAN_LINK:
		need(symlinkat(row->source, root_fd, row->target), row->target);
		break;
	case PLAN_TEXT:
		put_text(root_fd, row);
		break;
	case PLAN_AS_HOST:
	case PLAN_BIND:
		put_bind(root_fd, row, floor->is_folder[at]);
		break;
	case PLAN_TMPFS:
		put_new(root_fd, row, floor->tmpfs[row->tmpfs - floor->slice.tmpfs].options);
		break;
	case PLAN_PROC:
	case PLAN_TERMINALS:
		put_new(root_fd, row, NULL);
		break;
	case PLAN_DEVICES:
		make_target(root_fd, row->target, true);
		attach(dev_fd, root_fd, row->target);
		break;
	case PLAN_MASK:
		put_clone(root_fd, masks_fd, floor->is_folder[at] ? "folder" : "file", row);
		break;
	case PLAN_READ_ONLY:
		put_clone(root_fd, root_fd, row->target, row);
		break;
	/* The floor's jail has neither. */
	case PLAN_GIVEN:
	case PLAN_IMAGE:
	case PLAN_COVER:
		break;
	}
}

/* From outside: in the jail's control group nobody makes nodes. */
static int make_devices(const struct floor *floor)
{
	const struct mount_form *form = mounts_form(PLAN_DEVICES);
	int made = new_mount(form->type, form->options,
			     form->attributes & ~(uint64_t) MOUNT_ATTR_RDONLY);

	for (uint32_t i = 0; i < floor->devices.count; i++) {
		const struct device *device = &floor->devices.devices[i];

		if (device->name[0] != '\0')
			need(mknodat(made, device->name, S_IFCHR | device->mode,
				     makedev(device->major, device->minor)),
			     device->name);
	}
	for (const struct mount_option *link = mounts_device_links; link->key; link++)
		need(symlinkat(link->value, made, link->key), link->key);
	need(mkdirat(made, "pts", 0755), "pts");
	need(mkdirat(made, "shm", 0755), "shm");
	set_attributes(made, form->attributes);
	return made;
}

static int make_masks(void)
{
	static const struct mount_option options[] = {
		{ "size", "4k" },
		{ "nr_inodes", "4" },
		{ NULL, NULL },
	};
	int made = new_mount("tmpfs", options, MOUNT_ATTR_NOSUID);

	need(mkdirat(made, "folder", 0), "folder");
	need(mknodat(made, "file", S_IFREG, 0), "file");
	set_attributes(made, mounts_form(PLAN_MASK)->attributes);
	return made;
}

static void make_tree(const struct floor *floor, int dev_fd)
{
	int root_fd, masks_fd, at_fd = (int) need(open(BUILD_AT, O_PATH | O_DIRECTORY), BUILD_AT);

	need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	masks_fd = make_masks();
	need(move_mount(masks_fd, "", at_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
	     "masks");
	root_fd = new_mount(mounts_root_form.type, mounts_root_form.options,
			    mounts_root_form.attributes & ~(uint64_t) MOUNT_ATTR_RDONLY);
	need(move_mount(root_fd, "", at_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
	     "root");
	for (size_t i = 0; i < floor->plan.count; i++)
		put(floor, i, root_fd, dev_fd, masks_fd);
	need(fchdir(root_fd), "root");
	set_attributes(root_fd, mounts_root_form.attributes);
	need(sys_pivot_root(".", "."), "pivot_root");
	need(umount2(".", MNT_DETACH), "old root");
	need(chdir("/"), "/");
	close(masks_fd);
	close(root_fd);
	close(at_fd);
}

/* -- the payload -- */

/* The bounding set first: both take a capability. */
static void lock_capabilities(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++)
		;
	need(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient set");
	need(prctl(PR_SET_SECUREBITS,
		   SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED),
	     "securebits");
}

/* The user id between the two: by the securebits it takes no capability away. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { { 0 } };

	need(syscall(SYS_capset, &head, none), "capset");
	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
}

static void become(uint32_t id)
{
	need(setresgid(id, id, id), "setresgid");
	need(setresuid(id, id, id), "setresuid");
}

static void limit(void)
{
	static const struct {
		int resource;
		rlim_t most;
	} limits[] = {
		{ RLIMIT_CORE, 1 },
		{ RLIMIT_RTPRIO, 0 },
		{ RLIMIT_NICE, 0 },
		{ RLIMIT_NOFILE, 4096 },
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		const struct rlimit most = { limits[i].most, limits[i].most };

		setrlimit(limits[i].resource, &most);
	}
}

no_return static void run_payload(const struct floor *floor, int go_fd)
{
	static char *const environment[] = { NULL };
	struct err err = ERR_INIT;
	char go;
	int null;

	need(read(go_fd, &go, 1), "maps");
	need(setsid(), "setsid");
	lock_capabilities();
	become(IDS_PAYLOAD);
	drop_capabilities();
	limit();
	need(chdir("/work"), "/work");
	need(landlock_restrict(&floor->landlock, &err), err.text);
	null = (int) need(open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null");
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	need(close_range(3, ~0U, CLOSE_RANGE_CLOEXEC), "close_range");
	need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		     &floor->filter),
	     "seccomp");
	execve(floor->command[0], floor->command, environment);
	_exit(127);
}

/* -- pid 1 -- */

static void write_file(const char *path, const char *text)
{
	int fd = (int) need(open(path, O_WRONLY | O_CLOEXEC), path);

	need(write(fd, text, strlen(text)), path);
	close(fd);
}

static void bring_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = (int) need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");

	need(ioctl(fd, SIOCSIFFLAGS, &request), "lo");
	close(fd);
}

static pid_t start_payload(const struct floor *floor)
{
	const struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	const uint32_t base = floor->ids.base;
	char path[64];
	pid_t payload;
	int go[2];

	need(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), "securebits");
	need(setresgid((gid_t) -1, base, (gid_t) -1), "setresgid");
	need(setresuid((uid_t) -1, base, (uid_t) -1), "setresuid");
	need(pipe2(go, O_CLOEXEC), "pipe");
	payload = (pid_t) need(sys_clone3(&args), "clone3");
	if (payload == 0)
		run_payload(floor, go[0]);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int) payload);
	write_file(path, floor->uid_map);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", (int) payload);
	write_file(path, floor->uid_map);
	need(write(go[1], "g", 1), "maps");
	return payload;
}

no_return static void run_init(const struct floor *floor, const int *joins, int dev_fd)
{
	pid_t payload;
	int status = 0;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (joins[i] >= 0)
			need(write(joins[i], "0", 1), "tasks");
	need(unshare(CLONE_NEWCGROUP), "cgroup namespace");
	bring_up_loopback();
	need(sethostname(floor->name, strlen(floor->name)), "sethostname");
	make_tree(floor, dev_fd);
	payload = start_payload(floor);
	lock_capabilities();
	become(ids_host(&floor->ids, IDS_KEEPER));
	drop_capabilities();
	need(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
	need(waitpid(payload, &status, 0), "payload");
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* -- outside -- */

static void set_knobs(const struct floor *floor, int leaf_fd)
{
	for (size_t i = 0; i < floor->knob_count; i++) {
		const struct cgroup_knob *knob = &floor->knobs[i];
		int v1_fd = floor->v1_fds[knob->controller];
		int fd = openat(v1_fd >= 0 ? v1_fd : leaf_fd, floor->knob_paths[i],
				O_RDWR | O_CLOEXEC);

		if (fd < 0 && knob->optional)
			continue;
		need(fd, knob->file);
		need(write(fd, knob->text, strlen(knob->text)), knob->file);
		close(fd);
	}
}

static int make_group(const struct floor *floor, int *joins)
{
	union bpf_attr attach = { .attach_type = BPF_CGROUP_DEVICE,
				  .attach_flags = BPF_F_ALLOW_MULTI,
				  .attach_bpf_fd = (uint32_t) floor->program_fd };
	int leaf_fd;

	need(mkdirat(floor->unified_fd, floor->name, 0755), "control group");
	leaf_fd = (int) need(
		openat(floor->unified_fd, floor->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		"control group");
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		joins[i] = -1;
		if (floor->v1_fds[i] < 0)
			continue;
		need(mkdirat(floor->v1_fds[i], floor->name, 0755), "v1 control group");
		joins[i] = (int) need(openat(floor->v1_fds[i], floor->tasks, O_WRONLY | O_CLOEXEC),
				      "tasks");
	}
	set_knobs(floor, leaf_fd);
	attach.target_fd = (uint32_t) leaf_fd;
	need(syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach)), "device program");
	return leaf_fd;
}

static void remove_group(int folder_fd, const char *name)
{
	const struct timespec pause = { .tv_nsec = 200 * 1000 };

	while (unlinkat(folder_fd, name, AT_REMOVEDIR) < 0 && errno == EBUSY)
		nanosleep(&pause, NULL);
}

/* Return: the mount namespace, which is let go when the time has been taken, as the launcher does.
 */
static int launch(const struct floor *floor)
{
	struct clone_args args = { .flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
					    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_INTO_CGROUP,
				   .exit_signal = SIGCHLD };
	int joins[CGROUP_CONTROLLERS], status = 0, mounts_fd;
	int leaf_fd = make_group(floor, joins), dev_fd = make_devices(floor);
	char path[64];
	pid_t init;

	args.cgroup = (uint64_t) leaf_fd;
	init = (pid_t) need(sys_clone3(&args), "clone3");
	if (init == 0)
		run_init(floor, joins, dev_fd);
	close(dev_fd);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) init);
	mounts_fd = open(path, O_RDONLY | O_CLOEXEC); /* fails where it has ended already */
	need(waitpid(init, &status, 0), "pid 1");
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		if (joins[i] < 0)
			continue;
		close(joins[i]);
		remove_group(floor->v1_fds[i], floor->name);
	}
	close(leaf_fd);
	remove_group(floor->unified_fd, floor->name);
	if (status != 0) {
		fprintf(stderr, "bench-floor: '%s' ended with %#x\n", floor->command[0], status);
		exit(1);
	}
	return mounts_fd;
}

static void map_filter(struct floor *floor, int fd)
{
	struct stat info;
	void *bytes;

	need(fstat(fd, &info), "filter");
	bytes = mmap(NULL, (size_t) info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	need(bytes == MAP_FAILED ? -1 : 0, "filter");
	floor->filter.len = (unsigned short) ((size_t) info.st_size / sizeof(struct sock_filter));
	floor->filter.filter = bytes;
}

static int number(const char *text)
{
	return (int) strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	static char true_path[] = "/bin/true";
	static char *const default_command[] = { true_path, NULL };
	/* A range that no jail of a launcher gets before a thousand others run. */
	struct floor floor = { .v1_fds = { -1, -1, -1, -1 },
			       .ids = { .base = 0x70000000 + 1023 * IDS_RANGE },
			       .command = argc > 6 ? argv + 6 : default_command };
	char go;

	if (argc < 6) {
		fprintf(stderr, "bench-floor is started by bench-launch\n");
		return 2;
	}
	floor.unified_fd = number(argv[1]);
	floor.v1_fds[CGROUP_MEMORY] = number(argv[2]);
	floor.v1_fds[CGROUP_PIDS] = number(argv[3]);
	floor.program_fd = number(argv[4]);
	map_filter(&floor, number(argv[5]));
	snprintf(floor.uid_map, sizeof(floor.uid_map), "0 %u %u\n", floor.ids.base,
		 (unsigned) IDS_RANGE);
	need(unshare(CLONE_NEWNS), "mount namespace");
	need(mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL), "slave");
	floor_plan(&floor);
	umask(0); /* or nodes would not be everybody's */
	while (read(STDIN_FILENO, &go, 1) == 1) {
		int mounts_fd = launch(&floor);

		need(write(STDOUT_FILENO, "x", 1), "answer");
		close(mounts_fd);
	}
	return 0;
}
