/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "sandbox/base/str.h"
#include "sandbox/mounts.h"

#define COVERED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* clang-format off */

/* The root is writable while it is built. */
static const struct mount_option root_options[] = {
	{ "size", "1m" }, { "nr_inodes", "1k" }, { "mode", "755" }, { NULL, NULL },
};
static const struct mount_option device_options[] = {
	{ "size", "64k" }, { "nr_inodes", "96" }, { "mode", "755" }, { NULL, NULL },
};
static const struct mount_option terminal_options[] = {
	{ "ptmxmode", "0666" }, { "mode", "0620" }, { "max", "64" }, { NULL, NULL },
};

/*
 * The folders are those of the stage, see begin_image() in mounts.c; paths and not descriptors, which
 * an overlay takes since Linux 6.13. What an image says of layers of its own is not listened to.
 */
static const struct mount_option image_options[] = {
	{ "lowerdir", "/tmp/image" },
	{ "upperdir", "/tmp/changes/files" },
	{ "workdir", "/tmp/changes/work" },
	{ "redirect_dir", "nofollow" }, { "index", "off" }, { "metacopy", "off" }, { "xino", "off" },
	{ NULL, NULL },
};

static const struct mount_form forms[] = {
	/* A mount of the host's own: its type stays. */
	[PLAN_AS_HOST]   = { NULL, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, NULL },
	[PLAN_BIND]      = { NULL, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, NULL },
	[PLAN_TMPFS]     = { "tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, NULL },
	[PLAN_PROC]      = { "proc", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, NULL },
	/* No nodev, of course, and no noexec: GPU runtimes map device memory executable. Read-only takes
	   the folder's entries away, not writing to what the nodes lead to. */
	[PLAN_DEVICES]   = { "tmpfs", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, device_options },
	[PLAN_TERMINALS] = { "devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, terminal_options },
	[PLAN_MASK]      = { "tmpfs", COVERED, NULL },
	[PLAN_READ_ONLY] = { NULL, COVERED, NULL },
	/* Read-only when it is finished, unless it has a tmpfs for changes. */
	[PLAN_IMAGE]     = { "overlay", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, image_options },
	[PLAN_COVER]     = { "tmpfs", COVERED, NULL },
};

const struct mount_form mounts_root_form = {
	"tmpfs", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, root_options,
};

/* Links of /dev: its nodes are the launcher's. */
const struct mount_option mounts_device_links[] = {
	{ "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
	{ "ptmx", "pts/ptmx" },          { NULL, NULL },
};

static const struct {
	uint64_t attribute;
	const char *name;
} attribute_names[] = {
	{ MOUNT_ATTR_RDONLY, "ro" },    { MOUNT_ATTR_NOSUID, "nosuid" },
	{ MOUNT_ATTR_NODEV,  "nodev" }, { MOUNT_ATTR_NOEXEC, "noexec" },
};
/* clang-format on */

const struct mount_form *mounts_form(enum plan_kind kind)
{
	return (size_t) kind < ARRAY_LEN(forms) ? &forms[kind] : NULL;
}

void mounts_tmpfs_options(const struct tmpfs_slice *tmpfs, uint32_t owner, struct mounts_tmpfs *out)
{
	snprintf(out->size, sizeof(out->size), "%" PRIu64, tmpfs->bytes);
	snprintf(out->inodes, sizeof(out->inodes), "%" PRIu64, tmpfs->inodes);
	snprintf(out->owner, sizeof(out->owner), "%" PRIu32, owner);
	out->options[0] = (struct mount_option){ "size", out->size };
	out->options[1] = (struct mount_option){ "nr_inodes", out->inodes };
	out->options[2] = (struct mount_option){ "mode", tmpfs->shared ? "1777" : "0700" };
	out->options[3] = (struct mount_option){ "uid", out->owner };
	out->options[4] = (struct mount_option){ "gid", out->owner };
	out->options[5] = (struct mount_option){ NULL, NULL };
}

void mounts_add_attributes(uint64_t attributes, struct str *out)
{
	str_addf(out, "%s", attributes & MOUNT_ATTR_RDONLY ? "" : "rw");
	for (size_t i = 0; i < ARRAY_LEN(attribute_names); i++)
		if ((attributes & attribute_names[i].attribute) != 0)
			str_addf(out, "%s%s", out->len > 0 ? "," : "", attribute_names[i].name);
}
