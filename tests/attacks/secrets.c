/* SPDX-License-Identifier: Apache-2.0 */

/* Reading what is kept: root's files, answers, the kernel's, other people's objects. */
#include "tests/attacks/attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void root_only(const struct scene *scene)
{
	try_secret(open(below(scene->bait, "root-only"), O_RDONLY | O_CLOEXEC), "root's file");
	held_by("open root's file");
}

static void root_folder(const struct scene *scene)
{
	int folder = open(below(scene->bait, "closed"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		held_by("open root's folder");
	try_secret(openat(folder, "secret", O_RDONLY | O_CLOEXEC), "root's folder");
	held_by("open a file in root's folder");
}

/* The drill hands in a descriptor of root's folder, which its own account could open with O_PATH.
 */
static void given_folder(const struct scene *scene)
{
	char path[64];

	(void) scene;
	if (fcntl(GIVEN_FD, F_GETFD) < 0)
		held("the descriptor was not passed on");
	try_secret(openat(GIVEN_FD, "secret", O_RDONLY | O_CLOEXEC), "root's folder");
	snprintf(path, sizeof(path), "/proc/self/fd/%d/secret", GIVEN_FD);
	try_secret(open(path, O_RDONLY | O_CLOEXEC), "root's folder");
	held_by("open a file in the folder that was handed in");
}

/* And one of the root of the host, for what lies above. */
static void given_outside(const struct scene *scene)
{
	(void) scene;
	if (fcntl(GIVEN_FD, F_GETFD) < 0)
		held("the descriptor was not passed on");
	try_secret(openat(GIVEN_FD, "root-only", O_RDONLY | O_CLOEXEC), "a folder outside");
	try_secret(openat(GIVEN_FD, "../root-only", O_RDONLY | O_CLOEXEC), "a folder outside");
	held_by("open root's file in the folder that was handed in");
}

/* The same of a program of root's, which the drill names as the jail's: it ran, or it did not. */
static void given_program(const struct scene *scene)
{
	if (scene->bare) {
		execl(below(scene->bait, "closed-program"), "@ran", "@ran", NULL);
		held_by("execute root's program");
	}
	got("root's own program ran");
}

static void ran(const struct scene *scene)
{
	(void) scene;
	got("root's own program ran");
}

/* And of a tree of root's, which the drill names as one to unpack: is there what it holds? */
static void given_tree(const struct scene *scene)
{
	try_secret(open("lent", O_RDONLY | O_CLOEXEC), "a tree that was handed in");
	if (scene->bare)
		try_secret(open(below(scene->bait, "closed/lent"), O_RDONLY | O_CLOEXEC), "a tree");
	held_by("open what the tree holds");
}

/* Named as the working folder: what a descriptor of the launcher's leads to (CVE-2024-21626). */
static void given_working_folder(const struct scene *scene)
{
	char path[4096] = "";

	/* The control has been put there. */
	if (scene->bare && chdir(scene->outside) < 0)
		broken("%s: %s", scene->outside, strerror(errno));
	if (syscall(SYS_getcwd, path, sizeof(path)) < 0)
		held_by("getcwd");
	try_secret(open("answers.json", O_RDONLY | O_CLOEXEC), "the working folder");
	if (path[0] != '/')
		got("a working folder outside of the root: %s", path);
	held("the working folder is %s", path);
}

static void host_files(const struct scene *scene)
{
	static const char *const files[] = {
		"/etc/shadow",   "/etc/gshadow",  "/etc/sudoers",      "/etc/machine-id",
		"/root/.bashrc", "/etc/fstab",    "/var/log/dpkg.log", "/etc/proctor/site.conf",
		"/boot/config",  "/etc/hostname", "/run/proctor",      "/var/lib/dpkg/status",
	};
	char text[256];

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (read_text(files[i], text, sizeof(text)) > 0)
			got("read %s", files[i]);
	held_by("read the host's files");
}

static int closed_files;

static bool is_below(const char *path, const char *folder)
{
	const size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

static void visit_closed(const char *path, mode_t mode, const struct scene *scene)
{
	char byte;
	int fd;

	(void) scene;
	if (!S_ISREG(mode) || (mode & S_IROTH) || is_below(path, "/work") || is_below(path, "/tmp"))
		return;
	closed_files++;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && read(fd, &byte, 1) == 1)
		got("read %s", path);
	if (fd >= 0)
		close(fd);
}

static void hunt_closed(const struct scene *scene)
{
	walk(scene->bait, 0, visit_closed, scene);
	walk("/", 0, visit_closed, scene);
	if (closed_files == 0)
		broken("no file that is closed to others was found");
	held("%d files that are closed to others stay so", closed_files);
}

static void by_handle(const struct scene *scene)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} file = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount_id, folder = open(scene->bait, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (name_to_handle_at(folder, "root-only", &file.handle, &mount_id, 0) < 0)
		held_by("name_to_handle_at");
	try_secret(open_by_handle_at(folder, &file.handle, O_RDONLY | O_CLOEXEC), "a handle");
	held_by("open_by_handle_at");
}

/* By its path, and by all that could lead out of our root. */
static void try_outside(const struct scene *scene, const char *name, int flags)
{
	static const char *const roots[] = { "",
					     "/proc/1/root",
					     "/proc/self/root/..",
					     "/proc/1/cwd/../..",
					     "../../../../../../..",
					     "/proc/self/cwd/../../../.." };
	char path[512];

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s%s/%s", roots[i], scene->outside, name);
		fd = open(path, flags | O_CLOEXEC);
		if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY)
			got("%s can be written", path);
		try_secret(fd, path);
	}
}

