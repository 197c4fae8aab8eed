/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/spec.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct jail_spec spec;
static struct err err;

static struct jail_spec *good(void)
{
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/bin/true", &err));
	CHECK_OK(spec_add_env(&spec, "A=1", &err));
	return &spec;
}

static void check_refused(const char *part)
{
	CHECK_INT(spec_check(&spec, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.text, part);
}

TEST(the_defaults_make_a_jail)
{
	good();
	CHECK_OK(spec_check(&spec, &err));
}

TEST(services_are_ports_each_once_and_none_of_a_worker)
{
	good()->net = (struct net_slice){ 2, { 80, 8080 } };
	CHECK_OK(spec_check(&spec, &err));
	spec.net.ports[1] = 80;
	check_refused("two services at the port 80");
	spec.net.ports[1] = 0;
	check_refused("a service at 0");
	spec.net.count = NET_SERVICES_MAX + 1;
	check_refused("9 services; 8 at most");
	good()->net = (struct net_slice){ 1, { 80 } };
	spec.freezable = 1;
	check_refused("a jail that can be frozen has no services, and 1 are asked for");
}

TEST(strings_come_back_as_they_went_in)
{
	const char *argv[4], *envp[3];

	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "sh", &err));
	CHECK_OK(spec_add_arg(&spec, "", &err));
	CHECK_OK(spec_add_arg(&spec, "two words\n", &err));
	CHECK_OK(spec_add_env(&spec, "A=1", &err));
	CHECK_OK(spec_add_env(&spec, "B=", &err));
	CHECK_OK(spec_check(&spec, &err));
	spec_strings(&spec, argv, envp);
	CHECK_STR(argv[0], "sh");
	CHECK_STR(argv[1], "");
	CHECK_STR(argv[2], "two words\n");
	CHECK(argv[3] == NULL);
	CHECK_STR(envp[1], "B=");
	CHECK(envp[2] == NULL);
}

TEST(strings_that_are_too_long_are_refused_when_added)
{
	static char text[SPEC_STRINGS_MAX];

	memset(text, 'a', sizeof(text) - 1);
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, text, &err));
	CHECK_INT(spec_add_arg(&spec, "", &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_command_that_lies_about_its_strings_is_refused)
{
	good()->command.argc = 0;
	check_refused("0 arguments");
	good()->command.argc = 2;
	check_refused("2 arguments");
	good()->command.envc = UINT32_MAX;
	check_refused("environment strings");
	good()->command.length = SPEC_STRINGS_MAX + 1;
	check_refused("bytes");
	good()->command.strings[spec.command.length - 1] = 'x';
	check_refused("does not end");
	memset(good()->command.folder, 'a', sizeof(spec.command.folder));
	check_refused("working folder");
}

TEST(names_are_host_names)
{
	static const char *const bad[] = { "", "a b", "a/b", "../x", "ä" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(good()->name, sizeof(spec.name), "%s", bad[i]);
		check_refused("name");
	}
	memset(good()->name, 'a', sizeof(spec.name));
	check_refused("name");
}

TEST(a_full_disk_can_never_be_a_memory_kill)
{
	uint64_t need = 16 * MIB;

	good();
	for (size_t i = 0; i < spec.plan.tmpfs_count; i++)
		need += spec.plan.tmpfs[i].bytes + spec.plan.tmpfs[i].inodes * SPEC_INODE_MEMORY;
	spec.cgroup.memory = need;
	CHECK_OK(spec_check(&spec, &err));
	spec.cgroup.memory = need - 1;
	check_refused("filled to the brim");
}

TEST(what_can_be_done_without_and_what_ends_a_jail_is_known)
{
	good()->cgroup.accept = (1U << CGROUP_LIMITS) - 1;
	spec.accept_landlock = spec.ends_on_full = 1;
	spec.time.idle_ms = UINT64_C(7) * 24 * 3600 * 1000;
	CHECK_OK(spec_check(&spec, &err));
	good()->time.idle_ms = UINT64_C(7) * 24 * 3600 * 1000 + 1;
	check_refused("an idle limit of 604800001 ms");
	good()->cgroup.accept = 1U << CGROUP_LIMITS;
	check_refused("nobody knows");
	good()->extra_calls = SECCOMP_BIT(SECCOMP_EXTRAS);
	check_refused("lists of calls that nobody knows: 0x4");
	good()->accept_landlock = 2;
	check_refused("unknown flags");
	good()->ends_on_full = 2;
	check_refused("unknown flags");
}

TEST(limits_have_edges)
{
	good()->cgroup.memory = 0;
	check_refused("memory limit");
	good()->cgroup.pids = 3;
	check_refused("at least 4 processes");
	good()->cgroup.cpu_milli = 9;
	check_refused("thousandths");
	snprintf(good()->cgroup.cpus, sizeof(spec.cgroup.cpus), "0-3;reboot");
	check_refused("list of CPUs");
	good()->time.wall_ms = 0;
	check_refused("wall limit");
	good()->time.wall_ms = UINT64_MAX;
	check_refused("wall limit");
	good()->time.grace_ms = 60001;
	check_refused("grace");
}

TEST(trees_lie_in_a_tmpfs)
{
	static const char *const bad[] = {
		"/usr", "/", "work", "/work/../usr", "/etc", "/workshop"
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		good()->tree_count = 1;
		spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
		snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "%s", bad[i]);
		check_refused("can not be unpacked");
	}
	good()->tree_count = SPEC_TREES_MAX + 1;
	check_refused("trees");
	good()->pass_count = SPEC_PASS_MAX + 1;
	check_refused("descriptors");
}

