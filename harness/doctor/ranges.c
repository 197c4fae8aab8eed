/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/doctor/looks.h"

enum { LISTED_MAX = 3 };

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

static bool is_ours(uint64_t first, uint64_t count)
{
	return count > 0 && first < RANGES_FIRST + RANGES_COUNT &&
	       (first >= RANGES_FIRST || count > RANGES_FIRST - first);
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

		if (!parse_ids(line, is_range, &first, &count) || !is_ours(first, count))
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
static uint64_t first_unmapped(const char *map)
{
	uint64_t next = RANGES_FIRST, before;

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
	} while (next != before && next < RANGES_FIRST + RANGES_COUNT);
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
	lacks = first_unmapped(text.text);
	if (lacks < RANGES_FIRST + RANGES_COUNT)
		sight_say(out, DOCTOR_MISSING, "/proc/%s does not map %" PRIu64, file, lacks);
}

void look_ranges(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char *const files[] = { "passwd", "group", "subuid", "subgid" };

	sight_say(out, DOCTOR_OK, "%" PRIu64 " to %" PRIu64, RANGES_FIRST,
		  RANGES_FIRST + RANGES_COUNT - 1);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		look_file(host, files[i], out);
	look_map(host, "self/uid_map", out);
	look_map(host, "self/gid_map", out);
}
