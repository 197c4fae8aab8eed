/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan.h"

#include <assert.h>
#include <string.h>

#include "sandbox/base/names.h"
#include "sandbox/base/path.h"

static const char passwd_text[] = "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
				  "agent:x:1000:1000:agent:/tmp:/bin/sh\n"
				  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group_text[] = "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n";
static const char hosts_text[] = "127.0.0.1 localhost\n::1 localhost\n";
static const char nsswitch_text[] = "passwd: files\ngroup: files\nhosts: files\n";

/* clang-format off */

/*
 * The host's paths in every jail with PLAN_ROOT_HOST. Never /etc as a whole: it holds secrets that
 * only their mode protects. Binds are plain and not idmapped, so that files that the host keeps
 * for root stay closed to the jail's ids.
 */
static const struct plan_row host_rows[] = {
	{ PLAN_BIND,    "usr",                      "/usr" },
	{ PLAN_AS_HOST, "bin",                      "/bin" },
	{ PLAN_AS_HOST, "sbin",                     "/sbin" },
	{ PLAN_AS_HOST, "lib",                      "/lib" },
	{ PLAN_AS_HOST, "lib64",                    "/lib64",                    .optional = true },
	{ PLAN_FOLDER,  "etc" },
	{ PLAN_TEXT,    "etc/passwd",               passwd_text },
	{ PLAN_TEXT,    "etc/group",                group_text },
	{ PLAN_TEXT,    "etc/hosts",                hosts_text },
	{ PLAN_TEXT,    "etc/nsswitch.conf",        nsswitch_text },
	{ PLAN_TEXT,    "etc/resolv.conf",          "" },
	{ PLAN_BIND,    "etc/ld.so.cache",          "/etc/ld.so.cache",          .optional = true },
	{ PLAN_BIND,    "etc/alternatives",         "/etc/alternatives",         .optional = true },
	{ PLAN_BIND,    "etc/ssl/certs",            "/etc/ssl/certs",            .optional = true },
	{ PLAN_FOLDER,  "sys" },
	{ PLAN_BIND,    "sys/devices/system/cpu",   "/sys/devices/system/cpu",   .optional = true },
	{ PLAN_BIND,    "sys/devices/system/node",  "/sys/devices/system/node",  .optional = true },
	{ PLAN_DEVICES, "dev" },
	{ PLAN_TERMINALS, "dev/pts" },
};

/*
 * What lies over the files of an image; what it has at these places is not seen. Who its accounts are
 * is ours to say: the payload's is one of them.
 */
static const struct plan_row image_rows[] = {
	{ PLAN_TEXT,    "etc/passwd",               passwd_text },
	{ PLAN_TEXT,    "etc/group",                group_text },
	{ PLAN_TEXT,    "etc/hosts",                hosts_text },
	{ PLAN_TEXT,    "etc/nsswitch.conf",        nsswitch_text },
	{ PLAN_TEXT,    "etc/resolv.conf",          "" },
	{ PLAN_FOLDER,  "sys" },
	{ PLAN_BIND,    "sys/devices/system/cpu",   "/sys/devices/system/cpu",   .optional = true },
	{ PLAN_BIND,    "sys/devices/system/node",  "/sys/devices/system/node",  .optional = true },
	{ PLAN_DEVICES, "dev" },
	{ PLAN_TERMINALS, "dev/pts" },
};

/*
 * procfs is whole, since GPU runtimes and language runtimes read much of it, but what tells of the
 * host or steers it is covered or read-only. Unconditionally: a peer that first tested whether
 * /proc/sys could be written left core_pattern open to root.
 */
