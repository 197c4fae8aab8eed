/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/values.h"

#include <math.h>
#include <stdio.h>

#include "tests/lib/check.h"

static const char *const texts[] = { "B", "L" };
static const int64_t dims[] = { 3, 100 };
static const struct expr_names names = { texts, ARRAY_LEN(texts) };

/* Reads a distribution, and resolves it for rows of @row elements, three of them. */
static int resolve(const char *text, uint32_t element, uint64_t row, struct values_plan *out,
		   struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct yaml_node node = { .kind = YAML_TEXT,
					.line = 3,
					.column = 20,
					.file = "t.yaml",
					.key = "values",
					.text = text,
					.quoted = true };
	struct tensor tensor = { element, 2, 3 * row, { 3, row }, { row, 1 } };
	struct values values;

	if (values_read(&node, element, &names, &arena, &values, err) < 0)
		return -1;
	return values_resolve(&values, dims, &tensor, out, err);
}

TEST(each_distribution_is_read)
{
	static const struct {
		const char *text;
		uint32_t element, kind, count;
		double numbers[3];
	} rows[] = {
		{ "uniform( -1.5 , 2e1 )", ELEMENT_F32, VALUES_UNIFORM, 2, { -1.5, 20 } },
		{ "uniform(-5, 5)", ELEMENT_I8, VALUES_UNIFORM, 2, { -5, 5 } },
		{ "normal(1, 0.5)", ELEMENT_BF16, VALUES_NORMAL, 2, { 1, 0.5 } },
		{ "loguniform(0.01, 1)", ELEMENT_F64, VALUES_LOGUNIFORM, 2, { 0.01, 1 } },
		{ "randint(-B, cdiv(L, 7))", ELEMENT_I32, VALUES_RANDINT, 2, { -3, 15 } },
		{ "randint(min(1, B), 2*(L+1))", ELEMENT_F32, VALUES_RANDINT, 2, { 1, 202 } },
		{ "below(L)", ELEMENT_I64, VALUES_RANDINT, 2, { 0, 99 } },
		{ "below(B in [2, 3])", ELEMENT_U4, VALUES_RANDINT, 2, { 0, 0 } },
		{ "choice(0.5)", ELEMENT_F16, VALUES_CHOICE, 1, { 0.5 } },
		{ "choice(-1, 0, 1)", ELEMENT_I4, VALUES_CHOICE, 3, { -1, 0, 1 } },
		{ "constant(7)", ELEMENT_U8, VALUES_CHOICE, 1, { 7 } },
		{ "zeros", ELEMENT_F32, VALUES_CHOICE, 1, { 0 } },
		{ "ones", ELEMENT_I64, VALUES_CHOICE, 1, { 1 } },
		{ "list(B, L, B*L)", ELEMENT_I32, VALUES_LIST, 3, { 3, 100, 300 } },
		{ "permutation", ELEMENT_I32, VALUES_PERMUTATION, 0, { 0 } },
		{ "onehot", ELEMENT_F32, VALUES_ONEHOT, 0, { 0 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct values_plan plan;
		struct err err = ERR_INIT;

		CHECK_OK(resolve(rows[i].text, rows[i].element, 1, &plan, &err));
		CHECK_INT(plan.kind, rows[i].kind);
		CHECK_INT(plan.count, rows[i].count);
		CHECK(!plan.is_sorted);
		for (uint32_t k = 0; k < plan.count; k++)
			CHECK(element_is_real(rows[i].element)
				      ? plan.reals[k] == rows[i].numbers[k]
				      : plan.wholes[k] == (int64_t) rows[i].numbers[k]);
	}
}

TEST(any_distribution_of_single_values_can_be_sorted)
{
	struct values_plan plan;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("sorted(uniform(0, 1))", ELEMENT_F32, 5, &plan, &err));
	CHECK(plan.is_sorted);
	CHECK_INT(plan.kind, VALUES_UNIFORM);
	CHECK_OK(resolve("sorted( below(L) )", ELEMENT_I32, 5, &plan, &err));
	CHECK(plan.is_sorted);
	CHECK_INT(plan.wholes[1], 99);
}

#define WORDS                                                                                \
	"uniform, normal, loguniform, randint, below, choice, constant, zeros, ones, list, " \
	"permutation, onehot, and sorted(…) around one of them"

static const struct mistake {
	const char *text;
	uint32_t element;
	const char *error;
} mistakes[] = {
	{ "gauss(0,1)", ELEMENT_F32, "3: key 'values': 'gauss(0,1)' is none of: " WORDS },
	{ "", ELEMENT_F32, "3: key 'values': '' is none of: " WORDS },
	{ "sorted", ELEMENT_F32, "3: key 'values': 'sorted' is none of: " WORDS },
	{ "sorted(sorted(zeros))", ELEMENT_F32,
	  "3: key 'values': 'sorted(sorted(zeros))' is none of: " WORDS },
	{ "generate", ELEMENT_F32,
	  "3: key 'values': 'generate' is not supported yet by this version, which "
	  "has: " WORDS },
	{ "normal", ELEMENT_F32, "3: key 'values': 'normal' is not of the form normal(mean, sd)" },
	{ "uniform(0)", ELEMENT_F32,
	  "3: key 'values': 'uniform(0)' is not of the form uniform(low, high)" },
	{ "uniform()", ELEMENT_F32,
	  "3: key 'values': 'uniform()' is not of the form uniform(low, high)" },
	{ "uniform(0,1", ELEMENT_F32,
	  "3: key 'values': 'uniform(0,1' is not of the form uniform(low, high)" },
	{ "uniform(0,1)x", ELEMENT_F32,
	  "3: key 'values': 'uniform(0,1)x' is not of the form uniform(low, high)" },
	{ "uniform(0,1,2)", ELEMENT_F32,
	  "3: key 'values': 'uniform(0,1,2)' is not of the form uniform(low, high)" },
	{ "uniform(0,1,)", ELEMENT_F32,
	  "3: key 'values': 'uniform(0,1,)' is not of the form uniform(low, high)" },
	{ "uniform(a,b)", ELEMENT_F32,
	  "3: key 'values': 'uniform(a,b)' is not of the form uniform(low, high)" },
	{ "choice(1,,2)", ELEMENT_F32,
	  "3: key 'values': 'choice(1,,2)' is not of the form choice(a, b, …)" },
	{ "zeros()", ELEMENT_F32, "3: key 'values': 'zeros()' is not of the form zeros" },
	{ "uniform(2,1)", ELEMENT_F32, "3: key 'values': 'uniform(2,1)': low is above high" },
	{ "loguniform(0,1)", ELEMENT_F32,
	  "3: key 'values': 'loguniform(0,1)': low has to be above 0" },
	{ "normal(0,-1)", ELEMENT_F32, "3: key 'values': 'normal(0,-1)': sd has to be at least 0" },
	{ "uniform(0,1e39)", ELEMENT_F32,
	  "3: key 'values': 'uniform(0,1e39)' holds values that f32 can not" },
	{ "uniform(0,65505)", ELEMENT_F16,
	  "3: key 'values': 'uniform(0,65505)' holds values that f16 can not" },
	{ "uniform(-3e38,3e38)", ELEMENT_F32,
	  "3: key 'values': 'uniform(-3e38,3e38)' is wider than f32 can count" },
	{ "uniform(0,2147483648)", ELEMENT_I32,
	  "3: key 'values': 'uniform(0,2147483648)' holds values that i32 can not" },
	{ "choice(0,-1)", ELEMENT_U4,
	  "3: key 'values': 'choice(0,-1)' holds values that u4 can not" },
	{ "uniform(0,1.5)", ELEMENT_I32,
	  "3: key 'values': 'uniform(0,1.5)': the numbers have to be whole for i32" },
	{ "normal(0,1)", ELEMENT_I8,
	  "3: key 'values': 'normal' is for real types, not for "
	  "i8" },
	{ "permutation", ELEMENT_F32,
	  "3: key 'values': 'permutation' is for whole types, not for f32" },
	{ "randint(0, H)", ELEMENT_I32,
	  "3:32: key 'values': 'H': no dimension defined up to here is called 'H'" },
	{ "randint(0,)", ELEMENT_I32,
	  "3:31: key 'values': '': here a number, a name or '(' is missing" },
	{ "below(range(1,2))", ELEMENT_I32,
	  "3:27: key 'values': 'range(1,2)': only a hidden range can draw a value with "
	  "'range'" },
	{ "randint(0, B/0)", ELEMENT_I32, "3:33: key 'values': 'B/0': division by zero" },
	{ "randint(L, 200)", ELEMENT_I8, "3: key 'values': 200 does not fit in i8" },
	{ "randint(L, B)", ELEMENT_I8, "3: key 'values': 'randint(L, B)': its range is empty" },
	{ "below(B-3)", ELEMENT_I8, "3: key 'values': nothing is below 0" },
	{ "below(-9223372036854775807-1)", ELEMENT_I64,
	  "3: key 'values': nothing is below -9223372036854775808" },
	{ "list(1, 2)", ELEMENT_I8, "3: key 'values': 'list(1, 2)': its list does not fill it" },
	{ "sorted(onehot)", ELEMENT_I8,
	  "3: key 'values': 'sorted(onehot)': sorted is for values that are drawn one by "
	  "one" },
};

TEST(a_mistake_in_a_distribution_is_named)
{

	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		struct values_plan plan = { .kind = 77 };
		struct err err = ERR_INIT;
		char want[400];

		CHECK_INT(resolve(mistakes[i].text, mistakes[i].element, 1, &plan, &err), -1);
		snprintf(want, sizeof(want), "t.yaml:%s", mistakes[i].error);
		CHECK_STR(err.text, want);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(plan.kind, 77);
	}
}