TEST(what_is_collected_is_a_tmpfs_of_the_jail)
{
	good()->collect.wanted = 1;
	spec.collect.limits = STREAM_LIMITS_DEFAULT;
	spec.collect.wall_ms = 1000;
	CHECK_OK(spec_check(&spec, &err));
	spec.collect.tmpfs = 3;
	check_refused("no tmpfs 3");
	spec.collect.tmpfs = 0;
	snprintf(spec.collect.folder, sizeof(spec.collect.folder), "../x");
	check_refused("no plain path");
	spec.collect.folder[0] = '\0';
	spec.collect.wall_ms = 0;
	check_refused("collecting");
}

TEST(an_image_can_be_the_root_and_what_is_changed_in_it_takes_memory)
{
	good()->plan.root = PLAN_ROOT_IMAGE;
	check_refused("an image has a name");
	snprintf(spec.plan.image, sizeof(spec.plan.image), "rocm");
	CHECK_OK(spec_check(&spec, &err));
	spec_add_tmpfs(&spec, "/", GIB, 16);
	check_refused("filled to the brim");
	spec.cgroup.memory = 2 * GIB;
	CHECK_OK(spec_check(&spec, &err));
	spec.tree_count = 1;
	spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
	snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "/opt");
	check_refused("can not be unpacked");
	spec.tree_count = 0;
	spec.collect.wanted = 1;
	spec.collect.limits = STREAM_LIMITS_DEFAULT;
	spec.collect.wall_ms = 1000;
	CHECK_OK(spec_check(&spec, &err));
	spec.collect.tmpfs = spec.plan.tmpfs_count - 1;
	check_refused("what is changed in an image is not collected");
	memset(spec.plan.image, 'a', sizeof(spec.plan.image));
	check_refused("does not end");
}

TEST(clients_choose_neither_root_nor_masks)
{
	good()->plan.root = PLAN_ROOT_EMPTY;
	check_refused("host's root");
	snprintf(good()->plan.masks[0], sizeof(spec.plan.masks[0]), "/usr/bin");
	check_refused("masks");
	good()->freezable = 2;
	check_refused("unknown flags");
}

TEST(descriptors_are_wanted_as_the_spec_says)
{
	int count = 0;

	good()->tree_count = 2;
	spec.pass_count = 3;
	spec.has_program = 1;
	for (int role = 0; role < SPEC_FD_COUNT; role++)
		count += spec_fd_wanted(&spec, (enum spec_fd) role);
	CHECK_INT(count, 3 + 1 + 2 + 3);
	CHECK(!spec_fd_wanted(&spec, SPEC_FD_COLLECT));
	CHECK(spec_fd_wanted(&spec, SPEC_FD_PASS + 2));
	CHECK(!spec_fd_wanted(&spec, SPEC_FD_PASS + 3));
}

TEST(gpus_are_named_and_each_once)
{
	good();
	for (uint32_t i = 0; i < SPEC_GPUS_MAX; i++)
		CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	CHECK_OK(spec_check(&spec, &err));
	CHECK_INT(spec_add_gpu(&spec, "0", &err), -1);
	CHECK_STR(err.text, "more than 8 GPUs");
	spec.gpu_count = 1;
	CHECK_OK(spec_add_gpu(&spec, "0000:c1:00.0", &err));
	CHECK_OK(spec_check(&spec, &err));
	CHECK_OK(spec_add_gpu(&spec, "0000:c1:00.0", &err));
	check_refused("the GPU '0000:c1:00.0' is asked for twice");
	good();
	CHECK_INT(spec_add_gpu(&spec, "abcdefghijklmnopqrstuvwxyz-012345", &err), -1);
	CHECK_STR(err.text, "a GPU's name of 33 bytes; 31 at most");
	CHECK_OK(spec_add_gpu(&spec, "../kfd", &err));
	check_refused("a GPU has a name of 1 to 31 letters");
	spec.gpus[0].name[0] = '\0';
	check_refused("a GPU has a name of 1 to 31 letters");
	memset(spec.gpus[0].name, 'a', sizeof(spec.gpus[0].name));
	check_refused("a GPU has a name of 1 to 31 letters");
	spec.gpu_count = SPEC_GPUS_MAX + 1;
	check_refused("9 GPUs; 8 at most");
}

TEST(clients_add_nothing_to_the_tree)
{
	good();
	spec.plan.extras.count = 1;
	check_refused("what else the tree has is the launcher's");
	good();
	spec.plan.extras.has_nvidia = 1;
	check_refused("what else the tree has is the launcher's");
}
