/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "harness/config/yaml.h"
#include "harness/doctor/looks.h"
#include "sandbox/base/fd.h"

/*
 * Container device interface: files in which vendors' tools say what a container with their GPU
 * gets. They are told of and nothing more. Root parses nothing that is not its own or the kernel's,
 * and need not: the launcher knows the nodes of GPUs by what their drivers show (sandbox/gpu.h), so
 * that what a file lists beyond that (card nodes, the nodes of all other GPUs) is in no jail. Of
 * the hooks, whose programs would run as root, one has a use where the host's /usr is the root:
 * disable-device-node-modification, and a jail has what it does by a row of its plan. Libraries,
 * their links and the cache of the linker are the host's own there.
 *
 * JSON is YAML of one style, so one parser reads both.
 */
enum { FILES_MAX = 32, HOOKS_MAX = 16 };

/* What one file says, as far as a jail differs. */
struct edits {
	size_t devices, mounts, outside; /* mounts from outside of /usr */
	const char *first;               /* of these */
	const char *hooks[HOOKS_MAX];
	size_t hook_count;
};

/* NULL: it is none. */
static const char *text_of(const struct yaml_node *node)
{
	return node && node->kind == YAML_TEXT ? node->text : NULL;
}

/* The hooks whose work is done, or is not there to do, by what stands above. */
static bool is_known(const char *hook)
{
	static const char *const known[] = {
		"create-symlinks",        "update-ldcache",     "disable-device-node-modification",
		"create-soname-symlinks", "enable-cuda-compat", "chmod",
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(hook, known[i]) == 0)
			return true;
	return false;
}

static void add_hook(struct edits *out, const char *name)
{
	for (size_t i = 0; i < out->hook_count; i++)
		if (strcmp(out->hooks[i], name) == 0)
			return;
	if (out->hook_count < HOOKS_MAX)
		out->hooks[out->hook_count++] = name;
}

/* args are [program, hook, …]. */
static void look_at_hooks(const struct yaml_node *hooks, struct edits *out)
{
	for (const struct yaml_node *hook = hooks ? hooks->first : NULL; hook; hook = hook->next) {
		const struct yaml_node *args = yaml_find(hook, "args");
		const char *name = text_of(args && args->first ? args->first->next : NULL);
		const char *path = text_of(yaml_find(hook, "path"));

		if (name || path)
			add_hook(out, name ? name : path);
	}
}

static void look_at_mounts(const struct yaml_node *mounts, struct edits *out)
{
	for (const struct yaml_node *at = mounts ? mounts->first : NULL; at; at = at->next) {
		const char *path = text_of(yaml_find(at, "hostPath"));

		if (!path)
			continue;
		out->mounts++;
		/* Sockets of daemons, which no jail is to talk to, are not missed. */
		if (strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/lib", 4) == 0 ||
		    strncmp(path, "/run/", 5) == 0 || strncmp(path, "/var/run/", 9) == 0)
			continue;
		if (out->outside++ == 0)
			out->first = path;
	}
}

static void look_at_edits(const struct yaml_node *holder, struct edits *out)
{
	const struct yaml_node *edits = yaml_find(holder, "containerEdits");

	if (!edits)
		return;
	look_at_hooks(yaml_find(edits, "hooks"), out);
	look_at_mounts(yaml_find(edits, "mounts"), out);
}

static void say(const char *name, const char *kind, const struct edits *edits,
		struct doctor_sight *out)
{
	char room[YAML_SHOWN];

	sight_add(out, "%s: %s, %zu devices, %zu mounts, %zu hooks", name, kind, edits->devices,
		  edits->mounts, edits->hook_count);
	if (edits->outside > 0)
		sight_say(out, DOCTOR_DEGRADED,
			  "%zu of the mounts are not below /usr, and in no jail unless site.conf "
			  "lists them by root.folder: %s",
			  edits->outside, yaml_shown(edits->first, room));
	for (size_t i = 0; i < edits->hook_count; i++)
		if (!is_known(edits->hooks[i]))
			sight_say(out, DOCTOR_DEGRADED,
				  "nothing of ours does what the hook '%s' does",
				  yaml_shown(edits->hooks[i], room));
}

static bool is_ours(const char *kind)
{
	return strcmp(kind, "nvidia.com/gpu") == 0 || strcmp(kind, "amd.com/gpu") == 0;
}

static void look_file(int folder_fd, const char *name, struct doctor_sight *out)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const struct yaml_node *root, *devices;
	struct edits edits = { .devices = 0 };
	struct err why = ERR_INIT;
	const char *kind;

	if (!sight_read(folder_fd, name, &text)) {
		sight_say(out, DOCTOR_DEGRADED, "%s can not be read", name);
		return;
	}
	root = yaml_parse(&arena, name, text.text, text.len, &why);
	if (!root) {
		sight_say(out, DOCTOR_DEGRADED, "%s", why.text);
		return;
	}
	kind = text_of(yaml_find(root, "kind"));
	if (!kind || !is_ours(kind))
		return;
	look_at_edits(root, &edits);
	devices = yaml_find(root, "devices");
	for (const struct yaml_node *at = devices ? devices->first : NULL; at; at = at->next) {
		edits.devices++;
		look_at_edits(at, &edits);
	}
	say(name, kind, &edits, out);
}

static bool is_file(const char *name)
{
	static const char *const ends[] = { ".json", ".yaml", ".yml" };
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < ARRAY_LEN(ends); i++)
		if (strcmp(end, ends[i]) == 0)
			return name[0] != '.';
	return false;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static size_t look_folder(int dir_fd, struct doctor_sight *out)
{
	int fd = dir_fd < 0 ? -1 : openat(dir_fd, "cdi", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(close_folder) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t count = 0;

	if (!folder)
		fd_close(&fd);
	while (folder && count < FILES_MAX && (entry = readdir(folder))) {
		char room[YAML_SHOWN];

		if (!is_file(entry->d_name))
			continue;
		count++;
		if (strcmp(entry->d_name, yaml_shown(entry->d_name, room)) != 0)
			sight_say(out, DOCTOR_DEGRADED, "%s: its name is not looked at", room);
		else
			look_file(dirfd(folder), entry->d_name, out);
	}
	return count;
}

void look_cdi(const struct doctor_host *host, struct doctor_sight *out)
{
	out->verdict = DOCTOR_OK;
	if (look_folder(host->etc_fd, out) + look_folder(host->run_fd, out) == 0)
		sight_add(out, "none, and none is needed");
	else if (out->found.len == 0)
		sight_add(out, "none for GPUs");
}
