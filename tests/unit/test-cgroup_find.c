/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

/* Recorded texts in tests/data/cgroup. */
static char *recorded(struct arena *arena, const char *name)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *path = arena_printf(arena, TEST_DATA "/cgroup/%s", name);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = ERR_INIT;

	CHECK(fd >= 0);
	CHECK_OK(io_read_fd(fd, 1 << 16, name, &text, &err));
	return arena_copy(arena, text.text, text.len);
}

static struct cgroup_layout find(struct arena *arena, const char *mountinfo, const char *own)
{
	struct cgroup_layout layout;
	struct err err = ERR_INIT;

	CHECK_OK(cgroup_find(arena, recorded(arena, mountinfo), recorded(arena, own), &layout,
			     &err));
	return layout;
}

static void check_place(const struct cgroup_place *place, const char *mount, const char *own)
{
	CHECK_STR(place->mount ? place->mount : "none", mount);
	CHECK_STR(place->own ? place->own : "none", own);
}

TEST(a_hybrid_host_has_each_controller_in_its_own_hierarchy)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout = find(&arena, "hybrid.mountinfo", "hybrid.cgroup");

	check_place(&layout.unified, "/sys/fs/cgroup/unified", "");
	check_place(&layout.v1[CGROUP_MEMORY], "/sys/fs/cgroup/memory", "/jobs/17");
	check_place(&layout.v1[CGROUP_PIDS], "/sys/fs/cgroup/pids", "");
	check_place(&layout.v1[CGROUP_CPU], "/sys/fs/cgroup/cpu", "");
	check_place(&layout.v1[CGROUP_CPUSET], "/sys/fs/cgroup/cpuset", "");
}

TEST(a_v2_host_has_one_hierarchy)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout = find(&arena, "v2.mountinfo", "v2.cgroup");

	check_place(&layout.unified, "/sys/fs/cgroup",
		    "/user.slice/user-1000.slice/session-3.scope");
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		check_place(&layout.v1[i], "none", "none");
}

TEST(cpu_and_cpuacct_may_share_a_hierarchy)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout =
		find(&arena, "systemd-hybrid.mountinfo", "systemd-hybrid.cgroup");

	check_place(&layout.unified, "/sys/fs/cgroup/unified", "/system.slice/proctor.service");
	check_place(&layout.v1[CGROUP_CPU], "/sys/fs/cgroup/cpu,cpuacct",
		    "/system.slice/proctor.service");
	check_place(&layout.v1[CGROUP_CPUSET], "/sys/fs/cgroup/cpuset", "");
}

TEST(what_a_mount_shows_a_part_of_is_counted_from_there)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout = find(&arena, "container.mountinfo", "container.cgroup");

	check_place(&layout.unified, "/sys/fs/cgroup", "/job");
}

TEST(escaped_letters_of_a_mount_point_are_read)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout = find(&arena, "spaces.mountinfo", "v2.cgroup");

	check_place(&layout.unified, "/mnt/my groups\\here",
		    "/user.slice/user-1000.slice/session-3.scope");
}

TEST(a_host_that_can_not_be_used_is_explained)
{
	static const struct {
		const char *mountinfo, *own, *error;
	} cases[] = {
		{ "v1.mountinfo", "hybrid.cgroup", "no mount of the v2 control groups shows" },
		{ "v2.mountinfo", "elsewhere.cgroup", "no mount of the v2 control groups shows" },
		{ "container.mountinfo", "v2.cgroup", "no mount of the v2 control groups shows" },
		{ "together.mountinfo", "together.cgroup",
		  "the v1 control groups at '/sys/fs/cgroup/all' hold more than one of" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct cgroup_layout layout;
		struct err err = ERR_INIT;

		CHECK_INT(cgroup_find(&arena, recorded(&arena, cases[i].mountinfo),
				      recorded(&arena, cases[i].own), &layout, &err),
			  -1);
		CHECK_INT(err.kind, ERR_HOST);
		CHECK(strncmp(err.text, cases[i].error, strlen(cases[i].error)) == 0);
	}
}

TEST(torn_lines_are_passed_over)
{
	static const char *const torn[] = {
		"",
		"\n\n",
		"1 2 3",
		"33 25 0:28 / /sys/fs/cgroup",
		"33 25 0:28 / /c rw -",
		"33 25 0:28 / /c rw - cgroup2",
		"33 25 0:28 / /c rw shared:1 shared:2",
		"\\",
		"- - -",
	};

	for (size_t i = 0; i < ARRAY_LEN(torn); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct cgroup_layout layout;
		struct err err = ERR_INIT;

		CHECK_INT(cgroup_find(&arena, torn[i], "0::/\n", &layout, &err), -1);
		CHECK_INT(cgroup_find(&arena, "33 25 0:28 / /c\\04 rw - cgroup2 c rw\n", torn[i],
				      &layout, &err),
			  -1);
	}
}

TEST(controllers_are_found_as_whole_words)
{
	CHECK_INT(cgroup_controllers("cpuset cpu io memory hugetlb pids\n"), 0xf);
	CHECK_INT(cgroup_controllers("cpuset"), CGROUP_BIT(CGROUP_CPUSET));
	CHECK_INT(cgroup_controllers("memory_more cpuacct apids\n"), 0);
	CHECK_INT(cgroup_controllers(""), 0);
}

TEST(swap_is_there_when_a_line_names_it)
{
	CHECK(!cgroup_has_swap(""));
	CHECK(!cgroup_has_swap("Filename\tType\tSize\tUsed\tPriority\n"));
	CHECK(cgroup_has_swap("Filename\tType\tSize\tUsed\tPriority\n"
			      "/dev/zram0 partition\t8388604\t0\t100\n"));
}
