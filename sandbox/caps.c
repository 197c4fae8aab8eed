/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/caps.h"

#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>

static const unsigned int locked_bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
					SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
					SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
					SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

unsigned int caps_locked_bits(void)
{
	return locked_bits;
}

static void free_caps(cap_t *caps)
{
	cap_free(*caps);
}

static bool is_in(uint64_t mask, int capability)
{
	return (mask & CAPS_MASK(capability)) != 0;
}

static bool has_flag(int capability, cap_flag_t flag)
{
	cleanup(free_caps) cap_t now = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	return now && cap_get_flag(now, capability, flag, &value) == 0 && value == CAP_SET;
}

bool caps_has(int capability)
{
	return has_flag(capability, CAP_EFFECTIVE);
}

int caps_bound(uint64_t keep, struct err *err)
{
	for (int capability = 0; capability < cap_max_bits(); capability++) {
		if (is_in(keep, capability))
			continue;
		if (cap_drop_bound(capability) < 0)
			return err_sys(err, "drop capability %d from the bounding set", capability);
	}
	if (cap_reset_ambient() < 0)
		return err_sys(err, "clear the ambient capabilities");
	return 0;
}

static int set_kept(cap_t caps, uint64_t keep, struct err *err)
{
	static const cap_flag_t flags[] = { CAP_PERMITTED, CAP_EFFECTIVE };

	for (cap_value_t capability = 0; capability < cap_max_bits(); capability++)
		for (size_t i = 0; is_in(keep, capability) && i < ARRAY_LEN(flags); i++)
			if (cap_set_flag(caps, flags[i], 1, &capability, CAP_SET) < 0)
				return err_sys(err, "keep capability %d", capability);
	return 0;
}

int caps_lock(struct err *err)
{
	if (cap_set_secbits(locked_bits) < 0)
		return err_sys(err, "lock the securebits");
	return 0;
}

int caps_limit(uint64_t keep, struct err *err)
{
	cleanup(free_caps) cap_t caps = cap_init();

	if (!caps)
		return err_sys(err, "describe a set of capabilities");
	if (set_kept(caps, keep, err) < 0)
		return -1;
	if (caps_has(CAP_SETPCAP) && caps_lock(err) < 0)
		return -1;
	if (cap_set_proc(caps) < 0)
		return err_sys(err, "reduce the capabilities to %#llx", (unsigned long long) keep);
	return 0;
}

int caps_drop(uint64_t keep, struct err *err)
{
	if (caps_bound(keep, err) < 0)
		return -1;
	return caps_limit(keep, err);
}

int caps_no_new_privs(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "set no_new_privs");
	return 0;
}

int caps_require(uint64_t needed, struct err *err)
{
	for (int capability = 0; capability < 64; capability++) {
		char *name;

		if (!is_in(needed, capability) || caps_has(capability))
			continue;
		name = cap_to_name(capability);
		err_set(err, ERR_HOST,
			"the capability %s (%d) is missing: start as root, and where a container "
			"or "
			"a service manager took it away, give it back (--cap-add, "
			"CapabilityBoundingSet=)",
			name ? name : "?", capability);
		cap_free(name);
		return -1;
	}
	return 0;
}
