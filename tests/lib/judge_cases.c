/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/judge_cases.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

void judge_plan(struct marking_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->judge_cpu = 0;
	plan->worker_cpu = 1;
	plan->call_ns = 200000000;
}

static struct marking_arg scalar(int value)
{
	return (struct marking_arg){
		.use = MARKING_SCALAR,
		.tensor.element = ELEMENT_I32,
		.whole = value,
	};
}

static struct marking_case *add(struct marking_plan *plan, uint64_t count, double low, double high,
				double rel)
{
	struct marking_case *item = &plan->cases[plan->case_count++];

	item->arg_count = 4;
	item->args[0] = (struct marking_arg){
		.use = MARKING_INPUT,
		.tensor = tensor_of_row(ELEMENT_F32, count),
		.values = { .kind = VALUES_UNIFORM, .count = 2, .reals = { low, high } },
	};
	item->args[1] = (struct marking_arg){
		.use = MARKING_OUTPUT,
		.tensor = tensor_of_row(ELEMENT_F32, count),
		.compare = { .kind = COMPARER_CLOSE, .rel = rel, .abs = 1e-9 },
	};
	return item;
}

void judge_add_softmax(struct marking_plan *plan, int rows, int cols, bool unseen)
{
	struct marking_case *item = add(plan, (uint64_t) rows * (uint64_t) cols, -4, 4, 1e-4);

	snprintf(item->name, sizeof(item->name), "softmax %dx%d", rows, cols);
	item->unseen = unseen;
	item->args[2] = scalar(rows);
	item->args[3] = scalar(cols);
}

void judge_add_chain(struct marking_plan *plan, int count, int steps)
{
	struct marking_case *item = add(plan, (uint64_t) count, -2, 2, 1e-2);

	item->args[1].compare.abs = 1e-3;
	snprintf(item->name, sizeof(item->name), "chain %dx%d", count, steps);
	item->args[2] = scalar(count);
	item->args[3] = scalar(steps);
}

void judge_add_curve(struct marking_plan *plan, int rows, int cols)
{
	struct marking_case *item = add(plan, (uint64_t) rows * (uint64_t) cols, -2, 2, 1e-5);

	item->args[1].compare.abs = 1e-6;
	snprintf(item->name, sizeof(item->name), "curve %dx%d", rows, cols);
	item->args[2] = scalar(rows);
	item->args[3] = scalar(cols);
}

static bool can_run_on(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	return sched_setaffinity(0, sizeof(only), &only) == 0;
}

bool judge_has_cpus(void)
{
	return can_run_on(1) && can_run_on(0);
}
