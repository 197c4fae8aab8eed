/* SPDX-License-Identifier: Apache-2.0 */

/* Mounts, roots and namespaces: building another room inside of the room. */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"

/* Is something mounted there whose source has this name? */
static bool is_mounted(const char *source)
{
	static char text[1 << 18];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	char word[64];

	text[len] = '\0';
	if (file)
		fclose(file);
	snprintf(word, sizeof(word), " %s ", source);
	return strstr(text, word) != NULL;
}

static void mount_tmpfs(const struct scene *scene)
{
	(void) scene;
	if (mount("drill-tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)
		held_by("mount");
	if (is_mounted("drill-tmpfs"))
		got("mounted a tmpfs");
	broken("mount said yes, and there is none");
}

static void mount_proc(const struct scene *scene)
{
	(void) scene;
	if (mount("drill-proc", "/tmp", "proc", 0, NULL) < 0)
		held_by("mount");
	if (access("/tmp/sysrq-trigger", F_OK) == 0 || is_mounted("drill-proc"))
		got("a procfs of our own, without masks");
	broken("mount said yes, and there is none");
}

/* The v1 hierarchy's release_agent is a program that the host starts as root (CVE-2022-0492). */
static void mount_control_groups(const struct scene *scene)
{
	static const struct {
		const char *type, *options;
	} tries[] = { { "cgroup", "memory" },
		      { "cgroup", "rdma" },
		      { "cgroup", "misc" },
		      { "cgroup", "cpu" },
		      { "cgroup2", NULL } };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++)
		if (mount("drill-cgroup", "/tmp", tries[i].type, 0, tries[i].options) == 0 &&
		    is_mounted("drill-cgroup"))
			got("mounted %s %s", tries[i].type, tries[i].options ?: "");
	held_by("mount");
}

static bool bait_is_writable(const struct scene *scene)
{
	return open(below(scene->bait, "writable"), O_WRONLY | O_CLOEXEC) >= 0;
}

static void remount(const struct scene *scene)
{
	if (scene->bare) /* where nothing is read-only, that comes first */
		best_effort(mount(NULL, scene->bait, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	best_effort(mount(NULL, scene->bait, NULL, MS_REMOUNT | MS_BIND, NULL));
	if (bait_is_writable(scene))
		got("made a folder of the host writable");
	held_by("open for writing");
}

static void set_attributes(const struct scene *scene)
{
	struct mount_attr lock = { .attr_set = MOUNT_ATTR_RDONLY };
	struct mount_attr unlock = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (scene->bare)
		best_effort(mount_setattr(AT_FDCWD, scene->bait, 0, &lock, sizeof(lock)));
	best_effort(mount_setattr(AT_FDCWD, scene->bait, 0, &unlock, sizeof(unlock)));
	if (bait_is_writable(scene))
		got("made a folder of the host writable");
	held_by("open for writing");
}

/* A bind of our own would have none of the flags of the mount that it copies. */
static void bind(const struct scene *scene)
{
	best_effort(mkdir("bound", 0700));
	if (mount(scene->bait, "bound", NULL, MS_BIND | MS_REC, NULL) < 0)
		held_by("mount");
	if (access("bound/readable", F_OK) == 0)
		got("a mount of our own of a folder of the host");
	broken("mount said yes, and there is none");
}

/* Masks and read-only parts of /proc are mounts over it. */
static void uncover(const struct scene *scene)
{
	static const char *const places[] = {
		"/proc/sys",      "/proc/kcore", "/proc/sysrq-trigger",
		"/proc/kallsyms", "/dev/pts",    "/sys"
	};

	if (umount2(scene->bait, MNT_DETACH) == 0 &&
	    access(below(scene->bait, "readable"), F_OK) < 0)
		got("unmounted %s", scene->bait);
	for (size_t i = 0; !scene->bare && i < ARRAY_LEN(places); i++)
		if (umount2(places[i], MNT_DETACH) == 0)
			got("unmounted %s", places[i]);
	held_by("umount2");
}

static void new_mount_calls(const struct scene *scene)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC), made;

	(void) scene;
	if (context < 0)
		held_by("fsopen");
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		held_by("fsconfig");
	made = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (made < 0)
		held_by("fsmount");
	if (move_mount(made, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) == 0)
		got("attached a mount of our own");
	held_by("move_mount");
}

static void clone_tree(const struct scene *scene)
{
	int tree = open_tree(AT_FDCWD, scene->bait, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		held_by("open_tree");
	if (faccessat(tree, "readable", F_OK, 0) == 0)
		got("a copy of a mount of the host");
	broken("open_tree gave a tree without the bait");
}

static void change_root(const struct scene *scene)
{
	(void) scene;
	best_effort(mkdir("root", 0700));
	best_effort(mkdir("root/mark", 0700));
	if (chroot("root") < 0)
		held_by("chroot");
	if (access("/mark", F_OK) == 0)
		got("another root");
	broken("chroot said yes, and the root is the old one");
}

static void pivot(const struct scene *scene)
{
	(void) scene;
	best_effort(mkdir("root", 0700));
	/* Where mounts can be made: a root has to be one. */
	best_effort(mount("drill-root", "root", "tmpfs", 0, NULL));
	best_effort(mkdir("root/old", 0700));
	if (chdir("root") == 0 && sys_pivot_root(".", "old") == 0 && access("/old", F_OK) == 0)
		got("another root");
	held_by("pivot_root");
}

/* Mounts that come and go with the host's show what it does, and may show it to the host. */
static void propagation(const struct scene *scene)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[4096];

	(void) scene;
	if (!file)
		broken("/proc/self/mountinfo: %s", strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (strstr(line, " shared:") || strstr(line, " master:"))
			got("a mount that follows others: %.200s", line);
	held("no mount follows another");
}

/* -- namespaces -- */

static void see_change(const char *kind, long before, const char *call)
{
	long now = namespace_of(kind);

	if (now != 0 && now != before)
		got("a new %s namespace by %s", kind, call);
}

static void unshare_user(const struct scene *scene)
{
	long before = namespace_of("user");

	(void) scene;
	if (unshare(CLONE_NEWUSER) < 0)
		held_by("unshare");
	see_change("user", before, "unshare");
	broken("unshare said yes, and the namespace is the old one");
}

static void unshare_others(const struct scene *scene)
{
	static const struct {
		int flag;
		const char *kind;
	} kinds[] = { { CLONE_NEWNS, "mnt" },
		      { CLONE_NEWNET, "net" },
		      { CLONE_NEWIPC, "ipc" },
		      { CLONE_NEWUTS, "uts" },
		      { CLONE_NEWPID, "pid_for_children" },
		      { CLONE_NEWCGROUP, "cgroup" } };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		long before = namespace_of(kinds[i].kind);

		if (unshare(kinds[i].flag) == 0)
			see_change(kinds[i].kind, before, "unshare");
		/* All of it at once, with the right that a user namespace gives. */
		best_effort(unshare(CLONE_NEWUSER | kinds[i].flag));
		see_change(kinds[i].kind, before, "unshare");
	}
	held_by("unshare");
}

static void in_child(long pid, long before, const char *call)
{
	int status;

	if (pid == 0) {
		see_change("user", before, call);
		_exit(1);
	}
	if (pid < 0)
		held_by(call);
	/* It has said the word, if there was one to say. */
	if (waitpid((pid_t) pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		_exit(0);
	broken("%s said yes, and the namespace is the old one", call);
}

static void clone_user(const struct scene *scene)
{
	long before = namespace_of("user");

	(void) scene;
	in_child(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), before, "clone");
}

/* The flags lie in memory, where no filter can look: the whole call has to be refused. */
static void clone3_user(const struct scene *scene)
{
	const struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long before = namespace_of("user");

	(void) scene;
	in_child(sys_clone3(&args), before, "clone3");
}

static void join(const struct scene *scene)
{
	char path[64];
	int fd;

	/* That of pid 1 is the host's as far as mounts go; the victim's is the host's. */
	snprintf(path, sizeof(path), "/proc/%ld/ns/mnt", scene->victim);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (setns(fd, 0) == 0)
		got("joined a namespace");
	held_by("setns");
}

/* By a descriptor of a process, without any of a namespace. */
static void join_by_process(const struct scene *scene)
{
	int fd = sys_pidfd_open((pid_t) scene->victim, 0);

	if (fd < 0)
		fd = sys_pidfd_open(1, 0);
	if (fd < 0)
		held_by("pidfd_open");
	if (setns(fd, CLONE_NEWUTS | CLONE_NEWIPC) == 0)
		got("joined the namespaces of a process");
	held_by("setns");
}

/* clang-format off */
const struct attack attacks_on_mounts[] = {
	{ "mount-tmpfs",        mount_tmpfs },
	{ "mount-proc",         mount_proc },
	{ "mount-cgroup",       mount_control_groups },
	{ "mount-remount",      remount },
	{ "mount-setattr",      set_attributes },
	{ "mount-bind",         bind },
	{ "mount-uncover",      uncover },
	{ "mount-new-calls",    new_mount_calls },
	{ "mount-clone-tree",   clone_tree },
	{ "mount-chroot",       change_root },
	{ "mount-pivot",        pivot },
	{ "mount-propagation",  propagation },
	{ "ns-unshare-user",    unshare_user },
	{ "ns-unshare-others",  unshare_others },
	{ "ns-clone-user",      clone_user },
	{ "ns-clone3-user",     clone3_user },
	{ "ns-join",            join },
	{ "ns-join-by-process", join_by_process },
	{ NULL,                 NULL },
};
/* clang-format on */
