/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/expr.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static const char *const texts[] = { "B", "L", "P", "in_x" };
static const int64_t values[] = { 3, 1000, 16, -7 };
static const struct expr_names names = { texts, ARRAY_LEN(texts) };

static int evaluate(const char *text, enum expr_draws draws, const struct expr_draw *draw,
		    int64_t *out, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct expr_source source = { text, "task.yaml", "M", 9, 21 };
	struct expr expr;

	if (expr_compile(&source, &names, draws, &arena, &expr, err) < 0)
		return -1;
	return expr_run(&expr, values, draw, out, err);
}

TEST(expressions_have_the_values_that_the_grammar_gives_them)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{ "7", 7 },
		{ "  7  ", 7 },
		{ "1+2*3", 7 },
		{ "(1+2)*3", 9 },
		{ "10-3-2", 5 },
		{ "100/7/2", 7 },
		{ "-7/2", -3 },
		{ "-7%2", -1 },
		{ "--7", 7 },
		{ "2*-3", -6 },
		{ "-(2+3)", -5 },
		{ "2*B*L", 6000 },
		{ "cdiv(L, P)", 63 },
		{ "cdiv(L,P)*P", 1008 },
		{ "min(B, L, P)", 3 },
		{ "max(B, L, P)", 1000 },
		{ "min(-1, 1)", -1 },
		{ "prime(B)", 1 },
		{ "prime(L)", 0 },
		{ "pow2(P)", 1 },
		{ "pow2(0)", 0 },
		{ "pow2(-8)", 0 },
		{ "B == 3", 1 },
		{ "B != 3", 0 },
		{ "B < 3", 0 },
		{ "B <= 3", 1 },
		{ "B > 2", 1 },
		{ "B >= 4", 0 },
		{ "B+1 == 2*2", 1 },
		{ "B in [1,2,3]", 1 },
		{ "B in [P]", 0 },
		{ "B+13 in [ P , L ]", 1 },
		{ "(B == 3) + (L == 1000)", 2 },
		{ "in_x", -7 },
		{ "4KiB", 4096 },
		{ "8GiB / 1MiB", 8192 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775807-1", INT64_MIN },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		int64_t value;

		CHECK_OK(evaluate(cases[i].text, EXPR_NO_DRAWS, NULL, &value, &err));
		if (value != cases[i].value)
			check_fail(__FILE__, __LINE__, "'%s' is %lld", cases[i].text,
				   (long long) value);
	}
}

#define AT(column) "task.yaml:9:" column ": key 'M': "

