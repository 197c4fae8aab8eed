/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct plan_slice slice_with(const char *path)
{
	struct plan_slice slice = { .tmpfs_count = 1 };

	slice.tmpfs[0] = (struct tmpfs_slice){ .bytes = MIB, .inodes = 100 };
	snprintf(slice.tmpfs[0].path, sizeof(slice.tmpfs[0].path), "%s", path);
	return slice;
}

static bool accepts(const struct plan_slice *slice)
{
	struct err err = ERR_INIT;
	int result = plan_check(slice, &err);

	CHECK(result == 0 || err.kind == ERR_INPUT);
	return result == 0;
}

static const struct plan_row *find(const struct plan *plan, const char *target)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->rows[i].target, target) == 0)
			return &plan->rows[i];
	check_fail(__FILE__, __LINE__, "the plan has no '%s'", target);
}

TEST(a_tmpfs_hides_no_wall)
{
	static const char *const good[] = { "/work",      "/tmp",      "/run",
					    "/run/agent", "/home/a/b", "/dev/shm" };
	static const char *const bad[] = { "",          "work",         "/",
					   "/usr",      "/proc",        "/proc/sys",
					   "/dev",      "/dev/pts",     "/etc",
					   "/workshop", "/work/../usr", "/work//a",
					   "/work/",    "/dev/shm/a",   "/sys" };

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct plan_slice slice = slice_with(good[i]);

		if (!accepts(&slice))
			check_fail(__FILE__, __LINE__, "'%s' was refused", good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct plan_slice slice = slice_with(bad[i]);

		if (accepts(&slice))
			check_fail(__FILE__, __LINE__, "'%s' was accepted", bad[i]);
	}
}

TEST(sizes_have_edges)
{
	struct plan_slice slice = slice_with("/work");

	slice.tmpfs[0].bytes = 64 * KIB - 1;
	CHECK(!accepts(&slice));
	slice.tmpfs[0].bytes = 64 * KIB;
	CHECK(accepts(&slice));
	slice.tmpfs[0].bytes = UINT64_MAX;
	CHECK(!accepts(&slice));
	slice.tmpfs[0].bytes = 4 * TIB;
	slice.tmpfs[0].inodes = 15;
	CHECK(!accepts(&slice));
	slice.tmpfs[0].inodes = UINT32_MAX;
	CHECK(accepts(&slice));
	slice.tmpfs[0].shared = 2;
	CHECK(!accepts(&slice));
}

TEST(the_same_place_twice_is_refused)
{
	struct plan_slice slice = slice_with("/work");

	slice.tmpfs[slice.tmpfs_count++] = slice.tmpfs[0];
	CHECK(!accepts(&slice));
	slice.tmpfs_count = PLAN_TMPFS_MAX + 1;
	CHECK(!accepts(&slice));
}

TEST(texts_that_do_not_end_are_refused)
{
	struct plan_slice slice = slice_with("/work");

	memset(slice.tmpfs[0].path, 'a', sizeof(slice.tmpfs[0].path));
	slice.tmpfs[0].path[0] = '/';
	CHECK(!accepts(&slice));
	slice = slice_with("/work");
	memset(slice.masks[1], 'a', sizeof(slice.masks[1]));
	CHECK(!accepts(&slice));
}

TEST(the_hosts_etc_is_never_there_as_a_whole)
{
	struct plan_slice slice = slice_with("/work");
	struct plan plan;

	plan_make(&slice, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		const struct plan_row *row = &plan.rows[i];

		if (row->kind == PLAN_BIND)
			CHECK(strcmp(row->source, "/") != 0 && strcmp(row->source, "/etc") != 0 &&
			      strcmp(row->source, "/run") != 0 &&
			      strcmp(row->source, "/var") != 0 &&
			      strcmp(row->source, "/root") != 0 &&
			      strcmp(row->source, "/home") != 0);
	}
	CHECK_INT(find(&plan, "etc/passwd")->kind, PLAN_TEXT);
	for (size_t i = 0; i < plan.count; i++)
		CHECK(!strstr(plan.rows[i].target, "shadow"));
}

TEST(proc_sys_is_read_only_without_a_condition)
{
	struct plan_slice slice = slice_with("/work");
	struct plan plan;

	plan_make(&slice, &plan);
	CHECK_INT(find(&plan, "proc/sys")->kind, PLAN_READ_ONLY);
	CHECK(!find(&plan, "proc/sys")->optional);
	CHECK_INT(find(&plan, "proc/kcore")->kind, PLAN_MASK);
}

TEST(masks_come_after_what_they_cover)
{
	struct plan_slice slice = slice_with("/work");
	struct plan plan;

	snprintf(slice.masks[0], sizeof(slice.masks[0]), "/usr/libexec/proctor");
	CHECK(accepts(&slice));
	plan_make(&slice, &plan);
	CHECK(find(&plan, "usr/libexec/proctor") > find(&plan, "usr"));
}

static struct plan_slice image_with(const char *name)
{
	struct plan_slice slice = slice_with("/work");

