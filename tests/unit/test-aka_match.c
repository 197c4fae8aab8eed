/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_match.h"

#include "tests/lib/aka_reports.h"
#include "tests/lib/check.h"

/* "BASE-OPTIMIZED" of each pair, by their places. */
static void pairs_up(const char *base_report, const char *optimized_report, const char *want)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
	cleanup(aka_pairs_done) struct aka_pairs pairs = AKA_PAIRS_INIT;
	cleanup(str_done) struct str got = STR_INIT;

	aka_test_cases(&base, base_report);
	aka_test_cases(&optimized, optimized_report);
	aka_match(&pairs, &base, &optimized);
	for (size_t i = 0; i < pairs.count; i++)
		str_addf(&got, "%s%zu-%zu", i > 0 ? " " : "",
			 (size_t) (pairs.list[i].base - base.list),
			 (size_t) (pairs.list[i].optimized - optimized.list));
	CHECK_STR(got.text, want);
}

#define NAMED(id, ms) "{\"test_case_id\":\"" id "\",\"time\":" ms "}"

TEST(parameters_come_before_shapes_and_shapes_before_names)
{
	pairs_up("[{\"test_case_id\":\"a\",\"time\":1},{\"shape\":[1],\"time\":1},"
		 "{\"params\":{\"m\":1},\"time\":1}]",
		 "[{\"params\":{\"m\":1.0},\"time\":1},{\"test_case_id\":\"a\",\"time\":1},"
		 "{\"shapes\":[true],\"time\":1}]",
		 "2-0 1-2 0-1");
}

TEST(each_takes_the_first_that_is_free)
{
	pairs_up("[{\"shape\":[1],\"time\":1},{\"shape\":[1],\"time\":2}]",
		 "[{\"shape\":[2],\"time\":1},{\"shape\":[1],\"time\":1},{\"shape\":[1],\"time\":1}"
		 "]",
		 "0-1 1-2");
}

TEST(names_that_were_made_up_match_nothing)
{
	pairs_up("[{\"time\":1},{\"time\":2}]", "[{\"time\":1},{\"time\":2}]", "");
	pairs_up("[{\"test_case_id\":0,\"time\":1},{\"time\":2}]",
		 "[{\"test_case_id\":0,\"time\":1},{\"time\":2}]", "");
	pairs_up("[{\"params\":{},\"shape\":\"\",\"time\":1},{\"time\":1}]",
		 "[{\"params\":{},\"shape\":\"\",\"time\":1},{\"time\":1}]", "");
}

TEST(two_single_cases_belong_together)
{
	pairs_up("[" NAMED("a", "1") "]", "[" NAMED("b", "1") "]", "0-0");
	pairs_up("[" NAMED("a", "1") "]", "[" NAMED("b", "1") "," NAMED("c", "1") "]", "");
}

static double speedup(const char *base_report, const char *optimized_report)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;

	aka_test_cases(&base, base_report);
	aka_test_cases(&optimized, optimized_report);
	return aka_match_speedup(&base, &optimized);
}

TEST(the_speedup_is_the_mean_of_ratios_over_all_cases)
{
	double got = speedup("[" NAMED("a", "4") "," NAMED("b", "1") "]",
			     "[" NAMED("b", "1") "," NAMED("a", "2") "]");

	CHECK(got >= 1.5 && got <= 1.5);
	CHECK(!(speedup("[" NAMED("a", "4") "," NAMED("b", "1") "]", "[" NAMED("a", "4") "]") > 0));
	CHECK(!(speedup("[" NAMED("a", "4") "]", "[" NAMED("a", "0") "]") > 0));
	CHECK(!(speedup("[]", "[]") > 0));
}
