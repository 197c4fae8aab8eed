/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From the text of a task to the mark, for each thing that an argument can be:
 * tests/kernels/types.c has the kernels.
 */
#include <stdio.h>
#include <string.h>

#include "harness/check/plain_source.h"
#include "harness/judge/marking.h"
#include "harness/run/hidden.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

struct wrong {
	const char *symbol;
	enum mark_reason reason;
};

struct subject {
	const char *order, *args; /* of task.yaml; cases are `seen` and one hidden one */
	const char *seen, *hidden;
	const char *honest, *oracle;
	struct wrong wrongs[3];
};

static const struct subject subjects[] = {
	{ "x, y, a, n",
	  "  x: {in: bf16, shape: [n], values: 'normal(0, 1)'}\n"
	  "  y: {out: bf16, shape: [n], compare: exact}\n"
	  "  a: {scalar: bf16, value: 1.7}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "bf16_scale",
	  "bf16_scale_oracle",
	  { { "bf16_scale_cut", REASON_VALUE } } },
	{ "x, y, n",
	  "  x: {in: f16, shape: [n], values: 'uniform(-65504, 65504)'}\n"
	  "  y: {out: f16, shape: [n], compare: ulp(0)}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "f16_negate",
	  "f16_negate_oracle",
	  { { "f16_negative", REASON_VALUE }, { "prefix_nothing", REASON_UNWRITTEN } } },
	{ "x, y, n",
	  "  x: {in: f64, shape: [n], values: 'loguniform(1e-300, 1e300)'}\n"
	  "  y: {out: f64, shape: [n], compare: ulp(1)}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "f64_root",
	  "f64_root",
	  { { "f64_root_single", REASON_VALUE } } },
	{ "x, y, z, n",
	  "  x: {in: i8, shape: [n], values: 'uniform(-128, 127)'}\n"
	  "  y: {in: i8, shape: [n], values: 'choice(-128, -1, 0, 127)', align: 1}\n"
	  "  z: {out: i8, shape: [n], compare: exact}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "i8_add",
	  "i8_add_oracle",
	  { { "i8_add_wrapped", REASON_VALUE } } },
	{ "x, y, a, n",
	  "  x: {in: u8, shape: [n], values: 'below(256)'}\n"
	  "  y: {out: u8, shape: [n], compare: 'close(rel=0, abs=1)'}\n"
	  "  a: {scalar: f32, value: 0.7}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "u8_dim",
	  "u8_dim_oracle",
	  { { "u8_dim_twice", REASON_VALUE } } },
	{ "w, s, y, r, c, ld",
	  "  w: {in: i4, storage: u8, shape: [r, c], strides: [ld], values: 'randint(-8, 7)'}\n"
	  "  s: {in: f32, shape: [r], values: 'uniform(0.5, 1)'}\n"
	  "  y: {out: f32, shape: [r, c], compare: ulp(1)}\n",
	  "r: 9, c: 100, ld: 128",
	  "r: 'range(3, 8)', ld: 150",
	  "i4_unpack",
	  "i4_unpack_oracle",
	  { { "i4_unpack_swapped", REASON_VALUE }, { "i4_unpack_dense", REASON_VALUE } } },
	{ "x, y, n",
	  "  x: {in: u4, shape: [n], values: 'uniform(0, 15)'}\n"
	  "  y: {out: u4, shape: [n], compare: exact}\n",
	  "n: 1001",
	  "n: 'prime(500, 900)'",
	  "u4_complement",
	  "u4_complement_oracle",
	  { { "u4_complement_low", REASON_VALUE } } },
	{ "a, b, r, c, lda, ldb",
	  "  a: {in: f32, shape: [r, c], strides: [lda], values: 'normal(0, 1)'}\n"
	  "  b: {out: f32, shape: [r, c], strides: [ldb], compare: exact}\n",
	  "r: 20, c: 30, lda: 40, ldb: 31",
	  "r: 'range(3, 8)', ldb: 77",
	  "padded_double",
	  "padded_double_oracle",
	  { { "padded_double_over", REASON_REDZONE },
	    { "padded_double_dense", REASON_VALUE },
	    { "prefix_nothing", REASON_UNWRITTEN } } },
	{ "a, sum, r, c",
	  "  a: {in: i32, shape: [r, c], strides: [1, r], align: 4, "
	  "values: 'uniform(-1000000, 1000000)'}\n"
	  "  sum: {out: i64, shape: [r], align: 8, compare: exact}\n",
	  "r: 20, c: 30",
	  "r: 'range(3, 8)'",
	  "columns_sum",
	  "columns_sum_oracle",
	  { { "columns_sum_rows", REASON_VALUE }, { "columns_sum_aligned", REASON_VALUE } } },
	{ "x, n",
	  "  x: {inout: i64, shape: [n], values: 'randint(-n, n)', compare: exact}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "prefix",
	  "prefix",
	  { { "prefix_nothing", REASON_VALUE },
	    { "prefix_twice", REASON_VALUE },
	    { "prefix_past_end", REASON_REDZONE } } },
	{ "slots, rows, cache, count, width, size",
	  "  slots: {in: i32, shape: [count], values: below(size)}\n"
	  "  rows: {in: f32, shape: [count, width], values: 'normal(0, 1)'}\n"
	  "  cache: {inout: f32, shape: [size, width], values: 'choice(0, 1, 2)', compare: exact, "
	  "writes: rows(slots)}\n",
	  "count: 10, width: 16, size: 50",
	  "size: 'range(51, 70)'",
	  "cache_put",
	  "cache_put_oracle",
	  { { "cache_put_and_negate", REASON_REDZONE }, { "cache_put_most", REASON_VALUE } } },
	{ "x, work, y, n",
	  "  x: {in: f32, shape: [n], values: 'normal(0, 1)'}\n"
	  "  work: {scratch: f64, shape: [2]}\n"
	  "  y: {out: f64, shape: [], compare: 'close(rel=1e-12, abs=0)'}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "scratch_sum",
	  "scratch_sum_oracle",
	  { { "scratch_sum_zeroed", REASON_VALUE }, { "scratch_sum_over", REASON_REDZONE } } },
	{ "a, b, c, d, e, f, g, h, i, j, y",
	  "  a: {scalar: f64, value: 0.1}\n"
	  "  b: {scalar: f32, value: 0.1}\n"
	  "  c: {scalar: f16, value: 0.1}\n"
	  "  d: {scalar: bf16, value: 0.1}\n"
	  "  e: {scalar: i64, value: -1234567890123*n}\n"
	  "  f: {scalar: i32, value: -2147483647-1}\n"
	  "  g: {scalar: i8, value: -128}\n"
	  "  h: {scalar: u8, value: 255}\n"
	  "  i: {scalar: i4, value: -8}\n"
	  "  j: {scalar: u4, value: 15}\n"
	  "  y: {out: f64, shape: [10], compare: exact}\n",
	  "n: 1",
	  "n: 'prime(500, 900)'",
	  "scalars",
	  "scalars_oracle",
	  { { "scalars_swapped", REASON_VALUE } } },
	{ "x, p, shape, y, n",
	  "  x: {in: f32, shape: [n], values: 'sorted(normal(0, 3))'}\n"
	  "  p: {in: i32, shape: [n], values: permutation}\n"
	  "  shape: {in: i64, shape: [2], values: 'list(n, 2*n)'}\n"
	  "  y: {out: f32, shape: [n], compare: ulp(1)}\n",
	  "n: 1000",
	  "n: 'prime(500, 900)'",
	  "gather",
	  "gather_oracle",
	  { { "gather_straight", REASON_VALUE } } },
};

