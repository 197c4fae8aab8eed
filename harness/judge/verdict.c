/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/verdict.h"

#include <string.h>

#include "harness/judge/constants.h"

const struct name mark_kind_names[] = {
	{ "NONE", MARK_NONE },       { "VALID", MARK_VALID },
	{ "WRONG", MARK_WRONG },     { "VIOLATION", MARK_VIOLATION },
	{ "SUSPECT", MARK_SUSPECT }, { "RESOURCE", MARK_RESOURCE },
	{ "INFRA", MARK_INFRA },     { NULL, 0 },
};

const struct name mark_stage_names[] = {
	{ "none", STAGE_NONE },
	{ "oracle", STAGE_ORACLE },
	{ "check", STAGE_CHECK },
	{ "timing", STAGE_TIMING },
	{ NULL, 0 },
};

const struct name mark_reason_names[] = {
	{ "none", REASON_NONE },           { "no-library", REASON_NO_LIBRARY },
	{ "no-symbol", REASON_NO_SYMBOL }, { "bad-call", REASON_BAD_CALL },
	{ "died", REASON_DIED },           { "timeout", REASON_TIMEOUT },
	{ "memory", REASON_MEMORY },       { "value", REASON_VALUE },
	{ "unwritten", REASON_UNWRITTEN }, { "late", REASON_LATE },
	{ "redzone", REASON_REDZONE },     { "input", REASON_INPUT },
	{ "protocol", REASON_PROTOCOL },   { NULL, 0 },
};

const struct name worker_role_names[] = {
	{ "oracle", WORKER_ORACLE },
	{ "path", WORKER_PATH },
	{ "baseline", WORKER_BASELINE },
	{ "candidate", WORKER_CANDIDATE },
	{ NULL, 0 },
};

static struct mark make(enum mark_kind kind, enum mark_reason reason, enum worker_role role,
			enum mark_stage stage)
{
	return (struct mark){
		.kind = role == WORKER_CANDIDATE ? kind : MARK_INFRA,
		.reason = reason,
		.role = role,
		.stage = stage,
	};
}

/* A worker that rang: did it do what it was told? Any value may stand here. */
static struct mark of_status(uint32_t status, enum worker_role role, enum mark_stage stage)
{
	switch (status) {
	case PROTOCOL_OK:
		return (struct mark){ .kind = MARK_NONE };
	case PROTOCOL_NO_LIBRARY:
		return make(MARK_WRONG, REASON_NO_LIBRARY, role, stage);
	case PROTOCOL_NO_SYMBOL:
		return make(MARK_WRONG, REASON_NO_SYMBOL, role, stage);
	case PROTOCOL_BAD_CALL:
		return make(MARK_WRONG, REASON_BAD_CALL, role, stage);
	default:
		return make(MARK_VIOLATION, REASON_PROTOCOL, role, stage);
	}
}

struct mark verdict_of_reading(const struct caliper_reading *reading, enum worker_role role,
			       enum mark_stage stage)
{
	struct mark mark = { .kind = MARK_NONE };

	switch (reading->end) {
	case CALIPER_DONE:
		mark = of_status(reading->status, role, stage);
		break;
	case CALIPER_DIED:
		mark = make(MARK_WRONG, REASON_DIED, role, stage);
		break;
	case CALIPER_TIMEOUT:
		mark = make(MARK_RESOURCE, REASON_TIMEOUT, role, stage);
		break;
	case CALIPER_GARBAGE:
		mark = make(MARK_VIOLATION, REASON_PROTOCOL, role, stage);
		break;
	case CALIPER_LATE:
		mark = make(MARK_WRONG, REASON_LATE, role, stage);
		break;
	case CALIPER_REDZONE:
		mark = make(MARK_WRONG, REASON_REDZONE, role, stage);
		break;
	case CALIPER_TAMPERED:
		mark = make(MARK_VIOLATION, REASON_INPUT, role, stage);
		break;
	}
	mark.index = reading->offset;
	return mark;
}

struct mark verdict_of_comparison(const struct comparison *found, uint32_t arg,
				  enum worker_role role, enum mark_stage stage)
{
	enum mark_reason reason = found->outside   ? REASON_REDZONE
				: found->unwritten ? REASON_UNWRITTEN
						   : REASON_VALUE;
	struct mark mark = make(MARK_WRONG, reason, role, stage);

