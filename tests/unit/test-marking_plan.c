/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking_plan.h"

#include <math.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static struct marking_plan *good(void)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));

	judge_plan(plan);
	judge_add_softmax(plan, 4, 100, false);
	judge_add_softmax(plan, 5, 101, true);
	return plan;
}

TEST(a_complete_plan_is_accepted)
{
	struct marking_plan *plan = good();
	struct err err = ERR_INIT;

	CHECK_OK(marking_plan_check(plan, &err));
	mem_free(&plan);
}

static void no_cases(struct marking_plan *plan)
{
	plan->case_count = 0;
}

static void many_cases(struct marking_plan *plan)
{
	plan->case_count = 65;
}

static void one_cpu(struct marking_plan *plan)
{
	plan->worker_cpu = plan->judge_cpu = 3;
}

static void no_time(struct marking_plan *plan)
{
	plan->call_ns = 0;
}

static void wide_floor(struct marking_plan *plan)
{
	plan->floor_ppm = -1;
}

static void only_unseen(struct marking_plan *plan)
{
	plan->cases[0].unseen = 1;
}

static void endless_name(struct marking_plan *plan)
{
	memset(plan->cases[1].name, 'x', MARKING_NAME_MAX);
}

static void many_args(struct marking_plan *plan)
{
	plan->cases[1].arg_count = 25;
}

static void no_output(struct marking_plan *plan)
{
	plan->cases[0].args[1].use = MARKING_INPUT;
}

static void empty(struct marking_plan *plan)
{
	plan->cases[0].args[1].count = 0;
}

static void huge(struct marking_plan *plan)
{
	plan->cases[0].args[0].count = UINT64_MAX / 4 + 2;
}

static void heavy(struct marking_plan *plan)
{
	plan->cases[0].args[0].count = 100 * MIB;
}

static void strange_use(struct marking_plan *plan)
{
	plan->cases[0].args[2].use = 9;
}

static void strange_type(struct marking_plan *plan)
{
	plan->cases[0].args[2].element = 9;
}

static void empty_range(struct marking_plan *plan)
{
	plan->cases[0].args[0].high = -5;
}

static void nan_range(struct marking_plan *plan)
{
	plan->cases[0].args[0].low = NAN;
}

static void wide_scalar(struct marking_plan *plan)
{
	plan->cases[0].args[2].integer = INT64_C(1) << 31;
}

static void bad_tolerance(struct marking_plan *plan)
{
	plan->cases[0].args[1].rel = NAN;
}

static void endless_tolerance(struct marking_plan *plan)
{
	plan->cases[0].args[1].abs = INFINITY;
}

static void exact_floats(struct marking_plan *plan)
{
	plan->cases[0].args[1].compare = MARKING_EXACT;
}

static void close_integers(struct marking_plan *plan)
{
	plan->cases[0].args[1].element = ELEMENT_I32;
}

TEST(a_mistake_is_named_with_its_case_and_argument)
{
	static const struct {
		void (*spoil)(struct marking_plan *plan);
		const char *error;
	} cases[] = {
		{ no_cases, "a marking has 1 to 64 cases, not 0" },
		{ many_cases, "a marking has 1 to 64 cases, not 65" },
		{ one_cpu, "judge and worker need a CPU each, not 3 twice" },
		{ no_time, "a call may take up to 600 s, not 0 ns" },
		{ wide_floor, "a floor of -1 ppm is not within 0..1000000" },
		{ only_unseen, "a marking needs a seen case" },
		{ endless_name, "a case's name does not end" },
		{ many_args, "case 'softmax 5x101': it has 25 arguments, not 1 to 24" },
		{ no_output, "case 'softmax 4x100': it has no output" },
		{ empty, "case 'softmax 4x100': argument 1: it is empty" },
		{ huge, "case 'softmax 4x100': argument 0: it is too large" },
		{ heavy, "the cases need 3355803648 bytes of the judge's memory, more than "
			 "2147483648: make them fewer or smaller" },
		{ strange_use, "case 'softmax 4x100': argument 2: its use is unknown" },
		{ strange_type, "case 'softmax 4x100': argument 2: its type is unknown" },
		{ empty_range,
		  "case 'softmax 4x100': argument 0: its range is empty or not finite" },
		{ nan_range, "case 'softmax 4x100': argument 0: its range is empty or not finite" },
		{ wide_scalar, "case 'softmax 4x100': argument 2: its value does not fit i32" },
		{ bad_tolerance,
		  "case 'softmax 4x100': argument 1: its tolerance is not a finite number from 0" },
		{ endless_tolerance,
		  "case 'softmax 4x100': argument 1: its tolerance is not a finite number from 0" },
		{ exact_floats, "case 'softmax 4x100': argument 1: exact compares integers only" },
		{ close_integers,
		  "case 'softmax 4x100': argument 1: close compares f32 and f64 only" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct marking_plan *plan = good();
		struct err err = ERR_INIT;

		cases[i].spoil(plan);
		CHECK_INT(marking_plan_check(plan, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		mem_free(&plan);
	}
}

TEST(the_oracle_has_room_for_doubles)
{
	struct marking_plan *plan = good();
	struct marking_shape task, oracle;
	struct err err = ERR_INIT;

	CHECK_OK(marking_shape(&plan->cases[0], false, &task, &err));
	CHECK_OK(marking_shape(&plan->cases[0], true, &oracle, &err));
	CHECK_INT(task.outputs.bytes[0], 1600);
	CHECK_INT(oracle.outputs.bytes[0], 3200);
	CHECK_INT(oracle.inputs.bytes[0], 1600);
	CHECK_INT(task.call.arg_count, 4);
	CHECK_INT(task.call.args[0].kind, PROTOCOL_INPUT);
	CHECK_INT(task.call.args[1].kind, PROTOCOL_OUTPUT);
	CHECK_INT(task.call.args[2].kind, PROTOCOL_I32);
	CHECK_INT(task.call.args[2].i32, 4);
	CHECK_INT(task.call.args[3].i32, 100);
	mem_free(&plan);
}
