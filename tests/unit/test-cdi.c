/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

static const char nvidia[] =
	"---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
	"- name: \"0\"\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n"
	"- name: all\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n"
	"containerEdits:\n  deviceNodes:\n  - path: /dev/nvidiactl\n"
	"  hooks:\n"
	"  - hookName: createContainer\n    path: /usr/bin/nvidia-cdi-hook\n"
	"    args: [nvidia-cdi-hook, create-symlinks, --link, a]\n"
	"  - hookName: createContainer\n    path: /usr/bin/nvidia-cdi-hook\n"
	"    args: [nvidia-cdi-hook, disable-device-node-modification]\n"
	"  mounts:\n"
	"  - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.1\n    containerPath: /a\n"
	"  - hostPath: /run/nvidia-persistenced/socket\n    containerPath: /b\n";

TEST(a_host_without_files_needs_none)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "none, and none is needed");
	host.etc_fd = host.run_fd = -1;
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "none, and none is needed");
}

TEST(a_file_of_nvidias_is_told_with_what_jails_have_not)
{
	struct doctor_host host = hosts_good();

	hosts_put("etc/cdi/nvidia.yaml", nvidia);
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK,
		   "nvidia.yaml: nvidia.com/gpu, 2 devices, 2 mounts, 2 hooks");
	hosts_put("run/cdi/amd.json",
		  "{\"cdiVersion\": \"0.6.0\", \"kind\": \"amd.com/gpu\",\n"
		  " \"devices\": [{\"name\": \"0\", \"containerEdits\": {\"deviceNodes\":\n"
		  "   [{\"path\": \"/dev/dri/card1\"}, {\"path\": \"\\/dev\\/kfd\"}]}}],\n"
		  " \"containerEdits\": {\"mounts\": [{\"hostPath\": \"/opt/rocm/lib\"}],\n"
		  "   \"hooks\": [{\"path\": \"/opt/hook\\u001b[1m\", \"args\": [\"x\"]}]}}\n");
	CHECK_LOOK(look_cdi, &host, DOCTOR_DEGRADED,
		   "1 of the mounts are not below /usr, and in no jail unless site.conf lists them "
		   "by root.folder: /opt/rocm/lib");
	CHECK_LOOK(look_cdi, &host, DOCTOR_DEGRADED,
		   "nothing of ours does what the hook '/opt/hook\\x1b[1m' does");
}

TEST(files_that_make_no_sense_are_told_and_do_no_harm)
{
	struct doctor_host host = hosts_good();

	hosts_put("etc/cdi/a.json", "{\"kind\": ");
	CHECK_LOOK(look_cdi, &host, DOCTOR_DEGRADED, "a.json:");
	hosts_put("etc/cdi/a.json", "kind: vendor.com/net\n");
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "none for GPUs");
	hosts_put("etc/cdi/a.json", "[]");
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "none for GPUs");
	hosts_put("etc/cdi/a.json",
		  "{kind: amd.com/gpu, devices: 7, containerEdits: [mounts, {hooks: 1}]}");
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "amd.com/gpu, 0 devices, 0 mounts, 0 hooks");
	hosts_put("etc/cdi/a.json",
		  "{kind: amd.com/gpu, devices: [x, [y]], containerEdits: {hooks: [1, {args: z}, "
		  "{args: []}, {args: [[], []]}], mounts: [a, {hostPath: []}]}}");
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "amd.com/gpu, 2 devices, 0 mounts, 0 hooks");
	hosts_put("etc/cdi/.hidden.json", "{\"kind\": ");
	CHECK_LOOK(look_cdi, &host, DOCTOR_OK, "amd.com/gpu");
}