	slice.root = PLAN_ROOT_IMAGE;
	memcpy(slice.image, name, MIN_OF(strlen(name), sizeof(slice.image)));
	return slice;
}

TEST(an_image_is_named_and_never_by_a_path)
{
	static const char *const good[] = { "a", "A.b-c_9", "0123456789012345678901234567890" };
	static const char *const bad[] = {
		"",   ".a",  "-a",  "_a",       "/a",
		"..", "a/b", "a b", "\xc3\xa4", "01234567890123456789012345678901"
	};
	struct plan_slice slice;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		slice = image_with(good[i]);
		CHECK(accepts(&slice) && plan_is_image_name(good[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		slice = image_with(bad[i]);
		if (accepts(&slice) || plan_is_image_name(bad[i]))
			check_fail(__FILE__, __LINE__, "'%s' was accepted", bad[i]);
	}
	slice = image_with("a");
	slice.root = PLAN_ROOT_HOST;
	CHECK(!accepts(&slice));
	slice.root = PLAN_ROOT_IMAGE + 1;
	CHECK(!accepts(&slice));
}

TEST(the_content_of_an_image_is_a_digest_in_hexadecimal)
{
	struct plan_slice slice = image_with("a");

	memset(slice.content, 'f', 64);
	CHECK(accepts(&slice));
	slice.content[63] = 'F';
	CHECK(!accepts(&slice));
	slice.content[63] = '\0';
	CHECK(!accepts(&slice));
	memset(slice.content, 'f', sizeof(slice.content));
	CHECK(!accepts(&slice));
	slice = slice_with("/work");
	memset(slice.content, 'f', 64);
	CHECK(!accepts(&slice));
}

TEST(the_root_is_the_image_and_nothing_of_the_hosts_files_is_there)
{
	struct plan_slice slice = image_with("rocm");
	struct err err = ERR_INIT;
	struct plan plan;

	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_FOLDER, "sys/devices/gpu", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_LINK, "sys/class/gpu", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_HIDE, "proc/driver/x", &err));
	plan_make(&slice, &plan);
	CHECK_INT(plan.rows[0].kind, PLAN_IMAGE);
	CHECK_STR(plan.rows[0].source, "rocm");
	CHECK(!plan.rows[0].tmpfs);
	for (size_t i = 0; i < plan.count; i++)
		if (plan.rows[i].kind == PLAN_BIND || plan.rows[i].kind == PLAN_AS_HOST)
			CHECK(strncmp(plan.rows[i].source, "/sys/", 5) == 0);
	/* The GPUs of a jail are those of the host, whatever its root is. */
	CHECK_INT(find(&plan, "sys/devices/gpu")->kind, PLAN_BIND);
	CHECK_INT(find(&plan, "sys/class/gpu")->kind, PLAN_AS_HOST);
	CHECK_INT(find(&plan, "proc/driver/x")->kind, PLAN_MASK);
	CHECK_INT(find(&plan, "etc/passwd")->kind, PLAN_TEXT);
	CHECK_INT(find(&plan, "dev")->kind, PLAN_DEVICES);
	CHECK_INT(find(&plan, "proc/sys")->kind, PLAN_READ_ONLY);
	CHECK_INT(find(&plan, "proc/kcore")->kind, PLAN_MASK);
	CHECK_INT(find(&plan, "work")->kind, PLAN_TMPFS);
}

TEST(what_is_changed_in_an_image_is_its_last_tmpfs_and_no_mount_of_its_own)
{
	struct plan_slice slice = image_with("rocm");
	struct plan plan;
	size_t count = 0;

	slice.tmpfs[1] = (struct tmpfs_slice){ .path = "/", .bytes = MIB, .inodes = 100 };
	slice.tmpfs_count = 2;
	CHECK(accepts(&slice));
	plan_make(&slice, &plan);
	CHECK(plan.rows[0].tmpfs == &slice.tmpfs[1]);
	for (size_t i = 0; i < plan.count; i++)
		count += plan.rows[i].kind == PLAN_TMPFS;
	CHECK_INT(count, 1);
	slice.tmpfs[2] = slice.tmpfs[0];
	snprintf(slice.tmpfs[2].path, sizeof(slice.tmpfs[2].path), "/tmp");
	slice.tmpfs_count = 3;
	CHECK(!accepts(&slice));
	slice.tmpfs_count = 2;
	slice.root = PLAN_ROOT_HOST;
	slice.image[0] = '\0';
	CHECK(!accepts(&slice));
	slice = image_with("rocm");
	slice.tmpfs_count = 0;
	CHECK(accepts(&slice));
	plan_make(&slice, &plan);
	CHECK(!plan.rows[0].tmpfs);
}

TEST(an_empty_root_has_procfs_and_the_given_tree_alone)
{
	struct plan_slice slice = { .root = PLAN_ROOT_EMPTY };
	struct plan plan;

	plan_make(&slice, &plan);
	CHECK_INT(plan.count, 2);
	CHECK_INT(plan.rows[0].kind, PLAN_PROC);
	CHECK_INT(plan.rows[1].kind, PLAN_GIVEN);
	CHECK_STR(plan.rows[1].target, "work");
}

