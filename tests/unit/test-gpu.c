/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/gpu_trees.h"

static struct gpus gpus;
static struct err err;

static struct gpu pick(const struct gpu_host *host, const char *which)
{
	struct gpu gpu;

	gpu_find(host, &gpus);
	if (!gpu_pick(host, &gpus, which, &gpu))
		check_fail(__FILE__, __LINE__, "there is no '%s'", which);
	return gpu;
}

static bool is_there(const struct gpu_host *host, const char *which)
{
	struct gpu gpu;

	gpu_find(host, &gpus);
	return gpu_pick(host, &gpus, which, &gpu);
}

/* "kfd 240:0 dri/renderD128 226:128" */
static const char *nodes_of(const struct gpu_host *host, const char *which)
{
	const struct gpu gpu = pick(host, which);
	struct gpu_node nodes[GPU_NODES_MAX];
	static char text[256];
	uint32_t count;
	size_t len = 0;

	err = (struct err) ERR_INIT;
	if (gpu_nodes(host, &gpu, nodes, &count, &err) < 0) {
		CHECK_INT(err.kind, ERR_HOST);
		return err.text;
	}
	for (uint32_t i = 0; i < count; i++)
		len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s %u:%u",
					 i > 0 ? ", " : "", nodes[i].name, nodes[i].major,
					 nodes[i].minor);
	return text;
}

TEST(amds_have_kfd_by_its_number_of_today_and_one_render_node)
{
	struct gpu_host host = gpu_trees_host("226 drm\n237 kfd\n");

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_amd(2, 129, "devices/pci0000:c0/0000:c2:00.0");
	CHECK_STR(nodes_of(&host, "0"), "kfd 237:0, dri/renderD128 226:128");
	CHECK_STR(nodes_of(&host, "1"), "kfd 237:0, dri/renderD129 226:129");
	gpu_trees_put("proc/devices", "Character devices:\n226 drm\n510 kfd\n");
	CHECK_STR(nodes_of(&host, "1"), "kfd 510:0, dri/renderD129 226:129");
}

TEST(nvidias_have_two_in_common_and_one_of_their_own)
{
	struct gpu_host host = gpu_trees_host("195 nvidia\n195 nvidiactl\n509 nvidia-uvm\n");

	gpu_trees_nvidia("0000:19:00.0", 0);
	gpu_trees_nvidia("0000:9b:00.0", 1);
	CHECK_STR(nodes_of(&host, "0"), "nvidiactl 195:255, nvidia-uvm 509:0, nvidia0 195:0");
	CHECK_STR(nodes_of(&host, "1"), "nvidiactl 195:255, nvidia-uvm 509:0, nvidia1 195:1");
	gpu_trees_put("proc/devices", "Character devices:\n195 nvidia-frontend\n236 nvidia-uvm\n");
	CHECK_STR(nodes_of(&host, "1"), "nvidiactl 195:255, nvidia-uvm 236:0, nvidia1 195:1");
}

TEST(a_driver_that_is_not_there_is_told_with_a_way_out)
{
	struct gpu_host host = gpu_trees_host("195 nvidia\n240 kfdx\n226 drm\n");

	gpu_trees_nvidia("0000:19:00.0", 0);
	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	CHECK_STR(nodes_of(&host, "nvidia0"),
		  "no driver has the device '/dev/nvidia-uvm': load it: nvidia-modprobe -u");
	CHECK_STR(nodes_of(&host, "renderD128"),
		  "no driver has the device '/dev/kfd': load the driver: modprobe amdgpu");
	/* Block devices have numbers of their own. */
	gpu_trees_put("proc/devices", "Character devices:\n226 drm\n\nBlock devices:\n240 kfd\n");
	CHECK_STR(nodes_of(&host, "renderD128"),
		  "no driver has the device '/dev/kfd': load the driver: modprobe amdgpu");
	gpu_trees_put("proc/devices", "Character devices:\n99999999999 kfd\n4096 kfd\n226 drm\n");
	CHECK_STR(nodes_of(&host, "renderD128"),
		  "no driver has the device '/dev/kfd': load the driver: modprobe amdgpu");
}

TEST(a_node_of_the_name_that_is_something_else_is_refused)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_put("dev/kfd", "a file");
	CHECK_STR(nodes_of(&host, "0"),
		  "'/dev/kfd' is not the node of its driver, which is the character device 240:0: "
		  "remove it, and have udev or the driver's tools make it anew");
	gpu_trees_put("dev/kfd", NULL);
	gpu_trees_link("dev/kfd", "null");
	CHECK(strstr(nodes_of(&host, "0"), "is not the node of its driver"));
	gpu_trees_put("dev/kfd", NULL);
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(mknodat(check_folder(), "dev/kfd", S_IFCHR | 0600, makedev(239, 0)) == 0);
	CHECK(strstr(nodes_of(&host, "0"), "is not the node of its driver"));
	gpu_trees_put("dev/kfd", NULL);
	CHECK(mknodat(check_folder(), "dev/kfd", S_IFCHR | 0600, makedev(240, 0)) == 0);
	CHECK_STR(nodes_of(&host, "0"), "kfd 240:0, dri/renderD128 226:128");
}

