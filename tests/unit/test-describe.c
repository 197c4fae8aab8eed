/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/describe.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

/* test-explain compares what is said with real jails; here are the parts that no host shows. */

static struct arena arena;
static struct jail_spec spec;
static struct jail_description jail;
static struct describe_host host;
static struct err err;

static void describe(uint32_t v1, uint32_t unified)
{
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/bin/true", &err));
	host = (struct describe_host){ .v1 = v1, .unified = unified };
	site_default(&host.site);
	host.layout.unified.mount = "/sys/fs/cgroup";
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (v1 & CGROUP_BIT(i))
			host.layout.v1[i].mount = "/v1";
	spec.cgroup.cpu_milli = 1500;
}

static void make(void)
{
	jail = (struct jail_description){ .tree_count = 0 };
	CHECK_OK(describe_jail(&spec, &host, &arena, &jail, &err));
}

static const struct described_limit *find(const char *file)
{
	for (size_t i = 0; i < jail.limit_count; i++)
		if (strcmp(jail.limits[i].file, file) == 0)
			return &jail.limits[i];
	check_fail(__FILE__, __LINE__, "no limit is enforced by %s", file);
}

TEST(limits_are_those_of_the_hierarchy_that_has_the_controller)
{
	describe(0, CGROUP_BIT(CGROUP_CONTROLLERS) - 1);
	make();
	CHECK_STR(find("/sys/fs/cgroup/…/memory.max")->value, "1073741824");
	CHECK_STR(find("/sys/fs/cgroup/…/memory.swap.max")->value, "0");
	CHECK_STR(find("/sys/fs/cgroup/…/cpu.max")->value, "150000 100000");
	CHECK_STR(find("/sys/fs/cgroup/…/pids.max")->by, "cgroup v2");
	describe(CGROUP_BIT(CGROUP_MEMORY), CGROUP_BIT(CGROUP_PIDS));
	make();
	CHECK_STR(find("/v1/…/memory.limit_in_bytes")->by, "cgroup v1");
	CHECK(find("/sys/fs/cgroup/…/pids.max")->holds);
	arena_done(&arena);
}

TEST(a_jail_is_what_the_site_makes_of_it)
{
	describe(CGROUP_BIT(CGROUP_CPU), 0);
	host.site.uid_base = 0x20000;
	host.site.uid_ranges = 3;
	host.site.jail.cpu_milli = 2500;
	spec.cgroup.cpu_milli = 0;
	make();
	CHECK_INT(jail.range_base, 0x20000);
	CHECK_INT(jail.range_count, 3);
	CHECK_STR(find("/v1/…/cpu.cfs_quota_us")->value, "250000");
	CHECK_INT(spec.cgroup.cpu_milli, 0);
	host.site.has_profiler = 0;
	spec.extra_calls = SECCOMP_BIT(SECCOMP_EXTRA_PROFILER);
	CHECK_INT(describe_jail(&spec, &host, &arena, &jail, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "'calls.profiler yes' in /etc/proctor/site.conf"));
	arena_done(&arena);
}

TEST(a_limit_that_nothing_enforces_is_said_not_to_hold)
{
	describe(0, CGROUP_BIT(CGROUP_MEMORY));
	make();
	CHECK(find("/sys/fs/cgroup/…/memory.max")->holds);
	CHECK(!find("/sys/fs/cgroup/…/pids.max")->holds);
	CHECK(!find("/sys/fs/cgroup/…/cpu.max")->holds);
	arena_done(&arena);
}

TEST(times_that_end_a_jail_stand_there_where_it_has_them)
{
	describe(0, 0);
	spec.time.cpu_ms = spec.time.idle_ms = 0;
	make();
	for (size_t i = 0; i < jail.limit_count; i++)
		CHECK(strcmp(jail.limits[i].name, "idle") != 0);
	CHECK_STR(find("timer, then SIGTERM")->value, "60000");
	spec.time.idle_ms = 77;
	spec.ends_on_full = 1;
	make();
	CHECK_STR(find("cpu.stat usage_usec and output, each 100 ms")->value, "77");
	CHECK_STR(find("fstatfs, each 100 ms")->by, "monitor");
	arena_done(&arena);
}

TEST(a_kernel_without_landlock_has_no_rules_of_it)
{
	describe(0, 0);
	make();
	CHECK_INT(jail.landlock_count, 0);
	CHECK_INT(jail.scope_count, 0);
	host.landlock_abi = 3;
	make();
	CHECK_INT(jail.landlock_count, 6);
	CHECK_STR(jail.landlock[0].path, "/");
	CHECK_STR(jail.landlock[0].rights, "execute read_file read_dir");
	CHECK(!strstr(jail.landlock[2].rights, "ioctl_dev"));
	CHECK_INT(jail.scope_count, 0);
	arena_done(&arena);
}

TEST(folders_that_the_launcher_covers_are_covered)
{
	size_t covered = 0;

	describe(0, 0);
	snprintf(host.masks[0], sizeof(host.masks[0]), "/usr");
	snprintf(host.masks[1], sizeof(host.masks[1]), "/usr/no/such/folder");
	make();
	for (size_t i = 0; i < jail.tree_count; i++) {
		const struct described_entry *entry = &jail.tree[i];

		if (strcmp(entry->path, "/usr") == 0 && strcmp(entry->kind, "mask") == 0)
			covered += entry->is_there;
		if (strcmp(entry->path, "/usr/no/such/folder") == 0)
			CHECK(!entry->is_there);
	}
	CHECK_INT(covered, 1);
	arena_done(&arena);
}

