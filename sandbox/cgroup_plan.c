/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 4096, CPU_PERIOD_US = 100000 };

const char *const cgroup_controller_names[CGROUP_CONTROLLERS] = { "memory", "pids", "cpu",
								  "cpuset" };

/* A formatter leaves `out` empty where there is nothing to set. */
static void format_memory(char *out, size_t room, const struct cgroup_limits *limits,
			  const char *mems)
{
	uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

	(void) mems;
	/* The kernel rounds down to pages, and what is read back is to be what was written. */
	if (limits->memory != 0)
		snprintf(out, room, "%" PRIu64, MAX_OF(limits->memory / page, 1) * page);
}

static void format_no_swap(char *out, size_t room, const struct cgroup_limits *limits,
			   const char *mems)
{
	(void) mems;
	if (limits->memory != 0)
		snprintf(out, room, "0");
}

static void format_group(char *out, size_t room, const struct cgroup_limits *limits,
			 const char *mems)
{
	(void) mems;
	if (limits->memory != 0)
		snprintf(out, room, "1");
}

static void format_pids(char *out, size_t room, const struct cgroup_limits *limits,
			const char *mems)
{
	(void) mems;
	if (limits->pids != 0)
		snprintf(out, room, "%" PRIu64, limits->pids);
}

static void format_quota(char *out, size_t room, const struct cgroup_limits *limits,
			 const char *mems)
{
	(void) mems;
	if (limits->cpu_milli != 0)
		snprintf(out, room, "%" PRIu64, limits->cpu_milli * (CPU_PERIOD_US / 1000));
}

static void format_quota_of(char *out, size_t room, const struct cgroup_limits *limits,
			    const char *mems)
{
	(void) mems;
	if (limits->cpu_milli != 0)
		snprintf(out, room, "%" PRIu64 " %d", limits->cpu_milli * (CPU_PERIOD_US / 1000),
			 CPU_PERIOD_US);
}

static void format_mems(char *out, size_t room, const struct cgroup_limits *limits,
			const char *mems)
{
	if (limits->cpus[0] != '\0')
		snprintf(out, room, "%s", mems);
}

static void format_cpus(char *out, size_t room, const struct cgroup_limits *limits,
			const char *mems)
{
	(void) mems;
	snprintf(out, room, "%.*s", (int) sizeof(limits->cpus) - 1, limits->cpus);
}

/*
 * In the order of writing: on v1 memory and swap together can not be limited below memory alone,
 * and a cpuset has no CPUs before it has memory nodes.
 */
/* clang-format off */
static const struct {
	enum cgroup_controller controller;
	bool v1, optional;
	const char *file, *effective, *unit;
	void (*format)(char *out, size_t room, const struct cgroup_limits *limits, const char *mems);
} knobs[] = {
	{ CGROUP_MEMORY, true,  false, "memory.limit_in_bytes",       NULL, "bytes", format_memory },
	{ CGROUP_MEMORY, true,  true,  "memory.memsw.limit_in_bytes", NULL, "bytes with swap", format_memory },
	{ CGROUP_MEMORY, false, false, "memory.max",                  NULL, "bytes", format_memory },
	{ CGROUP_MEMORY, false, true,  "memory.swap.max",             NULL, "bytes of swap", format_no_swap },
	{ CGROUP_MEMORY, false, false, "memory.oom.group",            NULL, "kill all at once", format_group },
	{ CGROUP_PIDS,   true,  false, "pids.max",                    NULL, "processes and threads", format_pids },
	{ CGROUP_PIDS,   false, false, "pids.max",                    NULL, "processes and threads", format_pids },
	{ CGROUP_CPU,    true,  false, "cpu.cfs_quota_us",            NULL, "us of CPU time in 100 ms", format_quota },
	{ CGROUP_CPU,    false, false, "cpu.max",                     NULL, "us of CPU time, us of time", format_quota_of },
	{ CGROUP_CPUSET, true,  false, "cpuset.mems",                 NULL, "memory nodes", format_mems },
	{ CGROUP_CPUSET, true,  false, "cpuset.cpus",                 "cpuset.effective_cpus", "CPUs", format_cpus },
	{ CGROUP_CPUSET, false, false, "cpuset.cpus",                 "cpuset.cpus.effective", "CPUs", format_cpus },
};
/* clang-format on */

size_t cgroup_plan(const struct cgroup_limits *limits, uint32_t v1, const char *mems,
		   struct cgroup_knob out[CGROUP_KNOBS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(knobs) && count < CGROUP_KNOBS_MAX; i++) {
		struct cgroup_knob knob = {
			.controller = knobs[i].controller,
			.file = knobs[i].file,
			.effective = knobs[i].effective,
			.optional = knobs[i].optional,
			.unit = knobs[i].unit,
		};

		if (knobs[i].v1 != ((v1 & CGROUP_BIT(knob.controller)) != 0))
			continue;
		knobs[i].format(knob.text, sizeof(knob.text), limits, mems);
		if (knob.text[0] != '\0')
			out[count++] = knob;
	}
	return count;
}

/* "0-2,5" as bits; false if it is no such list or names a CPU that no machine has. */
static bool parse_cpus(const char *text, unsigned char bits[CPUS_MAX / 8])
{
	memset(bits, 0, CPUS_MAX / 8);
	while (*text != '\0') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		if (last < first || last >= CPUS_MAX || (*end != ',' && *end != '\0'))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			bits[cpu / 8] |= (unsigned char) (1U << cpu % 8);
		text = *end == ',' ? end + 1 : end;
	}
	return true;
}

bool cgroup_same_cpus(const char *one, const char *other)
{
	unsigned char bits[CPUS_MAX / 8], more[CPUS_MAX / 8];

	return parse_cpus(one, bits) && parse_cpus(other, more) &&
	       memcmp(bits, more, sizeof(bits)) == 0;
}

bool cgroup_has_cpus(const char *all, const char *some)
{
	unsigned char bits[CPUS_MAX / 8], more[CPUS_MAX / 8];

	if (!parse_cpus(all, bits) || !parse_cpus(some, more))
		return false;
	for (size_t i = 0; i < sizeof(bits); i++)
		if ((more[i] & ~bits[i]) != 0)
			return false;
	return true;
}
