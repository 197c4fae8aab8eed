/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/syscalls.h"

#define ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Other processes may take the loop device that was free a moment ago. */
enum { LOOP_TRIES = 64 };

/* --- mounting --- */

/* What the kernel has to say beyond an error number; mostly nothing. */
static void add_kernels_words(int context, struct err *err)
{
	char text[160];
	ssize_t len = io_read_some(context, text, sizeof(text) - 1);

	if (len <= 2)
		return;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	best_effort(err_wrap(err, "%s", text + 2)); /* after "e " */
}

/* A file system of @type out of what @source_fd is: a block device, or a file. */
static int mount_from(const char *type, int source_fd, struct err *err)
{
	auto_fd context = fsopen(type, FSOPEN_CLOEXEC);
	char source[64];
	int made;

	if (context < 0)
		return err_host(err, "this kernel has no %s (modprobe %s)", type, type);
	snprintf(source, sizeof(source), "/proc/self/fd/%d", source_fd);
	if (fsconfig(context, FSCONFIG_SET_STRING, "source", source, 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0) {
		err_host(err, "mount it as %s", type);
		add_kernels_words(context, err);
		return -1;
	}
	made = fsmount(context, FSMOUNT_CLOEXEC, ATTRIBUTES);
	if (made < 0)
		return err_sys(err, "mount a %s", type);
	return made;
}

/* Gone by itself when the last mount of it is. Return: the device's descriptor. */
static int attach_loop(int file_fd, const char *name, struct err *err)
{
	auto_fd control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct loop_config config = {
		.fd = (uint32_t) file_fd,
		.info = { .lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR },
	};

	if (control < 0)
		return err_host(err, "open '/dev/loop-control' (modprobe loop)");
	snprintf((char *) config.info.lo_file_name, sizeof(config.info.lo_file_name), "proctor %s",
		 name);
	for (int i = 0; i < LOOP_TRIES; i++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);
		auto_fd device = -1;
		char path[32];

		if (number < 0)
			return err_host(err, "find a free loop device");
		snprintf(path, sizeof(path), "/dev/loop%d", number);
		device = open(path, O_RDONLY | O_CLOEXEC);
		if (device < 0)
			return err_host(err, "open '%s'", path);
		if (ioctl(device, LOOP_CONFIGURE, &config) == 0)
			return fd_take(&device);
		if (errno != EBUSY)
			return err_host(err, "make '%s' of it", path);
	}
	return err_set(err, ERR_HOST, "no loop device stays free");
}

static int mount_file(const struct image_source *source, int file_fd, struct err *err)
{
	const char *type = source->kind == IMAGE_SQUASHFS ? "squashfs" : "erofs";
	struct err ignored = ERR_INIT;
	auto_fd device = -1;

	/* Without a device in between, since Linux 6.12. */
	if (source->kind == IMAGE_EROFS) {
		int made = mount_from(type, file_fd, &ignored);

		if (made >= 0)
			return made;
	}
	device = attach_loop(file_fd, source->name, err);
	return device < 0 ? -1 : mount_from(type, device, err);
}

static int clone_of(int dir_fd, const char *path, struct err *err)
{
	struct mount_attr change = { .attr_set = ATTRIBUTES };
	auto_fd tree = open_tree(dir_fd, path,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
					 AT_SYMLINK_NOFOLLOW);

	if (tree < 0)
		return err_sys(err, "clone the mount of it");
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &change, sizeof(change)) < 0)
		return err_sys(err, "make the mount of it read-only");
	return fd_take(&tree);
}

/* --- digests --- */

enum { IDENTITY_MAX = 160, NOTE_MAX = IDENTITY_MAX + IMAGE_DIGEST_SIZE };

static void write_identity(const struct image_identity *identity, char out[IDENTITY_MAX])
{
	snprintf(out, IDENTITY_MAX, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %lld.%09ld %lld.%09ld ",
		 identity->device, identity->inode, identity->size,
		 (long long) identity->written.tv_sec, identity->written.tv_nsec,
		 (long long) identity->changed.tv_sec, identity->changed.tv_nsec);
}