TEST(an_image_is_the_root_and_its_changes_have_limits)
{
	describe(0, 0);
	spec.plan.root = PLAN_ROOT_IMAGE;
	snprintf(spec.plan.image, sizeof(spec.plan.image), "rocm");
	CHECK_OK(site_parse("site.conf", "source rocm erofs /srv/rocm", 27, &host.site, &err));
	make();
	CHECK_STR(jail.tree[0].path, "/");
	CHECK_STR(jail.tree[0].kind, "image");
	CHECK_STR(jail.tree[0].source, "rocm");
	CHECK_STR(jail.tree[0].type, "overlay");
	CHECK_STR(jail.tree[0].attributes, "ro,nosuid,nodev");
	for (size_t i = 0; i < jail.tree_count; i++)
		CHECK(strcmp(jail.tree[i].path, "/usr") != 0);
	spec_add_tmpfs(&spec, "/", 77 * MIB, 100);
	make();
	CHECK_STR(jail.tree[0].attributes, "rw,nosuid,nodev");
	for (size_t i = 0; i < jail.limit_count; i++)
		if (strcmp(jail.limits[i].name, "/") == 0 &&
		    strcmp(jail.limits[i].unit, "bytes") == 0)
			CHECK_STR(jail.limits[i].value, "80740352");
	arena_done(&arena);
}

TEST(a_worker_has_no_sockets_and_its_refusals_are_not_counted)
{
	size_t sockets = 0;

	describe(0, 0);
	make();
	CHECK(jail.refusals_are_counted);
	for (size_t i = 0; i < jail.call_count; i++)
		sockets += strcmp(jail.calls[i].name, "socket") == 0;
	CHECK_INT(sockets, 1);
	spec.freezable = 1;
	make();
	CHECK(!jail.refusals_are_counted);
	for (size_t i = 0; i < jail.call_count; i++)
		CHECK(strcmp(jail.calls[i].name, "socket") != 0);
	arena_done(&arena);
}

static struct described_device find_device(const char *name)
{
	for (size_t i = 0; i < jail.device_count; i++)
		if (jail.devices[i].name && strcmp(jail.devices[i].name, name) == 0)
			return jail.devices[i];
	return (struct described_device){ .name = NULL };
}

static struct described_entry find_entry(const char *path)
{
	for (size_t i = 0; i < jail.tree_count; i++)
		if (strcmp(jail.tree[i].path, path) == 0)
			return jail.tree[i];
	return (struct described_entry){ .path = NULL };
}

/* A host with two GPUs of AMD's, as gpu_find() would have them. */
static void add_gpus(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct gpu *gpu = &host.gpus.list[host.gpus.count++];

		*gpu = (struct gpu){ .vendor = GPU_AMD, .number = 128 + i, .card = -1 };
		snprintf(gpu->device, sizeof(gpu->device), "devices/pci0000:c0/0000:c%u:00.0", i);
		snprintf(gpu->address, sizeof(gpu->address), "0000:c%u:00.0", i);
		host.nodes[i].count = 2;
		host.nodes[i].list[0] = (struct gpu_node){ "kfd", 240, 0 };
		host.nodes[i].list[1] = (struct gpu_node){ .major = 226, .minor = 128 + i };
		snprintf(host.nodes[i].list[1].name, sizeof(host.nodes[i].list[1].name),
			 "dri/renderD%u", 128 + i);
	}
}

TEST(a_jail_with_a_gpu_is_told_with_its_nodes_its_part_of_sys_and_its_calls)
{
	size_t calls;

	describe(0, 0);
	add_gpus();
	make();
	calls = jail.call_count;
	CHECK(!find_device("kfd").name &&
	      !find_entry("/sys/devices/virtual/kfd/kfd/topology").path);
	CHECK(find_entry("/proc/driver/nvidia").path);
	CHECK_OK(spec_add_gpu(&spec, "0000:c1:00.0", &err));
	make();
	CHECK_STR(find_device("kfd").number, "c 240:0");
	CHECK_STR(find_device("dri/renderD129").number, "c 226:129");
	CHECK_INT(find_device("dri/renderD129").mode, 0666);
	CHECK(!find_device("dri/renderD128").name);
	CHECK_STR(find_entry("/sys/devices/pci0000:c0/0000:c1:00.0").kind, "bind");
	CHECK(!find_entry("/sys/devices/pci0000:c0/0000:c0:00.0").path);
	CHECK(jail.call_count > calls);
	CHECK_STR(find("/run/proctor/gpu-…, flock")->value, "1");
	CHECK(find("/run/proctor/gpu-…, flock")->holds);
	CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	make();
	CHECK(find_device("dri/renderD128").name);
	CHECK(find("/run/proctor/gpu-…, flock")->holds);
	CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	make();
	CHECK(!find("/run/proctor/gpu-…, flock")->holds);
	arena_done(&arena);
}

TEST(this_host_can_be_looked_at_without_privilege)
{
	static const char *const masks[] = { "/one", "/two", NULL };

	CHECK_OK(describe_look("/none/site.conf", masks, &arena, &host, &err));
	CHECK_STR(host.masks[1], "/two");
	CHECK(host.layout.unified.mount != NULL);
	arena_done(&arena);
}
