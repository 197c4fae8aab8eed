/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/flush.h"

enum { LINE = 64 };

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

bool flush_probe(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & (1U << 23));
}

__attribute__((target("clflushopt"))) static void flush_unordered(const char *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += LINE)
		_mm_clflushopt((void *) (uintptr_t) (at + i));
}

void flush_caches(const void *at, uint64_t bytes, bool unordered)
{
	if (unordered) {
		flush_unordered(at, bytes);
	} else {
		for (uint64_t i = 0; i < bytes; i += LINE)
			_mm_clflush((const char *) at + i);
	}
	_mm_mfence();
}
#elif defined(__aarch64__)
bool flush_probe(void)
{
	return true;
}

void flush_caches(const void *at, uint64_t bytes, bool unordered)
{
	(void) unordered;
	for (uint64_t i = 0; i < bytes; i += LINE)
		__asm__ volatile("dc civac, %0" ::"r"((const char *) at + i) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}
#else
#error "how are caches flushed on this processor?"
#endif
