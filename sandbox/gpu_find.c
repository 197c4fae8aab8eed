/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "sandbox/gpu.h"

/* What the kernel has for a render node: 64 of them from 128 on, and since 6.13 up to its last
 * minor. */
enum { RENDER_FIRST = 128, RENDER_LAST = (1 << 20) - 1, NVIDIA_LAST = 254 };

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

static bool read_file(int dir_fd, const char *path, char *text, size_t room)
{
	struct err none = ERR_INIT;

	return io_read_kernel_file(dir_fd, path, text, room, &none) == 0;
}

/* --- where a device is in /sys --- */

static bool is_address(const char *text)
{
	static const char form[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < sizeof(form); i++) {
		if (form[i] == 'x' ? !isxdigit((unsigned char) text[i]) : text[i] != form[i])
			return false;
	}
	return true;
}

/*
 * "../../devices/pci0000:c0/0000:c1:00.0", a link of the kernel's, as a path below /sys. It is
 * root that will follow it, so it has to be what it looks like.
 */
static bool follow_link(int sys_fd, const char *path, char out[GPU_PATH_MAX])
{
	char text[GPU_PATH_MAX];
	const char *at = text;
	ssize_t len = sys_fd < 0 ? -1 : readlinkat(sys_fd, path, text, sizeof(text));

	if (len <= 0 || (size_t) len >= sizeof(text))
		return false;
	text[len] = '\0';
	while (strncmp(at, "../", 3) == 0)
		at += 3;
	if (at == text || strncmp(at, "devices/", 8) != 0 || !path_is_relative(at))
		return false;
	snprintf(out, GPU_PATH_MAX, "%s", at);
	return true;
}

static void take_address(struct gpu *gpu)
{
	const char *name = strrchr(gpu->device, '/');

	gpu->address[0] = '\0';
	if (name && is_address(name + 1))
		snprintf(gpu->address, sizeof(gpu->address), "%s", name + 1);
}

static int32_t find_card(int sys_fd, const char *device)
{
	char path[GPU_PATH_MAX + 8];
	cleanup(close_folder) DIR *folder = NULL;
	const struct dirent *entry;
	int32_t card = -1;

	snprintf(path, sizeof(path), "%s/drm", device);
	folder = open_folder(sys_fd, path);
	while (folder && (entry = readdir(folder))) {
		uint32_t number;

		if (strncmp(entry->d_name, "card", 4) == 0 &&
		    gpu_number(entry->d_name + 4, RENDER_LAST, &number, NULL))
			card = (int32_t) number;
	}
	return card;
}

bool gpu_render_device(int sys_fd, uint32_t number, struct gpu *gpu)
{
	char link[48], tail[48], path[GPU_PATH_MAX];
	size_t len, tail_len;

	if (number < RENDER_FIRST || number > RENDER_LAST)
		return false;
	snprintf(link, sizeof(link), "dev/char/226:%u", number);
	snprintf(tail, sizeof(tail), "/drm/renderD%u", number);
	if (!follow_link(sys_fd, link, path))
		return false;
	len = strlen(path);
	tail_len = strlen(tail);
	if (len <= tail_len || strcmp(path + len - tail_len, tail) != 0)
		return false;
	path[len - tail_len] = '\0';
	gpu->number = number;
	snprintf(gpu->device, sizeof(gpu->device), "%s", path);
	gpu->card = find_card(sys_fd, gpu->device);
	take_address(gpu);
	return true;
}

/* --- AMD: the topology of kfd --- */

/* The number behind @key in the lines of a node. */
static bool property(const char *text, const char *key, uint32_t *out)
{
	const size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end;

		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			return gpu_number(line + len + 1, UINT32_MAX, out, &end) &&
			       (*end == '\n' || *end == '\0');
	}
	return false;
}

/* 90402 is gfx942: the last two digits are hexadecimal. */
static void name_model(const char *properties, struct gpu *gpu)
{
	uint32_t target;

	if (property(properties, "gfx_target_version", &target) && target > 0)
		snprintf(gpu->model, sizeof(gpu->model), "gfx%u%x%x", target / 10000,
			 target / 100 % 100, target % 100);
	else
		snprintf(gpu->model, sizeof(gpu->model), "AMD GPU");
}