/* Everybody may read them: that they lie where no jail can see is what keeps them. */
static void answers(const struct scene *scene)
{
	try_outside(scene, "answers.json", O_RDONLY);
	held_by("open the answers");
}

static void journal(const struct scene *scene)
{
	try_outside(scene, "run/journal.jsonl", O_WRONLY | O_APPEND);
	held_by("open the journal");
}

static void own_folders(const struct scene *scene)
{
	char paths[512], *rest = paths, *path;
	bool any = false;

	snprintf(paths, sizeof(paths), "%s", scene->own);
	while ((path = strsep(&rest, ":"))) {
		DIR *folder = *path ? opendir(path) : NULL;
		const struct dirent *entry;

		any |= *path != '\0';
		while (folder && (entry = readdir(folder)))
			if (entry->d_name[0] != '.')
				got("listed %s: %s", path, entry->d_name);
		if (folder)
			closedir(folder);
	}
	if (!any)
		not_here("proctor is not installed below a folder that jails see");
	held_by("list proctor's folders");
}

static void visit_socket(const char *path, mode_t mode, const struct scene *scene)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	(void) scene;
	if (!S_ISSOCK(mode) || strlen(path) >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
		got("talks to whoever listens at %s", path);
	close(fd);
}

static void hunt_sockets(const struct scene *scene)
{
	static const char *const known[] = { "/run/docker.sock", "/run/containerd/containerd.sock",
					     "/run/dbus/system_bus_socket",
					     "/run/systemd/private" };

	visit_socket(below(scene->outside, "socket"), S_IFSOCK, scene);
	walk("/", 0, visit_socket, scene);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		visit_socket(known[i], S_IFSOCK, scene);
	held("no socket of the host has a name here");
}

static void kernel_memory(const struct scene *scene)
{
	static const char *const files[] = { "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port",
					     "/proc/vmcore" };
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (read_text(files[i], text, sizeof(text)) > 0)
			got("read %s", files[i]);
	if (scene->bare)
		not_here("this kernel shows its memory to nobody: %s", strerror(errno));
	held_by("read the kernel's memory");
}

static void kernel_log(const struct scene *scene)
{
	static char text[1 << 16];

	(void) scene;
	if (read_text("/dev/kmsg", text, sizeof(text)) > 0)
		got("read /dev/kmsg");
	if (klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof(text)) > 0)
		got("read the kernel's log");
	held_by("syslog");
}

static void kernel_addresses(const struct scene *scene)
{
	static char text[4096];
	const char *at;

	(void) scene;
	if (read_text("/proc/kallsyms", text, sizeof(text)) < 0)
		held_by("read /proc/kallsyms");
	for (at = text; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (*at && strtoul(at, NULL, 16) != 0)
			got("an address of the kernel: %.60s", at);
	}
	held("no address of the kernel is shown");
}

/* What /proc tells of the host and of other jails. */
static void kernel_tables(const struct scene *scene)
{
	static const char *const files[] = {
		"/proc/keys",       "/proc/key-users", "/proc/timer_list",   "/proc/sched_debug",
		"/proc/cmdline",    "/proc/config.gz", "/proc/partitions",   "/proc/diskstats",
		"/proc/interrupts", "/proc/softirqs",  "/proc/pressure/cpu", "/proc/latency_stats",
	};
	char text[256];

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (read_text(files[i], text, sizeof(text)) > 0)
			got("read %s", files[i]);
	held_by("read the kernel's tables");
}