#define BUILD "build: {argv: [cc, '{out}/a.so'], out: [a.so]}"

static void plan_of(const struct subject *subject, struct marking_plan *plan)
{
	static const uint8_t key[INPUTS_KEY] = { 4 };
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;
	char text[2000];
	int len = snprintf(text, sizeof(text),
			   "schema: 1\nname: t\nkind: c2c\nsummary: t\neditable: [a.c]\n" BUILD
			   "\nentry: {symbol: f, args: [%s]}\noracle: {" BUILD ", symbol: o}\n"
			   "args:\n%sseen: [{%s}]\nhidden: {odd: {cases: 1, %s}}\n",
			   subject->order, subject->args, subject->seen, subject->hidden);

	CHECK_OK(task_parse("task.yaml", text, (size_t) len, &task, &err));
	CHECK_OK(hidden_plan(&task, key, plan, &err));
	plan->judge_cpu = 0;
	plan->worker_cpu = 1;
	plan->call_ns = 200 * NS_PER_MS;
}

static void mark(const struct subject *subject, const char *candidate, struct marking_result *out)
{
	static uint8_t key[INPUTS_KEY];
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct plain_source source;
	struct worker_source workers;
	const struct marking_options options = { .most_blocks = 1 };
	struct err err = ERR_INIT;

	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	plan_of(subject, plan);
	plain_source_init(&source);
	source.program = WORKER_PROGRAM;
	source.cpu = 1;
	source.roles[WORKER_ORACLE] = (struct plain_implementation){ KERNELS, subject->oracle };
	source.roles[WORKER_BASELINE] = (struct plain_implementation){ KERNELS, subject->honest };
	source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, candidate };
	workers = plain_source_workers(&source);
	key[0]++;
	if (marking_run(plan, key, &workers, &options, out, &err) < 0)
		check_fail(__FILE__, __LINE__, "%s: %s", candidate, err.text);
	check_note("%s: %s, %s", candidate, names_text(mark_kind_names, (int) out->seen.mark.kind),
		   names_text(mark_reason_names, (int) out->seen.mark.reason));
	mem_free(&plan);
}

