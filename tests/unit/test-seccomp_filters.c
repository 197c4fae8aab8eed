/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sandbox/seccomp.h"
#include "tests/lib/check.h"

TEST(every_filter_is_what_libseccomp_makes_of_the_lists)
{
	static struct seccomp_program built, compiled;
	struct err err = ERR_INIT;

	for (unsigned profile = 0; profile < SECCOMP_PROFILES; profile++) {
		for (uint32_t extras = 0; extras < 1U << SECCOMP_EXTRAS; extras++) {
			check_note("profile %u, lists %#x", profile, extras);
			seccomp_filter((enum seccomp_profile) profile, extras, &built);
			CHECK_OK(seccomp_compile((enum seccomp_profile) profile, extras, &compiled,
						 &err));
			CHECK_INT(built.count, compiled.count);
			CHECK(memcmp(built.instructions, compiled.instructions,
				     built.count * sizeof(built.instructions[0])) == 0);
		}
	}
}

TEST(the_numbers_of_refused_calls_are_those_of_the_list)
{
	static struct seccomp_call calls[1024];
	static int32_t numbers[1024];
	const size_t all = seccomp_calls(SECCOMP_PROFILE_PLAIN, 0, calls, ARRAY_LEN(calls));
	const uint32_t count = seccomp_refused(numbers, ARRAY_LEN(numbers));
	uint32_t found = 0;

	CHECK(count > 50 && all < ARRAY_LEN(calls));
	for (size_t i = 0; i < all; i++)
		if (calls[i].is_refused)
			CHECK_INT(numbers[found++], calls[i].number);
	CHECK_INT(found, count);
	CHECK_INT(seccomp_refused(numbers, 7), 7);
}
