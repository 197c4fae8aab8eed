/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/mem.h"

const struct name verdict_names[] = {
	{ "AMBG", VERDICT_AMBG },
	{ "FAST", VERDICT_FAST },
	{ "SLOW", VERDICT_SLOW },
	{ "SAME", VERDICT_SAME },
	{ NULL, 0 },
};

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double stats_median(double *values, uint32_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Linear between the order statistics. */
static double quantile(const double *sorted, uint32_t count, double part)
{
	double at = part * (count - 1);
	uint32_t below = (uint32_t) at;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

double stats_robust_sd(double *values, uint32_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return (quantile(values, count, 0.75) - quantile(values, count, 0.25)) / JUDGE_IQR_PER_SD;
}

/*
 * The number of subsets of {1..count} with each sum: all of them fit 64 bits. Doubles hold them
 * exactly too, as 2^40 < 2^53, so the comparison below has no rounding that matters.
 */
uint32_t stats_signed_rank(uint32_t count, uint32_t alpha_ppm)
{
	uint64_t ways[JUDGE_BLOCKS * (JUDGE_BLOCKS + 1) / 2 + 1] = { 1 };
	uint32_t largest = 0;
	double limit = ldexp(alpha_ppm / 2e6, (int) count);
	uint64_t below = 0;

	assert(count <= JUDGE_BLOCKS);
	for (uint32_t rank = 1; rank <= count; rank++) {
		largest += rank;
		for (uint32_t sum = largest; sum >= rank; sum--)
			ways[sum] += ways[sum - rank];
	}
	for (uint32_t k = 0; k <= largest; k++) {
		below += ways[k];
		if ((double) below > limit)
			return k;
	}
	return largest;
}

struct interval stats_interval(const double *values, uint32_t count, uint32_t alpha_ppm)
{
	double walsh[JUDGE_BLOCKS * (JUDGE_BLOCKS + 1) / 2];
	uint32_t pairs = 0, k;
	struct interval made = { .low = -INFINITY, .high = INFINITY };

	assert(count <= JUDGE_BLOCKS);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i; j < count; j++)
			walsh[pairs++] = (values[i] + values[j]) / 2;
	made.center = stats_median(walsh, pairs);
	k = stats_signed_rank(count, alpha_ppm);
	if (k > 0) {
		made.low = walsh[k - 1];
		made.high = walsh[pairs - k];
	}
	return made;
}

enum verdict stats_verdict(struct interval ratio, double margin)
{
	if (ratio.low > margin)
		return VERDICT_FAST;
	if (ratio.high < -margin)
		return VERDICT_SLOW;
	if (ratio.low > -margin && ratio.high < margin)
		return VERDICT_SAME;
	return VERDICT_AMBG;
}

/* One case's values over many blocks; heap, since an outsider chooses how many there are. */
struct gathered {
	double *null;
	double *program; /* of the null calls: the worker program's own part */
	double *delta;   /* sealed - null - claimed of the store worker */
	double *baseline;
	double *candidate;
	double *claimed;
	uint32_t nulls, deltas, baselines, candidates;
};

static void gathered_done(struct gathered *gathered)
{
	mem_free(&gathered->null);
	mem_free(&gathered->program);
	mem_free(&gathered->delta);
	mem_free(&gathered->baseline);
	mem_free(&gathered->candidate);
	mem_free(&gathered->claimed);
}

/* The samples of one block. */
struct stretch {
	const struct sample *from;
	const struct sample *to;
};

static struct stretch block_of(const struct samples *samples, uint32_t block)
{
	struct stretch found = { samples->list, samples->list };
	const struct sample *end = samples->list + samples->count;

	while (found.from < end && found.from->block != block)
		found.from++;
	found.to = found.from;
	while (found.to < end && found.to->block == block)
		found.to++;
	return found;
}

static bool counts(const struct sample *sample, uint32_t case_index, enum sample_role role)
{
	return sample->case_index == case_index && sample->role == role &&
	       sample->call >= JUDGE_WARMUPS;
}

/* The block's null median; the raw values go to @gathered. */
static double null_of(struct stretch block, uint32_t case_index, struct gathered *gathered)
{
	double *first = gathered->null + gathered->nulls;
	double sorted[2 * JUDGE_CALLS];
	uint32_t count = 0;

	for (const struct sample *at = block.from; at < block.to; at++) {
		if (!counts(at, case_index, SAMPLE_NULL) || count == ARRAY_LEN(sorted))
			continue;
		gathered->program[gathered->nulls + count] = (double) at->claimed_ns;
		first[count++] = (double) at->sealed_ns;
	}
	gathered->nulls += count;
	memcpy(sorted, first, count * sizeof(*sorted));
	return stats_median(sorted, count);
}

/* Adds a block's values of one case; returns its log ratio. */
static double gather_block(struct stretch block, uint32_t case_index, struct gathered *gathered)
{
	double null = null_of(block, case_index, gathered);
	double sides[2][2 * JUDGE_CALLS];
	uint32_t count[2] = { 0, 0 };

	for (const struct sample *at = block.from; at < block.to; at++) {
		double net = (double) at->sealed_ns - null;

		if (counts(at, case_index, SAMPLE_STORE)) {
			gathered->delta[gathered->deltas++] = net - (double) at->claimed_ns;
		} else if (counts(at, case_index, SAMPLE_BASELINE)) {
			gathered->baseline[gathered->baselines++] = net;
			if (count[0] < ARRAY_LEN(sides[0]))
				sides[0][count[0]++] = net;
		} else if (counts(at, case_index, SAMPLE_CANDIDATE)) {
			gathered->claimed[gathered->candidates] = (double) at->claimed_ns;
			gathered->candidate[gathered->candidates++] = net;
			if (count[1] < ARRAY_LEN(sides[1]))
				sides[1][count[1]++] = net;
		}
	}
	/* A time at or below the null is not resolved; the floor says so, a logarithm can not. */
	return log(fmax(1, stats_median(sides[0], count[0]))) -
	       log(fmax(1, stats_median(sides[1], count[1])));
}

static void finish_case(struct gathered *gathered, struct stats_case *out)
{
	out->null_ns = stats_median(gathered->null, gathered->nulls);
	out->null_sd_ns = stats_robust_sd(gathered->null, gathered->nulls);
	out->delta_ns = fabs(stats_median(gathered->delta, gathered->deltas));
	out->baseline_ns = stats_median(gathered->baseline, gathered->baselines);
	out->candidate_ns = stats_median(gathered->candidate, gathered->candidates);
	out->claimed_ns = stats_median(gathered->claimed, gathered->candidates);
	out->program_ns = stats_median(gathered->program, gathered->nulls);
	out->floor_ns = fmax(JUDGE_DELTA_FACTOR * fmax(out->delta_ns, out->program_ns),
			     JUDGE_NULL_FACTOR * out->null_sd_ns);
	out->launch_bound = fmin(out->baseline_ns, out->candidate_ns) < out->floor_ns;
	out->clock_mismatch = fabs(out->claimed_ns - out->candidate_ns) >
			      fmax(JUDGE_CLAIM_NS, JUDGE_CLAIM_PART * out->candidate_ns);
}

struct stats_mark stats_mark(const struct samples *samples, const bool *counted,
			     uint32_t case_count, int64_t floor_ppm, uint32_t blocks,
			     struct stats_case *cases)
{
	struct stats_mark mark = { .blocks = MIN_OF(blocks, (uint32_t) JUDGE_BLOCKS) };
	double values[JUDGE_BLOCKS] = { 0 };
	uint32_t used = 0;

	for (uint32_t i = 0; i < case_count; i++) {
		cleanup(gathered_done) struct gathered gathered = {
			.null = mem_alloc(samples->count + 1, sizeof(double)),
			.program = mem_alloc(samples->count + 1, sizeof(double)),
			.delta = mem_alloc(samples->count + 1, sizeof(double)),
			.baseline = mem_alloc(samples->count + 1, sizeof(double)),
			.candidate = mem_alloc(samples->count + 1, sizeof(double)),
			.claimed = mem_alloc(samples->count + 1, sizeof(double)),
		};

		if (!counted[i])
			continue;
		used++;
		for (uint32_t block = 0; block < mark.blocks; block++)
			values[block] += gather_block(block_of(samples, block), i, &gathered);
		finish_case(&gathered, &cases[i]);
		mark.launch_bound |= cases[i].launch_bound;
	}
	for (uint32_t block = 0; used > 0 && block < mark.blocks; block++)
		values[block] /= used;
	mark.ratio = stats_interval(values, mark.blocks, JUDGE_ALPHA_PPM);
	mark.margin = fmax(JUDGE_MARGIN, (double) floor_ppm / 1e6);
	mark.verdict = mark.launch_bound ? VERDICT_AMBG : stats_verdict(mark.ratio, mark.margin);
	return mark;
}
