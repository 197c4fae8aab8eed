/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/gpu_trees.h"

static struct gpus gpus;

/* "AMD renderD128 gfx942 0000:c1:00.0 1" of each, lines. */
static const char *found(const struct gpu_host *host)
{
	static char text[8192];
	size_t len = 0;

	gpu_find(host, &gpus);
	text[0] = '\0';
	for (uint32_t i = 0; i < gpus.count; i++) {
		const struct gpu *gpu = &gpus.list[i];
		char node[32];

		gpu_node_name(gpu, node, sizeof(node));
		len += (size_t) snprintf(text + len, sizeof(text) - len, "%s %s %s %s %d\n",
					 names_text(gpu_vendor_names, (int) gpu->vendor), node,
					 gpu->model, gpu->address, gpu->card);
	}
	return text;
}

TEST(a_host_without_gpus_has_none)
{
	struct gpu_host host = gpu_trees_host("");

	CHECK_STR(found(&host), "");
	CHECK_INT(gpus.unread[GPU_AMD] + gpus.unread[GPU_NVIDIA], 0);
	CHECK_STR(found(&(struct gpu_host){ -1, -1, -1 }), "");
}

/* Node 0 is the CPU's. */
static void put_cpu(void)
{
	gpu_trees_put("sys/devices/virtual/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
	gpu_trees_put("sys/devices/virtual/kfd/kfd/topology/nodes/0/properties",
		      "cpu_cores_count 96\ndrm_render_minor 0\n");
}

TEST(one_gpu_of_amds_is_found_by_the_topology_and_its_link)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");

	put_cpu();
	CHECK_STR(found(&host), "");
	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	CHECK_STR(found(&host), "AMD renderD128 gfx942 0000:c1:00.0 1\n");
	CHECK_STR(gpus.list[0].device, "devices/pci0000:c0/0000:c1:00.0");
}

TEST(eight_of_amds_are_in_the_order_of_the_topology_and_not_of_its_names)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");
	char device[64];

	put_cpu();
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(device, sizeof(device), "devices/pci0000:%02x/0000:%02x:00.0", i * 16,
			 i * 16 + 5);
		/* The node's numbers pass 9, the render nodes' come the other way round. */
		gpu_trees_amd(4 + i, 135 - i, device);
	}
	CHECK_STR(found(&host),
		  "AMD renderD135 gfx942 0000:05:00.0 8\nAMD renderD134 gfx942 0000:15:00.0 7\n"
		  "AMD renderD133 gfx942 0000:25:00.0 6\nAMD renderD132 gfx942 0000:35:00.0 5\n"
		  "AMD renderD131 gfx942 0000:45:00.0 4\nAMD renderD130 gfx942 0000:55:00.0 3\n"
		  "AMD renderD129 gfx942 0000:65:00.0 2\nAMD renderD128 gfx942 0000:75:00.0 1\n");
}

TEST(a_partition_is_one_with_a_render_node_and_no_address_of_its_own)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");

	put_cpu();
	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_amd(2, 129, "devices/platform/amdgpu_xcp_0");
	gpu_trees_amd(3, 130, "devices/platform/amdgpu_xcp_1");
	CHECK_STR(found(&host), "AMD renderD128 gfx942 0000:c1:00.0 1\n"
				"AMD renderD129 gfx942  2\nAMD renderD130 gfx942  3\n");
	CHECK_STR(gpus.list[2].device, "devices/platform/amdgpu_xcp_1");
}

TEST(those_of_nvidias_are_in_the_order_of_the_bus)
{
	struct gpu_host host = gpu_trees_host("195 nvidia\n511 nvidia-uvm\n");

	gpu_trees_nvidia("0000:9b:00.0", 0);
	gpu_trees_nvidia("0000:19:00.0", 1);
	gpu_trees_put("proc/driver/nvidia/gpus/not-one/information", "Device Minor: 7\n");
	CHECK_STR(found(&host), "NVIDIA nvidia1 NVIDIA H200 0000:19:00.0 -1\n"
				"NVIDIA nvidia0 NVIDIA H200 0000:9b:00.0 -1\n");
	CHECK_STR(gpus.list[0].device, "devices/pci0000:00/0000:19:00.0");
	CHECK_INT(gpus.unread[GPU_NVIDIA], 0);
}