static const struct plan_row proc_rows[] = {
	{ PLAN_PROC,      "proc" },
	{ PLAN_READ_ONLY, "proc/sys" },
	{ PLAN_READ_ONLY, "proc/sysrq-trigger",  .optional = true },
	{ PLAN_READ_ONLY, "proc/irq",            .optional = true },
	{ PLAN_READ_ONLY, "proc/bus",            .optional = true },
	{ PLAN_READ_ONLY, "proc/fs",             .optional = true },
	{ PLAN_READ_ONLY, "proc/mtrr",           .optional = true },
	{ PLAN_MASK,      "proc/acpi",           .optional = true },
	{ PLAN_MASK,      "proc/scsi",           .optional = true },
	{ PLAN_MASK,      "proc/asound",         .optional = true },
	{ PLAN_MASK,      "proc/kcore",          .optional = true },
	{ PLAN_MASK,      "proc/vmcore",         .optional = true },
	{ PLAN_MASK,      "proc/kmsg",           .optional = true },
	{ PLAN_MASK,      "proc/kallsyms",       .optional = true },
	{ PLAN_MASK,      "proc/keys",           .optional = true },
	{ PLAN_MASK,      "proc/key-users",      .optional = true },
	{ PLAN_MASK,      "proc/timer_list",     .optional = true },
	{ PLAN_MASK,      "proc/sched_debug",    .optional = true },
	{ PLAN_MASK,      "proc/latency_stats",  .optional = true },
	{ PLAN_MASK,      "proc/cmdline",        .optional = true },
	{ PLAN_MASK,      "proc/config.gz",      .optional = true },
	{ PLAN_MASK,      "proc/diskstats",      .optional = true },
	{ PLAN_MASK,      "proc/partitions",     .optional = true },
	{ PLAN_MASK,      "proc/swaps",          .optional = true },
	{ PLAN_MASK,      "proc/interrupts",     .optional = true },
	{ PLAN_MASK,      "proc/softirqs",       .optional = true },
	{ PLAN_MASK,      "proc/pressure",       .optional = true },
};

/*
 * What NVIDIA's driver says of itself. Its library reads the parameters before it opens a device:
 * by these it neither makes nodes nor wonders why those of a jail are not owned by whom the driver
 * thinks. (Container runtimes cover the same file, by the hook disable-device-node-modification.)
 */
static const char nvidia_params[] = "ModifyDeviceFiles: 0\n"
				    "DeviceFileUID: 0\n"
				    "DeviceFileGID: 0\n"
				    "DeviceFileMode: 438\n";
static const struct plan_row nvidia_row = { PLAN_COVER, "proc/driver/nvidia/params", nvidia_params,
					    .optional = true };
static const struct plan_row no_nvidia_row = { PLAN_MASK, "proc/driver/nvidia", .optional = true };

/* clang-format on */

static const struct name kinds[] = {
	{ "folder", PLAN_FOLDER },   { "link", PLAN_LINK },       { "text", PLAN_TEXT },
	{ "as-host", PLAN_AS_HOST }, { "bind", PLAN_BIND },       { "tmpfs", PLAN_TMPFS },
	{ "proc", PLAN_PROC },       { "devices", PLAN_DEVICES }, { "terminals", PLAN_TERMINALS },
	{ "given", PLAN_GIVEN },     { "mask", PLAN_MASK },       { "read-only", PLAN_READ_ONLY },
	{ "image", PLAN_IMAGE },     { "cover", PLAN_COVER },     { NULL, 0 },
};

const char *plan_kind_text(enum plan_kind kind)
{
	return names_text(kinds, kind);
}

static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

/*
 * Where a tmpfs may be: the top folders that no other row fills, or below them; and /dev/shm. A
 * tmpfs over /usr or /proc would hide a wall or a mask.
 */
static bool may_hold_tmpfs(const char *path)
{
	static const char *const allowed[] = { "/work", "/tmp", "/run", "/home", "/dev/shm" };

	if (path[0] != '/' || !path_is_relative(path + 1))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
		size_t len = strlen(allowed[i]);

		if (strncmp(path, allowed[i], len) != 0)
			continue;
		if (path[len] == '\0' || (path[len] == '/' && strcmp(allowed[i], "/dev/shm") != 0))
			return true;
	}
	return false;
}

/* The last of all, since no row of its own makes it: see tmpfs_fd in mounts.h. */
static bool is_changes(const struct plan_slice *slice, size_t at)
{
	return slice->root == PLAN_ROOT_IMAGE && at + 1 == slice->tmpfs_count &&
	       strcmp(slice->tmpfs[at].path, "/") == 0;
}

