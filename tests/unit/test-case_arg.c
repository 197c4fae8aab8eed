/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/case_arg.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static const char *const texts[] = { "B", "L" };
static const struct expr_names names = { texts, ARRAY_LEN(texts) };

/* An argument q, resolved with B = 3 and this L. */
static int resolve(const char *text, int64_t l, struct case_arg *out, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct yaml_node *root;
	const int64_t dims[] = { 3, l };
	struct arg arg;
	char line[200];

	snprintf(line, sizeof(line), "q: {%s}", text);
	root = yaml_parse(&arena, "t.yaml", line, strlen(line), err);
	if (!root || arg_read(root->first, &names, &arena, &arg, err) < 0)
		return -1;
	return case_arg_resolve(&arg, dims, out, err);
}

TEST(a_buffer_has_a_size_and_a_layout)
{
	struct case_arg made;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("in: f16, shape: [B, L, 2], strides: [4*L], values: below(L)", 5, &made,
			 &err));
	CHECK_INT(made.tensor.element, ELEMENT_F16);
	CHECK_INT(made.tensor.count, 30);
	CHECK_INT(made.tensor.extents[1], 5);
	CHECK_INT(made.tensor.strides[0], 20);
	CHECK_INT(made.tensor.strides[1], 2);
	CHECK_INT(made.tensor.strides[2], 1);
	CHECK_INT(made.bytes, 2 * (2 * 20 + 10));
	CHECK(made.values.reals[1] == 4);
	CHECK_OK(resolve("out: u4, shape: [L], compare: exact", 5, &made, &err));
	CHECK_INT(made.bytes, 3);
	CHECK_OK(resolve("scratch: f64, shape: []", 5, &made, &err));
	CHECK_INT(made.bytes, 8);
}

TEST(a_scalar_has_a_value_that_its_type_has)
{
	struct case_arg made;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("scalar: i32, value: B*L", 5, &made, &err));
	CHECK_INT(made.whole, 15);
	CHECK_OK(resolve("scalar: f16, value: B*L", 5, &made, &err));
	CHECK(made.real == 15);
	CHECK_OK(resolve("scalar: f32, value: 0.1", 5, &made, &err));
	CHECK(made.real == (double) 0.1f);
}

TEST(a_scalar_that_does_not_fit_its_type_is_refused)
{
	static const struct {
		const char *type;
		int64_t least, most;
	} types[] = {
		{ "f64", -(INT64_C(1) << 53), INT64_C(1) << 53 },
		{ "f32", -(1 << 24), 1 << 24 },
		{ "f16", -2048, 2048 },
		{ "bf16", -256, 256 },
		{ "i64", INT64_MIN, INT64_MAX },
		{ "i32", INT32_MIN, INT32_MAX },
		{ "i8", -128, 127 },
		{ "u8", 0, 255 },
		{ "i4", -8, 7 },
		{ "u4", 0, 15 },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct case_arg made = { .bytes = 77 };
		struct err err = ERR_INIT;
		char text[64], want[100];

		snprintf(text, sizeof(text), "scalar: %s, value: L", types[i].type);
		CHECK_OK(resolve(text, types[i].least, &made, &err));
		CHECK_OK(resolve(text, types[i].most, &made, &err));
		if (types[i].most == INT64_MAX)
			continue;
		made.bytes = 77;
		CHECK_INT(resolve(text, types[i].most + 1, &made, &err), -1);
		snprintf(want, sizeof(want), "t.yaml:1: argument 'q': %lld does not fit in %s",
			 (long long) types[i].most + 1, types[i].type);
		CHECK_STR(err.text, want);
		CHECK_INT(resolve(text, types[i].least - 1, &made, &err), -1);
		CHECK_INT(made.bytes, 77);
	}
}

TEST(a_buffer_that_can_not_be_is_refused)
{
	static const struct {
		const char *text;
		int64_t l;
		const char *error;
	} rows[] = {
		{ "out: f32, shape: [B, L], compare: exact", 0,
		  "t.yaml:1: key 'shape': 'L' is 0; an extent is at least 1" },
		{ "out: f32, shape: [B, 4], strides: [L - 1], compare: exact", 1,
		  "t.yaml:1: key 'strides': 'L - 1' is 0; a stride is at least 1" },
		{ "out: f32, shape: [B, L], strides: [L - 1], compare: exact", 5,
		  "t.yaml:1: argument 'q': its strides make elements overlap" },
		{ "out: i4, shape: [B, L], strides: [L + 1], compare: exact", 5,
		  "t.yaml:1: argument 'q': its rows are not whole bytes: packed elements need an "
		  "even last extent, 1 as its stride and even strides before it" },
		{ "out: f32, shape: [L, L, L, L], compare: exact", INT64_C(1) << 40,
		  "t.yaml:1: argument 'q': it is larger than 1GiB" },
		{ "scratch: u8, shape: [L]", (INT64_C(1) << 30) + 1,
		  "t.yaml:1: argument 'q': it is too large" },
		{ "in: u8, shape: [L], values: zeros", (INT64_C(1) << 27) + 1,
		  "t.yaml:1: argument 'q': it has more than 134217728 elements" },
		{ "out: f32, shape: [B, 2], strides: [L], compare: exact", INT64_MAX,
		  "t.yaml:1: argument 'q': it is too large" },
		{ "in: i8, shape: [L], values: 'randint(0, L)'", 128,
		  "t.yaml:1: key 'values': 128 does not fit in i8" },
		{ "inout: i4, shape: [B, L], values: zeros, compare: exact, writes: rows(r)", 3,
		  "t.yaml:1: argument 'q': rows that may change one by one are whole bytes" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct case_arg made = { .bytes = 77 };
		struct err err = ERR_INIT;

		CHECK_INT(resolve(rows[i].text, rows[i].l, &made, &err), -1);
		CHECK_STR(err.text, rows[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(made.bytes, 77);
	}
}

TEST(scratch_has_no_oracle_and_so_may_be_as_large_as_a_buffer)
{
	struct case_arg made;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("scratch: u8, shape: [L]", INT64_C(1) << 30, &made, &err));
	CHECK_INT(made.bytes, GIB);
}
