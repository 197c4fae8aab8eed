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
	plan->cases[0].args[1].values.kind = VALUES_ONEHOT;
}

static void empty(struct marking_plan *plan)
{
	plan->cases[0].args[1].tensor.count = 0;
}

static void huge(struct marking_plan *plan)
{
	plan->cases[0].args[0].tensor.count = UINT64_MAX / 4 + 2;
}

static void heavy(struct marking_plan *plan)
{
	plan->cases[0].args[0].tensor.count = 100 * MIB;
}

static void strange_use(struct marking_plan *plan)
{
	plan->cases[0].args[2].use = 9;
}

static void strange_type(struct marking_plan *plan)
{
	plan->cases[0].args[2].tensor.element = ELEMENT_COUNT;
}

static void empty_range(struct marking_plan *plan)
{
	plan->cases[0].args[0].values.reals[1] = -5;
}

static void nan_range(struct marking_plan *plan)
{
	plan->cases[0].args[0].values.reals[0] = NAN;
}

static void wide_scalar(struct marking_plan *plan)
{
	plan->cases[0].args[2].whole = INT64_C(1) << 31;
}

static void bad_tolerance(struct marking_plan *plan)
{
	plan->cases[0].args[1].compare.rel = NAN;
}

static void endless_tolerance(struct marking_plan *plan)
{
	plan->cases[0].args[1].compare.abs = INFINITY;
}

static void strange_comparer(struct marking_plan *plan)
{
	plan->cases[0].args[1].compare.kind = 9;
}

static void ulps_of_integers(struct marking_plan *plan)
{
	plan->cases[0].args[1].tensor.element = ELEMENT_I32;
	plan->cases[0].args[1].compare.kind = COMPARER_ULP;
}

static void strange_values(struct marking_plan *plan)
{
	plan->cases[0].args[0].values.kind = 99;
}

static void odd_alignment(struct marking_plan *plan)
{
	plan->cases[0].args[0].align = 2;
}

static void no_alignment(struct marking_plan *plan)
{
	plan->cases[0].args[0].align = 24;
}

static void rows_of_nothing(struct marking_plan *plan)
{
	plan->cases[0].args[1].use = MARKING_INOUT;
	plan->cases[0].args[1].values.kind = VALUES_ONEHOT;
	plan->cases[0].args[1].rows = 25;
}

