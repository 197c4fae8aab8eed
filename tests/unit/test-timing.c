/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

#define CPU "sys/devices/system/cpu/"

TEST(judge_and_worker_need_a_cpu_each)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_cpus, &host, DOCTOR_OK, "8 CPUs");
	host.cpus = 2;
	CHECK_LOOK(look_cpus, &host, DOCTOR_OK, "2 CPUs");
	host.cpus = 1;
	CHECK_LOOK(look_cpus, &host, DOCTOR_MISSING, "1 CPU may be used");
}

TEST(isolated_cpus_are_told)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_isolation, &host, DOCTOR_OK, "isolated: 2-3");
	hosts_put(CPU "nohz_full", "2-3\n");
	CHECK_LOOK(look_isolation, &host, DOCTOR_OK, "without ticks: 2-3");
	hosts_put(CPU "isolated", "\n");
	CHECK_LOOK(look_isolation, &host, DOCTOR_DEGRADED, "no CPU is isolated");
	/* What a kernel says that could leave ticks out and was not told to. */
	hosts_put(CPU "nohz_full", "(null)\n");
	CHECK(!strstr(hosts_look(look_isolation, &host).found.text, "ticks"));
	hosts_put(CPU "isolated", NULL);
	CHECK_LOOK(look_isolation, &host, DOCTOR_UNKNOWN, "does not say");
}

TEST(a_clock_that_costs_more_is_told_with_what_there_is)
{
	static const char file[] =
		"sys/devices/system/clocksource/clocksource0/current_clocksource";
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_clock, &host, DOCTOR_OK, "tsc");
	hosts_put(file, "arch_sys_counter\n");
	CHECK_LOOK(look_clock, &host, DOCTOR_OK, "arch_sys_counter");
	hosts_put(file, "hpet\n");
	CHECK_LOOK(look_clock, &host, DOCTOR_DEGRADED, "hpet; there are: tsc kvm-clock");
	hosts_put(file, NULL);
	CHECK_LOOK(look_clock, &host, DOCTOR_UNKNOWN, "does not say");
}

TEST(one_cpu_with_another_governor_is_enough)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_frequency, &host, DOCTOR_OK, "the governor of 2 CPUs is 'performance'");
	hosts_put(CPU "cpu1/cpufreq/scaling_governor", "schedutil\n");
	CHECK_LOOK(look_frequency, &host, DOCTOR_DEGRADED, "the governor of CPU 1 is 'schedutil'");
	hosts_put(CPU "cpu0/cpufreq/scaling_governor", NULL);
	hosts_put(CPU "cpu1/cpufreq/scaling_governor", NULL);
	CHECK_LOOK(look_frequency, &host, DOCTOR_OK, "scales no frequency");
}

TEST(both_switches_of_turbo_are_read_in_their_own_sense)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_turbo, &host, DOCTOR_OK, "off");
	hosts_put(CPU "intel_pstate/no_turbo", "0\n");
	CHECK_LOOK(look_turbo, &host, DOCTOR_DEGRADED, "no_turbo is 0");
	hosts_put(CPU "intel_pstate/no_turbo", NULL);
	hosts_put(CPU "cpufreq/boost", "1\n");
	CHECK_LOOK(look_turbo, &host, DOCTOR_DEGRADED, "boost is 1");
	hosts_put(CPU "cpufreq/boost", "0\n");
	CHECK_LOOK(look_turbo, &host, DOCTOR_OK, "off");
	hosts_put(CPU "cpufreq/boost", NULL);
	CHECK_LOOK(look_turbo, &host, DOCTOR_OK, "no switch");
}

TEST(siblings_on_a_core_are_told)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_smt, &host, DOCTOR_OK, "a core of its own");
	hosts_put(CPU "smt/active", "1\n");
	CHECK_LOOK(look_smt, &host, DOCTOR_DEGRADED, "two CPUs share a core");
	hosts_put(CPU "smt/active", NULL);
	CHECK_LOOK(look_smt, &host, DOCTOR_UNKNOWN, "does not say");
}

TEST(stolen_time_is_told_from_a_thousandth_on)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_steal, &host, DOCTOR_OK, "0.00 %");
	hosts_put("proc/stat", "cpu  1000 0 0 998000 0 0 0 1000 0 0\n");
	CHECK_LOOK(look_steal, &host, DOCTOR_OK, "0.10 %");
	hosts_put("proc/stat", "cpu  1000 0 0 996000 0 0 0 3000 0 0\n");
	CHECK_LOOK(look_steal, &host, DOCTOR_DEGRADED, "0.30 %");
	hosts_put("proc/cpuinfo", "flags\t\t: fpu hypervisor msr\n");
	CHECK_LOOK(look_steal, &host, DOCTOR_DEGRADED, "a virtual machine");
	hosts_put("proc/stat", "cpu \n");
	CHECK_LOOK(look_steal, &host, DOCTOR_UNKNOWN, "can not be read");
	hosts_put("proc/stat", NULL);
	CHECK_LOOK(look_steal, &host, DOCTOR_UNKNOWN, "can not be read");
}
