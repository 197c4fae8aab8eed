/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/cpus.h"

#include <stdio.h>
#include <string.h>

/* Adds "first-last" if it fits. */
static bool add_range(struct cpus *out, int first, int last)
{
	char range[32];
	size_t len = strlen(out->others);

	if (first == last)
		snprintf(range, sizeof(range), "%s%d", len ? "," : "", first);
	else
		snprintf(range, sizeof(range), "%s%d-%d", len ? "," : "", first, last);
	if (len + strlen(range) >= sizeof(out->others))
		return false;
	memcpy(out->others + len, range, strlen(range) + 1);
	return true;
}

/* One would not do: proctor-check in an agent's jail wants two. */
static void list_others(const cpu_set_t *allowed, struct cpus *out)
{
	int first = -1;

	out->has_others = CPU_COUNT(allowed) >= 4;
	if (!out->has_others)
		return;

	for (int cpu = (int) out->judge + 1; cpu <= (int) out->worker; cpu++) {
		bool is_other = cpu < (int) out->worker && CPU_ISSET(cpu, allowed);

		if (is_other && first < 0)
			first = cpu;
		if (is_other || first < 0)
			continue;
		if (!add_range(out, first, cpu - 1))
			break;
		first = -1;
	}
}

int cpus_choose(const cpu_set_t *allowed, struct cpus *out, struct err *err)
{
	int first = -1, last = -1;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, allowed))
			continue;
		first = first < 0 ? cpu : first;
		last = cpu;
	}
	if (first == last)
		return err_set(err, ERR_HOST,
			       "judge and worker need a CPU each, and there is only CPU %d", first);
	*out = (struct cpus){ .judge = (uint32_t) first, .worker = (uint32_t) last };
	list_others(allowed, out);
	return 0;
}
