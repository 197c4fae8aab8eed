/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LISTED_MAX = 3, IDS_RANGE = 65536 };

/* Says so where @path, which a line of site.conf names by @key, is not there or no such thing. */
static void lacks(const char *key, const char *name, const char *path, mode_t type,
		  struct doctor_sight *out)
{
	struct stat info;
	const char *why;

	/* What is not ours to see is the launcher's, which is root. */
	if (stat(path, &info) < 0)
		why = errno == ENOENT || errno == ENOTDIR ? "is not there" : NULL;
	else
		why = (info.st_mode & S_IFMT) == type ? NULL : "is no such thing";
	if (why)
		sight_say(out, DOCTOR_DEGRADED, "%s%s%s: '%s' %s", key, name ? " " : "",
			  name ? name : "", path, why);
}

static void look_places(const struct site *site, struct doctor_sight *out)
{
	for (size_t i = 0; i < site->source_count; i++) {
		const struct site_source *source = &site->sources[i];

		lacks("source", source->name, source->path,
		      source->kind == SITE_FOLDER ? S_IFDIR : S_IFREG, out);
	}
	for (size_t i = 0; i < site->device_count; i++)
		lacks("device", site->devices[i].name, site->devices[i].path, S_IFCHR, out);
	for (size_t i = 0; i < site->folder_count; i++)
		lacks("root.folder", NULL, site->folders[i], S_IFDIR, out);
}

void look_site(const struct doctor_host *host, struct doctor_sight *out)
{
	const struct site *site = &host->site;

	if (host->site_why) {
		sight_say(out, DOCTOR_MISSING, "%s", host->site_why);
	} else if (!host->has_site) {
		sight_say(out, DOCTOR_OK, "none: jails are root's alone to ask for");
	} else {
		sight_say(out, DOCTOR_OK,
			  "'%s': for the group '%s'; images: %" PRIu32 ", GPUs: %" PRIu32
			  ", devices: %" PRIu32,
			  site->file, site->group, site->source_count, site->gpu_count,
			  site->device_count);
		look_places(site, out);
	}
}

void look_account(const struct doctor_host *host, struct doctor_sight *out)
{
	if (host->account)
		sight_say(out, DOCTOR_OK, "'%s'", host->account);
	else
		sight_say(out, DOCTOR_MISSING, "%s", host->account_why);
}

/* -- whose ids they are -- */

/* "name:password:ID:…", or "name:FIRST:COUNT". */
static bool parse_ids(char *line, bool is_range, uint64_t *first, uint64_t *count)
{
	char *fields[3] = { line };

	for (size_t i = 1; i < ARRAY_LEN(fields); i++) {
		char *colon = strchr(fields[i - 1], ':');

		if (!colon)
			return false;
		*colon = '\0';
		fields[i] = colon + 1;
	}
	*first = strtoull(fields[is_range ? 1 : 2], NULL, 10);
	*count = is_range ? strtoull(fields[2], NULL, 10) : 1;
	return true;
}

/* Behind the last id of jails. */
static uint64_t end_of(const struct site *site)
{
	return site->uid_base + site->uid_ranges * IDS_RANGE;
}

static bool is_ours(const struct site *site, uint64_t first, uint64_t count)
{
	return count > 0 && first < end_of(site) &&
	       (first >= site->uid_base || count > site->uid_base - first);
}

static void look_file(const struct doctor_host *host, const char *file, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	const bool is_range = strncmp(file, "sub", 3) == 0;
	int listed = 0;
	char *rest, *line;

	if (!sight_read(host->etc_fd, file, &text))
		return;
	rest = text.text;
	while ((line = sight_line(&rest))) {
		uint64_t first, count;

		if (!parse_ids(line, is_range, &first, &count) ||
		    !is_ours(&host->site, first, count))
			continue;
		if (listed++ < LISTED_MAX)
			sight_say(out, DOCTOR_DEGRADED, "/etc/%s gives %" PRIu64 " to '%s'", file,
				  first, line);
	}
	if (listed > LISTED_MAX)
		sight_add(out, "/etc/%s has %d more", file, listed - LISTED_MAX);
}

/* -- are they there at all -- */

/* The first id of ours that a map of "INSIDE OUTSIDE COUNT" lines lacks; the end if there is none.
 */
static uint64_t first_unmapped(const struct site *site, const char *map)
{
	uint64_t next = site->uid_base, before;

	do {
		before = next;
		for (const char *line = map; line; line = strchr(line, '\n')) {
			uint64_t inside, outside, count;

			line += *line == '\n';
			if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside,
				   &count) == 3 &&
			    next >= inside && next - inside < count)
				next = inside + count;
		}
	} while (next != before && next < end_of(site));
	return next;
}

static void look_map(const struct doctor_host *host, const char *file, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	uint64_t lacks;

	if (!sight_read(host->proc_fd, file, &text)) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc/%s can not be read", file);
		return;
	}
	lacks = first_unmapped(&host->site, text.text);
	if (lacks < end_of(&host->site))
		sight_say(out, DOCTOR_MISSING, "/proc/%s does not map %" PRIu64, file, lacks);
}

void look_ranges(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char *const files[] = { "passwd", "group", "subuid", "subgid" };

	sight_say(out, DOCTOR_OK, "%" PRIu64 " to %" PRIu64, host->site.uid_base,
		  end_of(&host->site) - 1);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		look_file(host, files[i], out);
	look_map(host, "self/uid_map", out);
	look_map(host, "self/gid_map", out);
}
