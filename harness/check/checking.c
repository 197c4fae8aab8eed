/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/checking.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "harness/judge/inputs.h"
#include "harness/run/hidden.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/mem.h"

static int draw_key(uint8_t *key, struct err *err)
{
	if (getrandom(key, INPUTS_KEY, 0) != INPUTS_KEY)
		return err_sys(err, "draw a key");
	return 0;
}

int checking_plan(const struct task *task, const uint8_t *key, struct marking_plan *out,
		  struct err *err)
{
	if (hidden_plan(task, key, out, err) < 0)
		return -1;
	/* Whoever reads a whole task sees its seen cases here all the same. */
	out->case_count = (uint32_t) task->cases.seen_count;
	return 0;
}

static void put_why(const struct marking_told *told, const struct marking_plan *plan,
		    const struct cases *cases, char *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (told->fate == MARKING_TOO_LONG)
		str_addf(&text, "RESOURCE: the marking took longer than the task's mark.wall");
	else
		verdict_text(&told->seen.mark, plan, cases, &text);
	snprintf(out, CHECKING_WHY_MAX, "%s", text.text);
}

/* A marking of @plan; INFRA is not the candidate's and thus an error. */
static int mark(const struct checking *what, const struct marking_plan *plan, bool check_only,
		struct marking_told *told, struct err *err)
{
	uint8_t key[INPUTS_KEY];
	struct marking_child child = {
		.plan = plan,
		.key = key,
		.source = what->source,
		.options = { .limit_ns = (what->deadline - clock_now()) / 10 * 9,
			     .check_only = check_only },
		.deadline = what->deadline,
		.stop_fd = what->stop_fd,
	};
	char why[CHECKING_WHY_MAX];

	if (draw_key(key, err) < 0 || marking_child_run(&child, told, err) < 0)
		return -1;
	if (told->fate == MARKING_TOO_LONG)
		told->seen.mark = (struct mark){ .kind = MARK_RESOURCE,
						 .stage = STAGE_TIMING,
						 .reason = REASON_TIMEOUT,
						 .role = WORKER_CANDIDATE };
	if (told->seen.mark.kind != MARK_INFRA)
		return 0;
	put_why(told, plan, &what->task->cases, why);
	return err_set(err, ERR_HOST, "the task's own code fails here: %s", why);
}

static int check_case(const struct checking *what, const struct marking_plan *plan, uint32_t index,
		      struct checked *out, struct err *err)
{
	cleanup(mem_free) struct marking_plan *single = mem_alloc(1, sizeof(*single));
	cleanup(mem_free) struct marking_told *told = mem_alloc(1, sizeof(*told));
	struct checked_case *item = &out->cases[out->case_count];

	*single = *plan;
	single->case_count = 1;
	single->cases[0] = plan->cases[index];
	if (mark(what, single, true, told, err) < 0)
		return -1;
	out->stopped = told->fate == MARKING_STOPPED;
	if (out->stopped)
		return 0;
	snprintf(item->name, sizeof(item->name), "%s", plan->cases[index].name);
	item->mark = told->seen.mark;
	put_why(told, single, &what->task->cases, item->why);
	out->wall_ns += told->wall_ns;
	out->case_count++;
	return 0;
}

/* The mark of the whole is that of its first case that is not valid. */
static void conclude(struct checked *out)
{
	out->set.mark = out->cases[0].mark;
	snprintf(out->why, sizeof(out->why), "%s", out->cases[0].why);
	for (size_t i = 0; i < out->case_count && out->set.mark.kind == MARK_VALID; i++) {
		out->set.mark = out->cases[i].mark;
		snprintf(out->why, sizeof(out->why), "%s", out->cases[i].why);
	}
}

static int mark_all(const struct checking *what, const struct marking_plan *plan,
		    struct checked *out, struct err *err)
{
	cleanup(mem_free) struct marking_told *told = mem_alloc(1, sizeof(*told));

	if (mark(what, plan, false, told, err) < 0)
		return -1;
	out->stopped = told->fate == MARKING_STOPPED;
	out->wall_ns += told->wall_ns;
	out->busy = told->busy;
	out->set = told->seen;
	if (!out->stopped)
		put_why(told, plan, &what->task->cases, out->why);
	for (size_t i = 0; out->set.stats.blocks > 0 && i < out->case_count; i++)
		out->cases[i].stats = told->cases[i];
	return 0;
}

int checking_run(const struct checking *what, struct checked *out, struct err *err)
{
	cleanup(mem_free) struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct checked made = { .case_count = 0 };
	uint8_t key[INPUTS_KEY];

	if (draw_key(key, err) < 0 || checking_plan(what->task, key, plan, err) < 0)
		return -1;
	plan->judge_cpu = what->judge_cpu;
	plan->worker_cpu = what->worker_cpu;
	for (uint32_t i = 0; i < plan->case_count && !made.stopped; i++)
		if (check_case(what, plan, i, &made, err) < 0)
			return -1;
	if (!made.stopped)
		conclude(&made);
	if (!made.stopped && !what->is_quick && made.set.mark.kind == MARK_VALID &&
	    mark_all(what, plan, &made, err) < 0)
		return -1;
	*out = made;
	return 0;
}
