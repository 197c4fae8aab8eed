/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/base/fd.h"

enum { CONTROLLERS = 5, NEEDED = 4 };

/* The needed ones first; what v1 calls them, where it differs. */
static const struct {
	const char *name, *v1;
} controllers[CONTROLLERS] = {
	{ "memory", "memory" }, { "pids", "pids" }, { "cpu", "cpu" },
	{ "cpuset", "cpuset" }, { "io", "blkio" },
};

/* Where things are mounted; v2 wins over v1 where both claim a controller, as in the kernel. */
struct layout {
	char unified[256]; /* the mount point; empty: none */
	char own[256];     /* our group beneath it */
	bool on_v2[CONTROLLERS];
	char v1[CONTROLLERS][256]; /* mount points */
	bool is_read;
	bool is_covered; /* the v2 mount point is no group any more */
};

/* The part behind the n-th blank, up to the next. */
static bool copy_field(const char *line, int n, char *out, size_t room)
{
	for (; n > 0 && line; n--) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return false;
	snprintf(out, room, "%.*s", (int) strcspn(line, " \n"), line);
	return true;
}

static void note_mount(const char *line, struct layout *layout)
{
	const char *end = strstr(line, " - ");
	char type[32], options[256], point[256];

	if (!end || !copy_field(end + 3, 0, type, sizeof(type)) ||
	    !copy_field(end + 3, 2, options, sizeof(options)) ||
	    !copy_field(line, 4, point, sizeof(point)))
		return;
	if (strcmp(type, "cgroup2") == 0 && layout->unified[0] == '\0')
		memcpy(layout->unified, point, sizeof(point));
	if (strcmp(type, "cgroup") != 0)
		return;
	for (size_t i = 0; i < CONTROLLERS; i++)
		if (sight_has_word(options, controllers[i].v1))
			memcpy(layout->v1[i], point, sizeof(point));
}

/* A folder of /sys by its path on the host. */
static int open_group(const struct doctor_host *host, const char *path)
{
	static const char sys[] = "/sys/";

	if (host->sys_fd < 0 || strncmp(path, sys, sizeof(sys) - 1) != 0)
		return -1;
	return openat(host->sys_fd, path + sizeof(sys) - 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void read_layout(const struct doctor_host *host, struct layout *layout)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *rest, *line;
	auto_fd group = -1;

	*layout = (struct layout){ .is_read = sight_read(host->proc_fd, "self/mountinfo", &text) };
	rest = text.text;
	while ((line = sight_line(&rest)))
		note_mount(line, layout);
	sight_read(host->proc_fd, "self/cgroup", &text);
	rest = text.text;
	while ((line = sight_line(&rest)))
		if (strncmp(line, "0::", 3) == 0)
			snprintf(layout->own, sizeof(layout->own), "%s", line + 3);
	group = open_group(host, layout->unified);
	layout->is_covered = !sight_read(group, "cgroup.controllers", &text);
	if (!layout->is_covered)
		for (size_t i = 0; i < CONTROLLERS; i++)
			layout->on_v2[i] = sight_has_word(text.text, controllers[i].name);
}

/* "memory pids" of those on v2, or on v1; "none". */
static void list(const struct layout *layout, bool v2, char *out, size_t room)
{
	size_t used = 0;

	snprintf(out, room, "none");
	for (size_t i = 0; i < CONTROLLERS; i++)
		if ((v2 ? layout->on_v2[i] : layout->v1[i][0] != '\0') && used < room)
			used += (size_t) snprintf(out + used, room - used, "%s%s",
						  used > 0 ? " " : "", controllers[i].name);
}

/* What our own group, or one above it, hands to its children: where leaves can be. */
static void add_delegation(const struct doctor_host *host, const struct layout *layout,
			   struct doctor_sight *out)
{
	cleanup(str_done) struct str path = STR_INIT, text = STR_INIT;
	auto_fd group = -1;

	str_addf(&path, "%s%s", layout->unified, strcmp(layout->own, "/") == 0 ? "" : layout->own);
	group = open_group(host, path.text);
	if (group < 0)
		sight_add(out, "our own group '%s' can not be opened", layout->own);
	else if (sight_read(group, "cgroup.subtree_control", &text))
		sight_add(out, "our own group '%s' hands on %s", layout->own,
			  text.len > 0 ? text.text : "nothing");
}

void look_layout(const struct doctor_host *host, struct doctor_sight *out)
{
	struct layout layout;
	char v1[64], v2[64];
	bool has_v1 = false;

	read_layout(host, &layout);
	list(&layout, false, v1, sizeof(v1));
	list(&layout, true, v2, sizeof(v2));
	has_v1 = strcmp(v1, "none") != 0;
	if (!layout.is_read) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc/self/mountinfo can not be read");
		return;
	}
	if (layout.unified[0] == '\0') {
		sight_say(out, DOCTOR_MISSING,
			  has_v1 ? "v1 only, with %s: freezing and ending a jail take v2"
				 : "no control groups are mounted here (v1: %s)",
			  v1);
		return;
	}
	if (layout.is_covered) {
		sight_say(out, DOCTOR_MISSING, "'%s' was the v2 hierarchy, and is covered",
			  layout.unified);
		return;
	}
	sight_say(out, DOCTOR_OK, "%s: '%s' with %s", has_v1 ? "hybrid" : "v2", layout.unified, v2);
	if (has_v1)
		sight_add(out, "v1 with %s", v1);
	for (size_t i = 0; i < NEEDED; i++)
		if (!layout.on_v2[i] && layout.v1[i][0] == '\0')
			sight_say(out, DOCTOR_MISSING, "no hierarchy has %s", controllers[i].name);
	add_delegation(host, &layout, out);
}

