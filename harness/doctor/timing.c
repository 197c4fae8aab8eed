/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_FOLDER "devices/system/cpu/"

/* More CPUs than this are not looked at one by one. */
enum { CPUS_MAX = 1024, CPUS_OF_A_SEAT = 2 };

void look_cpus(const struct doctor_host *host, struct doctor_sight *out)
{
	if (host->cpus < CPUS_OF_A_SEAT)
		sight_say(out, DOCTOR_MISSING,
			  "%zu CPU may be used, and judge and worker spin on one each", host->cpus);
	else
		sight_say(out, DOCTOR_OK, "%zu CPUs may be used, %d a seat", host->cpus,
			  CPUS_OF_A_SEAT);
}

void look_isolation(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str isolated = STR_INIT, no_ticks = STR_INIT;

	if (!sight_read(host->sys_fd, CPU_FOLDER "isolated", &isolated)) {
		sight_say(out, DOCTOR_UNKNOWN, "/sys does not say which CPUs are isolated");
		return;
	}
	if (isolated.len > 0)
		sight_say(out, DOCTOR_OK, "isolated: %s", isolated.text);
	else
		sight_say(out, DOCTOR_DEGRADED, "no CPU is isolated");
	/* A kernel that could leave them out and was not told to says "(null)". */
	if (sight_read(host->sys_fd, CPU_FOLDER "nohz_full", &no_ticks) && no_ticks.len > 0 &&
	    strcmp(no_ticks.text, "(null)") != 0)
		sight_add(out, "without ticks: %s", no_ticks.text);
}

void look_clock(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char folder[] = "devices/system/clocksource/clocksource0/";
	static const char *const good[] = { "tsc", "arch_sys_counter" };
	cleanup(str_done) struct str text = STR_INIT;
	char path[96];

	snprintf(path, sizeof(path), "%scurrent_clocksource", folder);
	if (!sight_read(host->sys_fd, path, &text)) {
		sight_say(out, DOCTOR_UNKNOWN, "/sys does not say what the clock is read from");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		if (strcmp(text.text, good[i]) == 0) {
			sight_say(out, DOCTOR_OK, "%s", text.text);
			return;
		}
	}
	sight_say(out, DOCTOR_DEGRADED, "%s", text.text);
	snprintf(path, sizeof(path), "%savailable_clocksource", folder);
	if (sight_read(host->sys_fd, path, &text))
		sight_add(out, "there are: %s", text.text);
}

void look_frequency(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	int seen = 0, other = -1;
	char path[96], which[32];

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		snprintf(path, sizeof(path), CPU_FOLDER "cpu%d/cpufreq/scaling_governor", cpu);
		if (!sight_read(host->sys_fd, path, &text))
			continue;
		seen++;
		if (other >= 0 || strcmp(text.text, "performance") == 0)
			continue;
		other = cpu;
		snprintf(which, sizeof(which), "%s", text.text);
	}
	if (other >= 0)
		sight_say(out, DOCTOR_DEGRADED, "the governor of CPU %d is '%s'", other, which);
	else if (seen > 0)
		sight_say(out, DOCTOR_OK, "the governor of %d CPUs is 'performance'", seen);
	else
		sight_say(out, DOCTOR_OK, "the kernel scales no frequency");
}

void look_turbo(const struct doctor_host *host, struct doctor_sight *out)
{
	/* clang-format off */
	static const struct {
		const char *path;
		uint64_t on;
	} switches[] = {
		{ CPU_FOLDER "intel_pstate/no_turbo", 0 },
		{ CPU_FOLDER "cpufreq/boost",         1 },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
		uint64_t value;

		if (!sight_number(host->sys_fd, switches[i].path, &value))
			continue;
		if (value == switches[i].on)
			sight_say(out, DOCTOR_DEGRADED, "on: /sys/%s is %" PRIu64, switches[i].path,
				  value);
		else
			sight_say(out, DOCTOR_OK, "off");
		return;
	}
	sight_say(out, DOCTOR_OK, "the kernel has no switch for it");
}

void look_smt(const struct doctor_host *host, struct doctor_sight *out)
{
	uint64_t active;

	if (!sight_number(host->sys_fd, CPU_FOLDER "smt/active", &active))
		sight_say(out, DOCTOR_UNKNOWN, "/sys does not say whether CPUs share cores");
	else if (active != 0)
		sight_say(out, DOCTOR_DEGRADED, "two CPUs share a core");
	else
		sight_say(out, DOCTOR_OK,
			  "each CPU is a core of its own, as far as it can be seen");
}

/* Stolen time over all time since the start, in millionths. */
enum { STEAL_PPM_MAX = 1000 };

void look_steal(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	uint64_t times[8] = { 0 }, total = 0,
		 ppm; /* user nice system idle iowait irq softirq steal */
	char *at;

	if (!sight_read(host->proc_fd, "stat", &text) || strncmp(text.text, "cpu ", 4) != 0) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc/stat can not be read");
		return;
	}
	at = text.text + 4;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		times[i] = strtoull(at, &at, 10);
		total += times[i];
	}
	ppm = total > 0 ? times[7] * 1000000 / total : 0;
	sight_say(out, ppm > STEAL_PPM_MAX ? DOCTOR_DEGRADED : DOCTOR_OK,
		  "%" PRIu64 ".%02" PRIu64 " %% since the start", ppm / 10000, ppm % 10000 / 100);
	if (sight_read(host->proc_fd, "cpuinfo", &text) && sight_has_word(text.text, "hypervisor"))
		sight_add(out, "a virtual machine: what its host does is not seen");
}
