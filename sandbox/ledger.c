/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/base/units.h"

struct sums {
	uint64_t jails, memory, pids, cpu_milli;
};

static void add(struct sums *sums, const struct ledger_jail *jail)
{
	sums->jails++;
	sums->memory += jail->memory;
	sums->pids += jail->pids;
	sums->cpu_milli += jail->cpu_milli;
}

static struct sums sums_of_account(const struct ledger *ledger, uid_t uid)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < ledger->count; i++)
		if (ledger->jails[i].uid == uid && !ledger->jails[i].is_over)
			add(&sums, &ledger->jails[i]);
	return sums;
}

static struct sums sums_of_group(const struct ledger *ledger, uint64_t id)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < ledger->count; i++)
		for (size_t j = 0; j < ledger->jails[i].group_count; j++)
			if (ledger->jails[i].groups[j] == id)
				add(&sums, &ledger->jails[i]);
	return sums;
}

int ledger_admit(const struct ledger *ledger, const struct site *site, uid_t uid,
		 const struct cgroup_limits *asked, struct err *err)
{
	const struct sums has = sums_of_account(ledger, uid);
	const struct {
		const char *key, *what;
		enum units_kind kind;
		uint64_t has, asked, most;
	} rows[] = {
		{ "client.jails", "jails", UNITS_COUNT, has.jails, 1, site->client.jails },
		{ "client.memory", "of memory", UNITS_BYTES, has.memory, asked->memory,
		  site->client.memory },
		{ "client.pids", "processes", UNITS_COUNT, has.pids, asked->pids,
		  site->client.pids },
	};

	if (uid == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].most > 0 &&
		    (rows[i].asked > rows[i].most || rows[i].has > rows[i].most - rows[i].asked))
			return err_set(err, ERR_HOST,
				       "account %u has jails with %s %s together: %s more are over "
				       "the %s that this host allows an account; end some, or have "
				       "its administrator raise '%s' in %s",
				       uid, units_write(rows[i].kind, rows[i].has).text,
				       rows[i].what, units_write(rows[i].kind, rows[i].asked).text,
				       units_write(rows[i].kind, rows[i].most).text, rows[i].key,
				       site->file);
	return 0;
}

static uint64_t left_of(uint64_t most, uint64_t used)
{
	return most == CGROUP_ANY ? CGROUP_ANY : most - MIN_OF(most, used);
}

/* What one jail may have: no group's limit, less what the other jails of the group have. */
static struct sums find_room(const struct ledger *ledger, const struct cgroup_bounds *bounds)
{
	struct sums room = { .memory = bounds->memory,
			     .pids = bounds->pids,
			     .cpu_milli = bounds->cpu_milli };

	for (size_t i = 0; i < bounds->level_count; i++) {
		const struct cgroup_level *level = &bounds->levels[i];
		const struct sums used = sums_of_group(ledger, level->id);

		room.memory = MIN_OF(room.memory, left_of(level->memory, used.memory));
		room.pids = MIN_OF(room.pids, left_of(level->pids, used.pids));
		room.cpu_milli = MIN_OF(room.cpu_milli, left_of(level->cpu_milli, used.cpu_milli));
	}
	return room;
}

static int lower(uint64_t *limit, uint64_t room, uint64_t least, enum units_kind kind,
		 const char *what, struct err *err)
{
	if (*limit != 0 && *limit <= room)
		return 0;
	if (room == CGROUP_ANY)
		return 0;
	if (room < least)
		return err_set(err, ERR_HOST,
			       "the control groups of the client leave %s %s for one more jail, "
			       "and it takes %s: end some, or run it as a job with a higher limit",
			       units_write(kind, room).text, what, units_write(kind, least).text);
	*limit = room;
	return 1;
}

