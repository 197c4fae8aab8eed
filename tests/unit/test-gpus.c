/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

#define NODES "sys/class/kfd/kfd/topology/nodes/"

TEST(an_amd_gpu_is_told_with_its_node_and_its_driver)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_amd, &host, DOCTOR_OK,
		   "GPU 0: gfx942 at renderD128, 0000:c1:00.0; a jail with this one has /dev/kfd, "
		   "/dev/dri/renderD128; 1 GPU; driver amdgpu 6.8.5");
	hosts_put(NODES "1/properties", "gfx_target_version 90010\ndrm_render_minor 128\n");
	CHECK_LOOK(look_amd, &host, DOCTOR_OK, "gfx90a at renderD128");
	hosts_put(NODES "1/properties", "gfx_target_version 110000\ndrm_render_minor 128\n");
	hosts_put("sys/module/amdgpu/version", NULL);
	CHECK_LOOK(look_amd, &host, DOCTOR_OK, "gfx1100 at renderD128");
	CHECK_LOOK(look_amd, &host, DOCTOR_OK, "1 GPU; the kernel's own");
}

TEST(device_nodes_of_amd_that_lack_are_named)
{
	struct doctor_host host = hosts_good();

	hosts_put("dev/dri/renderD128", NULL);
	CHECK_LOOK(look_amd, &host, DOCTOR_DEGRADED, "there is no /dev/dri/renderD128");
	hosts_put("dev/kfd", NULL);
	CHECK_LOOK(look_amd, &host, DOCTOR_MISSING, "there is no /dev/kfd");
}

TEST(a_gpu_that_may_not_be_read_is_told)
{
	struct doctor_host host = hosts_good();

	hosts_put(NODES "1/properties", NULL);
	CHECK_LOOK(look_amd, &host, DOCTOR_DEGRADED, "1 more can not be read");
	hosts_put(NODES "1/gpu_id", "0\n");
	CHECK_LOOK(look_amd, &host, DOCTOR_MISSING, "no GPU for computing");
}

TEST(an_nvidia_gpu_is_told_with_its_node_and_its_driver)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(
		look_nvidia, &host, DOCTOR_OK,
		"driver 550.54.15; GPU 1: NVIDIA H200 at nvidia0, 0000:19:00.0; a jail with this "
		"one has /dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0");
	hosts_put("proc/driver/nvidia/version",
		  "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release\n");
	CHECK_LOOK(look_nvidia, &host, DOCTOR_OK, "driver 580.95.05");
	hosts_put("proc/driver/nvidia/version", "something else\n");
	CHECK_LOOK(look_nvidia, &host, DOCTOR_OK, "a driver of unknown version");
}

TEST(device_nodes_of_nvidia_that_lack_are_named)
{
	struct doctor_host host = hosts_good();

	hosts_put("dev/nvidia0", NULL);
	CHECK_LOOK(look_nvidia, &host, DOCTOR_DEGRADED, "there is no /dev/nvidia0");
	hosts_put("dev/nvidia-uvm", NULL);
	CHECK_LOOK(look_nvidia, &host, DOCTOR_DEGRADED, "there is no /dev/nvidia-uvm");
	hosts_put("proc/devices", "Character devices:\n195 nvidia\n226 drm\n240 kfd\n");
	CHECK_LOOK(look_nvidia, &host, DOCTOR_DEGRADED,
		   "no jail can have one: no driver has the device '/dev/nvidia-uvm': load it: "
		   "nvidia-modprobe -u");
	hosts_put("proc/driver/nvidia/gpus/0000:19:00.0/information", NULL);
	CHECK_LOOK(look_nvidia, &host, DOCTOR_DEGRADED, "1 more can not be read");
	hosts_put("proc/driver/nvidia/version", NULL);
	CHECK_LOOK(look_nvidia, &host, DOCTOR_MISSING, "/dev/nvidiactl without a driver");
}

TEST(a_host_without_gpus_says_none)
{
	struct doctor_host host = hosts_good();

	host.proc_fd = host.sys_fd = host.dev_fd = host.etc_fd;
	CHECK_LOOK(look_amd, &host, DOCTOR_MISSING, "none");
	CHECK_LOOK(look_nvidia, &host, DOCTOR_MISSING, "none");
	host.proc_fd = host.sys_fd = host.dev_fd = -1;
	CHECK_LOOK(look_amd, &host, DOCTOR_MISSING, "none");
	CHECK_LOOK(look_nvidia, &host, DOCTOR_MISSING, "none");
}
