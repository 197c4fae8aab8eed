/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/bait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "harness/run/launcher.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"
#include "sandbox/stream.h"

#define READABLE_TEXT "everybody may read this\n"
#define WRITABLE_TEXT "as it was\n"

/* Its port in a jail is nobody else's: the network namespace is its own. */
enum { NEAR_PORT = 34567, PROGRAM_MAX = 64 << 20 };

static int draw(struct bait *bait, struct err *err)
{
	unsigned char bytes[24];
	size_t len;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_sys(err, "draw a secret");
	len = (size_t) snprintf(bait->secret, sizeof(bait->secret), "drill-secret:");
	for (size_t i = 0; i < 16; i++)
		len += (size_t) snprintf(bait->secret + len, sizeof(bait->secret) - len, "%02x",
					 bytes[i]);
	snprintf(bait->tag, sizeof(bait->tag), "drill-%02x%02x%02x%02x", bytes[16], bytes[17],
		 bytes[18], bytes[19]);
	memcpy(&bait->key, bytes + 20, sizeof(bait->key));
	bait->key = (bait->key & 0x3fffffff) + 2;
	bait->near_key = bait->key + 1;
	bait->near_port = NEAR_PORT;
	return 0;
}

static int leave_host(struct err *err)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC) < 0)
		return err_host(err, "make namespaces of our own: the drill needs root");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(err, "detach from the host's mounts");
	return 0;
}

/* The first of these folders that is one becomes a file system of ours. Return: an O_PATH fd. */
static int cover(const char *const *folders, const char **which, struct err *err)
{
	for (; *folders; folders++) {
		struct stat info;
		int fd;

		if (lstat(*folders, &info) < 0 || !S_ISDIR(info.st_mode))
			continue;
		if (mount("proctor-drill", *folders, "tmpfs", 0, "size=32m,mode=755") < 0)
			return err_host(err, "mount a tmpfs at '%s'", *folders);
		fd = open(*folders, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, "open '%s'", *folders);
		*which = *folders;
		return fd;
	}
	return err_set(err, ERR_HOST, "the host has no folder to lay bait out in");
}

static int put(int folder_fd, const char *name, mode_t mode, const void *bytes, size_t len,
	       struct err *err)
{
	auto_fd fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "make '%s'", name);
	if (io_write_all(fd, bytes, len, name, err) < 0)
		return -1;
	if (fchmod(fd, mode) < 0)
		return err_sys(err, "set the mode of '%s'", name);
	return fd_take(&fd);
}

static int put_text(int folder_fd, const char *name, mode_t mode, const char *text, struct err *err)
{
	auto_fd fd = put(folder_fd, name, mode, text, strlen(text), err);

	return fd < 0 ? -1 : 0;
}

static int put_folder(int folder_fd, const char *name, mode_t mode, struct err *err)
{
	auto_fd fd = -1;

	if (mkdirat(folder_fd, name, 0700) < 0)
		return err_sys(err, "make folder '%s'", name);
	fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return err_sys(err, "open folder '%s'", name);
	return fd_take(&fd);
}

/* A stream of one file, "lent", that holds the secret. */
static int put_tree(const struct bait *bait, int closed_fd, struct err *err)
{
	auto_fd fd = put(bait->folder_fd, "closed-tree", 0600, "", 0, err);
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	const struct stream_entry entry = {
		.kind = STREAM_FILE, .size = strlen(bait->secret), .path = "lent", .path_len = 4
	};

	if (fd < 0)
		return -1;
	stream_writer_open(writer, fd, &STREAM_LIMITS_DEFAULT);
	if (stream_writer_entry(writer, &entry, err) < 0 ||
	    stream_writer_content(writer, bait->secret, strlen(bait->secret), err) < 0 ||
	    stream_writer_close(writer, err) < 0)
		return -1;
	return put_text(closed_fd, "lent", 0644, bait->secret, err);
}

/* Copies of the attacks' program that somebody else's rights belong to. */
static int put_programs(const struct bait *bait, const struct str *program, struct err *err)
{
	const struct vfs_ns_cap_data caps = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1U << CAP_SETUID | 1U << CAP_DAC_OVERRIDE } },
	};
	auto_fd setuid = put(bait->folder_fd, "setuid", 06755, program->text, program->len, err);
	auto_fd capable = put(bait->folder_fd, "capable", 0755, program->text, program->len, err);
	auto_fd closed =
		put(bait->folder_fd, "closed-program", 0700, program->text, program->len, err);

	if (setuid < 0 || capable < 0 || closed < 0)
		return -1;
	/* A file system that keeps none has nothing to try. */
	if (fsetxattr(capable, "security.capability", &caps, XATTR_CAPS_SZ_2, 0) < 0 &&
	    unlinkat(bait->folder_fd, "capable", 0) < 0)
		return err_sys(err, "remove 'capable'");
	return 0;
}