/* Is @note about this content? Then its digest goes to @out. */
static bool note_says(const char *note, const struct image_identity *identity,
		      char out[IMAGE_DIGEST_SIZE])
{
	char about[IDENTITY_MAX];
	const size_t hex = IMAGE_DIGEST_SIZE - 1;
	size_t len;

	write_identity(identity, about);
	len = strlen(about);
	if (strncmp(note, about, len) != 0 || strspn(note + len, "0123456789abcdef") != hex)
		return false;
	memcpy(out, note + len, hex);
	out[hex] = '\0';
	return true;
}

static void make_note(const struct image *image, char out[NOTE_MAX + 1])
{
	char about[IDENTITY_MAX];

	write_identity(&image->identity, about);
	snprintf(out, NOTE_MAX + 1, "%s%s", about, image->digest);
}

/* From the note of an earlier launcher, or out of the file. */
static int find_digest(int state_fd, const struct image_source *source,
		       const struct image_wish *wish, struct image *image, struct err *err)
{
	cleanup(str_done) struct str note = STR_INIT;
	struct err ignored = ERR_INIT;
	char name[64], text[NOTE_MAX + 1];

	snprintf(name, sizeof(name), "image-%s", source->name);
	if (io_read_file(state_fd, name, NOTE_MAX, &note, &ignored) == 0 &&
	    note_says(note.text, &image->identity, image->digest))
		return 0;
	if (image_digest(image->file_fd, wish, image->digest, err) < 0)
		return -1;
	make_note(image, text);
	/* Without a note the next launcher reads the file again. */
	best_effort(io_replace_file(state_fd, name, text, strlen(text), 0600, &ignored));
	return 0;
}

/* --- the shelf --- */

int image_open_shelf(const char *folder, struct err *err)
{
	auto_fd context = fsopen("tmpfs", FSOPEN_CLOEXEC), made = -1, at = -1;
	char path[256];

	snprintf(path, sizeof(path), "%s/images", folder);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_host(err, "create folder '%s'", path);
	at = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return err_host(err, "open '%s'", path);
	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "mode", "700", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "size", "1m", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "make a tmpfs for '%s'", path);
	made = fsmount(context, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (made < 0 ||
	    move_mount(made, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(err, "mount a tmpfs at '%s'", path);
	return fd_take(&made);
}

/* Return: a locked file, owned by the caller; what is in it is the note about what is mounted. */
static int lock_place(int shelf_fd, const char *image, const struct image_wish *wish,
		      struct err *err)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	char name[64];
	auto_fd fd = -1;

	snprintf(name, sizeof(name), ".%s", image);
	fd = openat(shelf_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "open '%s'", name);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_sys(err, "lock '%s'", name);
		if (image_check_wish(wish, err) < 0)
			return -1;
		nanosleep(&pause, NULL);
	}
	return fd_take(&fd);
}

static bool is_on_shelf(int lock_fd, struct image *image)
{
	char note[NOTE_MAX + 1] = "";

	return pread(lock_fd, note, sizeof(note) - 1, 0) > 0 &&
	       note_says(note, &image->identity, image->digest);
}

