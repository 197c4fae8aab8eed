/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyfloat.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

static void written(void (*write)(struct str *out, double value), double value, const char *want)
{
	cleanup(str_done) struct str out = STR_INIT;

	write(&out, value);
	CHECK_STR(out.text, want);
}

TEST(the_shortest_decimal_that_reads_back_is_written)
{
	written(pyfloat_add_repr, 0.1, "0.1");
	written(pyfloat_add_repr, 1.0, "1.0");
	written(pyfloat_add_repr, -0.0, "-0.0");
	written(pyfloat_add_repr, 0.1 + 0.2, "0.30000000000000004");
	written(pyfloat_add_repr, 1e15, "1000000000000000.0");
	written(pyfloat_add_repr, 1e16, "1e+16");
	written(pyfloat_add_repr, 123456789012345680.0, "1.2345678901234568e+17");
	written(pyfloat_add_repr, 0.0001, "0.0001");
	written(pyfloat_add_repr, 0.00001, "1e-05");
	written(pyfloat_add_repr, 5e-324, "5e-324");
	written(pyfloat_add_repr, 1.7976931348623157e308, "1.7976931348623157e+308");
}

TEST(below_a_power_of_two_the_nearest_decimal_may_not_read_back)
{
	written(pyfloat_add_repr, 0x1p-44, "5.684341886080802e-14");
	written(pyfloat_add_repr, 0x1p-24, "5.960464477539063e-08");
}

TEST(each_format_has_words_of_its_own_for_what_is_not_finite)
{
	written(pyfloat_add_repr, (double) NAN, "nan");
	written(pyfloat_add_repr, -HUGE_VAL, "-inf");
	written(pyfloat_add_json, HUGE_VAL, "Infinity");
	written(pyfloat_add_json, -HUGE_VAL, "-Infinity");
	written(pyfloat_add_json, (double) NAN, "NaN");
	written(pyfloat_add_yaml, HUGE_VAL, ".inf");
	written(pyfloat_add_yaml, -HUGE_VAL, "-.inf");
	written(pyfloat_add_yaml, (double) NAN, ".nan");
	written(pyfloat_add_yaml, 1e16, "1.0e+16");
	written(pyfloat_add_yaml, 1.5e-7, "1.5e-07");
}

TEST(fixed_decimals_have_no_negative_nan)
{
	cleanup(str_done) struct str out = STR_INIT;

	pyfloat_add_fixed(&out, 2.675, 2, false);
	pyfloat_add_fixed(&out, 2.0, 1, true);
	pyfloat_add_fixed(&out, -(double) NAN, 1, true);
	pyfloat_add_fixed(&out, HUGE_VAL, 1, true);
	CHECK_STR(out.text, "2.67+2.0+nan+inf");
}

static bool reads(const char *text, double want)
{
	double got = -424242;

	return pyfloat_from_text(text, strlen(text), &got) && got >= want && got <= want;
}

static bool is_refused(const char *text)
{
	double got;

	return !pyfloat_from_text(text, strlen(text), &got);
}

TEST(texts_become_numbers_as_in_python)
{
	CHECK(reads("0.5", 0.5) && reads(" \t1.25\n", 1.25) && reads("5.", 5) && reads(".5", 0.5));
	CHECK(reads("1_0.5", 10.5) && reads("1e1_0", 1e10) && reads("+1E-2", 0.01));
	CHECK(reads("\u0663.\u0665", 3.5) && reads("\u00a02\u3000", 2));
	CHECK(reads("1e400", HUGE_VAL) && reads("-inf", -HUGE_VAL) && reads("Infinity", HUGE_VAL));
	CHECK(pyfloat_from_text("NaN", 3, &(double){ 0 }));
}

TEST(what_python_refuses_is_refused)
{
	CHECK(is_refused("") && is_refused(" ") && is_refused(".") && is_refused("..."));
	CHECK(is_refused("1.2.3") && is_refused("1 2") && is_refused("0x10") && is_refused("1e"));
	CHECK(is_refused("1__0") && is_refused("_1") && is_refused("1_") && is_refused("1_.5"));
	CHECK(is_refused("1e+") && is_refused("abc") && is_refused("é") && is_refused("infinit"));
	CHECK(!pyfloat_from_text("1\0", 2, &(double){ 0 }));
}