static const char *extra_error(struct plan_extras *extras, const char *path)
{
	static struct err err;

	err = (struct err) ERR_INIT;
	if (plan_add_extra(extras, PLAN_EXTRA_FOLDER, path, &err) == 0)
		return "";
	CHECK_INT(err.kind, ERR_HOST);
	return err.text;
}

TEST(what_the_launcher_adds_is_in_its_place)
{
	struct plan_slice slice = slice_with("/work");
	size_t folder = 0, mask = 0, proc = 0, hidden = 0;
	struct err err = ERR_INIT;
	struct plan plan;

	snprintf(slice.masks[0], sizeof(slice.masks[0]), "/opt/proctor");
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_FOLDER, "opt", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_FOLDER, "opt", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_HIDE, "proc/driver/x", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_LINK, "sys/class/a", &err));
	CHECK_OK(plan_add_extra(&slice.extras, PLAN_EXTRA_FOLDER_IF_THERE, "sys/b", &err));
	CHECK_INT(slice.extras.count, 4);
	plan_make(&slice, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		const struct plan_row *row = &plan.rows[i];

		if (strcmp(row->target, "opt") == 0)
			folder = i;
		else if (strcmp(row->target, "opt/proctor") == 0)
			mask = i;
		else if (strcmp(row->target, "proc") == 0)
			proc = i;
		else if (strcmp(row->target, "proc/driver/x") == 0)
			hidden = i;
	}
	/* A cover lies over what is there by then. */
	CHECK(folder > 0 && folder < mask && mask < proc && proc < hidden);
	CHECK_STR(plan.rows[folder].source, "/opt");
	CHECK_INT(plan.rows[folder].kind, PLAN_BIND);
	CHECK(!plan.rows[folder].optional && plan.rows[hidden].optional);
	CHECK_INT(plan.rows[hidden].kind, PLAN_MASK);
	CHECK_INT(find(&plan, "sys/class/a")->kind, PLAN_AS_HOST);
	CHECK(find(&plan, "sys/b")->optional);
	slice.root = PLAN_ROOT_EMPTY;
	plan_make(&slice, &plan);
	for (size_t i = 0; i < plan.count; i++)
		CHECK(!strstr(plan.rows[i].target, "opt") && !strstr(plan.rows[i].target, "sys"));
	slice.root = PLAN_ROOT_IMAGE;
	plan_make(&slice, &plan);
	CHECK_INT(find(&plan, "sys/class/a")->kind, PLAN_AS_HOST);
	CHECK(find(&plan, "sys/b") > find(&plan, "sys"));
	CHECK(find(&plan, "proc/driver/x") > find(&plan, "proc"));
}

TEST(what_nvidias_driver_says_is_for_jails_with_a_gpu_of_theirs)
{
	struct plan_slice slice = slice_with("/work");
	struct plan plan;

	plan_make(&slice, &plan);
	CHECK_INT(find(&plan, "proc/driver/nvidia")->kind, PLAN_MASK);
	slice.extras.has_nvidia = 1;
	plan_make(&slice, &plan);
	CHECK(strstr(find(&plan, "proc/driver/nvidia/params")->source, "ModifyDeviceFiles: 0\n"));
	for (size_t i = 0; i < plan.count; i++)
		CHECK(strcmp(plan.rows[i].target, "proc/driver/nvidia") != 0);
}

TEST(what_is_no_path_or_too_much_is_not_added)
{
	static struct plan_slice slice;
	struct plan_extras *extras = &slice.extras;
	struct plan plan;
	char path[300];

	CHECK_STR(extra_error(extras, "../etc"),
		  "'/../etc' can not be shown to a jail: no plain path");
	CHECK_STR(extra_error(extras, "/etc"), "'//etc' can not be shown to a jail: no plain path");
	CHECK_STR(extra_error(extras, ""), "'/' can not be shown to a jail: no plain path");
	CHECK_INT(extras->count, 0);
	for (uint32_t i = 0; i < PLAN_EXTRAS_MAX; i++) {
		snprintf(path, sizeof(path), "opt/%u", i);
		CHECK_STR(extra_error(extras, path), "");
	}
	CHECK_STR(extra_error(extras, "opt/x"),
		  "'/opt/x' can not be shown to a jail: it has 96 paths already");
	slice.root = PLAN_ROOT_HOST;
	for (size_t i = 0; i < PLAN_MASKS_MAX; i++)
		snprintf(slice.masks[i], sizeof(slice.masks[i]), "/m%zu", i);
	slice.tmpfs_count = PLAN_TMPFS_MAX;
	plan_make(&slice, &plan);
	CHECK(plan.count <= PLAN_ROWS_MAX);
	*extras = (struct plan_extras){ .count = 0 };
	for (uint32_t i = 0; strcmp(extra_error(extras, path), "") == 0; i++)
		snprintf(path, sizeof(path), "%0250u", i);
	CHECK(extras->count < PLAN_EXTRAS_MAX && extras->length <= sizeof(extras->rows));
}
