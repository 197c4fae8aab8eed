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
