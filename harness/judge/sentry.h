/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/process.h"

/*
 * The sentry: a process of the judge's that keeps the worker's CPU while the worker is held
 *
 * A held worker has to be woken up, and that takes 10 to 50 us, with as much noise; a halted CPU
 * makes it worse. The sentry spins on that CPU at the lowest priority and notes the time all the
 * while (a beat each 25 ns). When the worker is let go the kernel takes the CPU from the sentry at
 * once, the beats stop, and the last one is the moment from which the worker could run: no
 * earlier, so nothing is given away, and no later than a context switch, so the wake-up is not in
 * the measured time.
 *
 * It holds only while the worker's processes have no other CPU: a cpuset's business. The sentry
 * knows nothing secret but what a fork of the judge knows; it must start before the key arrives or
 * from a judge that is not dumpable.
 */
struct sentry_page;

struct sentry {
	struct process process;
	struct sentry_page *page; /* shared with the process */
	uint32_t round;
};

#define SENTRY_INIT ((struct sentry){ .process = PROCESS_INIT })

/**
 * sentry_start() - start the process, idle, on @cpu
 */
int sentry_start(struct sentry *out, uint32_t cpu, struct err *err) must_check;

/**
 * sentry_post() - begin to keep the CPU; the worker is held
 */
void sentry_post(struct sentry *sentry);

/**
 * sentry_watch() - the worker is about to be released: the next pause of the beats is the handover
 *
 * Return: false if the sentry is not on its CPU yet, so that no handover can be seen.
 */
bool sentry_watch(struct sentry *sentry);

/**
 * sentry_handover() - when did the worker get the CPU (CLOCK_MONOTONIC_RAW, ns)
 *
 * Return: false if the beats have not stopped, or not been watched.
 */
bool sentry_handover(const struct sentry *sentry, int64_t *at);

/**
 * sentry_done() - end the process
 */
void sentry_done(struct sentry *sentry);
