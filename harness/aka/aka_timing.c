/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_timing.h"

#include <math.h>
#include <string.h>

#include "harness/aka/aka_match.h"
#include "harness/aka/pystats.h"
#include "sandbox/base/compiler.h"
#include "sandbox/base/mem.h"

/* Calls of a kernel that the quickest of its harnesses makes for one figure. */
#define CALLS_LEAST 100

/* Savings that are this many times larger than what the clock's readings differ by can be seen. */
#define WALL_CLEAR 3

/* Times of one run in the order of the first run's cases. */
struct times {
	const struct aka_run *runs;
	size_t run_count, case_count;
	double *ms; /* run_count * case_count */
};

enum aka_side aka_timing_side(size_t index)
{
	const size_t turn = index % AKA_ROUND_RUNS;

	return turn == 0 || turn == 3 ? AKA_SIDE_BASELINE : AKA_SIDE_CANDIDATE;
}

static double time_of(const struct times *times, size_t run, size_t index)
{
	return times->ms[run * times->case_count + index];
}

static bool take_run(struct times *times, size_t run)
{
	const struct aka_cases *first = &times->runs[0].cases;
	cleanup(aka_pairs_done) struct aka_pairs pairs = AKA_PAIRS_INIT;

	aka_match(&pairs, first, &times->runs[run].cases);
	if (pairs.count != first->count || pairs.count != times->runs[run].cases.count)
		return false;
	for (size_t i = 0; i < pairs.count; i++) {
		const struct aka_case *optimized = pairs.list[i].optimized;
		const size_t index = (size_t) (pairs.list[i].base - first->list);

		if (!aka_case_is_valid(optimized) || !isfinite(optimized->time_ms))
			return false;
		times->ms[run * times->case_count + index] = optimized->time_ms;
	}
	return true;
}

static double median_of(const struct times *times, enum aka_side side, size_t index)
{
	double values[AKA_RUNS_MAX];
	size_t count = 0;

	for (size_t run = 0; run < times->run_count; run++)
		if (aka_timing_side(run) == side)
			values[count++] = time_of(times, run, index);
	pystats_sort(values, count);
	return pystats_median(values, count);
}

static double value_of(const struct times *times, size_t run)
{
	double sum = 0;

	for (size_t i = 0; i < times->case_count; i++)
		sum += log(time_of(times, run, i));
	return sum / (double) times->case_count;
}

struct range {
	double least, most;
};

static void widen(struct range *range, double value)
{
	range->least = MIN_OF(range->least, value);
	range->most = MAX_OF(range->most, value);
}

#define RANGE_NONE ((struct range){ INFINITY, -INFINITY })

static const char *verdict_of(const struct aka_timing *timing, size_t rounds)
{
	const double clear = MAX_OF(AKA_MARGIN, timing->spread / 2);

	if (rounds >= AKA_ROUNDS && timing->low > clear)
		return "FAST";
	if (rounds >= AKA_ROUNDS && timing->high < -clear)
		return "SLOW";
	return timing->low > -2 * AKA_MARGIN && timing->high < 2 * AKA_MARGIN ? "SAME" : "AMBG";
}

static void compare(const struct times *times, struct aka_timing *out)
{
	struct range sides[2] = { RANGE_NONE, RANGE_NONE };

	for (size_t run = 0; run < times->run_count; run++)
		widen(&sides[aka_timing_side(run)], value_of(times, run));
	out->low = sides[AKA_SIDE_BASELINE].least - sides[AKA_SIDE_CANDIDATE].most;
	out->high = sides[AKA_SIDE_BASELINE].most - sides[AKA_SIDE_CANDIDATE].least;
	out->spread = MAX_OF(sides[0].most - sides[0].least, sides[1].most - sides[1].least);
	for (size_t i = 0; i < times->case_count; i++) {
		const double ratio = median_of(times, AKA_SIDE_BASELINE, i) /
				     median_of(times, AKA_SIDE_CANDIDATE, i);

		out->ratio += log(ratio) / (double) times->case_count;
		out->speedup += ratio / (double) times->case_count;
	}
	out->verdict = verdict_of(out, times->run_count / AKA_ROUND_RUNS);
}

