/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pystats.h"

#include <float.h>
#include <math.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

/* To the last bit. */
static bool is(double got, double want)
{
	return got >= want && got <= want;
}

TEST(the_standard_deviation_is_rounded_once)
{
	static const double few[] = { 1.5, 2.5, 2.5, 2.75, 3.25, 4.75 };
	static const double tenths[] = { 0.1, 0.2, 0.3, 0.7 };
	static const double near[] = { 1.0, 1.0 + DBL_EPSILON };
	static const double far[] = { 5e-324, 1.7e308 };
	static const double same[] = { 0.1, 0.1, 0.1 };
	static const double tiny[] = { 5e-324, 1e-323 };

	CHECK(is(pystats_stdev(few, ARRAY_LEN(few)), 1.0810874155219827));
	CHECK(is(pystats_stdev(tenths, ARRAY_LEN(tenths)), 0.26299556396765833));
	CHECK(is(pystats_stdev(near, 2), 1.5700924586837752e-16));
	CHECK(is(pystats_stdev(far, 2), 1.2020815280171307e+308));
	CHECK(is(pystats_stdev(same, 3), 0));
	CHECK(is(pystats_stdev(tiny, 2), 5e-324));
	CHECK(isinf(pystats_stdev((const double[]){ 1, HUGE_VAL }, 2)));
}

TEST(percentiles_are_between_two_values_and_may_leave_them)
{
	static const double two[] = { 1, 2 };
	static const double five[] = { 1, 2, 3, 4, 10 };

	CHECK(is(pystats_percentile(two, 2, 25), 0.75));
	CHECK(is(pystats_percentile(two, 2, 90), 2.7));
	CHECK(is(pystats_percentile(five, 5, 25), 1.5));
	CHECK(is(pystats_percentile(five, 5, 75), 7));
	CHECK(is(pystats_percentile(five, 5, 90), 12.4));
}

TEST(the_median_is_the_middle_or_the_mean_of_both)
{
	double values[] = { 3, 1, 2, 10 };

	pystats_sort(values, 4);
	CHECK(is(pystats_median(values, 4), 2.5));
	CHECK(is(pystats_median(values, 3), 2));
	CHECK(is(pystats_median(values, 1), 1));
}

TEST(sums_are_taken_in_their_order)
{
	CHECK(is(pystats_sum((const double[]){ 0.1, 0.2, 0.3 }, 3), 0.6000000000000001));
	CHECK(is(pystats_sum((const double[]){ 0.3, 0.2, 0.1 }, 3), 0.6));
}