TEST(a_permutation_has_to_fit_its_type)
{
	struct values_plan plan;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("permutation", ELEMENT_I8, 128, &plan, &err));
	CHECK_INT(resolve("permutation", ELEMENT_I8, 129, &plan, &err), -1);
	CHECK_STR(err.text, "t.yaml:3: key 'values': 'permutation': a permutation of its rows does "
			    "not fit its type");
}

TEST(the_most_operands_are_sixteen)
{
	struct values_plan plan;
	struct err err = ERR_INIT;

	CHECK_OK(resolve("choice(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", ELEMENT_F32, 1, &plan,
			 &err));
	CHECK_INT(plan.count, VALUES_MAX);
	CHECK_INT(resolve("choice(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", ELEMENT_F32, 1,
			  &plan, &err),
		  -1);
	CHECK_INT(resolve("list(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", ELEMENT_F32, 1, &plan,
			  &err),
		  -1);
}

TEST(a_plan_from_elsewhere_is_checked_as_well)
{
	static const struct values_plan plans[] = {
		{ .kind = VALUES_ONEHOT + 1 },
		{ .kind = VALUES_CHOICE, .count = 17 },
		{ .kind = VALUES_CHOICE, .count = 0 },
		{ .kind = VALUES_UNIFORM, .count = 2, .reals = { NAN, 1 } },
		{ .kind = VALUES_UNIFORM, .count = 2, .reals = { 1, 0 } },
		{ .kind = VALUES_UNIFORM, .count = 1 },
		{ .kind = VALUES_UNIFORM, .count = 2, .reals = { -3e38, 3e38 } },
		{ .kind = VALUES_LOGUNIFORM, .count = 2, .reals = { 0, 1 } },
		{ .kind = VALUES_NORMAL, .count = 2, .reals = { 0, -1 } },
		{ .kind = VALUES_PERMUTATION },
		{ .kind = VALUES_LIST, .count = 2 },
	};
	struct tensor tensor = tensor_of_row(ELEMENT_F32, 3);

	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		CHECK(values_fault(&plans[i], &tensor));
}
