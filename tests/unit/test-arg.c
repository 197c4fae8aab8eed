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
	CHECK_INT(arg.element, ARG_F32);
	CHECK_INT(arg.rank, 2);
	CHECK_OK(expr_run(&arg.shape[1], values, NULL, &extent, &err));
	CHECK_INT(extent, 10);
	CHECK(arg.values.low == -1.5 && arg.values.high == 20);

	CHECK_OK(read_arg(&arena, "q: {out: f64, shape: [], compare: 'close(rel=1e-5, abs=0)'}",
			  &arg, &err));
	CHECK_INT(arg.role, ARG_OUT);
	CHECK_INT(arg.rank, 0);
	CHECK(arg.compare.rel == 1e-5 && arg.compare.abs == 0);

	CHECK_OK(read_arg(&arena, "q: {out: i32, shape: [B], compare: exact}", &arg, &err));
	CHECK_INT(arg.element, ARG_I32);

	CHECK_OK(read_arg(&arena, "q: {scalar: i64, value: B*L}", &arg, &err));
	CHECK_INT(arg.role, ARG_SCALAR);
	CHECK_OK(expr_run(&arg.value, values, NULL, &extent, &err));
	CHECK_INT(extent, 15);
}

TEST(the_oracle_gets_doubles_for_real_results)
{
	CHECK_INT(arg_oracle_element(&(struct arg){ .element = ARG_F32 }), ARG_F64);
	CHECK_INT(arg_oracle_element(&(struct arg){ .element = ARG_F64 }), ARG_F64);
	CHECK_INT(arg_oracle_element(&(struct arg){ .element = ARG_I32 }), ARG_I32);
	CHECK_INT(arg_oracle_element(&(struct arg){ .element = ARG_I64 }), ARG_I64);
	CHECK_INT(arg_element_size(ARG_F32), 4);
	CHECK_INT(arg_element_size(ARG_F64), 8);
	CHECK_INT(arg_element_size(ARG_I32), 4);
	CHECK_INT(arg_element_size(ARG_I64), 8);
}

#define IN(rest)  "q: {in: f32, shape: [B], " rest "}"
#define OUT(rest) "q: {out: f32, shape: [B], " rest "}"
#define INT(rest) "q: {in: i32, shape: [B], " rest "}"

static const struct mistake {
	const char *text, *error;
} mistakes[] = {
	{ "q: 3", "key 'q': an argument has to be a mapping of keys such as 'in', not '3'" },
	{ "q: {}", "key 'q': an argument has exactly one of the keys in, out, scalar" },
	{ "q: {in: f32, out: f32}",
	  "key 'q': an argument has exactly one of the keys in, out, scalar" },
	{ "q: {in: bf16}", "key 'in': 'bf16' is not supported yet by this version, which has: "
			   "f32, f64, i32, i64" },
	{ "q: {in: f33}", "key 'in': 'f33' is not one of: f32, f64, i32, i64" },
	{ "q: {inout: f32}",
	  "key 'inout': 'inout' is not supported yet by this version; leave it out" },
	{ "q: {in: f32, strides: [1]}",
	  "key 'strides': 'strides' is not supported yet by this version; leave it out" },
	{ "q: {in: f32, values: 'uniform(0,1)'}", "key 'q': the argument lacks the key 'shape'" },
	{ "q: {in: f32, shape: B}",
	  "key 'shape': 'B' is not a list of expressions such as [B, 2*L], with 0..8 items" },
	{ "q: {in: f32, shape: [1,1,1,1,1,1,1,1,1]}", "key 'shape': 9 items are not within 0..8" },
	{ "q: {in: f32, shape: [[B]]}", "key 'shape': an expression has to be a text such as 2*B" },
	{ "q: {in: f32, shape: [B]}", "key 'q': the argument lacks the key 'values'" },
	{ "q: {out: f32, shape: [B]}", "key 'q': the argument lacks the key 'compare'" },
	{ IN("values: normal"),
	  "key 'values': 'normal' is not supported yet by this version; write uniform(low, "
	  "high)" },
	{ IN("values: 'normal(0,1)'"),
	  "key 'values': 'normal' is not supported yet by this version; write uniform(low, "
	  "high)" },
	{ IN("values: 'gauss(0,1)'"),
	  "key 'values': 'gauss(0,1)' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(0)'"),
	  "key 'values': 'uniform(0)' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(0,1'"),
	  "key 'values': 'uniform(0,1' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(0,1) '"),
	  "key 'values': 'uniform(0,1) ' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(0,1,2)'"),
	  "key 'values': 'uniform(0,1,2)' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(a,b)'"),
	  "key 'values': 'uniform(a,b)' is not of the form uniform(low, high)" },
	{ IN("values: 'uniform(2,1)'"), "key 'values': 'uniform(2,1)': low is above high" },
	{ IN("values: 'uniform(0,1e39)'"),
	  "key 'values': 'uniform(0,1e39)' holds values that f32 can not" },
	{ INT("values: 'uniform(0,2147483648)'"),
	  "key 'values': 'uniform(0,2147483648)' holds values that i32 can not" },
	{ INT("values: 'uniform(0,1.5)'"),
	  "key 'values': 'uniform(0,1.5)': the ends have to be whole numbers for i32" },
	{ IN("compare: 'close(rel=0,abs=0)', values: 'uniform(0,1)'"),
	  "key 'compare': only an argument with the key 'out' has 'compare'" },
	{ IN("value: 1, values: 'uniform(0,1)'"),
	  "key 'value': only an argument with the key 'scalar' has 'value'" },
	{ OUT("values: 'uniform(0,1)', compare: 'close(rel=0,abs=0)'"),
	  "key 'values': only an argument with the key 'in' has 'values'" },
	{ OUT("compare: exact"), "key 'compare': 'exact' is not supported yet by this version; "
				 "write close(rel=1e-5, abs=1e-6)" },
	{ OUT("compare: 'close(abs=0,rel=0)'"), "key 'compare': 'close(abs=0,rel=0)' is not of "
						"the form close(rel=1e-5, abs=1e-6)" },
	{ OUT("compare: 'close(rel=1,abs=0)'"), "key 'compare': 'close(rel=1,abs=0)': rel "
						"has to be within 0..1, abs not below 0" },
	{ OUT("compare: 'close(rel=0,abs=-1)'"),
	  "key 'compare': 'close(rel=0,abs=-1)': rel has to be within 0..1, abs not below "
	  "0" },
	{ "q: {out: i32, shape: [B], compare: 'close(rel=0,abs=0)'}",
	  "key 'compare': 'close(rel=0,abs=0)': whole numbers are compared with 'exact'" },
	{ "q: {scalar: i32}", "key 'q': the argument lacks the key 'value'" },
	{ "q: {scalar: i32, value: B, shape: [B]}",
	  "key 'shape': only an argument with the key 'in' or 'out' has 'shape'" },
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