static int check_tmpfs(const struct plan_slice *slice, size_t at, struct err *err)
{
	const struct tmpfs_slice *tmpfs = &slice->tmpfs[at];

	if (!ends(tmpfs->path, sizeof(tmpfs->path)) ||
	    !(may_hold_tmpfs(tmpfs->path) || is_changes(slice, at)))
		return err_set(err, ERR_INPUT,
			       "a tmpfs can be at /work, /tmp, /run, /home, below them, or at "
			       "/dev/shm, not at '%.64s'",
			       tmpfs->path);
	for (size_t i = 0; i < at; i++)
		if (strcmp(slice->tmpfs[i].path, tmpfs->path) == 0)
			return err_set(err, ERR_INPUT, "two tmpfs are at '%s'", tmpfs->path);
	if (tmpfs->bytes < 64 * KIB || tmpfs->bytes > 4 * TIB)
		return err_set(err, ERR_INPUT,
			       "the tmpfs at '%s' has %llu bytes; 64 KiB to 4 TiB are possible",
			       tmpfs->path, (unsigned long long) tmpfs->bytes);
	if (tmpfs->inodes < 16 || tmpfs->inodes > UINT32_MAX)
		return err_set(err, ERR_INPUT,
			       "the tmpfs at '%s' has %llu inodes; 16 to 2^32 - 1 are possible",
			       tmpfs->path, (unsigned long long) tmpfs->inodes);
	if (tmpfs->shared > 1 || tmpfs->reserved != 0)
		return err_set(err, ERR_INPUT, "the tmpfs at '%s' has unknown flags", tmpfs->path);
	return 0;
}

bool plan_is_image_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const size_t len = strlen(name);

	return len > 0 && len < sizeof(((struct plan_slice *) NULL)->image) &&
	       strchr("-_.", name[0]) == NULL && strspn(name, allowed) == len;
}

static int check_image(const struct plan_slice *slice, struct err *err)
{
	if (!ends(slice->image, sizeof(slice->image)))
		return err_set(err, ERR_INPUT, "an image's name does not end");
	if (slice->root == PLAN_ROOT_IMAGE && !plan_is_image_name(slice->image))
		return err_set(err, ERR_INPUT,
			       "an image has a name of 1 to 31 letters, digits, '-', '_' and '.', "
			       "no path");
	if (slice->root != PLAN_ROOT_IMAGE && slice->image[0] != '\0')
		return err_set(err, ERR_INPUT, "image '%s' is not to be the root", slice->image);
	if (!ends(slice->content, sizeof(slice->content)) ||
	    (slice->content[0] != '\0' &&
	     (slice->root != PLAN_ROOT_IMAGE || strlen(slice->content) != 64 ||
	      strspn(slice->content, "0123456789abcdef") != 64)))
		return err_set(err, ERR_INPUT, "an image's content is no SHA-256 of an image");
	return 0;
}

int plan_check(const struct plan_slice *slice, struct err *err)
{
	if (slice->root > PLAN_ROOT_IMAGE)
		return err_set(err, ERR_INPUT, "root %u does not exist", slice->root);
	if (check_image(slice, err) < 0)
		return -1;
	if (slice->tmpfs_count > PLAN_TMPFS_MAX)
		return err_set(err, ERR_INPUT, "%u tmpfs are more than %u", slice->tmpfs_count,
			       (unsigned) PLAN_TMPFS_MAX);
	for (size_t i = 0; i < slice->tmpfs_count; i++)
		if (check_tmpfs(slice, i, err) < 0)
			return -1;
	for (size_t i = 0; i < PLAN_MASKS_MAX; i++) {
		const char *mask = slice->masks[i];

		if (!ends(mask, sizeof(slice->masks[i])))
			return err_set(err, ERR_INPUT, "a mask's path does not end");
		if (mask[0] && (mask[0] != '/' || !path_is_relative(mask + 1)))
			return err_set(err, ERR_INPUT, "the mask '%s' is no plain absolute path",
				       mask);
	}
	return 0;
}

int plan_add_extra(struct plan_extras *extras, enum plan_extra kind, const char *path,
		   struct err *err)
{
	const size_t size = strlen(path) + 3; /* the kind, the first slash, the end */
	const char *at = extras->rows;

