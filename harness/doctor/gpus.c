/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/fd.h"

/* Only what the drivers show of themselves in /proc and /sys: nothing is opened, nothing asked. */

static bool is_there(int dir_fd, const char *path)
{
	struct stat info;

	return dir_fd >= 0 && fstatat(dir_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static DIR *open_folder(int dir_fd, const char *path)
{
	int fd = dir_fd < 0 ? -1 : openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder)
		fd_close(&fd);
	return folder;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* -- AMD -- */

/* The number behind `key` in the lines of a kfd node. */
static bool property(const char *text, const char *key, uint64_t *out)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ' ') {
			*out = strtoull(line + len, NULL, 10);
			return true;
		}
	}
	return false;
}

/* One node of the topology; CPUs are nodes too, without a GPU's id. Return: is it a GPU? */
static bool look_node(const struct doctor_host *host, int nodes_fd, const char *name,
		      struct doctor_sight *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	uint64_t id = 0, minor = 0, target = 0;
	char path[320];

	snprintf(path, sizeof(path), "%s/gpu_id", name);
	if (!sight_number(nodes_fd, path, &id) || id == 0)
		return false;
	snprintf(path, sizeof(path), "%s/properties", name);
	if (!sight_read(nodes_fd, path, &text) ||
	    !property(text.text, "drm_render_minor", &minor)) {
		sight_say(out, DOCTOR_DEGRADED, "GPU %" PRIu64 " can not be read", id);
		return true;
	}
	/* 90402 is gfx942: the last two digits are hexadecimal. */
	if (property(text.text, "gfx_target_version", &target))
		sight_add(out, "gfx%" PRIu64 "%" PRIx64 "%" PRIx64 " at renderD%" PRIu64,
			  target / 10000, target / 100 % 100, target % 100, minor);
	snprintf(path, sizeof(path), "dri/renderD%" PRIu64, minor);
	if (!is_there(host->dev_fd, path))
		sight_say(out, DOCTOR_DEGRADED, "there is no /dev/%s", path);
	return true;
}

void look_amd(const struct doctor_host *host, struct doctor_sight *out)
{
	cleanup(close_folder) DIR *nodes =
		open_folder(host->sys_fd, "class/kfd/kfd/topology/nodes");
	const bool has_kfd = is_there(host->dev_fd, "kfd");
	cleanup(str_done) struct str version = STR_INIT;
	const struct dirent *entry;
	int count = 0;

	if (!nodes && !has_kfd && !is_there(host->sys_fd, "module/amdgpu")) {
		sight_say(out, DOCTOR_MISSING, "none");
		return;
	}
	out->verdict = DOCTOR_OK;
	while (nodes && (entry = readdir(nodes)))
		if (isdigit((unsigned char) entry->d_name[0]))
			count += look_node(host, dirfd(nodes), entry->d_name, out);
	sight_add(out, "%d GPU%s", count, count == 1 ? "" : "s");
	if (sight_read(host->sys_fd, "module/amdgpu/version", &version))
		sight_add(out, "driver amdgpu %s", version.text);
	else
		sight_add(out, "the kernel's own driver amdgpu");
	if (count == 0)
		sight_say(out, DOCTOR_MISSING, "the driver shows no GPU for computing");
	if (!has_kfd)
		sight_say(out, DOCTOR_MISSING, "there is no /dev/kfd");
}

/* -- NVIDIA -- */

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

static void look_card(const struct doctor_host *host, int gpus_fd, const char *name,
		      struct doctor_sight *out)
{
	static const char key[] = "Device Minor:", model[] = "Model:";
	cleanup(str_done) struct str text = STR_INIT;
	const char *line;
	char path[320];

	snprintf(path, sizeof(path), "%s/information", name);
	if (!sight_read(gpus_fd, path, &text) || !(line = strstr(text.text, key))) {
		sight_say(out, DOCTOR_DEGRADED, "GPU %s can not be read", name);
		return;
	}
	snprintf(path, sizeof(path), "nvidia%llu", strtoull(line + sizeof(key) - 1, NULL, 10));
	line = strstr(text.text, model);
	if (line) {
		line += sizeof(model) - 1;
		line += strspn(line, " \t");
		sight_add(out, "%.*s at %s", (int) strcspn(line, "\n"), line, path);
	}
	if (!is_there(host->dev_fd, path))
		sight_say(out, DOCTOR_DEGRADED, "there is no /dev/%s", path);
}

void look_nvidia(const struct doctor_host *host, struct doctor_sight *out)
{
	static const char *const nodes[] = { "nvidiactl", "nvidia-uvm" };
	cleanup(close_folder) DIR *gpus = open_folder(host->proc_fd, "driver/nvidia/gpus");
	cleanup(str_done) struct str text = STR_INIT;
	const struct dirent *entry;
	int count = 0;

	if (!sight_read(host->proc_fd, "driver/nvidia/version", &text)) {
		if (is_there(host->dev_fd, "nvidiactl"))
			sight_say(out, DOCTOR_MISSING, "/dev/nvidiactl without a driver");
		else
			sight_say(out, DOCTOR_MISSING, "none");
		return;
	}
	out->verdict = DOCTOR_OK;
	add_version(text.text, out);
	while (gpus && (entry = readdir(gpus))) {
		if (!isxdigit((unsigned char) entry->d_name[0]))
			continue;
		look_card(host, dirfd(gpus), entry->d_name, out);
		count++;
	}
	if (count == 0)
		sight_say(out, DOCTOR_MISSING, "the driver shows no GPU");
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
		if (!is_there(host->dev_fd, nodes[i]))
			sight_say(out, DOCTOR_DEGRADED, "there is no /dev/%s", nodes[i]);
}
