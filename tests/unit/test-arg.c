/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/arg.h"

#include <string.h>

#include "tests/lib/check.h"

static const char *const texts[] = { "B", "L" };
static const struct expr_names names = { texts, ARRAY_LEN(texts) };

static int read_arg(struct arena *arena, const char *text, struct arg *arg, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, "t.yaml", text, strlen(text), err);

	return root ? arg_read(root->first, &names, arena, arg, err) : -1;
}

TEST(each_role_of_an_argument_is_read)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const int64_t values[] = { 3, 5 };
	struct err err = ERR_INIT;
	struct arg arg = { 0 };
	int64_t extent;

	CHECK_OK(read_arg(&arena, "q: {in: f32, shape: [B, 2*L], values: 'uniform( -1.5 , 2e1 )'}",
			  &arg, &err));
	CHECK_STR(arg.name, "q");
	CHECK_INT(arg.role, ARG_IN);
	CHECK_INT(arg.element, ELEMENT_F32);
	CHECK_INT(arg.rank, 2);
	CHECK_OK(expr_run(&arg.shape[1], values, NULL, &extent, &err));
	CHECK_INT(extent, 10);
	CHECK(arg.values.numbers[0] == -1.5 && arg.values.numbers[1] == 20);
	CHECK(arg_has_values(&arg) && !arg_has_result(&arg));

	CHECK_OK(read_arg(&arena, "q: {out: f64, shape: [], compare: 'close(rel=1e-5, abs=0)'}",
			  &arg, &err));
	CHECK_INT(arg.role, ARG_OUT);
	CHECK_INT(arg.rank, 0);
	CHECK(arg.compare.rel == 1e-5 && arg.compare.abs == 0);
	CHECK(!arg_has_values(&arg) && arg_has_result(&arg));

	CHECK_OK(read_arg(
		&arena,
		"q: {inout: i32, shape: [B], values: zeros, compare: exact, writes: 'rows( s )'}",
		&arg, &err));
	CHECK_INT(arg.role, ARG_INOUT);
	CHECK_INT(arg.element, ELEMENT_I32);
	CHECK_STR(arg.rows, "s");
	CHECK(arg_has_values(&arg) && arg_has_result(&arg));

	CHECK_OK(read_arg(&arena, "q: {scratch: u8, shape: [1MiB]}", &arg, &err));
	CHECK_INT(arg.role, ARG_SCRATCH);
	CHECK(!arg_has_values(&arg) && !arg_has_result(&arg));

	CHECK_OK(read_arg(&arena, "q: {scalar: i64, value: B*L}", &arg, &err));
	CHECK_INT(arg.role, ARG_SCALAR);
	CHECK_OK(expr_run(&arg.value, values, NULL, &extent, &err));
	CHECK_INT(extent, 15);
}

TEST(a_buffer_may_have_padded_rows_and_an_alignment_of_its_own)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct arg arg;

	CHECK_OK(read_arg(
		&arena,
		"q: {in: i4, storage: u8, shape: [B, L, 2], strides: [2*L + 8], align: 16, "
		"values: zeros}",
		&arg, &err));
	CHECK_INT(arg.element, ELEMENT_I4);
	CHECK_INT(arg.rank, 3);
	CHECK_INT(arg.stride_count, 1);
	CHECK_INT(arg.align, 16);
	CHECK_OK(read_arg(&arena, "q: {in: u4, shape: [B], strides: [], values: zeros}", &arg,
			  &err));
	CHECK_INT(arg.stride_count, 0);
	CHECK_INT(arg.align, 0);
}

TEST(a_real_scalar_may_be_a_number)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct arg arg;

	CHECK_OK(read_arg(&arena, "q: {scalar: f64, value: 1e-5}", &arg, &err));
	CHECK(arg.has_number && arg.number == 1e-5);
	CHECK_OK(read_arg(&arena, "q: {scalar: f32, value: 0.1}", &arg, &err));
	CHECK(arg.has_number && arg.number == (double) 0.1f);
	CHECK_OK(read_arg(&arena, "q: {scalar: bf16, value: -3}", &arg, &err));
	CHECK(arg.has_number && arg.number == -3);
	CHECK_OK(read_arg(&arena, "q: {scalar: f32, value: 2*B}", &arg, &err));
	CHECK(!arg.has_number);
}

#define IN(rest)    "q: {in: f32, shape: [B], values: zeros, " rest "}"
#define OUT(rest)   "q: {out: f32, shape: [B], " rest "}"
#define INOUT(rest) "q: {inout: f32, values: zeros, compare: exact, " rest "}"
#define ROLES       "an argument has exactly one of the keys in, out, inout, scratch, scalar"

