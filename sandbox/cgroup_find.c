/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include <string.h>

/* A stretch of somebody else's text. */
struct text {
	const char *at;
	size_t len;
};

/* Cuts the part before the next `separator` off `rest`; false at the end. */
static bool next_part(struct text *rest, char separator, struct text *out)
{
	const char *end;

	if (!rest->at)
		return false;
	end = memchr(rest->at, separator, rest->len);
	*out = (struct text){ rest->at, end ? (size_t) (end - rest->at) : rest->len };
	*rest = end ? (struct text){ end + 1, rest->len - out->len - 1 } : (struct text){ NULL, 0 };
	return true;
}

static bool is_text(struct text text, const char *want)
{
	return text.len == strlen(want) && memcmp(text.at, want, text.len) == 0;
}

/* The controllers of ours that a list names. */
static uint32_t controllers_in(struct text list, char separator)
{
	uint32_t found = 0;
	struct text word;

	while (next_part(&list, separator, &word))
		for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
			if (is_text(word, cgroup_controller_names[i]))
				found |= CGROUP_BIT(i);
	return found;
}

uint32_t cgroup_controllers(const char *text)
{
	return controllers_in((struct text){ text, strcspn(text, "\n") }, ' ');
}

bool cgroup_has_swap(const char *swaps)
{
	const char *end = strchr(swaps, '\n'); /* the first line names the columns */

	return end && end[1] != '\0';
}

/* The kernel writes space, tab, newline and backslash of a path as \ooo. */
static char *unescape(struct arena *arena, struct text text)
{
	char *path = arena_copy(arena, text.at, text.len), *to = path;

	for (const char *from = path; *from != '\0'; to++) {
		if (from[0] == '\\' && from[1] != '\0' && from[2] != '\0' && from[3] != '\0') {
			*to = (char) ((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return path;
}

struct mount {
	const char *root, *point; /* in the arena */
	bool v2;
	uint32_t controllers; /* of ours; v1 only */
};

/* ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS…] - TYPE SOURCE SUPEROPTIONS; false: no cgroup mount
 */
static bool parse_mount(struct arena *arena, struct text line, struct mount *out)
{
	struct text fields[6], type, source, options;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!next_part(&line, ' ', &fields[i]))
			return false;
	do {
		if (!next_part(&line, ' ', &type))
			return false;
	} while (!is_text(type, "-"));
	if (!next_part(&line, ' ', &type) || !next_part(&line, ' ', &source) ||
	    !next_part(&line, ' ', &options))
		return false;
	if (!is_text(type, "cgroup") && !is_text(type, "cgroup2"))
		return false;

	*out = (struct mount){
		.root = unescape(arena, fields[3]),
		.point = unescape(arena, fields[4]),
		.v2 = is_text(type, "cgroup2"),
	};
	if (!out->v2)
		out->controllers = controllers_in(options, ',');
	return true;
}

/* HIERARCHY:CONTROLLERS:PATH; v2 is hierarchy 0 and names none. NULL: we are in no such group. */
static const char *find_own(struct arena *arena, struct text own, const struct mount *mount)
{
	struct text line, number, list;

	while (next_part(&own, '\n', &line)) {
		if (!next_part(&line, ':', &number) || !next_part(&line, ':', &list))
			continue;
		if (mount->v2 ? is_text(number, "0")
			      : (controllers_in(list, ',') & mount->controllers) != 0)
			return arena_copy(arena, line.at, line.len);
	}
	return NULL;
}

/* What is left of `path` below `root`, or NULL if it lies elsewhere. */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (!path || strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	if (strncmp(path, "/..", 3) == 0) /* outside of our cgroup namespace */
		return NULL;
	return strcmp(path + len, "/") == 0 ? "" : path + len;
}

static int note_mount(struct cgroup_layout *layout, const struct mount *mount, const char *own,
		      struct err *err)
{
	const struct cgroup_place place = { .mount = mount->point, .own = own };

	if (mount->v2 && !layout->unified.mount)
		layout->unified = place;
	if ((mount->controllers & (mount->controllers - 1)) != 0)
		return err_set(
			err, ERR_HOST,
			"the v1 control groups at '%s' hold more than one of memory, pids, "
			"cpu, cpuset: mount each of them by itself, or start the kernel with "
			"systemd.unified_cgroup_hierarchy=1",
			mount->point);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if ((mount->controllers & CGROUP_BIT(i)) != 0 && !layout->v1[i].mount)
			layout->v1[i] = place;
	return 0;
}

int cgroup_find(struct arena *arena, const char *mountinfo, const char *own,
		struct cgroup_layout *out, struct err *err)
{
	const struct text own_text = { own, strlen(own) };
	struct text rest = { mountinfo, strlen(mountinfo) }, line;
	struct cgroup_layout layout = { 0 };

	while (next_part(&rest, '\n', &line)) {
		struct mount mount;
		const char *path;

		if (!parse_mount(arena, line, &mount))
			continue;
		path = below(find_own(arena, own_text, &mount), mount.root);
		if (path && note_mount(&layout, &mount, path, err) < 0)
			return -1;
	}
	if (!layout.unified.mount)
		return err_set(
			err, ERR_HOST,
			"no mount of the v2 control groups shows our own group: mount them "
			"with 'mount -t cgroup2 none /sys/fs/cgroup' (hybrid hosts: "
			"/sys/fs/cgroup/unified), and in a container share its cgroup namespace");
	*out = layout;
	return 0;
}