static int fill_folder(struct bait *bait, const struct str *program, struct err *err)
{
	auto_fd group = -1, closed = -1, open_folder = -1;
	const mode_t old = umask(0);
	int result;

	bait->root_only_fd =
		put(bait->folder_fd, "root-only", 0600, bait->secret, strlen(bait->secret), err);
	group = put(bait->folder_fd, "by-group", 0640, bait->secret, strlen(bait->secret), err);
	closed = put_folder(bait->folder_fd, "closed", 0700, err);
	open_folder = put_folder(bait->folder_fd, "everybodys", 0777, err);
	result = bait->root_only_fd < 0 || group < 0 || closed < 0 || open_folder < 0 ||
		 put_text(bait->folder_fd, "readable", 0644, READABLE_TEXT, err) < 0 ||
		 put_text(bait->folder_fd, "writable", 0666, WRITABLE_TEXT, err) < 0 ||
		 put_text(closed, "secret", 0644, bait->secret, err) < 0 ||
		 put_text(open_folder, "mine", 0666, WRITABLE_TEXT, err) < 0 ||
		 put_tree(bait, closed, err) < 0 || put_programs(bait, program, err) < 0;
	umask(old);
	if (result)
		return -1;
	if (fchown(group, 0, bait->group) < 0)
		return err_sys(err, "give a file to group %u", bait->group);
	if (mknodat(bait->folder_fd, "node", S_IFCHR | 0666, makedev(1, 11)) < 0 ||
	    fchmodat(bait->folder_fd, "node", 0666, 0) < 0)
		return err_sys(err, "make a device node");
	return 0;
}

static int fill_outside(struct bait *bait, struct err *err)
{
	auto_fd run = put_folder(bait->outside_fd, "run", 0755, err);

	if (run < 0 || put_text(bait->outside_fd, "answers.json", 0644, bait->secret, err) < 0 ||
	    put_text(bait->outside_fd, "root-only", 0600, bait->secret, err) < 0)
		return -1;
	return put_text(run, "journal.jsonl", 0666, WRITABLE_TEXT, err);
}

/* Objects that have names of their own; the IPC namespace and the mount over /dev/shm are ours. */
static int make_objects(struct bait *bait, struct err *err)
{
	struct {
		long type;
		char text[BAIT_SECRET_MAX];
	} message = { .type = 1 };
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 1024 };
	auto_fd shared = -1;
	char name[BAIT_TAG_MAX + 1];
	int id = shmget(bait->key, 4096, IPC_CREAT | 0666), queue;
	void *at = id < 0 ? (void *) -1 : shmat(id, NULL, 0);

	if (at == (void *) -1)
		return err_sys(err, "make shared memory");
	memcpy(at, bait->secret, sizeof(bait->secret));
	id = msgget(bait->key, IPC_CREAT | 0666);
	memcpy(message.text, bait->secret, sizeof(message.text));
	if (id < 0 || msgsnd(id, &message, sizeof(message.text), IPC_NOWAIT) < 0)
		return err_sys(err, "make a message queue");
	snprintf(name, sizeof(name), "/%s", bait->tag);
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, &attributes);
	if (queue < 0 || mq_send(queue, bait->secret, strlen(bait->secret), 0) < 0)
		return err_sys(err, "make a POSIX message queue");
	close(queue);
	if (mount("proctor-drill", "/dev/shm", "tmpfs", 0, "size=4m,mode=1777") < 0)
		return err_host(err, "mount a tmpfs at '/dev/shm'");
	shared = open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return put_text(shared, bait->tag, 0644, bait->secret, err);
}

/* A kernel without keyrings has none to pass on. */
static int make_key(struct bait *bait, struct err *err)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		return errno == ENOSYS ? 0 : err_sys(err, "join a session keyring");
	if (syscall(SYS_add_key, "user", bait->tag, bait->secret, strlen(bait->secret),
		    KEY_SPEC_SESSION_KEYRING) < 0)
		return err_sys(err, "keep a key");
	return 0;
}

static int listen_at(int domain, const void *address, socklen_t len, struct err *err)
{
	auto_fd fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, len) < 0 || listen(fd, 16) < 0)
		return err_sys(err, "listen");
	return fd_take(&fd);
}

/* @out: VICTIM_LISTENERS, owned by the caller whatever comes of it */
static int listen_all(struct bait *bait, int *out, struct err *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un name = { .sun_family = AF_UNIX }, path = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(v4);
	struct err ignored = ERR_INIT;

	out[0] = listen_at(AF_INET, &v4, sizeof(v4), err);
	if (out[0] < 0 || getsockname(out[0], (struct sockaddr *) &v4, &len) < 0)
		return err_wrap(err, "the loopback");
	bait->port = ntohs(v4.sin_port);
	v6.sin6_port = v4.sin_port;
	out[1] = listen_at(AF_INET6, &v6, sizeof(v6), &ignored); /* there may be no IPv6 */
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "%s", bait->tag);
	out[2] = listen_at(
		AF_UNIX, &name,
		(socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(bait->tag)), err);
	snprintf(path.sun_path, sizeof(path.sun_path), "%s/socket", bait->outside);
	out[3] = listen_at(AF_UNIX, &path, sizeof(path), err);
	if (out[2] < 0 || out[3] < 0)
		return -1;
	if (chmod(path.sun_path, 0666) < 0)
		return err_sys(err, "open '%s' to all", path.sun_path);
	return 0;
}

