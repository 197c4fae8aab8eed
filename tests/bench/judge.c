/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the judge's constants rest on, and whether it keeps what it promises: run on a quiet
 * machine with two CPUs of its own (tests/bench/README.md).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/judge/inputs.h"
#include "harness/judge/marking.h"
#include "harness/judge/raw-clock.h"
#include "sandbox/base/mem.h"
#include "tests/lib/fork-source.h"
#include "tests/lib/judge-cases.h"

struct subject {
	const char *oracle;
	const char *baseline;
	const char *candidate;
};

static const struct subject softmax_itself = { "softmax_oracle", "softmax", "softmax" };

/* One marking of two functions of the test kernels. */
static int mark(const struct marking_plan *plan, const struct subject *subject, uint64_t seed,
		const struct marking_options *options, struct marking_result *out)
{
	uint8_t key[INPUTS_KEY] = { 0 };
	struct fork_source source;
	struct worker_source workers;
	struct err err = ERR_INIT;

	fork_source_init(&source);
	source.program = WORKER_PROGRAM;
	source.cpu = plan->worker_cpu;
	source.oracle = (struct fork_implementation){ KERNELS, subject->oracle };
	source.baseline = (struct fork_implementation){ KERNELS, subject->baseline };
	source.candidate = (struct fork_implementation){ KERNELS, subject->candidate };
	workers = fork_source_workers(&source);
	memcpy(key, &seed, sizeof(seed));
	if (marking_run(plan, key, &workers, options, out, &err) < 0) {
		fprintf(stderr, "judge: %s\n", err.text);
		return -1;
	}
	return 0;
}

static void print_result(const struct marking_plan *plan, const struct marking_result *result)
{
	struct str text = STR_INIT;
	const struct stats_mark *stats = &result->seen.stats;
	uint32_t unseen_handovers = 0;

	verdict_text(&result->seen.mark, plan, &text);
	printf("seen    %s\n", text.text);
	str_clear(&text);
	verdict_text(&result->unseen.mark, plan, &text);
	printf("unseen  %s\n", text.text);
	str_done(&text);
	if (stats->blocks == 0)
		return;
	printf("verdict %s%s  speedup %.4f  [%.4f, %.4f]  %u blocks, %.2f s\n",
	       names_text(verdict_names, (int) stats->verdict),
	       stats->launch_bound ? " LAUNCH_BOUND" : "", exp(stats->ratio.center),
	       exp(stats->ratio.low), exp(stats->ratio.high), stats->blocks,
	       (double) result->wall_ns / 1e9);
	for (uint32_t i = 0; i < result->samples.count; i++)
		unseen_handovers += result->samples.list[i].flags & SAMPLE_HANDOVER_UNSEEN;
	printf("        %u calls, %u without a handover\n", result->samples.count,
	       unseen_handovers);
	for (uint32_t i = 0; i < plan->case_count; i++) {
		const struct stats_case *item = &result->cases[i];

		printf("        %-20s baseline %9.0f ns  candidate %9.0f ns  claimed %9.0f ns  "
		       "null %6.0f sd %4.0f  delta %4.0f  floor %6.0f%s%s\n",
		       plan->cases[i].name, item->baseline_ns, item->candidate_ns,
		       item->claimed_ns, item->null_ns, item->null_sd_ns, item->delta_ns,
		       item->floor_ns, item->launch_bound ? " LAUNCH_BOUND" : "",
		       item->clock_mismatch ? " CLOCK_MISMATCH" : "");
	}
}

static int run_mark(int count, char **args)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct subject subject = softmax_itself;
	struct marking_result result = MARKING_RESULT_INIT;
	struct marking_options options = { .fewest_blocks = 0 };
	int rc;

	if (count > 0)
		subject.candidate = args[0];
	judge_plan(plan);
	judge_add_softmax(plan, 64, 512, false);
	judge_add_softmax(plan, 200, 333, false);
	judge_add_softmax(plan, 77, 1001, true);
	rc = mark(plan, &subject, (uint64_t) raw_clock_ns(), &options, &result);
	if (rc == 0)
		print_result(plan, &result);
	marking_result_done(&result);
	mem_free(&plan);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "mark") == 0)
		return run_mark(argc - 2, argv + 2) < 0;
	fprintf(stderr, "usage: judge mark [SYMBOL]\n");
	return 2;
}