static void add(struct gpus *gpus, const struct gpu *gpu)
{
	if (gpus->count == GPU_MAX)
		gpus->unread[gpu->vendor]++;
	else
		gpus->list[gpus->count++] = *gpu;
}

/* CPUs are nodes too, without a GPU's id. */
static void look_at_node(int sys_fd, int nodes_fd, uint32_t node, struct gpus *out)
{
	struct gpu gpu = { .vendor = GPU_AMD, .order = node, .card = -1 };
	char path[48], text[8 * KIB];
	uint32_t id, number;

	snprintf(path, sizeof(path), "%u/gpu_id", node);
	if (!read_file(nodes_fd, path, text, sizeof(text)) ||
	    !gpu_number(text, UINT32_MAX, &id, NULL) || id == 0)
		return;
	snprintf(path, sizeof(path), "%u/properties", node);
	if (!read_file(nodes_fd, path, text, sizeof(text)) ||
	    !property(text, "drm_render_minor", &number) ||
	    !gpu_render_device(sys_fd, number, &gpu)) {
		out->unread[GPU_AMD]++;
		return;
	}
	name_model(text, &gpu);
	add(out, &gpu);
}

static void find_amd(const struct gpu_host *host, struct gpus *out)
{
	cleanup(close_folder) DIR *nodes =
		open_folder(host->sys_fd, "class/kfd/kfd/topology/nodes");
	const struct dirent *entry;

	while (nodes && (entry = readdir(nodes))) {
		uint32_t node;

		if (gpu_number(entry->d_name, UINT32_MAX, &node, NULL))
			look_at_node(host->sys_fd, dirfd(nodes), node, out);
	}
}

/* --- NVIDIA: what its driver shows in /proc --- */

/* The text behind @key, blanks cut off; NULL: no line has it. */
static const char *find_line(const char *text, const char *key, size_t *len)
{
	const char *at = strstr(text, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	*len = strcspn(at, "\n");
	return at;
}

static void look_at_card(const struct gpu_host *host, int cards_fd, const char *name,
			 struct gpus *out)
{
	struct gpu gpu = { .vendor = GPU_NVIDIA, .card = -1 };
	char path[64], text[4 * KIB];
	const char *value, *end;
	size_t len = 0;

	snprintf(gpu.address, sizeof(gpu.address), "%s", name);
	snprintf(path, sizeof(path), "%s/information", name);
	if (!read_file(cards_fd, path, text, sizeof(text)) ||
	    !(value = find_line(text, "Device Minor:", &len)) ||
	    !gpu_number(value, NVIDIA_LAST - 1, &gpu.number, &end) || end != value + len) {
		out->unread[GPU_NVIDIA]++;
		return;
	}
	/* Set aside by the administrator (NVreg_ExcludedGpus): it has a node, and computes nothing.
	 */
	value = find_line(text, "GPU Excluded:", &len);
	if (value && strncmp(value, "Yes", 3) == 0)
		return;
	value = find_line(text, "Model:", &len);
	snprintf(gpu.model, sizeof(gpu.model), "%.*s", value ? (int) MIN_OF(len, (size_t) 47) : 10,
		 value ? value : "NVIDIA GPU");
	snprintf(path, sizeof(path), "bus/pci/devices/%s", name);
	if (!follow_link(host->sys_fd, path, gpu.device))
		gpu.device[0] = '\0';
	add(out, &gpu);
}

static void find_nvidia(const struct gpu_host *host, struct gpus *out)
{
	cleanup(close_folder) DIR *cards = open_folder(host->proc_fd, "driver/nvidia/gpus");
	const struct dirent *entry;

	while (cards && (entry = readdir(cards)))
		if (is_address(entry->d_name))
			look_at_card(host, dirfd(cards), entry->d_name, out);
}

/* --- both --- */

static int compare(const void *a, const void *b)
{
	const struct gpu *one = a, *two = b;

	if (one->vendor != two->vendor)
		return one->vendor < two->vendor ? -1 : 1;
	if (one->order != two->order)
		return one->order < two->order ? -1 : 1;
	return strcmp(one->address, two->address);
}

void gpu_find(const struct gpu_host *host, struct gpus *out)
{
	*out = (struct gpus){ .count = 0 };
	find_amd(host, out);
	find_nvidia(host, out);
	qsort(out->list, out->count, sizeof(out->list[0]), compare);
}
