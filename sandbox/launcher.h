/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/capability.h>
#include <stdint.h>

#include "sandbox/caps.h"

/*
 * What the launcher takes of its host, for the launcher and for those who try the same before it
 * does.
 */
#define LAUNCHER_STATE "/run/proctor" /* the folder of the leases */

/* Not CAP_SYS_RESOURCE: containers and some virtual machines withhold it, and nothing needs it. */
#define LAUNCHER_NEEDS                                                              \
	(CAPS_MASK(CAP_SYS_ADMIN) | CAPS_MASK(CAP_SETUID) | CAPS_MASK(CAP_SETGID) | \
	 CAPS_MASK(CAP_SETPCAP) | CAPS_MASK(CAP_MKNOD) | CAPS_MASK(CAP_NET_ADMIN) | \
	 CAPS_MASK(CAP_DAC_OVERRIDE) | CAPS_MASK(CAP_KILL) | CAPS_MASK(CAP_CHOWN))