static void rows_of_reals(struct marking_plan *plan)
{
	rows_of_nothing(plan);
	plan->cases[0].args[1].rows = 1;
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
		{ empty_range, "case 'softmax 4x100': argument 0: its range is empty" },
		{ nan_range,
		  "case 'softmax 4x100': argument 0: its distribution has a number that its type "
		  "has not" },
		{ strange_values, "case 'softmax 4x100': argument 0: its distribution is unknown" },
		{ odd_alignment,
		  "case 'softmax 4x100': argument 0: its alignment is not that of its type" },
		{ no_alignment, "case 'softmax 4x100': inputs: buffer 0: an alignment of 24 is no "
				"power of two up to 4096" },
		{ wide_scalar,
		  "case 'softmax 4x100': argument 2: its value does not fit its type" },
		{ bad_tolerance,
		  "case 'softmax 4x100': argument 1: rel has to be within 0..1, abs not below 0" },
		{ endless_tolerance,
		  "case 'softmax 4x100': argument 1: rel has to be within 0..1, abs not below 0" },
		{ strange_comparer, "case 'softmax 4x100': argument 1: its comparer is unknown" },
		{ ulps_of_integers,
		  "case 'softmax 4x100': argument 1: ulp is for real types; whole numbers have "
		  "close and exact" },
		{ rows_of_nothing, "case 'softmax 4x100': argument 1: what names its rows is no "
				   "input of a whole type" },
		{ rows_of_reals, "case 'softmax 4x100': argument 1: what names its rows is no "
				 "input of a whole type" },
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

TEST(the_oracle_gets_wide_values)
{
	struct marking_plan *plan = good();
	struct marking_shape task, oracle;
	struct err err = ERR_INIT;

	CHECK_OK(marking_shape(&plan->cases[0], MARKING_TASK, &task, &err));
	CHECK_OK(marking_shape(&plan->cases[0], MARKING_ORACLE, &oracle, &err));
	CHECK_INT(task.outputs.bytes[0], 1600);
	CHECK_INT(oracle.outputs.bytes[0], 3200);
	CHECK_INT(task.inputs.bytes[0], 1600);
	CHECK_INT(oracle.inputs.bytes[0], 3200);
	CHECK_INT(task.call.arg_count, 4);
	CHECK_INT(task.call.args[0].kind, PROTOCOL_INPUT);
	CHECK_INT(task.call.args[1].kind, PROTOCOL_OUTPUT);
	CHECK_INT(task.call.args[2].kind, PROTOCOL_I32);
	CHECK_INT(task.call.args[2].i32, 4);
	CHECK_INT(task.call.args[3].i32, 100);
	CHECK_INT(oracle.call.args[2].kind, PROTOCOL_I64);
	CHECK_INT(oracle.call.args[2].i64, 4);
	CHECK_INT(task.filled, 0);
	mem_free(&plan);
}

TEST(inouts_and_scratch_lie_among_the_outputs_and_the_oracle_gets_no_scratch)
{
	struct marking_plan *plan = good();
	struct marking_case *item = &plan->cases[0];
	struct marking_shape task, oracle;
	struct err err = ERR_INIT;

	item->args[0].use = MARKING_SCRATCH;
	item->args[0].align = 16;
	item->args[2] = item->args[1];
	item->args[2].use = MARKING_INOUT;
	item->args[2].values.kind = VALUES_ONEHOT;
	item->args[2].tensor = tensor_of_row(ELEMENT_U4, 5);
	CHECK_OK(marking_plan_check(plan, &err));
	CHECK_OK(marking_shape(item, MARKING_TASK, &task, &err));
	CHECK_OK(marking_shape(item, MARKING_ORACLE, &oracle, &err));
	CHECK_INT(task.inputs.count, 0);
	CHECK_INT(task.outputs.count, 3);
	CHECK_INT(task.call.args[0].kind, PROTOCOL_SCRATCH);
	CHECK_INT(task.call.args[0].offset, PROTOCOL_PAGE + 16);
	CHECK_INT(task.call.args[2].kind, PROTOCOL_INOUT);
	CHECK_INT(task.call.args[2].bytes, 3);
	CHECK_INT(task.filled, 4);
	CHECK_INT(task.filled_bytes, 64);
	CHECK_INT(oracle.outputs.count, 2);
	CHECK_INT(oracle.call.args[0].kind, PROTOCOL_NOTHING);
	CHECK_INT(oracle.call.args[2].bytes, 40);
	CHECK_INT(oracle.filled, 2);
	mem_free(&plan);
}

TEST(a_scalar_is_passed_in_the_c_type_that_holds_it)
{
	static const struct {
		uint32_t element, kind;
	} rows[] = {
		{ ELEMENT_F64, PROTOCOL_F64 }, { ELEMENT_F32, PROTOCOL_F32 },
		{ ELEMENT_F16, PROTOCOL_F32 }, { ELEMENT_BF16, PROTOCOL_F32 },
		{ ELEMENT_I64, PROTOCOL_I64 }, { ELEMENT_I32, PROTOCOL_I32 },
		{ ELEMENT_I8, PROTOCOL_I8 },   { ELEMENT_U8, PROTOCOL_U8 },
		{ ELEMENT_I4, PROTOCOL_I8 },   { ELEMENT_U4, PROTOCOL_U8 },
	};
	struct marking_plan *plan = good();
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct marking_arg *arg = &plan->cases[0].args[2];
		bool is_real = element_is_real(rows[i].element);
		struct marking_shape task, oracle;

		arg->tensor.element = rows[i].element;
		arg->whole = 5;
		arg->real = 0.5;
		CHECK_OK(marking_shape(&plan->cases[0], MARKING_TASK, &task, &err));
		CHECK_OK(marking_shape(&plan->cases[0], MARKING_ORACLE, &oracle, &err));
		CHECK_INT(task.call.args[2].kind, rows[i].kind);
		CHECK_INT(oracle.call.args[2].kind, is_real ? PROTOCOL_F64 : PROTOCOL_I64);
		if (is_real)
			CHECK(oracle.call.args[2].f64 == 0.5);
		else
			CHECK(oracle.call.args[2].i64 == 5 && task.call.args[2].u8 == 5);
	}
	mem_free(&plan);
}
