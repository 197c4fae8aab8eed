/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/doctor/sight.h"

/*
 * Looks at a host, for the table in doctor.c
 *
 * Each gets a sight that is UNKNOWN, or what the trial of the same check has given, and leaves its
 * verdict and what it saw.
 */

/* -- kernel.c -- */

/**
 * look_kernel() - the kernel's release against the baseline
 */
void look_kernel(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_capabilities() - what of root's powers is there or could be had
 */
void look_capabilities(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_namespace_limits() - how many namespaces may be made, and by whom
 */
void look_namespace_limits(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_actions() - the actions that a system call filter may take
 */
void look_actions(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_core_pattern() - what a crash starts on the host
 */
void look_core_pattern(const struct doctor_host *host, struct doctor_sight *out);

/* -- layout.c -- */

/**
 * look_layout() - which control group hierarchies are mounted, and what each has
 */
void look_layout(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_memory() - where memory could be limited; says something only where that was not tried
 */
void look_memory(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_pids() - the same for processes
 */
void look_pids(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_cpu() - the same for CPU time
 */
void look_cpu(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_cpuset() - the same for the choice of CPUs
 */
void look_cpuset(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_swap() - does it matter whether swap can be limited?
 */
void look_swap(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_io() - where block I/O could be limited
 */
void look_io(const struct doctor_host *host, struct doctor_sight *out);

/* -- ranges.c -- */

/**
 * look_account() - the account that proctor drops root for
 */
void look_account(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_site() - what the administrator permits, and whether that can be read
 */
void look_site(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_ranges() - are the ids of jails mapped here, and nobody else's?
 */
void look_ranges(const struct doctor_host *host, struct doctor_sight *out);

/* -- timing.c -- */

/**
 * look_cpus() - a CPU each for judge and worker
 */
void look_cpus(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_isolation() - CPUs that the scheduler gives nobody else
 */
void look_isolation(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_clock() - what the kernel's clock is read from
 */
void look_clock(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_frequency() - who decides on the frequency
 */
void look_frequency(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_turbo() - is the frequency a matter of temperature and neighbours?
 */
void look_turbo(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_smt() - do two CPUs share a core?
 */
void look_smt(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_steal() - time that a hypervisor took
 */
void look_steal(const struct doctor_host *host, struct doctor_sight *out);

/* -- supplies.c -- */

/**
 * look_programs() - proctor's own programs
 */
void look_programs(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_compiler() - the compiler of the shipped tasks
 */
void look_compiler(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_free_memory() - memory for one attempt
 */
void look_free_memory(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_free_disk() - room for what an attempt leaves
 */
void look_free_disk(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_jail() - the whole jail that was run
 */
void look_jail(const struct doctor_host *host, struct doctor_sight *out);

/* -- gpus.c -- */

/**
 * look_amd() - AMD GPUs, their driver and their device nodes
 */
void look_amd(const struct doctor_host *host, struct doctor_sight *out);

/**
 * look_nvidia() - NVIDIA GPUs, their driver and their device nodes
 */
void look_nvidia(const struct doctor_host *host, struct doctor_sight *out);

/* -- cdi.c -- */

/**
 * look_cdi() - files of the container device interface, and what of them a jail has not
 */
void look_cdi(const struct doctor_host *host, struct doctor_sight *out);
