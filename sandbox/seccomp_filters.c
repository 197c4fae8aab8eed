/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "sandbox/seccomp.h"
#include "sandbox/seccomp_programs.h"

_Static_assert(ARRAY_LEN(programs) == SECCOMP_PROFILES, "a row for each profile");
_Static_assert(ARRAY_LEN(programs[0]) == 1U << SECCOMP_EXTRAS, "a column for each set of lists");

void seccomp_filter(enum seccomp_profile profile, uint32_t extras, struct seccomp_program *out)
{
	assert((size_t) profile < ARRAY_LEN(programs) && extras < ARRAY_LEN(programs[0]));
	out->count = programs[profile][extras].count;
	memcpy(out->instructions, instructions + programs[profile][extras].start,
	       out->count * sizeof(out->instructions[0]));
}

uint32_t seccomp_refused(int32_t *out, uint32_t room)
{
	uint32_t count = MIN_OF(room, (uint32_t) ARRAY_LEN(refused));

	memcpy(out, refused, count * sizeof(refused[0]));
	return count;
}
