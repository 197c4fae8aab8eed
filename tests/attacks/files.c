/* SPDX-License-Identifier: Apache-2.0 */

/* Writing where nothing may be written, and reaching what the kernel's files steer. */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a file there, sees that it is there, and takes it away. */
static void try_create(const char *folder)
{
	const char *path = below(folder, ".proctor-drill-new");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat info;

	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0) {
		unlink(path);
		got("made a file in %s", folder);
	}
}

static void write_root(const struct scene *scene)
{
	static const char *const folders[] = { "/",    "/etc", "/usr",  "/usr/bin", "/usr/lib",
					       "/run", "/var", "/home", "/mnt" };

	try_create(scene->bait);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		try_create(folders[i]);
	held_by("create a file");
}

/* Everybody may write this file and this folder; that they are the host's is all that hinders. */
static void write_open_file(const struct scene *scene)
{
	char text[64];

	if (!write_text(below(scene->bait, "writable"), "changed\n"))
		held_by("write a file that everybody may write");
	if (read_text(below(scene->bait, "writable"), text, sizeof(text)) > 0 &&
	    strncmp(text, "changed\n", 8) == 0)
		got("changed a file of the host");
	broken("what was written is not there");
}

static void link_host_file(const struct scene *scene)
{
	const char *from = below(scene->bait, "readable");
	struct stat info;

	best_effort(link(from, "linked"));
	best_effort(link(from, below(scene->bait, "everybodys/linked")));
	if (stat("linked", &info) == 0 && info.st_nlink > 1)
		got("a second name here for a file of the host");
	if (stat(below(scene->bait, "everybodys/linked"), &info) == 0)
		got("a second name for a file of the host");
	held_by("link");
}

static void rename_host_file(const struct scene *scene)
{
	struct stat info;

	best_effort(
		rename(below(scene->bait, "everybodys/mine"), below(scene->bait, "everybodys/x")));
	if (stat(below(scene->bait, "everybodys/x"), &info) == 0)
		got("renamed a file of the host");
	best_effort(unlink(below(scene->bait, "everybodys/mine")));
	if (stat(below(scene->bait, "everybodys/mine"), &info) < 0 && errno == ENOENT)
		got("removed a file of the host");
	held_by("unlink");
}

/* A file here with a name on the host: written through whatever leads there. */
static void write_dev(const struct scene *scene)
{
	struct stat info;

	(void) scene;
	try_create("/dev");
	if (symlink("null", "/dev/.proctor-drill-new") == 0) {
		unlink("/dev/.proctor-drill-new");
		got("made a link in /dev");
	}
	if (mkdir("/dev/.proctor-drill-new", 0700) == 0 &&
	    stat("/dev/.proctor-drill-new", &info) == 0) {
		rmdir("/dev/.proctor-drill-new");
		got("made a folder in /dev");
	}
	held_by("create a file");
}

/* Written back as it was. */
static void try_setting(const char *path)
{
	char text[4096];

	if (read_text(path, text, sizeof(text)) > 0 && write_text(path, text))
		got("wrote %s", path);
}

