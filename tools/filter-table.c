/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compiles every system call filter that a jail can have, at build time, into the table that
 * sandbox/seccomp_filters.c is made of: instructions, where each filter stands among them, and the
 * numbers of the calls of refused.list.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sandbox/seccomp.h"

enum { CALLS_MAX = 1024 };

static int print_programs(struct err *err)
{
	static struct seccomp_program program;
	uint32_t start[SECCOMP_PROFILES][1U << SECCOMP_EXTRAS], at = 0;
	uint32_t count[SECCOMP_PROFILES][1U << SECCOMP_EXTRAS];

	printf("static const uint64_t instructions[] = {\n");
	for (unsigned profile = 0; profile < SECCOMP_PROFILES; profile++) {
		for (uint32_t extras = 0; extras < 1U << SECCOMP_EXTRAS; extras++) {
			if (seccomp_compile((enum seccomp_profile) profile, extras, &program, err) <
			    0)
				return -1;
			for (uint32_t i = 0; i < program.count; i++)
				printf("\t0x%016" PRIx64 ",\n", program.instructions[i]);
			start[profile][extras] = at;
			count[profile][extras] = program.count;
			at += program.count;
		}
	}
	printf("};\n\nstatic const struct {\n\tuint32_t start, count;\n} programs[][%u] = {\n",
	       1U << SECCOMP_EXTRAS);
	for (unsigned profile = 0; profile < SECCOMP_PROFILES; profile++) {
		printf("\t{");
		for (uint32_t extras = 0; extras < 1U << SECCOMP_EXTRAS; extras++)
			printf(" { %u, %u },", start[profile][extras], count[profile][extras]);
		printf(" },\n");
	}
	printf("};\n");
	return 0;
}

static void print_refused(void)
{
	static struct seccomp_call calls[CALLS_MAX];
	size_t count = seccomp_calls(SECCOMP_PROFILE_PLAIN, 0, calls, CALLS_MAX);

	printf("\nstatic const int32_t refused[] = {");
	for (size_t i = 0; i < count; i++)
		if (calls[i].is_refused)
			printf(" %d,", calls[i].number);
	printf(" };\n");
}

int main(void)
{
	struct err err = ERR_INIT;

	printf("/* Made from policies/syscalls and sandbox/seccomp.c by tools/filter-table.c. "
	       "*/\n");
	if (print_programs(&err) < 0) {
		fprintf(stderr, "filter-table: %s\n", err.text);
		return 1;
	}
	print_refused();
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
