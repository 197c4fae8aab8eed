/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_read_v2.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct aka_task task = AKA_TASK_INIT;
static struct err err;

/* "" or the error of a workspace. */
static const char *workspace(const char *text)
{
	cleanup(str_done) struct str all = STR_INIT;

	str_addf(&all, "workspace: {sources: [%s]}\n", text);
	aka_task_done(&task);
	task.root = yaml_parse(&task.arena, "f", all.text, all.len, &err);
	CHECK(task.root);
	return aka_v2_workspace(&task, &err) < 0 ? err.text : "";
}

#define GIT(to)                                \
	"{kind: git, url: u, destination: " to \
	", revision: 0123456789abcdef0123456789abcdef01234567}"

TEST(sources_lie_apart)
{
	CHECK_STR(workspace(GIT("a") ", " GIT("ab")), "");
	CHECK_INT(task.brought_count, 2);
	CHECK_STR(workspace(GIT("a") ", " GIT("a/b")),
		  "f:1: key 'sources': two sources go to the same place");
	CHECK_STR(workspace(GIT("a/b") ", " GIT("a")),
		  "f:1: key 'sources': two sources go to the same place");
	CHECK_STR(workspace(GIT("a") ", " GIT("a")),
		  "f:1: key 'sources': two sources go to the same place");
}

TEST(a_source_has_the_keys_of_its_kind)
{
	CHECK(strstr(workspace("{kind: git, url: u, destination: a, revision: main}"),
		     "a revision is a whole commit: 40 hexadecimal digits"));
	CHECK(strstr(workspace("{kind: git, url: u, destination: a}"),
		     "the key 'revision' is missing"));
	CHECK(strstr(workspace("{kind: git, image_path: /a, destination: a}"),
		     "image_path and exclude belong to kind: image alone"));
	CHECK(strstr(workspace("{kind: image, image_path: /a, url: u, destination: a}"),
		     "url and revision belong to kind: git alone"));
	CHECK(strstr(workspace("{kind: image, image_path: a, destination: a}"),
		     "'a' is not an absolute path"));
	CHECK(strstr(workspace("{kind: image, image_path: /a/../b, destination: a}"),
		     "is not an absolute path"));
	CHECK(strstr(workspace("{kind: tar, destination: a}"), "'tar' is none of image, git"));
	CHECK(strstr(workspace("{destination: a}"), "the key 'kind' is missing"));
	CHECK(strstr(workspace("a"),
		     "a source has to be a mapping of keys such as 'kind', not a text"));
}

TEST(true_and_false_are_no_texts)
{
	static const struct {
		const char *text;
		int value;
	} rows[] = { { "true", 1 }, { "false", 0 },   { "on", 1 }, { "Off", 0 },
		     { "no", 0 },   { "'true'", -1 }, { "1", -1 }, { "[]", -1 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena arena = ARENA_INIT;
		struct str text = STR_INIT;
		const struct yaml_node *root;
		bool value = rows[i].value == 0;

		str_addf(&text, "a: %s", rows[i].text);
		root = yaml_parse(&arena, "f", text.text, text.len, &err);
		CHECK(root);
		CHECK_INT(aka_v2_bool(root, "a", &value, &err), rows[i].value < 0 ? -1 : 0);
		if (rows[i].value >= 0)
			CHECK_INT(value, rows[i].value);
		arena_done(&arena);
		str_done(&text);
	}
}
