/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/generalisation.h"

#include <math.h>
#include <string.h>

#include "sandbox/base/mem.h"

/* ---- one attempt ---- */

static bool is_marked(const struct record_mark *mark)
{
	return mark->kind && strcmp(mark->kind, "INFRA") != 0;
}

static enum quadrant quadrant_of(const struct record *record)
{
	const bool seen = record->is_built && record_is_right(&record->seen);

	if (is_marked(&record->unseen) && record_is_right(&record->unseen))
		return seen ? QUADRANT_BOTH : QUADRANT_UNSEEN;
	/* What was not worth judging, or failed before an unseen case, is right on none. */
	if (is_marked(&record->unseen) || (!seen && !record->unseen.kind))
		return seen ? QUADRANT_SEEN : QUADRANT_NONE;
	return QUADRANT_UNKNOWN;
}

static enum timed timed_of(const struct record_mark *mark)
{
	static const struct {
		const char *verdict;
		enum timed timed;
	} verdicts[] = {
		{ "FAST", TIMED_FAST },
		{ "SLOW", TIMED_SLOW },
		{ "SAME", TIMED_SAME },
	};

	if (mark->blocks == 0)
		return TIMED_NOT;
	if (mark->launch_bound)
		return TIMED_LAUNCH_BOUND;
	for (size_t i = 0; mark->verdict && i < ARRAY_LEN(verdicts); i++)
		if (strcmp(mark->verdict, verdicts[i].verdict) == 0)
			return verdicts[i].timed;
	return TIMED_AMBG;
}

static double resolved_ratio(const struct record_mark *mark)
{
	if (!record_is_right(mark) || mark->blocks == 0 || mark->launch_bound ||
	    !isfinite(exp(mark->ratio)))
		return NAN;
	return mark->ratio;
}

struct generalisation_attempt generalisation_attempt(const struct record *record, uint32_t task)
{
	return (struct generalisation_attempt){
		.task = task,
		.is_marked = record_is_marked(record),
		.result = record_result(record),
		.quadrant = quadrant_of(record),
		.timed = timed_of(&record->seen),
		.seen_ratio = resolved_ratio(&record->seen),
		.unseen_ratio = resolved_ratio(&record->unseen),
	};
}

/* ---- a task ---- */

/* Sums over the attempts on one task. */
struct sums {
	size_t attempts, compiled, right, fast_1, fast_2;
	double speedup, logs, logs_right;
	size_t quadrants[QUADRANTS + 1];
	size_t resolved;
	double retention, gap;
};

static double known(const struct score_result *result)
{
	return isfinite(result->speedup) ? MAX_OF(result->speedup, 0.0) : 0;
}

static void add_right(struct sums *sums, const struct generalisation_attempt *attempt)
{
	const double speedup = known(&attempt->result);
	const bool is_fast = attempt->timed == TIMED_FAST;

	sums->right++;
	sums->speedup += speedup;
	sums->logs += log(MAX_OF(speedup, SCORE_SPEEDUP_FLOOR));
	sums->logs_right += log(MAX_OF(speedup, SCORE_SPEEDUP_FLOOR));
	sums->fast_1 += is_fast && speedup > 1;
	sums->fast_2 += is_fast && speedup > 2;
}

static void add_attempt(struct sums *sums, const struct generalisation_attempt *attempt)
{
	sums->attempts++;
	sums->compiled += attempt->result.is_compiled;
	if (attempt->result.is_compiled && attempt->result.is_correct)
		add_right(sums, attempt);
	else
		sums->logs += log(SCORE_SPEEDUP_FLOOR);
	sums->quadrants[attempt->quadrant]++;
	if (attempt->quadrant != QUADRANT_BOTH || !isfinite(attempt->seen_ratio) ||
	    !isfinite(attempt->unseen_ratio))
		return;
	sums->resolved++;
	sums->retention += attempt->unseen_ratio - attempt->seen_ratio;
	sums->gap += exp(attempt->unseen_ratio) - exp(attempt->seen_ratio);
}

/* ---- over tasks ---- */

struct totals {
	struct generalisation *out;
	double *scores;     /* of one task, room for all attempts */
	double *retentions; /* a task */
	double *gaps;
	size_t resolved_tasks, right_tasks, quadrant_tasks;
	double squares, logs, logs_right;
	size_t freedom; /* of squares */
};

