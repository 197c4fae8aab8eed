/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/dims.h"

#include <string.h>

#include "tests/lib/check.h"

/* Reads a file with the keys seen (one case), dims and where. */
static int read_dims(struct arena *arena, const char *text, struct dims *dims, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, "t.yaml", text, strlen(text), err);

	*dims = (struct dims){ .given = 0 };
	if (!root || dims_read_given(yaml_find(root, "seen"), dims, err) < 0 ||
	    dims_read_derived(yaml_find(root, "dims"), arena, dims, err) < 0)
		return -1;
	return dims_read_where(yaml_find(root, "where"), arena, dims, err);
}

TEST(derived_dimensions_follow_from_those_before_them)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct dims dims;
	int64_t values[DIMS_MAX + 1] = { 4, 100 };

	CHECK_OK(read_dims(&arena, "seen: {B: 1, L: 2}\ndims: {M: 'cdiv(L, B)', N: 2*M}\n", &dims,
			   &err));
	CHECK_INT(dims.given, 2);
	CHECK_INT(dims.count, 4);
	CHECK_INT(dims_find(&dims, dims.count, "N"), 3);
	CHECK_INT(dims_find(&dims, dims.given, "N"), -1);
	CHECK_OK(dims_derive(&dims, values, &err));
	CHECK_INT(values[2], 25);
	CHECK_INT(values[3], 50);
}

TEST(constraints_hold_or_are_named_with_the_values_that_break_them)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct dims dims;
	int64_t values[DIMS_MAX + 1] = { 8, 2, 4096 };

	CHECK_OK(read_dims(&arena,
			   "seen: {H: 1, R: 2}\nwhere:\n - 'H % R == 0'\n - 'bytes <= 4KiB'\n",
			   &dims, &err));
	CHECK_OK(dims_check(&dims, values, &err));
	values[2]++;
	CHECK_INT(dims_check(&dims, values, &err), -1);
	CHECK_STR(err.text, "t.yaml:4: key 'where': 'bytes <= 4KiB' is not true with H=8, R=2, "
			    "bytes=4097");
	values[1] = 3;
	CHECK_INT(dims_check(&dims, values, &err), -1);
	CHECK_STR(err.text, "t.yaml:3: key 'where': 'H % R == 0' is not true with H=8, R=3, "
			    "bytes=4097");
	values[1] = 0;
	CHECK_INT(dims_check(&dims, values, &err), -1);
	CHECK_STR(err.text, "t.yaml:3:7: key 'where': 'H % R == 0': division by zero");
}

TEST(a_mistake_in_dimensions_is_named)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "seen: 3\n",
		  "t.yaml:1: key 'seen': a case has to be a mapping such as {B: 1, H: 32}" },
		{ "seen: {a-b: 1}\n",
		  "t.yaml:1: key 'a-b': a dimension has a name of letters, digits and _" },
		{ "seen: {cases: 1}\n",
		  "t.yaml:1: key 'cases': this word has a meaning of its own; "
		  "call the dimension something else" },
		{ "seen: {B: 1}\ndims: {bytes: B}\n",
		  "t.yaml:2: key 'bytes': this word has a meaning "
		  "of its own; call the dimension something else" },
		{ "seen: {B: 1}\ndims: {B: 1}\n", "t.yaml:2: key 'B': the seen cases give this "
						  "dimension; it can not be derived as well" },
		{ "seen: {B: 1}\ndims: {M: N, N: B}\n",
		  "t.yaml:2:11: key 'M': 'N': no dimension defined up to here is called 'N'" },
		{ "seen: {B: 1}\ndims: {M: M}\n",
		  "t.yaml:2:11: key 'M': 'M': no dimension defined up to here is called 'M'" },
		{ "seen: {B: 1}\ndims: {M: bytes}\n", "t.yaml:2:11: key 'M': 'bytes': no dimension "
						      "defined up to here is called 'bytes'" },
		{ "seen: {B: 1}\nwhere: [{B: 1}]\n",
		  "t.yaml:2: key 'where': an expression has to be a text such as 2*B" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct dims dims;

		CHECK_INT(read_dims(&arena, cases[i].text, &dims, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(a_task_has_no_more_dimensions_than_the_limit)
{
	for (int extra = 0; extra < 2; extra++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct dims dims;
		const char *text = "seen: {d0: 0";

		for (int i = 1; i < DIMS_MAX + extra; i++)
			text = arena_printf(&arena, "%s, d%d: 0", text, i);
		text = arena_printf(&arena, "%s}\n", text);
		CHECK_INT(read_dims(&arena, text, &dims, &err), -extra);
		if (extra)
			CHECK_STR(err.text,
				  "t.yaml:1: key 'd32': a task has at most 32 dimensions");
	}
}