static void try_shm(long key, const char *whose)
{
	int id = shmget((key_t) key, 0, 0);
	const void *at = id < 0 ? MAP_FAILED : shmat(id, NULL, SHM_RDONLY);

	if (at != MAP_FAILED && has_secret(at, 128))
		got("read shared memory of %s", whose);
}

static void sysv_memory(const struct scene *scene)
{
	try_shm(scene->key, "the host");
	held_by("shmget");
}

static void sysv_queue(const struct scene *scene)
{
	struct {
		long type;
		char text[256];
	} message;
	int id = msgget((key_t) scene->key, 0);

	if (id < 0)
		held_by("msgget");
	if (msgrcv(id, &message, sizeof(message.text), 0, IPC_NOWAIT) > 0 &&
	    has_secret(message.text, sizeof(message.text)))
		got("took a message of the host");
	held_by("msgrcv");
}

static void posix_queue(const struct scene *scene)
{
	char name[64], text[8192];
	mqd_t queue;

	snprintf(name, sizeof(name), "/%s", scene->tag);
	queue = mq_open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (queue == (mqd_t) -1)
		held_by("mq_open");
	if (mq_receive(queue, text, sizeof(text), NULL) > 0 && has_secret(text, sizeof(text)))
		got("took a message of the host");
	held_by("mq_receive");
}

static void posix_memory(const struct scene *scene)
{
	try_secret(open(below("/dev/shm", scene->tag), O_RDONLY | O_CLOEXEC), "/dev/shm");
	held_by("open an object in /dev/shm");
}

/* -- a jail that runs beside this one -- */

static const char *const shared_folders[] = { "/tmp", "/dev/shm", "/var/tmp", "/work" };

/* It holds all of this until it is ended. */
static void neighbour(const struct scene *scene)
{
	char secret[128];
	int id;
	char *at;

	snprintf(secret, sizeof(secret), "%s%032x\n", secret_mark(), 7);
	for (size_t i = 0; i < ARRAY_LEN(shared_folders); i++) {
		int fd = open(below(shared_folders[i], scene->tag), O_WRONLY | O_CREAT | O_CLOEXEC,
			      0666);

		if (fd >= 0 && write(fd, secret, strlen(secret)) < 0)
			broken("write in %s: %s", shared_folders[i], strerror(errno));
	}
	id = shmget((key_t) scene->near_key, 4096, IPC_CREAT | 0666);
	at = id < 0 ? MAP_FAILED : shmat(id, NULL, 0);
	if (at == MAP_FAILED)
		broken("make shared memory: %s", strerror(errno));
	memcpy(at, secret, strlen(secret));
	serve_neighbours(scene, secret);
}

static void near_files(const struct scene *scene)
{
	for (size_t i = 0; i < ARRAY_LEN(shared_folders); i++)
		try_secret(open(below(shared_folders[i], scene->tag), O_RDONLY | O_CLOEXEC),
			   shared_folders[i]);
	held_by("open a file of another jail");
}

static void near_memory(const struct scene *scene)
{
	try_shm(scene->near_key, "another jail");
	held_by("shmget");
}

/* clang-format off */
const struct attack attacks_on_secrets[] = {
	{ "read-root-only",        root_only },
	{ "read-root-folder",      root_folder },
	{ "client-descriptor",     given_folder },
	{ "client-outside",       given_outside },
	{ "client-program",        given_program },
	{ "client-tree",           given_tree },
	{ "client-folder",         given_working_folder },
	{ "@ran",                  ran },
	{ "read-host-files",       host_files },
	{ "read-hunt-closed",      hunt_closed },
	{ "read-by-handle",        by_handle },
	{ "read-answers",          answers },
	{ "read-own-folders",      own_folders },
	{ "read-hunt-sockets",     hunt_sockets },
	{ "read-kernel-memory",    kernel_memory },
	{ "read-kernel-log",       kernel_log },
	{ "read-kernel-addresses", kernel_addresses },
	{ "read-kernel-tables",    kernel_tables },
	{ "ipc-sysv-memory",       sysv_memory },
	{ "ipc-sysv-queue",        sysv_queue },
	{ "ipc-posix-queue",       posix_queue },
	{ "ipc-posix-memory",      posix_memory },
	{ "near-files",            near_files },
	{ "near-memory",           near_memory },
	{ "result-journal",        journal },
	{ "@neighbour",            neighbour },
	{ NULL,                    NULL },
};
/* clang-format on */