static void add_quadrants(struct totals *totals, const struct sums *sums)
{
	const size_t count = sums->attempts - sums->quadrants[QUADRANT_UNKNOWN];

	for (size_t i = 0; i < ARRAY_LEN(sums->quadrants); i++)
		totals->out->quadrant_attempts[i] += sums->quadrants[i];
	if (count == 0)
		return;
	totals->quadrant_tasks++;
	for (size_t i = 0; i < QUADRANTS; i++)
		totals->out->quadrants[i] += (double) sums->quadrants[i] / (double) count;
}

static void add_scores(struct totals *totals, size_t count)
{
	const struct score_spread spread = score_spread(totals->scores, count);

	totals->out->score += spread.mean;
	totals->out->score_least += spread.least;
	totals->out->score_most += spread.most;
	totals->squares += spread.sd * spread.sd * (double) (count - 1);
	totals->freedom += count - 1;
}

static void add_task(struct totals *totals, const struct sums *sums)
{
	struct generalisation *out = totals->out;
	const double count = (double) sums->attempts;

	out->tasks++;
	out->attempts += sums->attempts;
	out->compiled += (double) sums->compiled / count;
	out->right += (double) sums->right / count;
	out->once += sums->right > 0;
	out->always += sums->right == sums->attempts;
	out->speedup += sums->speedup / count;
	out->fast_1 += (double) sums->fast_1 / count;
	out->fast_2 += (double) sums->fast_2 / count;
	totals->logs += sums->logs / count;
	if (sums->right > 0) {
		totals->right_tasks++;
		totals->logs_right += sums->logs_right / (double) sums->right;
	}
	if (sums->resolved > 0) {
		totals->retentions[totals->resolved_tasks] =
			sums->retention / (double) sums->resolved;
		totals->gaps[totals->resolved_tasks++] = sums->gap / (double) sums->resolved;
	}
	add_scores(totals, sums->attempts);
	add_quadrants(totals, sums);
}

/* The attempts on the first task of these. Return: how many there are, INFRA included. */
static size_t take_task(struct totals *totals, const struct generalisation_attempt *attempts,
			size_t count)
{
	struct generalisation *out = totals->out;
	struct sums sums = { .attempts = 0 };
	size_t end = 0;

	for (; end < count && attempts[end].task == attempts[0].task; end++) {
		if (!attempts[end].is_marked) {
			out->infra++;
			continue;
		}
		totals->scores[sums.attempts] = score_attempt(&attempts[end].result);
		add_attempt(&sums, &attempts[end]);
		if (attempts[end].result.is_compiled && attempts[end].result.is_correct)
			out->timed[attempts[end].timed]++;
	}
	if (sums.attempts > 0)
		add_task(totals, &sums);
	else
		out->unmarked++;
	return end;
}

/* 0 / 0 is NAN: there is no figure of nothing. */
static void divide(struct totals *totals)
{
	struct generalisation *out = totals->out;
	double *const means[] = {
		&out->compiled,    &out->right,      &out->once,    &out->always, &out->score,
		&out->score_least, &out->score_most, &out->speedup, &out->fast_1, &out->fast_2,
	};
	const double tasks = (double) out->tasks;
	const double *quadrants = out->quadrants;

	for (size_t i = 0; i < ARRAY_LEN(means); i++)
		*means[i] /= tasks;
	out->geometric = exp(totals->logs / tasks);
	out->geometric_right = exp(totals->logs_right / (double) totals->right_tasks);
	out->score_sd = sqrt(totals->squares / (double) totals->freedom);
	for (size_t i = 0; i < QUADRANTS; i++)
		out->quadrants[i] /= (double) totals->quadrant_tasks;
	out->unseen_if_seen =
		quadrants[QUADRANT_BOTH] / (quadrants[QUADRANT_BOTH] + quadrants[QUADRANT_SEEN]);
	out->unseen_if_baseline = quadrants[QUADRANT_BOTH] + quadrants[QUADRANT_UNSEEN];
}

struct generalisation generalisation_of(const struct generalisation_attempt *attempts, size_t count)
{
	cleanup(mem_free) double *room = mem_alloc(3 * count + 1, sizeof(*room));
	struct generalisation made = { .tasks = 0 };
	struct totals totals = {
		.out = &made,
		.scores = room,
		.retentions = room + count,
		.gaps = room + 2 * count,
	};

	for (size_t at = 0; at < count;)
		at += take_task(&totals, attempts + at, count - at);
	divide(&totals);
	made.retention = score_mean_interval(totals.retentions, totals.resolved_tasks);
	made.retention.mean = exp(made.retention.mean);
	if (totals.resolved_tasks > 1) {
		made.retention.low = exp(made.retention.low);
		made.retention.high = exp(made.retention.high);
	}
	made.gap = score_mean_interval(totals.gaps, totals.resolved_tasks);
	return made;
}
