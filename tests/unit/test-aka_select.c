/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_select.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct err err;

static const struct aka_entry entries[] = {
	{ "hip2hip/gpumode/GELU", NULL },  { "hip2hip/gpumode/SiLU", NULL },
	{ "hip2hip/gpumode2/GELU", NULL }, { "hip2hip/others/knn", NULL },
	{ "image_kernel/mha", NULL },      { "triton2triton/vllm/triton_rms_norm", NULL },
};
static const struct aka_tree tree = {
	.fd = -1,
	.entries = entries,
	.count = ARRAY_LEN(entries),
};

/* What the words select, by the numbers of the entries; or the error. */
static const char *selected(const char *const *words, size_t count)
{
	const struct argv selectors = { words, count };
	struct aka_entry *found;
	cleanup(str_done) struct str out = STR_INIT;
	size_t found_count;

	if (aka_select(&tree, &selectors, &arena, &found, &found_count, &err) < 0) {
		CHECK_INT(err.kind, ERR_INPUT);
		return err.text;
	}
	for (size_t i = 0; i < found_count; i++)
		for (size_t j = 0; j < ARRAY_LEN(entries); j++)
			if (strcmp(found[i].name, entries[j].name) == 0)
				str_addf(&out, "%zu", j);
	return arena_copy(&arena, out.text, out.len);
}

static const char *select_one(const char *word)
{
	return selected(&word, 1);
}

TEST(all_is_every_task_whatever_stands_beside_it)
{
	static const char *const both[] = { "nowhere", "all" };

	CHECK_STR(select_one("all"), "012345");
	CHECK_STR(selected(both, 2), "012345");
}

TEST(a_folder_is_all_below_it_and_a_task_itself)
{
	CHECK_STR(select_one("hip2hip"), "0123");
	CHECK_STR(select_one("hip2hip/"), "0123");
	CHECK_STR(select_one("hip2hip/gpumode"), "01");
	CHECK_STR(select_one("hip2hip/gpumode/GELU"), "0");
	CHECK_STR(select_one("image_kernel/mha"), "4");
}

TEST(patterns_match_within_a_name_and_two_stars_any_folders)
{
	CHECK_STR(select_one("hip2hip/*/GELU"), "02");
	CHECK_STR(select_one("hip2hip/gpumod?"), "01");
	CHECK_STR(select_one("*/[!g]*"), "345");
	CHECK_STR(select_one("*/vllm/triton_[qr]*"), "5");
	CHECK_STR(select_one("**/GELU"), "02");
	CHECK_STR(select_one("**"), "012345");
	CHECK_STR(select_one("*2*/**/*knn"), "3");
}

TEST(the_same_task_twice_is_one_and_the_order_is_that_of_the_tree)
{
	static const char *const words[] = { "triton2triton", "hip2hip/gpumode", "hip2hip/*/GELU" };

	CHECK_STR(selected(words, 3), "0125");
}

TEST(a_selector_without_a_task_is_an_error)
{
	static const char *const words[] = { "hip2hip", "cuda2hip" };

	CHECK_STR(selected(words, 2), "the selector 'cuda2hip' matches no task");
	CHECK_STR(select_one("hip2hip/gpumode/GELU/x"),
		  "the selector 'hip2hip/gpumode/GELU/x' matches no task");
	CHECK_STR(select_one("hip2"), "the selector 'hip2' matches no task");
	CHECK_STR(select_one("HIP2HIP"), "the selector 'HIP2HIP' matches no task");
	CHECK_STR(selected(NULL, 0), "no task is selected");
}

TEST(selectors_that_lead_out_are_refused)
{
	static const char *const words[] = {
		"", "/", "/etc", "../x", "a/../b", "./a", "a//b", "."
	};
	char too_long[5000];

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		CHECK(strstr(select_one(words[i]), "is no path below tasks/"));
	CHECK_STR(select_one("a**"), "the selector 'a**' has a ** that is not a whole name");
	CHECK_STR(select_one("[^a]"), "the selector '[^a]' has a set other than [abc] or [!abc]");
	CHECK_STR(select_one("**/**/**/**/**"),
		  "the selector '**/**/**/**/**' has more than four **");
	memset(too_long, 'a', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	CHECK(strstr(select_one(too_long), "is too long"));
}

TEST(names_of_a_set_are_no_patterns_and_the_absent_are_told)
{
	static const char *const words[] = { "image_kernel/mha", "hip2hip", "hip2hip/*/GELU",
					     "hip2hip/gpumode/GELU" };
	const struct argv names = { words, 4 };
	struct aka_entry *found;
	struct argv absent;
	size_t count;

	aka_select_names(&tree, &names, &arena, &found, &count, &absent);
	CHECK_INT(count, 2);
	CHECK_STR(found[0].name, "hip2hip/gpumode/GELU");
	CHECK_STR(found[1].name, "image_kernel/mha");
	CHECK_INT(absent.count, 2);
	CHECK_STR(absent.items[0], "hip2hip");
	CHECK_STR(absent.items[1], "hip2hip/*/GELU");
}

TEST(a_task_is_dropped_by_its_status_or_where_its_gpu_is_not_there)
{
	struct aka_task task = AKA_TASK_INIT;

	CHECK(!aka_select_dropped(&task, NULL, &arena));
	task.platform.required_arch = "gfx950";
	CHECK(!aka_select_dropped(&task, "gfx950", &arena));
	CHECK_STR(aka_select_dropped(&task, "gfx942", &arena),
		  "it needs gfx950, and the GPU is gfx942");
	CHECK_STR(aka_select_dropped(&task, NULL, &arena),
		  "it needs gfx950, and the GPU is not known");
	task.platform.is_skipped = true;
	CHECK_STR(aka_select_dropped(&task, "gfx950", &arena), "platform_support.status is skip");
	task.platform.reason = "no driver";
	CHECK_STR(aka_select_dropped(&task, "gfx950", &arena),
		  "platform_support.status is skip: no driver");
}