static bool is_below_floor(const struct times *times)
{
	for (size_t run = 0; run < times->run_count; run++)
		for (size_t i = 0; i < times->case_count; i++)
			if (aka_timing_side(run) == AKA_SIDE_CANDIDATE &&
			    time_of(times, run, i) < AKA_FLOOR_MS)
				return true;
	return false;
}

/* Are all runs of a side alike to the last digit? */
static bool is_alike(const struct times *times, enum aka_side side)
{
	size_t first = 0;

	while (aka_timing_side(first) != side)
		first++;
	for (size_t run = first + 1; run < times->run_count; run++)
		if (aka_timing_side(run) == side &&
		    memcmp(&times->ms[run * times->case_count],
			   &times->ms[first * times->case_count],
			   times->case_count * sizeof(*times->ms)) != 0)
			return false;
	return true;
}

static bool is_wall_unmoved(const struct times *times)
{
	struct range walls[2] = { RANGE_NONE, RANGE_NONE };
	double saved = 0, noise;

	for (size_t run = 0; run < times->run_count; run++)
		widen(&walls[aka_timing_side(run)], (double) times->runs[run].wall_ns / 1e6);
	for (size_t i = 0; i < times->case_count; i++)
		saved += median_of(times, AKA_SIDE_BASELINE, i) -
			 median_of(times, AKA_SIDE_CANDIDATE, i);
	saved *= CALLS_LEAST;
	noise = MAX_OF(walls[0].most - walls[0].least, walls[1].most - walls[1].least);
	return saved > WALL_CLEAR * noise &&
	       walls[AKA_SIDE_BASELINE].most - walls[AKA_SIDE_CANDIDATE].least < saved / 2;
}

static unsigned int find_labels(const struct times *times, bool is_on_gpu)
{
	unsigned int labels = 0;

	if (is_on_gpu && is_below_floor(times))
		labels |= 1U << AKA_LABEL_BELOW_FLOOR;
	if (is_alike(times, AKA_SIDE_CANDIDATE) && !is_alike(times, AKA_SIDE_BASELINE))
		labels |= 1U << AKA_LABEL_SAME_FIGURES;
	if (is_wall_unmoved(times))
		labels |= 1U << AKA_LABEL_WALL_UNMOVED;
	return labels;
}

size_t aka_timing_make(struct aka_timing *out, const struct aka_run *runs, size_t count,
		       bool is_on_gpu)
{
	struct times times = { .runs = runs };
	cleanup(mem_free) double *ms = NULL;

	*out = (struct aka_timing){ .rounds = 0 };
	times.run_count = MIN_OF(count, (size_t) AKA_RUNS_MAX) / AKA_ROUND_RUNS * AKA_ROUND_RUNS;
	if (times.run_count == 0)
		return 0;
	times.case_count = runs[0].cases.count;
	times.ms = ms = mem_alloc(times.run_count * times.case_count + 1, sizeof(*ms));
	for (size_t run = 0; run < times.run_count; run++)
		if (times.case_count == 0 || !take_run(&times, run))
			return run + 1;
	compare(&times, out);
	out->labels = find_labels(&times, is_on_gpu);
	out->rounds = times.run_count / AKA_ROUND_RUNS;
	return 0;
}

double aka_timing_counts(const struct aka_timing *timing)
{
	if (timing->rounds == 0 || (timing->labels & 1U << AKA_LABEL_BELOW_FLOOR))
		return 0;
	return strcmp(timing->verdict, "FAST") == 0 || strcmp(timing->verdict, "SLOW") == 0
		     ? timing->speedup
		     : 1;
}

const char *aka_label_name(enum aka_label label)
{
	static const char *const names[AKA_LABELS] = {
		[AKA_LABEL_BELOW_FLOOR] = "BELOW_FLOOR",
		[AKA_LABEL_SAME_FIGURES] = "SAME_FIGURES",
		[AKA_LABEL_WALL_UNMOVED] = "WALL_UNMOVED",
	};

	return names[label];
}
