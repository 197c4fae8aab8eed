/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sandbox/mounts.h"
#include "tests/lib/check.h"

static const char *attributes_of(const struct mount_form *form)
{
	static struct str text = STR_INIT;

	str_clear(&text);
	mounts_add_attributes(form->attributes, &text);
	return text.text;
}

/* test-mounts looks at the mounts themselves. */
TEST(each_kind_that_is_a_mount_has_a_form_and_no_other)
{
	CHECK_STR(attributes_of(mounts_form(PLAN_BIND)), "ro,nosuid,nodev");
	CHECK(mounts_form(PLAN_AS_HOST)->attributes == mounts_form(PLAN_BIND)->attributes);
	CHECK_STR(attributes_of(mounts_form(PLAN_TMPFS)), "rw,nosuid,nodev");
	CHECK_STR(attributes_of(mounts_form(PLAN_PROC)), "rw,nosuid,nodev,noexec");
	CHECK_STR(attributes_of(mounts_form(PLAN_DEVICES)), "ro,nosuid");
	CHECK_STR(attributes_of(mounts_form(PLAN_TERMINALS)), "rw,nosuid,noexec");
	CHECK_STR(attributes_of(mounts_form(PLAN_MASK)), "ro,nosuid,nodev,noexec");
	CHECK_STR(attributes_of(mounts_form(PLAN_READ_ONLY)), "ro,nosuid,nodev,noexec");
	CHECK_STR(attributes_of(&mounts_root_form), "ro,nosuid,nodev");
	CHECK_STR(attributes_of(mounts_form(PLAN_IMAGE)), "ro,nosuid,nodev");
	CHECK_STR(mounts_form(PLAN_TERMINALS)->type, "devpts");
	CHECK(!mounts_form(PLAN_BIND)->type);
}

TEST(the_options_of_a_tmpfs_are_its_caps_and_its_owner)
{
	static const char *const wanted[][2] = { { "size", "4096" },
						 { "nr_inodes", "77" },
						 { "mode", "0700" },
						 { "uid", "1879049192" },
						 { "gid", "1879049192" } };
	struct tmpfs_slice slice = { .path = "/work", .bytes = 4096, .inodes = 77 };
	struct mounts_tmpfs form;

	mounts_tmpfs_options(&slice, 0x70000000 + 1000, &form);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		CHECK_STR(form.options[i].key, wanted[i][0]);
		CHECK_STR(form.options[i].value, wanted[i][1]);
	}
	CHECK(!form.options[ARRAY_LEN(wanted)].key);
	slice.shared = 1;
	mounts_tmpfs_options(&slice, 1, &form);
	CHECK_STR(form.options[2].value, "1777");
}
