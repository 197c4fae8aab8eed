/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In the place of sandbox/seccomp_filters.c: a launcher whose jails may make every call. The drill
 * has to notice.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include "sandbox/seccomp.h"

void seccomp_filter(enum seccomp_profile profile, uint32_t extras, struct seccomp_program *out)
{
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

	(void) profile;
	(void) extras;
	*out = (struct seccomp_program){ .count = 1 };
	memcpy(out->instructions, &allow, sizeof(allow));
}

uint32_t seccomp_refused(int32_t *out, uint32_t room)
{
	(void) out;
	(void) room;
	return 0;
}