static const struct mistake {
	const char *text, *error;
} mistakes[] = {
	{ "q: 3", "key 'q': an argument has to be a mapping of keys such as 'in', not '3'" },
	{ "q: {}", "key 'q': " ROLES },
	{ "q: {in: f32, out: f32}", "key 'q': " ROLES },
	{ "q: {in: f32, scratch: f32, scalar: f32}", "key 'q': " ROLES },
	{ "q: {in: f8e4m3}",
	  "key 'in': 'f8e4m3' is not supported yet by this version, which has: f64, f32, f16, "
	  "bf16, i64, i32, i8, u8, i4, u4" },
	{ "q: {in: f33}",
	  "key 'in': 'f33' is not one of: f64, f32, f16, bf16, i64, i32, i8, u8, i4, u4" },
	{ "q: {list: 3}", "key 'list': 'list' is not supported yet by this version; leave it out" },
	{ "q: {in: f32, values: 'uniform(0,1)'}", "key 'q': the argument lacks the key 'shape'" },
	{ "q: {in: f32, shape: B}",
	  "key 'shape': 'B' is not a list of expressions such as [B, 2*L], with 0..8 items" },
	{ "q: {in: f32, shape: [1,1,1,1,1,1,1,1,1]}", "key 'shape': 9 items are not within 0..8" },
	{ "q: {in: f32, shape: [[B]], values: zeros}",
	  "key 'shape': an expression has to be a text such as 2*B" },
	{ "q: {in: f32, shape: [B]}", "key 'q': the argument lacks the key 'values'" },
	{ "q: {out: f32, shape: [B]}", "key 'q': the argument lacks the key 'compare'" },
	{ "q: {inout: f32, shape: [B], values: zeros}",
	  "key 'q': the argument lacks the key 'compare'" },
	{ "q: {inout: f32, shape: [B], compare: exact}",
	  "key 'q': the argument lacks the key 'values'" },
	{ "q: {scratch: f32}", "key 'q': the argument lacks the key 'shape'" },
	{ "q: {scratch: f32, shape: [B], strides: [1]}",
	  "key 'strides': only an argument with the key 'in', 'out' or 'inout' has 'strides'" },
	{ "q: {in: f32, shape: [B], values: 'uniform(2,1)'}",
	  "key 'values': 'uniform(2,1)': low is above high" },
	{ IN("compare: 'close(rel=0,abs=0)'"),
	  "key 'compare': only an argument with the key 'out' or 'inout' has 'compare'" },
	{ IN("value: 1"), "key 'value': only an argument with the key 'scalar' has 'value'" },
	{ IN("writes: rows(s)"),
	  "key 'writes': only an argument with the key 'inout' has 'writes'" },
	{ IN("storage: u8"),
	  "key 'storage': only i4 and u4 are held by another type; f32 is its own" },
	{ IN("strides: [1, 1]"), "key 'strides': there are 2 strides and 1 extents in the shape" },
	{ IN("align: 24"), "key 'align': '24' is not a power of two" },
	{ IN("align: 2"), "key 'align': an element of f32 has 4 bytes and is aligned to them" },
	{ IN("align: 8192"), "key 'align': '8192' is not within 1..4096" },
	{ OUT("values: 'uniform(0,1)', compare: 'close(rel=0,abs=0)'"),
	  "key 'values': only an argument with the key 'in' or 'inout' has 'values'" },
	{ OUT("compare: 'close(rel=1,abs=0)'"), "key 'compare': 'close(rel=1,abs=0)': rel "
						"has to be within 0..1, abs not below 0" },
	{ INOUT("shape: [B], writes: rows"),
	  "key 'writes': 'rows' is not of the form rows(A), A being an argument" },
	{ INOUT("shape: [B], writes: rows()"),
	  "key 'writes': 'rows()' is not of the form rows(A), A being an argument" },
	{ INOUT("shape: [B], writes: rows(a b)"),
	  "key 'writes': 'rows(a b)' is not of the form rows(A), A being an argument" },
	{ INOUT("shape: [B], writes: rows(a) +"),
	  "key 'writes': 'rows(a) +' is not of the form rows(A), A being an argument" },
	{ INOUT("shape: [], writes: rows(a)"), "key 'writes': a single element has no rows" },
	{ "q: {scalar: i32}", "key 'q': the argument lacks the key 'value'" },
	{ "q: {scalar: i32, value: B, shape: [B]}",
	  "key 'shape': only an argument with the key 'in', 'out', 'inout' or 'scratch' has "
	  "'shape'" },
	{ "q: {scalar: f16, value: 1e5}", "key 'value': '1e5' does not fit in f16" },
};

TEST(a_mistake_in_an_argument_is_named)
{
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct arg arg = { .line = 77 };

		CHECK_INT(read_arg(&arena, mistakes[i].text, &arg, &err), -1);
		CHECK_STR(err.text, arena_printf(&arena, "t.yaml:1: %s", mistakes[i].error));
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(arg.line, 77);
	}
}

TEST(an_expression_is_blamed_at_its_own_column)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct arg arg;

	CHECK_INT(read_arg(&arena, "q: {scalar: i32, value: B*X}", &arg, &err), -1);
	CHECK_STR(err.text, "t.yaml:1:27: key 'value': 'B*X': no dimension defined up to here is "
			    "called 'X'");
	CHECK_INT(read_arg(&arena, "q: {scalar: i32, value: 'B*X'}", &arg, &err), -1);
	CHECK_STR(err.text, "t.yaml:1:28: key 'value': 'B*X': no dimension defined up to here is "
			    "called 'X'");
	CHECK_INT(read_arg(&arena, "q: {scalar: i32, value: 'B*\n  L'}", &arg, &err), -1);
	CHECK_STR(err.text, "t.yaml:1: key 'value': an expression has to stand on one line");
}
