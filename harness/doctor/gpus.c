/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/doctor/looks.h"
#include "sandbox/gpu.h"

/*
 * Only what the drivers show of themselves in /proc and /sys: nothing is opened, nothing asked. The
 * list is the launcher's, and so are the numbers: a jail asks for a GPU by them.
 */

static bool is_there(int dir_fd, const char *path)
{
	struct stat info;

	return dir_fd >= 0 && fstatat(dir_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a jail would get for one of them; else why there would be no such jail. */
static void add_nodes(const struct doctor_host *host, const struct gpu *gpu,
		      struct doctor_sight *out)
{
	const struct gpu_host where = { host->proc_fd, host->sys_fd, -1 };
	struct gpu_node nodes[GPU_NODES_MAX];
	cleanup(str_done) struct str text = STR_INIT;
	struct err why = ERR_INIT;
	uint32_t count;

	if (gpu_nodes(&where, gpu, nodes, &count, &why) < 0) {
		sight_say(out, DOCTOR_DEGRADED, "no jail can have one: %s", why.text);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		str_addf(&text, "%s/dev/%s", i > 0 ? ", " : "", nodes[i].name);
		if (!is_there(host->dev_fd, nodes[i].name))
			sight_say(out, DOCTOR_DEGRADED, "there is no /dev/%s", nodes[i].name);
	}
	sight_add(out, "a jail with this one has %s", text.text);
}

/* "GPU 0: gfx942 at renderD128, 0000:c1:00.0; a jail …". Return: how many there are. */
static uint32_t add_gpus(const struct doctor_host *host, enum gpu_vendor vendor,
			 struct doctor_sight *out)
{
	const struct gpu_host where = { host->proc_fd, host->sys_fd, host->dev_fd };
	struct gpus gpus;
	uint32_t count = 0;

	gpu_find(&where, &gpus);
	for (uint32_t i = 0; i < gpus.count; i++) {
		const struct gpu *gpu = &gpus.list[i];
		char node[32];

		if (gpu->vendor != vendor)
			continue;
		gpu_node_name(gpu, node, sizeof(node));
		sight_add(out, "GPU %" PRIu32 ": %s at %s%s%s", i, gpu->model, node,
			  gpu->address[0] ? ", " : "", gpu->address);
		add_nodes(host, gpu, out);
		count++;
	}
	if (gpus.unread[vendor] > 0)
		sight_say(out, DOCTOR_DEGRADED, "%" PRIu32 " more can not be read",
			  gpus.unread[vendor]);
	return count + gpus.unread[vendor];
}

void look_amd(const struct doctor_host *host, struct doctor_sight *out)
{
	const bool has_kfd = is_there(host->dev_fd, "kfd");
	cleanup(str_done) struct str version = STR_INIT;
	uint32_t count;

	if (!has_kfd && !is_there(host->sys_fd, "class/kfd/kfd/topology/nodes") &&
	    !is_there(host->sys_fd, "module/amdgpu")) {
		sight_say(out, DOCTOR_MISSING, "none");
		return;
	}
	out->verdict = DOCTOR_OK;
	count = add_gpus(host, GPU_AMD, out);
	sight_add(out, "%" PRIu32 " GPU%s", count, count == 1 ? "" : "s");
	if (sight_read(host->sys_fd, "module/amdgpu/version", &version))
		sight_add(out, "driver amdgpu %s", version.text);
	else
		sight_add(out, "the kernel's own driver amdgpu");
	if (count == 0)
		sight_say(out, DOCTOR_MISSING, "the driver shows no GPU for computing");
	if (!has_kfd)
		sight_say(out, DOCTOR_MISSING, "there is no /dev/kfd");
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …": the word with two points. */
static void add_version(const char *text, struct doctor_sight *out)
{
	for (const char *word = text; *word != '\0';) {
		size_t len = strcspn(word, " \t\n");
		const char *point = memchr(word, '.', len);

		if (isdigit((unsigned char) word[0]) && point &&
		    isdigit((unsigned char) point[1])) {
			sight_add(out, "driver %.*s", (int) len, word);
			return;
		}
		word += len;
		word += strspn(word, " \t\n");
	}
	sight_add(out, "a driver of unknown version");
}

void look_nvidia(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!sight_read(host->proc_fd, "driver/nvidia/version", &text)) {
		if (is_there(host->dev_fd, "nvidiactl"))
			sight_say(out, DOCTOR_MISSING, "/dev/nvidiactl without a driver");
		else
			sight_say(out, DOCTOR_MISSING, "none");
		return;
	}
	out->verdict = DOCTOR_OK;
	add_version(text.text, out);
	if (add_gpus(host, GPU_NVIDIA, out) == 0)
		sight_say(out, DOCTOR_MISSING, "the driver shows no GPU");
}