	if (!path_is_relative(path))
		return err_set(err, ERR_HOST, "'/%s' can not be shown to a jail: no plain path",
			       path);
	for (uint32_t i = 0; i < extras->count; i++, at += strlen(at) + 1)
		if (strcmp(at + 2, path) == 0)
			return 0;
	if (extras->count == PLAN_EXTRAS_MAX || size > sizeof(extras->rows) - extras->length)
		return err_set(err, ERR_HOST,
			       "'/%s' can not be shown to a jail: it has %u paths already", path,
			       extras->count);
	extras->rows[extras->length] = (char) kind;
	extras->rows[extras->length + 1] = '/';
	memcpy(extras->rows + extras->length + 2, path, size - 2);
	extras->length += (uint32_t) size;
	extras->count++;
	return 0;
}

static struct plan_row *add(struct plan *plan)
{
	/* The tables above and the slice's limits decide the number of rows, nobody outside. */
	assert(plan->count < PLAN_ROWS_MAX);
	return &plan->rows[plan->count++];
}

static void add_all(struct plan *plan, const struct plan_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*add(plan) = rows[i];
}

static void add_image(struct plan *plan, const struct plan_slice *slice)
{
	const size_t last = slice->tmpfs_count - 1;

	*add(plan) = (struct plan_row){
		.kind = PLAN_IMAGE,
		.target = "",
		.source = slice->image,
		.tmpfs = slice->tmpfs_count > 0 && is_changes(slice, last) ? &slice->tmpfs[last]
									   : NULL,
	};
	add_all(plan, image_rows, ARRAY_LEN(image_rows));
}

/* Below /proc, which is mounted later than most of what covers lie over. */
static bool is_in_proc(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0;
}

/* Those below /proc, or the others. */
static void add_extras(struct plan *plan, const struct plan_extras *extras, bool in_proc)
{
	const char *at = extras->rows;

	for (uint32_t i = 0; i < extras->count; i++, at += strlen(at) + 1) {
		const enum plan_extra kind = (enum plan_extra) at[0];
		const char *path = at + 1;

		if (is_in_proc(path) != in_proc)
			continue;
		*add(plan) = (struct plan_row){
			.kind = kind == PLAN_EXTRA_HIDE ? PLAN_MASK
			      : kind == PLAN_EXTRA_LINK ? PLAN_AS_HOST
							: PLAN_BIND,
			.target = path + 1,
			.source = kind == PLAN_EXTRA_HIDE ? NULL : path,
			.optional = kind != PLAN_EXTRA_FOLDER,
		};
	}
}

void plan_make(const struct plan_slice *slice, struct plan *out)
{
	*out = (struct plan){ .count = 0 };
	if (slice->root == PLAN_ROOT_IMAGE)
		add_image(out, slice);
	if (slice->root == PLAN_ROOT_HOST)
		add_all(out, host_rows, ARRAY_LEN(host_rows));
	if (slice->root != PLAN_ROOT_EMPTY)
		add_extras(out, &slice->extras, false);
	if (slice->root == PLAN_ROOT_HOST)
		for (size_t i = 0; i < PLAN_MASKS_MAX; i++)
			if (slice->masks[i][0])
				*add(out) = (struct plan_row){
					.kind = PLAN_MASK,
					.target = slice->masks[i] + 1,
					.optional = true,
				};
	add_all(out, proc_rows, slice->root == PLAN_ROOT_EMPTY ? 1 : ARRAY_LEN(proc_rows));
	if (slice->root != PLAN_ROOT_EMPTY) {
		*add(out) = slice->extras.has_nvidia ? nvidia_row : no_nvidia_row;
		add_extras(out, &slice->extras, true);
	}
	for (size_t i = 0; i < slice->tmpfs_count; i++)
		if (!is_changes(slice, i))
			*add(out) = (struct plan_row){
				.kind = PLAN_TMPFS,
				.target = slice->tmpfs[i].path + 1,
				.tmpfs = &slice->tmpfs[i],
			};
	if (slice->root == PLAN_ROOT_EMPTY)
		*add(out) = (struct plan_row){ .kind = PLAN_GIVEN, .target = "work" };
}
