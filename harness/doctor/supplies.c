/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void look_programs(const struct doctor_host *host, struct doctor_sight *out)
{
	if (host->programs_why)
		sight_say(out, DOCTOR_MISSING, "%s", host->programs_why);
	else
		sight_say(out, DOCTOR_OK, "proctor-launcher, proctor-worker, proctor-probe");
}

void look_compiler(const struct doctor_host *host, struct doctor_sight *out)
{
	struct stat info;

	/* Often a link to an absolute path, which means the same inside of a jail. */
	if (host->usr_fd < 0)
		sight_say(out, DOCTOR_UNKNOWN, "/usr can not be opened");
	else if (fstatat(host->usr_fd, "bin/cc", &info, AT_SYMLINK_NOFOLLOW) < 0)
		sight_say(out, DOCTOR_MISSING, "there is no /usr/bin/cc");
	else
		sight_say(out, DOCTOR_OK, "/usr/bin/cc");
}

void look_free_memory(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char key[] = "MemAvailable:";
	cleanup(str_done) struct str text = STR_INIT;
	const uint64_t need = host->policy.agent.memory;
	const char *line = NULL;
	uint64_t available;

	if (sight_read(host->proc_fd, "meminfo", &text))
		line = strstr(text.text, key);
	if (!line) {
		sight_say(out, DOCTOR_UNKNOWN, "/proc/meminfo does not say how much is available");
		return;
	}
	available = strtoull(line + sizeof(key) - 1, NULL, 10) * KIB;
	sight_say(out, available < need ? DOCTOR_DEGRADED : DOCTOR_OK,
		  "%" PRIu64 " MiB are available, an agent may use %" PRIu64 " MiB",
		  available / MIB, need / MIB);
}

void look_free_disk(const struct doctor_host *host, struct doctor_sight *out)
{
	/* The frozen tree, and the candidate that is made of it. */
	const uint64_t need = 2 * host->policy.agent.workspace.size;

	sight_say(out, host->disk_free < need ? DOCTOR_DEGRADED : DOCTOR_OK,
		  "%" PRIu64 " MiB are free in this folder, an attempt may leave %" PRIu64 " MiB",
		  host->disk_free / MIB, need / MIB);
}

void look_jail(const struct doctor_host *host, struct doctor_sight *out)
{
	out->is_tried = host->is_jail_tried;
	if (!host->jail_why)
		sight_say(out, DOCTOR_OK, "a jail was built, ran a program and is gone");
	else
		sight_say(out, host->is_jail_tried ? DOCTOR_MISSING : DOCTOR_UNKNOWN, "%s",
			  host->jail_why);
}