/* In place of what was mounted there; jails that have a clone of that keep it. */
static int put_on_shelf(int shelf_fd, int lock_fd, const struct image_source *source,
			const struct image *image, struct err *err)
{
	char path[64], note[NOTE_MAX + 1];
	auto_fd made = -1;

	if (ftruncate(lock_fd, 0) < 0)
		return err_sys(err, "forget what is mounted");
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", shelf_fd, source->name);
	if (umount2(path, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
		return err_sys(err, "unmount the one before");
	if (mkdirat(shelf_fd, source->name, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "create folder '%s'", source->name);
	made = mount_file(source, image->file_fd, err);
	if (made < 0)
		return -1;
	if (move_mount(made, "", shelf_fd, source->name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(err, "attach the mount of it");
	make_note(image, note);
	if (pwrite(lock_fd, note, strlen(note), 0) != (ssize_t) strlen(note))
		return err_sys(err, "note what is mounted");
	return 0;
}

static int take_file(int shelf_fd, int state_fd, const struct image_source *source,
		     const struct image_wish *wish, struct image *image, struct err *err)
{
	auto_fd lock_fd = lock_place(shelf_fd, source->name, wish, err);

	if (lock_fd < 0)
		return -1;
	if (!is_on_shelf(lock_fd, image) &&
	    (find_digest(state_fd, source, wish, image, err) < 0 ||
	     put_on_shelf(shelf_fd, lock_fd, source, image, err) < 0))
		return -1;
	image->mount_fd = clone_of(shelf_fd, source->name, err);
	return image->mount_fd < 0 ? -1 : 0;
}

int image_take(int shelf_fd, int state_fd, const struct image_source *source,
	       const struct image_wish *wish, struct image *out, struct err *err)
{
	cleanup(image_done) struct image image = IMAGE_INIT;
	int result = 0;

	image.file_fd = image_open_file(source, &image.identity, err);
	if (image.file_fd < 0)
		return err_wrap(err, "'%s'", source->name);
	if (source->kind == IMAGE_FOLDER)
		image.mount_fd = clone_of(image.file_fd, "", err);
	else
		result = take_file(shelf_fd, state_fd, source, wish, &image, err);
	if (image.mount_fd < 0 || result < 0)
		return err_wrap(err, "'%s', '%s'", source->name, source->path);
	*out = take(image, IMAGE_INIT);
	return 0;
}

bool image_has_changed(const struct image *image)
{
	struct image_identity now;
	struct err ignored = ERR_INIT;

	if (image->file_fd < 0 || image->digest[0] == '\0')
		return false;
	/* Not the time of the last change: that is also when another file took its name. */
	return image_identify(image->file_fd, &now, &ignored) < 0 ||
	       now.size != image->identity.size ||
	       now.written.tv_sec != image->identity.written.tv_sec ||
	       now.written.tv_nsec != image->identity.written.tv_nsec;
}

void image_done(struct image *image)
{
	fd_close(&image->mount_fd);
	fd_close(&image->file_fd);
}

/* --- whose its files are --- */

/* A process in a user namespace of its own, which ends when @hold_fds are closed. */
static pid_t start_holder(const int hold_fds[2], struct err *err)
{
	const struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	pid_t pid = sys_clone3(&args);
	char byte;

	if (pid < 0)
		return err_host(err, "make a user namespace");
	if (pid > 0)
		return pid;
	close(hold_fds[1]);
	_exit(read(hold_fds[0], &byte, 1) < 0);
}

static int write_maps(pid_t pid, uint32_t base, uint32_t payload, struct err *err)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char path[64], map[256];

	/* From the image's ids to the host's: root and the payload change places. */
	snprintf(map, sizeof(map), "0 %u 1\n1 %u %u\n%u %u 1\n%u %u %u\n", base + payload, base + 1,
		 payload - 1, payload, base, payload + 1, base + payload + 1, 65535 - payload);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, files[i]);
		if (io_write_kernel_file(AT_FDCWD, path, map, err) < 0)
			return -1;
	}
	return 0;
}

/* Return: a descriptor of a user namespace with these maps, owned by the caller. */
static int open_map(uint32_t base, uint32_t payload, struct err *err)
{
	int hold[2], fd = -1;
	char path[64];
	pid_t pid;

	if (pipe2(hold, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	pid = start_holder(hold, err);
	if (pid > 0 && write_maps(pid, base, payload, err) == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", (int) pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			err_sys(err, "open '%s'", path);
	}
	fd_close(&hold[1]);
	fd_close(&hold[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

int image_map(int mount_fd, uint32_t base, uint32_t payload, struct err *err)
{
	auto_fd map_fd = open_map(base, payload, err);
	struct mount_attr change = { .attr_set = MOUNT_ATTR_IDMAP };

	if (map_fd < 0)
		return -1;
	change.userns_fd = (uint64_t) map_fd;
	if (mount_setattr(mount_fd, "", AT_EMPTY_PATH, &change, sizeof(change)) < 0)
		return err_host(err, "map the ids of the image, without which its root can not be "
				     "changed (take an erofs image, or a newer kernel)");
	return 0;
}
