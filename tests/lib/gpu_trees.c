/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/gpu_trees.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static void make_folders(const char *path)
{
	char folder[512];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int) (slash - path), path);
		CHECK(mkdirat(check_folder(), folder, 0755) == 0 || errno == EEXIST);
	}
}

void gpu_trees_put(const char *path, const char *text)
{
	auto_fd fd = -1;

	if (!text) {
		CHECK(unlinkat(check_folder(), path, 0) == 0 ||
		      unlinkat(check_folder(), path, AT_REMOVEDIR) == 0);
		return;
	}
	make_folders(path);
	fd = openat(check_folder(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

void gpu_trees_link(const char *path, const char *target)
{
	make_folders(path);
	CHECK(unlinkat(check_folder(), path, 0) == 0 || errno == ENOENT);
	CHECK(symlinkat(target, check_folder(), path) == 0);
}

static int open_folder(const char *path)
{
	int fd;

	CHECK(mkdirat(check_folder(), path, 0755) == 0 || errno == EEXIST);
	fd = openat(check_folder(), path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

struct gpu_host gpu_trees_host(const char *drivers)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "Character devices:\n  1 mem\n  5 /dev/tty\n 10 misc\n%s\nBlock devices:\n"
		 "  7 loop\n259 blkext\n",
		 drivers);
	gpu_trees_put("proc/devices", text);
	return (struct gpu_host){ open_folder("proc"), open_folder("sys"), open_folder("dev") };
}

void gpu_trees_amd(uint32_t node, uint32_t render, const char *device)
{
	char path[512], text[512];

	gpu_trees_link("sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd");
	snprintf(path, sizeof(path), "sys/devices/virtual/kfd/kfd/topology/nodes/%u/gpu_id", node);
	gpu_trees_put(path, "51110\n");
	snprintf(path, sizeof(path), "sys/devices/virtual/kfd/kfd/topology/nodes/%u/properties",
		 node);
	snprintf(text, sizeof(text),
		 "cpu_cores_count 0\nsimd_count 1216\nlocation_id 49408\ndomain 0\n"
		 "drm_render_minor %u\nhive_id 12\ngfx_target_version 90402\n",
		 render);
	gpu_trees_put(path, text);
	snprintf(path, sizeof(path), "sys/%s/drm/renderD%u/dev", device, render);
	snprintf(text, sizeof(text), "226:%u\n", render);
	gpu_trees_put(path, text);
	snprintf(path, sizeof(path), "sys/%s/drm/card%u/dev", device, render - 127);
	gpu_trees_put(path, "226:1\n");
	snprintf(path, sizeof(path), "sys/dev/char/226:%u", render);
	snprintf(text, sizeof(text), "../../%s/drm/renderD%u", device, render);
	gpu_trees_link(path, text);
}

void gpu_trees_nvidia(const char *address, uint32_t minor)
{
	char path[512], text[512];

	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
	snprintf(text, sizeof(text),
		 "Model: \t\t NVIDIA H200\nIRQ:   \t\t 188\nGPU UUID: \t GPU-1\nBus Type: \t PCIe\n"
		 "Bus Location: \t %s\nDevice Minor: \t %u\nGPU Firmware: \t 580.95.05\n",
		 address, minor);
	gpu_trees_put(path, text);
	snprintf(path, sizeof(path), "sys/devices/pci0000:00/%s/vendor", address);
	gpu_trees_put(path, "0x10de\n");
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", address);
	snprintf(text, sizeof(text), "../../../devices/pci0000:00/%s", address);
	gpu_trees_link(path, text);
}