/* The kernel sees to it where jails lie below the client's CPUs; elsewhere they are written. */
static int bind_cpus(const struct cgroup_bounds *bounds, const char *all_cpus,
		     struct cgroup_limits *limits, struct err *err)
{
	if (bounds->cpus[0] == '\0')
		return 0;
	if (limits->cpus[0] != '\0')
		return cgroup_has_cpus(bounds->cpus, limits->cpus)
			     ? 0
			     : err_set(err, ERR_HOST,
				       "the CPUs '%s' are not all among those of the client's "
				       "control group, '%.200s'",
				       limits->cpus, bounds->cpus);
	if (bounds->cpus_are_held || cgroup_has_cpus(bounds->cpus, all_cpus))
		return 0;
	if (strlen(bounds->cpus) >= sizeof(limits->cpus))
		return err_set(err, ERR_HOST,
			       "the list of the CPUs of the client's control group is longer than "
			       "%zu bytes: '%.200s'; ask for some of them",
			       sizeof(limits->cpus) - 1, bounds->cpus);
	snprintf(limits->cpus, sizeof(limits->cpus), "%.*s", (int) sizeof(limits->cpus) - 1,
		 bounds->cpus);
	return 1;
}

int ledger_clamp(const struct ledger *ledger, const struct cgroup_bounds *bounds,
		 const char *all_cpus, struct cgroup_limits *limits, uint32_t *clamped,
		 struct err *err)
{
	/* What a jail can not be without; see spec_check(). */
	enum { LEAST_MEMORY = 16 << 20, LEAST_PIDS = 4, LEAST_MILLI = 10 };
	const struct sums room = find_room(ledger, bounds);
	int memory =
		lower(&limits->memory, room.memory, LEAST_MEMORY, UNITS_BYTES, "of memory", err);
	int pids = memory < 0 ? -1
			      : lower(&limits->pids, room.pids, LEAST_PIDS, UNITS_COUNT,
				      "processes", err);
	int milli = pids < 0 ? -1
			     : lower(&limits->cpu_milli, room.cpu_milli, LEAST_MILLI, UNITS_MILLI,
				     "CPUs", err);
	int cpus = milli < 0 ? -1 : bind_cpus(bounds, all_cpus, limits, err);

	if (cpus < 0)
		return -1;
	*clamped = (memory ? CGROUP_BIT(CGROUP_LIMIT_MEMORY) : 0) |
		   (pids ? CGROUP_BIT(CGROUP_LIMIT_PIDS) : 0) |
		   (milli || cpus ? CGROUP_BIT(CGROUP_LIMIT_CPUS) : 0);
	return 0;
}

/* What is over counts in no sum. */
void ledger_enter(struct ledger *ledger, const struct ledger_jail *who,
		  const struct cgroup_limits *limits, const struct cgroup_bounds *bounds)
{
	struct ledger_jail *jail;

	if (ledger->count == ledger->room) {
		ledger->room = MAX_OF(2 * ledger->room, 16);
		ledger->jails = mem_resize(ledger->jails, ledger->room, sizeof(*ledger->jails));
	}
	jail = &ledger->jails[ledger->count++];
	*jail = *who;
	if (who->is_over)
		return;
	jail->memory = limits->memory;
	jail->pids = limits->pids;
	jail->cpu_milli = limits->cpu_milli;
	jail->group_count = bounds->level_count;
	for (size_t i = 0; i < bounds->level_count; i++)
		jail->groups[i] = bounds->levels[i].id;
}

int ledger_end(struct ledger *ledger, pid_t monitor, struct ledger_jail *out)
{
	for (size_t i = 0; i < ledger->count; i++) {
		struct ledger_jail *jail = &ledger->jails[i];

		if (jail->monitor != monitor || jail->is_over)
			continue;
		*out = *jail;
		*jail = (struct ledger_jail){ .monitor = monitor,
					      .uid = jail->uid,
					      .is_over = true };
		return 1;
	}
	return 0;
}

size_t ledger_leaving(const struct ledger *ledger, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < ledger->count; i++)
		count += ledger->jails[i].is_over && ledger->jails[i].uid == uid;
	return count;
}

int ledger_leave(struct ledger *ledger, pid_t monitor, struct ledger_jail *out)
{
	for (size_t i = 0; i < ledger->count; i++) {
		if (ledger->jails[i].monitor != monitor)
			continue;
		*out = ledger->jails[i];
		ledger->jails[i] = ledger->jails[--ledger->count];
		return 1;
	}
	return 0;
}

void ledger_done(struct ledger *ledger)
{
	free(ledger->jails);
	*ledger = LEDGER_INIT;
}
