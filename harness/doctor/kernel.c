/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/kernel.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/doctor/looks.h"

enum { BASE_MAJOR = 6, BASE_MINOR = 1 };

void look_kernel(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	int major, minor;

	if (!sight_read(host->proc_fd, "sys/kernel/osrelease", &text) ||
	    sscanf(text.text, "%d.%d", &major, &minor) != 2) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc does not say which kernel this is");
		return;
	}
	if (major > BASE_MAJOR || (major == BASE_MAJOR && minor >= BASE_MINOR))
		sight_say(out, DOCTOR_OK, "Linux %s", text.text);
	else
		sight_say(out, DOCTOR_DEGRADED, "Linux %s is older than the baseline of %d.%d",
			  text.text, BASE_MAJOR, BASE_MINOR);
}

/* -- capabilities -- */

/* clang-format off */
const struct kernel_capability kernel_capabilities[] = {
	{ CAP_CHOWN,        "cap_chown",        true  },
	{ CAP_DAC_OVERRIDE, "cap_dac_override", true  },
	{ CAP_KILL,         "cap_kill",         true  },
	{ CAP_SETGID,       "cap_setgid",       true  },
	{ CAP_SETUID,       "cap_setuid",       true  },
	{ CAP_SETPCAP,      "cap_setpcap",      true  },
	{ CAP_NET_ADMIN,    "cap_net_admin",    true  },
	{ CAP_SYS_ADMIN,    "cap_sys_admin",    true  },
	{ CAP_MKNOD,        "cap_mknod",        true  },
	{ CAP_SYS_RESOURCE, "cap_sys_resource", false },
	{ CAP_BPF,          "cap_bpf",          false },
	{ 0 },
};
/* clang-format on */

static bool read_set(const char *status, const char *key, uint64_t *out)
{
	const char *line = status ? strstr(status, key) : NULL;

	if (!line)
		return false;
	*out = strtoull(line + strlen(key), NULL, 16);
	return true;
}

/* Those of the table that `set` lacks. Return: how many. */
static size_t list_lacking(uint64_t set, bool needed, struct str *out)
{
	size_t count = 0;

	for (const struct kernel_capability *row = kernel_capabilities; row->name; row++) {
		if (row->is_needed != needed || (set >> row->number & 1) != 0)
			continue;
		str_addf(out, "%s%s", count > 0 ? ", " : "", row->name);
		count++;
	}
	return count;
}

void look_capabilities(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str needed = STR_INIT, extra = STR_INIT;
	const bool is_tried = out->is_tried;
	uint64_t set;

	/* Whoever is not root could become so, but never with more than the bounding set. */
	if (!read_set(host->status, is_tried ? "\nCapEff:" : "\nCapBnd:", &set))
		return;
	if (list_lacking(set, true, &needed) > 0)
		sight_say(out, DOCTOR_MISSING, "%s %s",
			  is_tried ? "without" : "the bounding set is without", needed.text);
	else
		sight_add(out, is_tried ? "all that are needed"
					: "the bounding set has all that are needed");
	if (list_lacking(set, false, &extra) > 0)
		sight_add(out, "without %s, which nothing needs", extra.text);
}

/* -- namespaces -- */

/* Fewer than this are used up by a few jails and a desktop. */
enum { FEW_NAMESPACES = 64 };

void look_namespace_limits(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
	uint64_t least = UINT64_MAX, number;
	const char *which = NULL;
	char path[64];

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		snprintf(path, sizeof(path), "sys/user/max_%s_namespaces", kinds[i]);
		if (!sight_number(host->proc_fd, path, &number) || number >= least)
			continue;
		least = number;
		which = kinds[i];
	}
	if (!which) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc/sys/user has no limits of namespaces");
		return;
	}
	sight_say(out,
		  least == 0               ? DOCTOR_MISSING
		  : least < FEW_NAMESPACES ? DOCTOR_DEGRADED
					   : DOCTOR_OK,
		  "user.max_%s_namespaces is %llu", which, (unsigned long long) least);
	if ((sight_number(host->proc_fd, "sys/kernel/unprivileged_userns_clone", &number) &&
	     number == 0) ||
	    (sight_number(host->proc_fd, "sys/kernel/apparmor_restrict_unprivileged_userns",
			  &number) &&
	     number != 0))
		sight_add(out, "only root makes user namespaces, as proctor does");
	else
		sight_add(out, "everybody may make user namespaces; jails may not");
}

/* -- filters and crashes -- */

void look_actions(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char *const needed[] = { "kill_process", "errno", "allow" };
	cleanup(str_done) struct str text = STR_INIT;

	if (!sight_read(host->proc_fd, "sys/kernel/seccomp/actions_avail", &text))
		return;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!sight_has_word(text.text, needed[i]))
			sight_say(out, DOCTOR_MISSING, "there is no action %s", needed[i]);
	sight_add(out, "actions: %s", text.text);
}

void look_core_pattern(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!sight_read(host->proc_fd, "sys/kernel/core_pattern", &text))
		sight_say(out, DOCTOR_UNKNOWN, "/proc/sys/kernel/core_pattern can not be read");
	else if (text.text[0] != '|')
		sight_say(out, DOCTOR_OK, "'%s' is a file, and jails write none", text.text);
	else
		sight_say(out, DOCTOR_DEGRADED, "'%s' is a program that the kernel starts as root",
			  text.text);
}
