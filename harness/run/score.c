/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/score.h"

#include <math.h>

#include "sandbox/base/compiler.h"

static double known_speedup(const struct score_result *result)
{
	if (!result->is_compiled || !result->is_correct || !isfinite(result->speedup))
		return 0;
	return MAX_OF(result->speedup, 0.0);
}

double score_attempt(const struct score_result *result)
{
	if (!result->is_compiled)
		return 0;
	if (!result->is_correct)
		return 20;
	return 20 + 100 + 100 * known_speedup(result);
}

struct score_summary score_summarise(const struct score_result *results, size_t count)
{
	struct score_summary sum = { .tasks = count };
	double logs = 0, logs_correct = 0;
	size_t fast_1 = 0, fast_2 = 0;

	for (size_t i = 0; i < count; i++) {
		const double speedup = known_speedup(&results[i]);
		const double log_speedup = log(MAX_OF(speedup, SCORE_SPEEDUP_FLOOR));

		sum.total_score += score_attempt(&results[i]);
		sum.mean_speedup += speedup;
		logs += log_speedup;
		sum.compiled += results[i].is_compiled;
		if (results[i].is_compiled && results[i].is_correct) {
			sum.correct++;
			logs_correct += log_speedup;
		}
		fast_1 += results[i].is_fast && speedup > 1;
		fast_2 += results[i].is_fast && speedup > 2;
	}
	if (count == 0)
		return sum;
	sum.mean_score = sum.total_score / (double) count;
	sum.mean_speedup /= (double) count;
	sum.geometric = exp(logs / (double) count);
	if (sum.correct > 0)
		sum.geometric_correct = exp(logs_correct / (double) sum.correct);
	sum.fast_1 = (double) fast_1 / (double) count;
	sum.fast_2 = (double) fast_2 / (double) count;
	return sum;
}

struct score_spread score_spread(const double *values, size_t count)
{
	struct score_spread spread = { .count = count };
	double squares = 0;

	if (count == 0)
		return spread;
	spread.least = spread.most = values[0];
	for (size_t i = 0; i < count; i++) {
		spread.mean += values[i] / (double) count;
		spread.least = MIN_OF(spread.least, values[i]);
		spread.most = MAX_OF(spread.most, values[i]);
	}
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - spread.mean) * (values[i] - spread.mean);
	if (count > 1)
		spread.sd = sqrt(squares / (double) (count - 1));
	return spread;
}

/* The 97.5 % point of Student's t: for so many degrees of freedom and more. */
static double student(size_t freedom)
{
	/* clang-format off */
	static const struct { size_t from; double point; } points[] = {
		{ 120, 1.9799 }, { 60, 2.0003 }, { 40, 2.0211 },
		{ 30, 2.0423 }, { 29, 2.0452 }, { 28, 2.0484 }, { 27, 2.0518 }, { 26, 2.0555 },
		{ 25, 2.0595 }, { 24, 2.0639 }, { 23, 2.0687 }, { 22, 2.0739 }, { 21, 2.0796 },
		{ 20, 2.0860 }, { 19, 2.0930 }, { 18, 2.1009 }, { 17, 2.1098 }, { 16, 2.1199 },
		{ 15, 2.1314 }, { 14, 2.1448 }, { 13, 2.1604 }, { 12, 2.1788 }, { 11, 2.2010 },
		{ 10, 2.2281 }, { 9,  2.2622 }, { 8,  2.3060 }, { 7,  2.3646 }, { 6,  2.4469 },
		{ 5,  2.5706 }, { 4,  2.7764 }, { 3,  3.1824 }, { 2,  4.3027 }, { 1, 12.7062 },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_LEN(points); i++)
		if (freedom >= points[i].from)
			return points[i].point;
	return INFINITY;
}

struct score_interval score_mean_interval(const double *values, size_t count)
{
	const struct score_spread spread = score_spread(values, count);
	struct score_interval interval = {
		.count = count,
		.mean = count > 0 ? spread.mean : (double) NAN,
		.low = -INFINITY,
		.high = INFINITY,
	};
	double half;

	if (count < 2)
		return interval;
	half = student(count - 1) * spread.sd / sqrt((double) count);
	interval.low = spread.mean - half;
	interval.high = spread.mean + half;
	return interval;
}