TEST(an_honest_kernel_of_each_kind_of_argument_is_valid)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		struct marking_result result = MARKING_RESULT_INIT;

		mark(&subjects[i], subjects[i].honest, &result);
		CHECK_INT(result.seen.mark.kind, MARK_VALID);
		CHECK_INT(result.unseen.mark.kind, MARK_VALID);
		marking_result_done(&result);
	}
}

TEST(a_wrong_one_is_wrong_for_its_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		for (size_t k = 0; k < 3 && subjects[i].wrongs[k].symbol; k++) {
			struct marking_result result = MARKING_RESULT_INIT;

			mark(&subjects[i], subjects[i].wrongs[k].symbol, &result);
			CHECK_INT(result.seen.mark.kind, MARK_WRONG);
			CHECK_INT(result.seen.mark.reason, subjects[i].wrongs[k].reason);
			CHECK_INT(result.unseen.mark.kind, MARK_WRONG);
			CHECK_INT(result.unseen.mark.reason, subjects[i].wrongs[k].reason);
			marking_result_done(&result);
		}
	}
}

TEST(an_early_ring_is_wrong_on_a_buffer_that_is_updated_in_place)
{
	static const struct subject subject = {
		.order = "x, n",
		.args = "  x: {inout: i64, shape: [n], values: 'randint(1, n)', compare: exact}\n",
		.seen = "n: 100000",
		.hidden = "n: 'prime(50000, 60000)'",
		.honest = "prefix",
		.oracle = "prefix",
	};

	for (int i = 0; i < 5; i++) {
		struct marking_result result = MARKING_RESULT_INIT;

		mark(&subject, "cheat_inout_early", &result);
		CHECK_INT(result.seen.mark.kind, MARK_WRONG);
		CHECK(result.seen.mark.reason == REASON_LATE ||
		      result.seen.mark.reason == REASON_VALUE);
		marking_result_done(&result);
	}
}