	mark.arg = arg;
	mark.index = found->index;
	mark.element = found->element;
	mark.got = found->got;
	mark.want = found->want;
	mark.got_whole = found->got_whole;
	mark.want_whole = found->want_whole;
	return mark;
}

void verdict_set_end(struct mark *mark, struct worker_end end)
{
	mark->end = end;
	if (end.ending != WORKER_OOM || mark->reason != REASON_DIED)
		return;
	mark->reason = REASON_MEMORY;
	if (mark->kind == MARK_WRONG)
		mark->kind = MARK_RESOURCE;
}

static void add_end(const struct mark *mark, struct str *out)
{
	if (mark->end.ending == WORKER_EXITED)
		str_addf(out, " (exit code %d)", mark->end.code);
	else if (mark->end.ending == WORKER_SIGNALED)
		str_addf(out, " (signal %d)", mark->end.code);
}

static void add_reason(const struct mark *mark, struct str *out)
{
	static const char *const words[] = {
		[REASON_NONE] = "nothing was found",
		[REASON_NO_LIBRARY] = "its library can not be loaded",
		[REASON_NO_SYMBOL] = "its library lacks the entry point",
		[REASON_BAD_CALL] = "its worker refused the call",
		[REASON_DIED] = "its worker ended",
		[REASON_TIMEOUT] = "it took longer than a call may take",
		[REASON_MEMORY] = "it reached its memory limit",
		[REASON_VALUE] = "an output is wrong",
		[REASON_UNWRITTEN] = "an output was not written",
		[REASON_LATE] = "an output changed after it said done",
		[REASON_REDZONE] = "it wrote outside its outputs",
		[REASON_INPUT] = "an input was changed",
		[REASON_PROTOCOL] = "its worker gave an answer outside the protocol",
	};

	if (mark->reason == REASON_TIMEOUT && !mark->has_case)
		str_addf(out, "its library took longer than %lld s to load",
			 (long long) (JUDGE_START_NS / NS_PER_S));
	else
		str_addf(out, "%s", words[mark->reason]);
	if (mark->reason == REASON_DIED)
		add_end(mark, out);
}

/* What came in the digits of its type; what is wanted in as many as tell it from that. */
static void add_values(const struct mark *mark, struct str *out)
{
	char got[ELEMENT_SHOWN], want[ELEMENT_SHOWN];

	if (!element_is_real(mark->element)) {
		str_addf(out, ": got %lld, want %lld", (long long) mark->got_whole,
			 (long long) mark->want_whole);
		return;
	}
	element_show(mark->element, mark->got, got);
	element_show(ELEMENT_F32, element_round(ELEMENT_F32, mark->want), want);
	if (mark->element == ELEMENT_F64 || strcmp(got, want) == 0)
		element_show(ELEMENT_F64, mark->want, want);
	str_addf(out, ": got %s, want %s", got, want);
}

static void add_place(const struct mark *mark, const struct cases *cases, struct str *out)
{
	const char *name = cases ? cases_arg_name(cases, mark->arg) : NULL;

	if (name)
		str_addf(out, ", argument '%s'", name);
	else
		str_addf(out, ", argument %u", mark->arg);
	str_addf(out, ", element %llu", (unsigned long long) mark->index);
}

void verdict_text(const struct mark *mark, const struct marking_plan *plan,
		  const struct cases *cases, struct str *out)
{
	str_addf(out, "%s", names_text(mark_kind_names, (int) mark->kind));
	if (mark->kind == MARK_NONE || mark->kind == MARK_VALID)
		return;
	str_addf(out, ": %s, %s: ", names_text(worker_role_names, (int) mark->role),
		 names_text(mark_stage_names, (int) mark->stage));
	add_reason(mark, out);
	if (!mark->has_case || mark->case_index >= plan->case_count)
		return;
	if (plan->cases[mark->case_index].unseen) {
		str_addf(out, "; unseen case %u", mark->case_index);
		return;
	}
	str_addf(out, "; case '");
	str_add_shown(out, plan->cases[mark->case_index].name,
		      strnlen(plan->cases[mark->case_index].name, MARKING_NAME_MAX));
	str_addf(out, "', call %u", mark->call);
	if (mark->reason == REASON_VALUE || mark->reason == REASON_UNWRITTEN)
		add_place(mark, cases, out);
	if (mark->reason == REASON_VALUE)
		add_values(mark, out);
	else if (mark->reason == REASON_LATE || mark->reason == REASON_REDZONE)
		str_addf(out, ", byte %llu of the outputs", (unsigned long long) mark->index);
}
