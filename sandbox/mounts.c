/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "sandbox/base/syscalls.h"

/* Where the new root is attached while it is built: a folder that every system has. */
#define BUILD_AT "/tmp"

/* A new, detached mount of file system @type; -1 on error. The kernel's own words are kept. */
static int new_mount(const char *type, const struct mount_option *options, uint64_t attributes,
		     struct err *err)
{
	auto_fd context = fsopen(type, FSOPEN_CLOEXEC);
	int made;

	if (context < 0)
		return err_host(err, "open file system type '%s'", type);
	for (; options && options->key; options++)
		if (fsconfig(context, FSCONFIG_SET_STRING, options->key, options->value, 0) < 0)
			return err_sys(err, "%s: option %s=%s", type, options->key, options->value);
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "create the %s", type);
	made = fsmount(context, FSMOUNT_CLOEXEC, (unsigned int) attributes);
	if (made < 0)
		return err_sys(err, "mount a %s", type);
	return made;
}

static int set_attributes(int mount_fd, uint64_t attributes, struct err *err)
{
	struct mount_attr change = { .attr_set = attributes };

	if (mount_setattr(mount_fd, "", AT_EMPTY_PATH, &change, sizeof(change)) < 0)
		return err_sys(err, "set the attributes of a mount");
	return 0;
}

/* A detached copy of the mount at @path, with @attributes added. */
static int clone_mount(int dir_fd, const char *path, uint64_t attributes, struct err *err)
{
	auto_fd tree = open_tree(dir_fd, path,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
					 AT_SYMLINK_NOFOLLOW);

	if (tree < 0)
		return err_sys(err, "open the tree at '%s'", path);
	if (set_attributes(tree, attributes, err) < 0)
		return -1;
	return fd_take(&tree);
}

static int attach(int mount_fd, int target_fd, struct err *err)
{
	if (move_mount(mount_fd, "", target_fd, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(err, "attach a mount");
	return 0;
}

static int target_folder(int root_fd, const char *path, struct err *err);

/*
 * The folder above @path in the new root, made with all above it where it is not there; no link is
 * followed, or what is made would be made on the host. *name is the last part of the path.
 *
 * Return: an O_PATH descriptor, owned by the caller.
 */
static int open_parent(int root_fd, const char *path, const char **name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char above[PATH_MAX];
	int folder;

	*name = slash ? slash + 1 : path;
	if (!slash) {
		folder = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
		return folder < 0 ? err_sys(err, "copy a descriptor") : folder;
	}
	snprintf(above, sizeof(above), "%.*s", (int) (slash - path), path);
	folder = path_open(root_fd, above, O_PATH | O_DIRECTORY, 0, err);
	/* Nearly always an earlier row has made it. */
	return folder < 0 && err->sys == ENOENT ? target_folder(root_fd, above, err) : folder;
}

/* A folder of the new root to put something on: made if it is not there. Return: an O_PATH fd. */
static int target_folder(int root_fd, const char *path, struct err *err)
{
	const char *name;
	auto_fd parent = open_parent(root_fd, path, &name, err);

	if (parent < 0)
		return -1;
	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST && errno != EROFS)
		return err_sys(err, "create folder '/%s'", path);
	return path_open(parent, name, O_PATH | O_DIRECTORY, 0, err);
}

static int target_file(int root_fd, const char *path, struct err *err)
{
	const char *name;
	auto_fd parent = open_parent(root_fd, path, &name, err);

	if (parent < 0)
		return -1;
	if (mknodat(parent, name, S_IFREG | 0444, 0) < 0 && errno != EEXIST)
		return err_sys(err, "create file '/%s'", path);
	return path_open(parent, name, O_PATH, 0, err);
}

static int put_folder(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd folder = target_folder(mounts->root_fd, row->target, err);

	return folder < 0 ? -1 : 0;
}

static int put_link(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	const char *name;
	auto_fd parent = open_parent(mounts->root_fd, row->target, &name, err);

	if (parent < 0)
		return -1;
	if (symlinkat(row->source, parent, name) < 0)
		return err_sys(err, "link '/%s' to '%s'", row->target, row->source);
	return 0;
}

static int put_text(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	const char *name;
	auto_fd parent = open_parent(mounts->root_fd, row->target, &name, err);
	auto_fd fd = -1;

	if (parent < 0)
		return -1;
	/* What an image has there, whatever it is, but for a folder. */
	if (mounts->stage_fd >= 0 && unlinkat(parent, name, 0) < 0 && errno != ENOENT)
		return err_sys(err, "replace '/%s'", row->target);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0)
		return err_sys(err, "create file '/%s'", row->target);
	return io_write_all(fd, row->source, strlen(row->source), row->target, err);
}

