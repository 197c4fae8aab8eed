/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/units.h"

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static void check_written(enum units_kind kind, uint64_t value, const char *want)
{
	CHECK_STR(units_write(kind, value).text, want);
}

TEST(bytes_and_times_have_the_largest_unit_that_divides_them)
{
	check_written(UNITS_BYTES, 1, "1B");
	check_written(UNITS_BYTES, 1536, "1536B");
	check_written(UNITS_BYTES, 64 * KIB, "64KiB");
	check_written(UNITS_BYTES, 1826 * MIB, "1826MiB");
	check_written(UNITS_BYTES, 2 * TIB, "2TiB");
	check_written(UNITS_BYTES, UINT64_MAX, "18446744073709551615B");
	check_written(UNITS_MS, 500, "500ms");
	check_written(UNITS_MS, 90 * 1000, "90s");
	check_written(UNITS_MS, 20 * 60 * 1000, "20m");
	check_written(UNITS_MS, 168 * UINT64_C(3600000), "168h");
}

TEST(thousandths_have_as_many_decimals_as_they_need)
{
	check_written(UNITS_MILLI, 2000, "2");
	check_written(UNITS_MILLI, 1500, "1.5");
	check_written(UNITS_MILLI, 50, "0.05");
	check_written(UNITS_MILLI, 2001, "2.001");
}

TEST(a_count_has_no_unit_and_nothing_is_nothing_in_any)
{
	check_written(UNITS_COUNT, 512, "512");
	for (int kind = UNITS_COUNT; kind <= UNITS_MILLI; kind++)
		check_written((enum units_kind) kind, 0, "0");
}

TEST(what_is_written_is_parsed_to_the_same)
{
	static const uint64_t values[] = { 0,    1,       999,      1000,      1500,
					   1536, 3600000, 64 * KIB, UINT64_MAX };

	for (int kind = UNITS_COUNT; kind <= UNITS_MILLI; kind++) {
		for (size_t i = 0; i < ARRAY_LEN(values); i++) {
			uint64_t got = 7;

			CHECK_INT(units_parse((enum units_kind) kind,
					      units_write((enum units_kind) kind, values[i]).text,
					      &got),
				  0);
			CHECK(got == values[i]);
		}
	}
}

TEST(what_says_nothing_or_too_much_is_refused_and_leaves_the_value)
{
	static const struct {
		enum units_kind kind;
		const char *text;
	} bad[] = {
		{ UNITS_BYTES, "64" },
		{ UNITS_BYTES, "010KiB" },
		{ UNITS_BYTES, "1kib" },
		{ UNITS_BYTES, "-1B" },
		{ UNITS_BYTES, "16777216TiB" },
		{ UNITS_MS, "5" },
		{ UNITS_MS, "1h " },
		{ UNITS_MS, "" },
		{ UNITS_MILLI, "1." },
		{ UNITS_MILLI, "1.0005" },
		{ UNITS_COUNT, "18446744073709551616" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint64_t got = 7;

		if (units_parse(bad[i].kind, bad[i].text, &got) == 0 || got != 7)
			check_fail(__FILE__, __LINE__, "'%s' was taken", bad[i].text);
	}
}