TEST(one_is_named_by_its_place_its_node_or_its_address)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n195 nvidia\n");

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_amd(2, 129, "devices/platform/amdgpu_xcp_0");
	gpu_trees_nvidia("0000:19:00.0", 0);
	CHECK_INT(pick(&host, "1").number, 129);
	CHECK_INT(pick(&host, "2").vendor, GPU_NVIDIA);
	CHECK_INT(pick(&host, "renderD129").number, 129);
	CHECK_STR(pick(&host, "nvidia0").address, "0000:19:00.0");
	CHECK_INT(pick(&host, "0000:c1:00.0").number, 128);
	CHECK(!is_there(&host, ""));
	CHECK(!is_there(&host, "3"));
	CHECK(!is_there(&host, "64"));
	CHECK(!is_there(&host, "18446744073709551616"));
	CHECK(!is_there(&host, "-1"));
	CHECK(!is_there(&host, "nvidia1"));
	CHECK(!is_there(&host, "renderD"));
	CHECK(!is_there(&host, "renderD130"));
	CHECK(!is_there(&host, "card0"));
	CHECK(!is_there(&host, "../kfd"));
}

TEST(a_render_node_that_kfd_does_not_list_can_be_named)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");
	struct gpu gpu;

	gpu_trees_link("sys/dev/char/226:129",
		       "../../devices/pci0000:00/0000:00:03.0/virtio1/drm/renderD129");
	gpu = pick(&host, "renderD129");
	CHECK_INT(gpu.vendor, GPU_AMD);
	CHECK_STR(gpu.device, "devices/pci0000:00/0000:00:03.0/virtio1");
	CHECK_STR(gpu.address, "");
	CHECK_STR(nodes_of(&host, "renderD129"), "kfd 240:0, dri/renderD129 226:129");
	CHECK(!is_there(&host, "0"));
	gpu_trees_link("sys/dev/char/226:129", "../../devices/x/drm/renderD1290");
	CHECK(!is_there(&host, "renderD129"));
}

TEST(one_more_node_of_a_gpu_is_no_other_gpu)
{
	struct gpu_host host = gpu_trees_host("195 nvidia\n226 drm\n240 kfd\n");

	gpu_trees_nvidia("0000:19:00.0", 0);
	gpu_trees_put("sys/devices/pci0000:00/0000:19:00.0/drm/renderD130/dev", "226:130\n");
	gpu_trees_link("sys/dev/char/226:130",
		       "../../devices/pci0000:00/0000:19:00.0/drm/renderD130");
	CHECK_INT(pick(&host, "renderD130").vendor, GPU_NVIDIA);
	CHECK_INT(pick(&host, "renderD130").number, 0);
}

static const char *paths_of(const struct gpu *gpu, bool is_own)
{
	struct gpu_path paths[GPU_PATHS_MAX];
	uint32_t count = gpu_paths(gpu, is_own, paths);
	static char text[2048];
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		len += (size_t) snprintf(text + len, sizeof(text) - len, "%c %s\n",
					 "FILH"[paths[i].kind], paths[i].path);
	return text;
}

TEST(a_jail_sees_of_sys_what_belongs_to_its_gpu)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n195 nvidia\n");
	struct gpu gpu;

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_amd(2, 129, "devices/platform/amdgpu_xcp_0");
	gpu_trees_nvidia("0000:19:00.0", 0);
	gpu = pick(&host, "0");
	CHECK_STR(
		paths_of(&gpu, true),
		"F sys/devices/virtual/kfd/kfd/topology\nL sys/class/kfd/kfd\nI sys/module/amdgpu\n"
		"F sys/devices/pci0000:c0/0000:c1:00.0\nL sys/dev/char/226:128\n"
		"L sys/class/drm/renderD128\nL sys/class/drm/card1\n"
		"L sys/bus/pci/devices/0000:c1:00.0\n");
	CHECK_STR(paths_of(&gpu, false), "");
	gpu = pick(&host, "1");
	CHECK_STR(
		paths_of(&gpu, true),
		"F sys/devices/virtual/kfd/kfd/topology\nL sys/class/kfd/kfd\nI sys/module/amdgpu\n"
		"F sys/devices/platform/amdgpu_xcp_0\nL sys/dev/char/226:129\n"
		"L sys/class/drm/renderD129\nL sys/class/drm/card2\n");
	gpu = pick(&host, "2");
	CHECK_STR(paths_of(&gpu, true),
		  "F sys/devices/pci0000:00/0000:19:00.0\nL sys/bus/pci/devices/0000:19:00.0\n"
		  "I sys/module/nvidia\nI sys/module/nvidia_uvm\nI usr/local/nvidia\n");
	CHECK_STR(paths_of(&gpu, false), "H proc/driver/nvidia/gpus/0000:19:00.0\n");
}

TEST(numbers_are_digits_and_have_an_end)
{
	uint32_t value = 7;
	const char *end;

	CHECK(gpu_number("0", 9, &value, NULL) && value == 0);
	CHECK(gpu_number("12 x", 12, &value, &end) && value == 12 && strcmp(end, " x") == 0);
	CHECK(gpu_number("4294967295", UINT32_MAX, &value, NULL) && value == UINT32_MAX);
	value = 7;
	CHECK(!gpu_number("", 9, &value, NULL) && !gpu_number("13", 12, &value, NULL));
	CHECK(!gpu_number("1x", 9, &value, NULL) && !gpu_number(" 1", 9, &value, NULL));
	CHECK(!gpu_number("+1", 9, &value, NULL) && !gpu_number("-1", 9, &value, NULL));
	CHECK(!gpu_number("4294967296", UINT32_MAX, &value, NULL));
	CHECK_INT(value, 7);
}
