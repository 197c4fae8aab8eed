/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "sandbox/base/compiler.h"

/*
 * What the spinning judge and worker need: the clock that nobody adjusts, and the processor's
 * hint that this is a spin. The same on all CPUs of a host.
 */

/**
 * raw_clock_ns() - CLOCK_MONOTONIC_RAW in nanoseconds; 25 ns, no system call
 */
static inline int64_t raw_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/**
 * spin_pause() - leave the core's resources to others for a moment
 */
static inline void spin_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