/* -- one controller -- */

static bool find(const struct layout *layout, size_t controller, char *out, size_t room)
{
	if (layout->v1[controller][0] != '\0')
		snprintf(out, room, "'%s' (v1)", layout->v1[controller]);
	else if (layout->on_v2[controller])
		snprintf(out, room, "'%s' (v2)", layout->unified);
	else
		return false;
	return true;
}

static void look_controller(const struct doctor_host *host, size_t controller,
			    struct doctor_sight *out)
{
	struct layout layout;
	char place[288];

	if (out->is_tried)
		return;
	read_layout(host, &layout);
	if (!layout.is_read)
		return;
	if (find(&layout, controller, place, sizeof(place)))
		sight_add(out, "the controller is in %s", place);
	else
		sight_say(out, DOCTOR_MISSING, "no hierarchy has the controller");
}

void look_memory(const struct doctor_host *host, struct doctor_sight *out)
{
	look_controller(host, 0, out);
}

void look_pids(const struct doctor_host *host, struct doctor_sight *out)
{
	look_controller(host, 1, out);
}

void look_cpu(const struct doctor_host *host, struct doctor_sight *out)
{
	look_controller(host, 2, out);
}

void look_cpuset(const struct doctor_host *host, struct doctor_sight *out)
{
	look_controller(host, 3, out);
}

void look_io(const struct doctor_host *host, struct doctor_sight *out)
{
	struct layout layout;
	char place[288];

	read_layout(host, &layout);
	if (!layout.is_read)
		sight_say(out, DOCTOR_UNKNOWN, "/proc/self/mountinfo can not be read");
	else if (find(&layout, 4, place, sizeof(place)))
		sight_say(out, DOCTOR_OK, "%s has the controller; no limit of today's uses it",
			  place);
	else
		sight_say(out, DOCTOR_DEGRADED, "no hierarchy has the controller");
}

void look_swap(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!sight_read(host->proc_fd, "swaps", &text))
		return;
	/* A line of titles, and one for each. */
	if (strchr(text.text, '\n'))
		sight_add(out, "this host has swap");
	else if (out->verdict == DOCTOR_DEGRADED || out->verdict == DOCTOR_UNKNOWN)
		sight_say(out, DOCTOR_OK, "this host has no swap");
	else
		sight_add(out, "this host has no swap");
}