static void kernel_settings(const struct scene *scene)
{
	static const char *const files[] = {
		"/sys/kernel/uevent_helper",     "/sys/kernel/mm/transparent_hugepage/enabled",
		"/proc/sys/kernel/hotplug",      "/proc/sys/kernel/modprobe",
		"/proc/sys/kernel/sysrq",        "/proc/sys/vm/overcommit_memory",
		"/proc/sys/fs/file-max",         "/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/core_pattern",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		try_setting(files[i]);
	held_by("write a setting of the kernel");
}

/* What its namespaces own may be a jail's to set, elsewhere; ours leave it to nobody. */
static void network_settings(const struct scene *scene)
{
	(void) scene;
	try_setting("/proc/sys/net/ipv4/ip_forward");
	try_setting("/proc/sys/net/ipv4/ip_unprivileged_port_start");
	try_setting("/proc/sys/kernel/shmmax");
	held_by("write a setting of the network");
}

/* "h" prints a help text to the kernel's log and does nothing else. */
static void sysrq(const struct scene *scene)
{
	struct stat info;

	(void) scene;
	if (stat("/proc/sysrq-trigger", &info) < 0 && errno == ENOENT)
		not_here("this kernel has no sysrq");
	if (write_text("/proc/sysrq-trigger", "h"))
		got("the kernel took a command");
	held_by("write /proc/sysrq-trigger");
}

/* Opened, and not written to. */
static void visit_sys(const char *path, mode_t mode, const struct scene *scene)
{
	int fd;

	(void) scene;
	if (!S_ISREG(mode))
		return;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		got("%s can be written", path);
}

static void sysfs(const struct scene *scene)
{
	walk("/sys", 0, visit_sys, scene);
	visit_sys("/proc/irq/default_smp_affinity", S_IFREG, scene);
	visit_sys("/proc/mtrr", S_IFREG, scene);
	held("no file of /sys can be opened to write");
}

static void control_groups(const struct scene *scene)
{
	static const char *const files[] = {
		"/sys/fs/cgroup/cgroup.procs",           "/sys/fs/cgroup/unified/cgroup.procs",
		"/sys/fs/cgroup/memory/cgroup.procs",    "/sys/fs/cgroup/memory/release_agent",
		"/sys/fs/cgroup/cgroup.subtree_control",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (access(files[i], F_OK) == 0)
			got("%s is there", files[i]);
	held_by("find a control group");
}

/* The program of pid 1 is the launcher's: whoever changes it is root at the next jail. */
static void program_of_init(const struct scene *scene)
{
	static char block[4096];
	int fd = open("/proc/1/exe", O_RDONLY | O_CLOEXEC);

	(void) scene;
	if (fd < 0)
		held_by("open /proc/1/exe");
	if (read(fd, block, sizeof(block)) > 0)
		got("read the program of pid 1");
	broken("/proc/1/exe is empty");
}

/* Not a wall: seen across jails, as README.md says. */
static void lock_shared_file(const struct scene *scene)
{
	int fd = open(below(scene->bait, "readable"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		broken("open %s/readable: %s", scene->bait, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		got("a lock on a file of the host");
	if (errno == EWOULDBLOCK)
		got("saw that somebody has locked a file of the host");
	held_by("flock");
}

static void watch_shared_file(const struct scene *scene)
{
	struct inotify_event events[64];
	int fd = inotify_init1(IN_CLOEXEC);

	if (fd < 0 || inotify_add_watch(fd, below(scene->bait, "readable"), IN_OPEN) < 0)
		held_by("inotify_add_watch");
	say_ready(); /* the drill opens it, outside */
	if (read(fd, events, sizeof(events)) > 0)
		got("saw somebody open a file of the host");
	broken("no event came");
}

/* The bait can be seen: without this, the attacks that do not get at it would show nothing. */
static void bait_seen(const struct scene *scene)
{
	char text[256];

	if (read_text(below(scene->bait, "readable"), text, sizeof(text)) <= 0)
		broken("%s/readable: %s", scene->bait, strerror(errno));
	held("what everybody may read can be read: %.40s", text);
}

/* clang-format off */
const struct attack attacks_on_files[] = {
	{ "file-create",           write_root },
	{ "file-write-open",       write_open_file },
	{ "file-link",             link_host_file },
	{ "file-rename",           rename_host_file },
	{ "file-dev",              write_dev },
	{ "file-kernel-settings",  kernel_settings },
	{ "file-net-settings",     network_settings },
	{ "file-sysrq",            sysrq },
	{ "file-sysfs",            sysfs },
	{ "file-cgroups",          control_groups },
	{ "file-init-program",     program_of_init },
	{ "known-lock",            lock_shared_file },
	{ "known-watch",           watch_shared_file },
	{ "@bait",                 bait_seen },
	{ NULL,                    NULL },
};
/* clang-format on */