TEST(a_mistake_is_named_with_its_line_and_column)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", AT("21") "'': here a number, a name or '(' is missing" },
		{ "1+", AT("23") "'1+': here a number, a name or '(' is missing" },
		{ "(1", AT("23") "'(1': here is missing ')'" },
		{ "1)", AT("22") "'1)': the expression should have ended here" },
		{ "1 2", AT("23") "'1 2': the expression should have ended here" },
		{ "cdiv(L P)", AT("28") "'cdiv(L P)': here is missing ')'" },
		{ "cdiv(L)", AT("21") "'cdiv(L)': write cdiv(a, b)" },
		{ "min(L)", AT("21") "'min(L)': write min(a, b, …)" },
		{ "prime(1,2,3)", AT("21") "'prime(1,2,3)': write prime(n) or prime(least, most)" },
		{ "sqrt(L)",
		  AT("21") "'sqrt(L)': the functions are cdiv, min, max, prime, pow2 and "
			   "range; there is no 'sqrt'" },
		{ "B*H", AT("23") "'B*H': no dimension defined up to here is called 'H'" },
		{ "range(1,2)", AT("21") "'range(1,2)': only a hidden range can draw a value with "
					 "'range'" },
		{ "prime(1,2)", AT("21") "'prime(1,2)': only a hidden range can draw a value with "
					 "'prime'" },
		{ "1 < 2 < 3",
		  AT("28") "'1 < 2 < 3': comparisons do not chain; write two of them" },
		{ "B in 3", AT("26") "'B in 3': here is missing '['" },
		{ "B in []", AT("27") "'B in []': here a number, a name or '(' is missing" },
		{ "B inner", AT("23") "'B inner': the expression should have ended here" },
		{ "1.5",
		  AT("22") "'1.5': a number is whole, decimal, and may end in KiB, MiB, GiB or "
			   "TiB" },
		{ "0x10",
		  AT("22") "'0x10': a number is whole, decimal, and may end in KiB, MiB, GiB "
			   "or TiB" },
		{ "2B",
		  AT("22") "'2B': a number is whole, decimal, and may end in KiB, MiB, GiB or "
			   "TiB" },
		{ "9223372036854775808",
		  AT("39") "'9223372036854775808': the number does not fit in 64 bits" },
		{ "8388608TiB", AT("31") "'8388608TiB': the number does not fit in 64 bits" },
		{ "B = 3", AT("23") "'B = 3': the expression should have ended here" },
		{ "B && L", AT("23") "'B && L': the expression should have ended here" },
		{ "2**3", AT("23") "'2**3': here a number, a name or '(' is missing" },
		{ "\t1", AT("21") "'\\x091': here a number, a name or '(' is missing" },
		{ "2*B/0", AT("24") "'2*B/0': division by zero" },
		{ "L % (B-3)", AT("23") "'L % (B-3)': division by zero" },
		{ "1 + 9223372036854775807",
		  AT("23") "'1 + 9223372036854775807': the result does not fit in 64 bits" },
		{ "-(-9223372036854775807-1)",
		  AT("21") "'-(-9223372036854775807-1)': the result does not fit in 64 bits" },
		{ "cdiv(L,B-3)", AT("21") "'cdiv(L,B-3)': cdiv divides by a positive number only" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		int64_t value = 42;

		CHECK_INT(evaluate(cases[i].text, EXPR_NO_DRAWS, NULL, &value, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(value, 42);
	}
}

/* `count` times `text`, between head and tail. */
static const char *repeat(struct str *out, const char *head, const char *text, int count,
			  const char *tail)
{
	str_clear(out);
	str_addf(out, "%s", head);
	for (int i = 0; i < count; i++)
		str_addf(out, "%s", text);
	str_addf(out, "%s", tail);
	return out->text;
}

TEST(length_depth_and_operands_have_limits_that_hold)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int64_t value;

	CHECK_OK(evaluate(repeat(&text, "", "-", EXPR_DEPTH_MAX, "1"), EXPR_NO_DRAWS, NULL, &value,
			  &err));
	CHECK_INT(evaluate(repeat(&text, "", "-", EXPR_DEPTH_MAX + 1, "1"), EXPR_NO_DRAWS, NULL,
			   &value, &err),
		  -1);
	CHECK(strstr(err.text, "nested too deep"));
	CHECK_INT(evaluate(repeat(&text, "", "(", 200, "1"), EXPR_NO_DRAWS, NULL, &value, &err),
		  -1);
	CHECK(strstr(err.text, "nested too deep"));
	CHECK_OK(evaluate(repeat(&text, "max(1", ",2", EXPR_LIST_MAX - 1, ")"), EXPR_NO_DRAWS, NULL,
			  &value, &err));
	CHECK_INT(evaluate(repeat(&text, "max(1", ",2", EXPR_LIST_MAX, ")"), EXPR_NO_DRAWS, NULL,
			   &value, &err),
		  -1);
	CHECK(strstr(err.text, "too many operands"));
	CHECK_OK(evaluate(repeat(&text, "1", "+1", 63, ""), EXPR_NO_DRAWS, NULL, &value, &err));
	CHECK_INT(value, 64);
	CHECK_INT(evaluate(repeat(&text, "1", "+1", 64, ""), EXPR_NO_DRAWS, NULL, &value, &err),
		  -1);
	CHECK(strstr(err.text, "too long"));
	CHECK_INT(evaluate(repeat(&text, "1", " ", EXPR_TEXT_MAX, ""), EXPR_NO_DRAWS, NULL, &value,
			   &err),
		  -1);
	CHECK(strstr(err.text, "at most 256 bytes"));
	/* 16 and 31 operands wait on the stack at once. */
	repeat(&text, "max(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,", "min(1,1,1,1,1,1,1,1,", 5,
	       "1,1,1)))))),1)");
	CHECK_INT(evaluate(text.text, EXPR_NO_DRAWS, NULL, &value, &err), -1);
	str_done(&text);
}

static uint64_t next_of(void *user)
{
	const uint64_t **at = user;

	return *(*at)++;
}

TEST(draws_take_one_random_value_each_in_the_order_of_the_text)
{
	static const uint64_t random[] = { 0, UINT64_MAX, UINT64_C(1) << 63, 0 };
	const uint64_t *at = random;
	struct expr_draw draw = { next_of, &at };
	struct err err = ERR_INIT;
	int64_t value;

	CHECK_OK(evaluate("1000000*range(1,9) + 1000*prime(3,61) + pow2(4,64)", EXPR_DRAWS, &draw,
			  &value, &err));
	CHECK_INT(value, 1061016);
	CHECK_INT(at - random, 3);
	CHECK_INT(evaluate("range(2, 1)", EXPR_DRAWS, &draw, &value, &err), -1);
	CHECK_STR(err.text, AT("21") "'range(2, 1)': the interval to draw from is empty");
}