static int start_victim(struct bait *bait, struct err *err)
{
	auto_fd readable = openat(bait->folder_fd, "readable", O_RDONLY | O_CLOEXEC);
	struct victim_part part = { .name = bait->tag,
				    .secret = bait->secret,
				    .listeners = { -1, -1, -1, -1 },
				    .readable_fd = readable };
	int result = listen_all(bait, part.listeners, err);

	if (result == 0)
		result = victim_start(&part, &bait->victim, err);
	for (size_t i = 0; i < VICTIM_LISTENERS; i++)
		fd_close(&part.listeners[i]);
	return result;
}

static int read_program(const char *programs, struct bait *bait, struct str *out, struct err *err)
{
	auto_fd file = launcher_open_program(programs, "proctor-attack", err);

	if (file < 0 || io_read_fd(file, PROGRAM_MAX, "proctor-attack", out, err) < 0)
		return -1;
	bait->program_fd = io_memfd("proctor-attack", out->text, out->len, err);
	return bait->program_fd < 0 ? -1 : 0;
}

static void see_host(struct bait *bait)
{
	struct stat info;

	if (stat("/", &info) == 0 && major(info.st_dev) != 0) {
		bait->disk_major = major(info.st_dev);
		bait->disk_minor = minor(info.st_dev);
	}
	if (stat("/proc/self/ns/net", &info) == 0)
		bait->netns = info.st_ino;
}

/* What a launcher starts with and no jail may have. */
static int burden(struct bait *bait, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (signal(SIGUSR1, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "ignore a signal");
	if (setgroups(1, &bait->group) < 0)
		return err_sys(err, "become a member of group %u", bait->group);
	bait->inherited_fd = openat(bait->folder_fd, "root-only", O_RDONLY);
	return bait->inherited_fd < 0 ? err_sys(err, "open 'root-only'") : 0;
}

int bait_plant(const char *programs, gid_t group, struct bait *out, struct err *err)
{
	static const char *const seen[] = { "/etc/alternatives", "/etc/ssl/certs", NULL };
	static const char *const unseen[] = { "/srv", "/media", "/mnt", "/opt", NULL };
	cleanup(bait_done) struct bait bait = BAIT_INIT;
	cleanup(str_done) struct str program = STR_INIT;

	bait.group = group;
	see_host(&bait);
	if (draw(&bait, err) < 0 || read_program(programs, &bait, &program, err) < 0 ||
	    leave_host(err) < 0)
		return -1;
	bait.folder_fd = cover(seen, &bait.folder, err);
	bait.outside_fd = cover(unseen, &bait.outside, err);
	if (bait.folder_fd < 0 || bait.outside_fd < 0 || fill_folder(&bait, &program, err) < 0 ||
	    fill_outside(&bait, err) < 0 || make_objects(&bait, err) < 0 ||
	    make_key(&bait, err) < 0 || start_victim(&bait, err) < 0 || burden(&bait, err) < 0)
		return err_wrap(err, "lay bait out");
	*out = bait;
	bait = BAIT_INIT;
	return 0;
}

int bait_calm(struct bait *bait, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (signal(SIGUSR1, SIG_DFL) == SIG_ERR || sigprocmask(SIG_UNBLOCK, &set, NULL) < 0)
		return err_sys(err, "take signals again");
	fd_close(&bait->inherited_fd);
	return 0;
}

static bool has_text(int folder_fd, const char *path, const char *text)
{
	cleanup(str_done) struct str got = STR_INIT;
	struct err ignored = ERR_INIT;

	return io_read_file(folder_fd, path, 4096, &got, &ignored) == 0 &&
	       strcmp(got.text, text) == 0;
}

bool bait_is_whole(const struct bait *bait, const char **what)
{
	char text[BAIT_SECRET_MAX] = "";
	struct stat info;

	if (pread(bait->root_only_fd, text, sizeof(text) - 1, 0) < 0 ||
	    strcmp(text, bait->secret) != 0)
		*what = "root's file has changed";
	else if (!has_text(bait->folder_fd, "writable", WRITABLE_TEXT))
		*what = "a file that everybody may write has changed";
	else if (!has_text(bait->folder_fd, "everybodys/mine", WRITABLE_TEXT))
		*what = "a file in a folder that everybody may write has changed";
	else if (fstatat(bait->folder_fd, "readable", &info, AT_SYMLINK_NOFOLLOW) < 0 ||
		 info.st_nlink != 1)
		*what = "a file has another name";
	else if (!has_text(bait->outside_fd, "run/journal.jsonl", WRITABLE_TEXT))
		*what = "the journal has changed";
	else
		return true;
	return false;
}

void bait_done(struct bait *bait)
{
	victim_done(&bait->victim);
	fd_close(&bait->folder_fd);
	fd_close(&bait->outside_fd);
	fd_close(&bait->root_only_fd);
	fd_close(&bait->program_fd);
	fd_close(&bait->inherited_fd);
	*bait = BAIT_INIT;
}