static int put_bind(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd target = -1, tree = -1;
	struct stat info;

	/* A bind of a link binds what it leads to: these are the host's own paths. */
	if (stat(row->source, &info) < 0) {
		if (errno == ENOENT && row->optional)
			return 0;
		return err_host(err, "look at the host's '%s'", row->source);
	}
	tree = open_tree(AT_FDCWD, row->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return err_sys(err, "open the host's '%s'", row->source);
	if (set_attributes(tree, mounts_form(PLAN_BIND)->attributes, err) < 0)
		return -1;
	target = S_ISDIR(info.st_mode) ? target_folder(mounts->root_fd, row->target, err)
				       : target_file(mounts->root_fd, row->target, err);
	if (target < 0)
		return -1;
	return attach(tree, target, err);
}

static int put_as_host(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	char link[PATH_MAX];
	ssize_t len = readlink(row->source, link, sizeof(link) - 1);

	if (len < 0)
		return put_bind(mounts, row, err); /* no link: the folder itself, or nothing */
	link[len] = '\0';
	return put_link(mounts, &(struct plan_row){ .target = row->target, .source = link }, err);
}

static int put_new(struct mounts *mounts, const char *target, const struct mount_form *form,
		   const struct mount_option *options, struct err *err)
{
	auto_fd folder = target_folder(mounts->root_fd, target, err);
	auto_fd mount_fd = -1;

	if (folder < 0)
		return -1;
	mount_fd = new_mount(form->type, options, form->attributes, err);
	if (mount_fd < 0 || attach(mount_fd, folder, err) < 0)
		return -1;
	return fd_take(&mount_fd);
}

static int put_tmpfs(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	struct mounts_tmpfs form;
	auto_fd made = -1, clone = -1;

	mounts_tmpfs_options(row->tmpfs, mounts->owner, &form);
	made = put_new(mounts, row->target, mounts_form(PLAN_TMPFS), form.options, err);
	if (made < 0)
		return -1;
	/*
	 * The monitor reads the finished workspace through a clone of its own: a descriptor that
	 * the payload has parked somewhere may keep the mount itself busy, but not the clone. Of
	 * the others it only asks how full they are. Each clone costs a grace period at its end.
	 */
	if ((int) mounts->tmpfs_count == mounts->collected) {
		clone = clone_mount(made, "", MOUNT_ATTR_RDONLY, err);
		if (clone < 0)
			return -1;
	}
	mounts->tmpfs_fd[mounts->tmpfs_count++] = clone >= 0 ? fd_take(&clone) : fd_take(&made);
	return 0;
}

static int put_proc(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd made = put_new(mounts, row->target, mounts_form(PLAN_PROC), NULL, err);

	return made < 0 ? -1 : 0;
}

/* Attaches a mount that somebody else has made. */
static int put_made(struct mounts *mounts, const struct plan_row *row, int mount_fd,
		    struct err *err)
{
	auto_fd folder = target_folder(mounts->root_fd, row->target, err);

	if (folder < 0)
		return -1;
	if (mount_fd < 0)
		return err_set(err, ERR_SYS, "no mount was given for '/%s'", row->target);
	return attach(mount_fd, folder, err);
}

static int put_devices(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	return put_made(mounts, row, mounts->devices_fd, err);
}

static int put_terminals(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	const struct mount_form *form = mounts_form(PLAN_TERMINALS);
	auto_fd made = put_new(mounts, row->target, form, form->options, err);

	return made < 0 ? -1 : 0;
}

static int put_given(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	return put_made(mounts, row, mounts->given_fd, err);
}

static int put_mask(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd target = path_open(mounts->root_fd, row->target, O_PATH, 0, err);
	auto_fd mask = -1;
	struct stat info;

	if (target < 0)
		return row->optional && (err->sys == ENOENT || err->sys == ENOTDIR) ? 0 : -1;
	if (fstat(target, &info) < 0)
		return err_sys(err, "look at '/%s'", row->target);
	mask = clone_mount(mounts->masks_fd, S_ISDIR(info.st_mode) ? "folder" : "file",
			   mounts_form(PLAN_MASK)->attributes, err);
	if (mask < 0)
		return -1;
	return attach(mask, target, err);
}

static int put_read_only(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd target = path_open(mounts->root_fd, row->target, O_PATH, 0, err);
	auto_fd tree = -1;

	if (target < 0)
		return row->optional && (err->sys == ENOENT || err->sys == ENOTDIR) ? 0 : -1;
	tree = clone_mount(target, "", mounts_form(PLAN_READ_ONLY)->attributes, err);
	if (tree < 0)
		return -1;
	return attach(tree, target, err);
}

/* The root was begun with it. */
static int put_image(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	if (mounts->stage_fd < 0)
		return err_set(err, ERR_SYS, "image '%s' is not the first row", row->source);
	return 0;
}

/* A file of procfs, covered by a text of ours. A plan has one of these at most. */
static int put_cover(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	auto_fd target = path_open(mounts->root_fd, row->target, O_PATH, 0, err);
	auto_fd cover = -1, fd = -1;

	if (target < 0)
		return row->optional && (err->sys == ENOENT || err->sys == ENOTDIR) ? 0 : -1;
	fd = openat(mounts->masks_fd, "cover", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	if (fd < 0)
		return err_sys(err, "create what covers '/%s'", row->target);
	if (io_write_all(fd, row->source, strlen(row->source), row->target, err) < 0)
		return -1;
	cover = clone_mount(mounts->masks_fd, "cover", mounts_form(PLAN_COVER)->attributes, err);
	return cover < 0 ? -1 : attach(cover, target, err);
}

static int put(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	static int (*const puts[])(struct mounts *, const struct plan_row *, struct err *) = {
		[PLAN_FOLDER] = put_folder,       [PLAN_LINK] = put_link,
		[PLAN_TEXT] = put_text,           [PLAN_AS_HOST] = put_as_host,
		[PLAN_BIND] = put_bind,           [PLAN_TMPFS] = put_tmpfs,
		[PLAN_PROC] = put_proc,           [PLAN_DEVICES] = put_devices,
		[PLAN_TERMINALS] = put_terminals, [PLAN_GIVEN] = put_given,
		[PLAN_MASK] = put_mask,           [PLAN_READ_ONLY] = put_read_only,
		[PLAN_IMAGE] = put_image,         [PLAN_COVER] = put_cover,
	};

	if (puts[row->kind](mounts, row, err) < 0)
		return err_wrap(err, "%s '/%s'", plan_kind_text(row->kind), row->target);
	return 0;
}

/*
 * Attaches the tmpfs that masks are clones of: an empty folder and an empty file, mode 0. The new
 * root comes to lie over it: so it goes with the host's tree, since to unmount it by itself would
 * be to wait for one more of the kernel's grace periods.
 */
static int make_masks(struct mounts *mounts, int target_fd, struct err *err)
{
	static const struct mount_option options[] = {
		{ "size", "4k" },
		{ "nr_inodes", "8" },
		{ "mode", "755" },
		{ NULL, NULL },
	};

	mounts->masks_fd = new_mount("tmpfs", options, MOUNT_ATTR_NOSUID, err);
	if (mounts->masks_fd < 0)
		return -1;
	if (mkdirat(mounts->masks_fd, "folder", 0) < 0 ||
	    mknodat(mounts->masks_fd, "file", S_IFREG, 0) < 0)
		return err_sys(err, "create the masks");
	return attach(mounts->masks_fd, target_fd, err);
}

static bool has_masks(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->rows[i].kind == PLAN_MASK || plan->rows[i].kind == PLAN_COVER)
			return true;
	return false;
}

static int begin(struct mounts *mounts, const struct plan *plan, struct err *err)
{
	const struct mount_form *form = &mounts_root_form;
	auto_fd target = -1;

	/* What the host mounts later must not appear in the jail, nor the reverse. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "make the mounts private");
	target = open(BUILD_AT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0)
		return err_host(err, "open '%s'", BUILD_AT);
	if (has_masks(plan) && make_masks(mounts, target, err) < 0)
		return -1;
	mounts->root_fd = new_mount(form->type, form->options,
				    form->attributes & ~(uint64_t) MOUNT_ATTR_RDONLY, err);
	if (mounts->root_fd < 0)
		return -1;
	return attach(mounts->root_fd, target, err);
}

/* --- an image as the root --- */

/*
 * Of the stage, which is a root as it always is, and in the end is detached with the host's. Every
 * image lacks some place that a jail needs, so what is put into it goes to an overlay's upper
 * layer: a tmpfs of ours, or the payload's own, to which the files of the image's root belong then.
 */
static int make_changes(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	const uint32_t owner = row->tmpfs ? mounts->owner : 0;
	const struct mount_option *options = mounts_root_form.options;
	struct mounts_tmpfs form;
	auto_fd made = -1;

	if (row->tmpfs) {
		mounts_tmpfs_options(row->tmpfs, mounts->owner, &form);
		options = form.options;
	}
	made = put_new(mounts, "changes",
		       &(struct mount_form){ "tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, NULL },
		       options, err);
	if (made < 0)
		return -1;
	if (mkdirat(made, "files", 0755) < 0 || mkdirat(made, "work", 0755) < 0 ||
	    fchownat(made, "files", owner, owner, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "create the folders of the changes");
	if (row->tmpfs)
		mounts->changes_fd = fd_take(&made);
	return 0;
}

static int put_files(struct mounts *mounts, struct err *err)
{
	auto_fd folder = target_folder(mounts->root_fd, "image", err);

	if (folder < 0)
		return -1;
	if (mounts->image_fd < 0)
		return err_set(err, ERR_SYS, "no mount was given for it");
	return attach(mounts->image_fd, folder, err);
}

static int begin_image(struct mounts *mounts, const struct plan_row *row, struct err *err)
{
	const struct mount_form *form = mounts_form(PLAN_IMAGE);
	auto_fd overlay = -1;

	if (put_files(mounts, err) < 0 || make_changes(mounts, row, err) < 0)
		return -1;
	overlay = put_new(mounts, "root",
			  &(struct mount_form){ form->type,
						form->attributes & ~(uint64_t) MOUNT_ATTR_RDONLY,
						NULL },
			  form->options, err);
	if (overlay < 0) {
		if (err->sys != EINVAL)
			return -1;
		/* The kernel says why in its log, and nowhere else. */
		err->kind = ERR_HOST;
		return err_wrap(err, "it lies on a file system that no overlay can lie over, such "
				     "as procfs or an overlay on another (see dmesg): copy it "
				     "elsewhere");
	}
	mounts->stage_fd = mounts->root_fd;
	mounts->root_fd = fd_take(&overlay);
	return 0;
}

/* Whoever made the image can put it right, if told what is the matter. */
static int explain_image(const struct plan_row *row, struct err *err)
{
	const char *why = "";

	if (err->sys == ELOOP)
		why = " has a link in the way, which is not followed: make it a folder, or leave "
		      "it out";
	else if (err->sys == ENOTDIR)
		why = " has a file in the way: make it a folder, or leave it out";
	else if (err->sys == EISDIR)
		why = " has a folder in the way: leave it out";
	if (why[0] != '\0' || err->kind == ERR_INPUT)
		err->kind = ERR_HOST;
	return err_wrap(err, "image '%s'%s", row->source, why);
}

/* --- the root as a whole --- */

static int finish(struct mounts *mounts, struct err *err)
{
	if (fchdir(mounts->root_fd) < 0)
		return err_sys(err, "enter the new root");
	if (mounts->changes_fd < 0 &&
	    set_attributes(mounts->root_fd, mounts_root_form.attributes, err) < 0)
		return err_wrap(err, "make the root read-only");
	/* pivot_root(2), NOTES: with both at ".", the old root lies over the new and is detached.
	 */
	if (sys_pivot_root(".", ".") < 0)
		return err_sys(err, "make the new tree the root");
	if (umount2(".", MNT_DETACH) < 0)
		return err_sys(err, "detach the host's root");
	if (chdir("/") < 0)
		return err_sys(err, "enter the new root");
	return 0;
}

int mounts_perform(struct mounts *mounts, const struct plan *plan, struct err *err)
{
	const struct plan_row *first = plan->rows;
	const bool is_image = plan->count > 0 && first->kind == PLAN_IMAGE;

	if (begin(mounts, plan, err) < 0)
		return err_wrap(err, "begin a new root");
	if (is_image && begin_image(mounts, first, err) < 0)
		return err_wrap(err, "image '%s'", first->source);
	for (size_t i = 0; i < plan->count; i++)
		if (put(mounts, &plan->rows[i], err) < 0)
			return is_image ? explain_image(first, err) : -1;
	if (finish(mounts, err) < 0)
		return -1;
	if (mounts->changes_fd >= 0)
		mounts->tmpfs_fd[mounts->tmpfs_count++] = fd_take(&mounts->changes_fd);
	return 0;
}

int mounts_new_devices(int (*make_nodes)(int dev_fd, const void *devices, struct err *err),
		       const void *devices, struct err *err)
{
	const struct mount_form *form = mounts_form(PLAN_DEVICES);
	/* Read-only when it is finished. */
	auto_fd made = new_mount(form->type, form->options,
				 form->attributes & ~(uint64_t) MOUNT_ATTR_RDONLY, err);

	if (made < 0 || make_nodes(made, devices, err) < 0)
		return -1;
	for (const struct mount_option *link = mounts_device_links; link->key; link++)
		if (symlinkat(link->value, made, link->key) < 0)
			return err_sys(err, "link '/dev/%s'", link->key);
	if (mkdirat(made, "pts", 0755) < 0 || mkdirat(made, "shm", 0755) < 0)
		return err_sys(err, "create the folders of /dev");
	if (set_attributes(made, form->attributes, err) < 0)
		return -1;
	return fd_take(&made);
}

void mounts_done(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->tmpfs_count; i++)
		fd_close(&mounts->tmpfs_fd[i]);
	mounts->tmpfs_count = 0;
	fd_close(&mounts->masks_fd);
	fd_close(&mounts->root_fd);
	fd_close(&mounts->stage_fd);
	fd_close(&mounts->changes_fd);
}