/* What a machine with two H200 and driver 580.159 shows, but for the numbers of its cards. */
TEST(a_machine_as_it_was_read_has_its_two_gpus_and_their_nodes)
{
	struct gpu_host host = {
		open(TEST_DATA "/gpu/h200-x2/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
		open(TEST_DATA "/gpu/h200-x2/sys", O_PATH | O_DIRECTORY | O_CLOEXEC),
		-1,
	};
	struct gpu_node nodes[GPU_NODES_MAX];
	struct err err = ERR_INIT;
	uint32_t count;

	CHECK(host.proc_fd >= 0 && host.sys_fd >= 0);
	CHECK_STR(found(&host), "NVIDIA nvidia0 NVIDIA H200 0000:00:06.0 -1\n"
				"NVIDIA nvidia1 NVIDIA H200 0000:00:07.0 -1\n");
	CHECK_STR(gpus.list[1].device, "devices/pci0000:00/0000:00:07.0");
	CHECK_OK(gpu_nodes(&host, &gpus.list[1], nodes, &count, &err));
	CHECK_INT(count, 3);
	CHECK_INT(nodes[0].major, 195);
	CHECK_INT(nodes[1].major, 238);
	CHECK_STR(nodes[2].name, "nvidia1");
	CHECK_INT(nodes[2].minor, 1);
}

#define NODE "sys/devices/virtual/kfd/kfd/topology/nodes/1/"
#define CARD "proc/driver/nvidia/gpus/0000:19:00.0/information"

/* What no kernel says, and what lacks. None of it may become a node or a path. */
TEST(texts_that_make_no_sense_are_no_gpu)
{
	static const char *const minors[] = {
		"",        "x",          "-1",
		"127",     "0",          "128x",
		"1048576", "4294967424", "340282366920938463463374607431768211456"
	};
	static const char *const links[] = {
		"/etc/passwd",
		"devices/pci0000:c0/0000:c1:00.0/drm/renderD128",
		"../../devices/../../etc/drm/renderD128",
		"../../devices/pci0000:c0/0000:c1:00.0/drm/renderD129",
		"../../class/drm/renderD128",
		"../../devices//x/drm/renderD128",
		"../../devices/drm/renderD128x",
	};
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");
	char text[512];

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	for (size_t i = 0; i < ARRAY_LEN(minors); i++) {
		snprintf(text, sizeof(text), "drm_render_minor %s\n", minors[i]);
		gpu_trees_put(NODE "properties", text);
		if (strcmp(found(&host), "") != 0 || gpus.unread[GPU_AMD] != 1)
			check_fail(__FILE__, __LINE__, "minor '%s' was believed", minors[i]);
	}
	gpu_trees_put(NODE "properties", "xdrm_render_minor 128\ndrm_render_minorx 128\n");
	CHECK_STR(found(&host), "");
	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		gpu_trees_link("sys/dev/char/226:128", links[i]);
		if (strcmp(found(&host), "") != 0)
			check_fail(__FILE__, __LINE__, "link '%s' was followed", links[i]);
	}
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "../../devices/", 14);
	gpu_trees_link("sys/dev/char/226:128", text);
	CHECK_STR(found(&host), "");
	gpu_trees_put(NODE "gpu_id", "99999999999999999999\n");
	CHECK_STR(found(&host), "");
	gpu_trees_put(NODE "gpu_id", NULL);
	CHECK_STR(found(&host), "");
	CHECK_INT(gpus.unread[GPU_AMD], 0); /* it may be a CPU */
}

TEST(what_nvidias_driver_does_not_say_is_not_guessed)
{
	static const char *const texts[] = { "",
					     "Model: x\n",
					     "Device Minor: \n",
					     "Device Minor: 254\n",
					     "Device Minor: 1x\n",
					     "Device Minor: 18446744073709551617\n" };
	struct gpu_host host = gpu_trees_host("195 nvidia\n");

	gpu_trees_nvidia("0000:19:00.0", 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		gpu_trees_put(CARD, texts[i]);
		if (strcmp(found(&host), "") != 0 || gpus.unread[GPU_NVIDIA] != 1)
			check_fail(__FILE__, __LINE__, "'%s' was believed", texts[i]);
	}
	gpu_trees_put(CARD, "Device Minor: 3\nGPU Excluded:\t Yes\n");
	CHECK_STR(found(&host), "");
	CHECK_INT(gpus.unread[GPU_NVIDIA], 0);
	gpu_trees_put(CARD, "Device Minor: 3");
	CHECK_STR(found(&host), "NVIDIA nvidia3 NVIDIA GPU 0000:19:00.0 -1\n");
	gpu_trees_put("sys/bus/pci/devices/0000:19:00.0", NULL);
	CHECK_STR(found(&host), "NVIDIA nvidia3 NVIDIA GPU 0000:19:00.0 -1\n");
	CHECK_STR(gpus.list[0].device, "");
}

TEST(more_gpus_than_the_list_holds_are_counted_and_not_listed)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n");
	char device[64];

	for (uint32_t i = 0; i < GPU_MAX + 3; i++) {
		snprintf(device, sizeof(device), "devices/platform/amdgpu_xcp_%u", i);
		gpu_trees_amd(1 + i, 128 + i, device);
	}
	gpu_find(&host, &gpus);
	CHECK_INT(gpus.count, GPU_MAX);
	CHECK_INT(gpus.unread[GPU_AMD], 3);
}
