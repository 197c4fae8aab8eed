/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static struct mark of(enum caliper_end end, uint32_t status, enum worker_role role)
{
	struct caliper_reading reading = { .end = end, .status = status };

	return verdict_of_reading(&reading, role, STAGE_CHECK);
}

TEST(each_end_of_a_call_has_its_mark)
{
	static const struct {
		enum caliper_end end;
		uint32_t status;
		enum mark_kind kind;
		enum mark_reason reason;
	} cases[] = {
		{ CALIPER_DONE, PROTOCOL_OK, MARK_NONE, REASON_NONE },
		{ CALIPER_DONE, PROTOCOL_NO_LIBRARY, MARK_WRONG, REASON_NO_LIBRARY },
		{ CALIPER_DONE, PROTOCOL_NO_SYMBOL, MARK_WRONG, REASON_NO_SYMBOL },
		{ CALIPER_DONE, PROTOCOL_BAD_CALL, MARK_WRONG, REASON_BAD_CALL },
		{ CALIPER_DONE, PROTOCOL_UNSAID, MARK_VIOLATION, REASON_PROTOCOL },
		{ CALIPER_DONE, 12345, MARK_VIOLATION, REASON_PROTOCOL },
		{ CALIPER_DIED, 0, MARK_WRONG, REASON_DIED },
		{ CALIPER_TIMEOUT, 0, MARK_RESOURCE, REASON_TIMEOUT },
		{ CALIPER_GARBAGE, PROTOCOL_OK, MARK_VIOLATION, REASON_PROTOCOL },
		{ CALIPER_LATE, PROTOCOL_OK, MARK_WRONG, REASON_LATE },
		{ CALIPER_REDZONE, PROTOCOL_OK, MARK_WRONG, REASON_REDZONE },
		{ CALIPER_TAMPERED, PROTOCOL_OK, MARK_VIOLATION, REASON_INPUT },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mark mark = of(cases[i].end, cases[i].status, WORKER_CANDIDATE);

		CHECK_INT(mark.kind, cases[i].kind);
		CHECK_INT(mark.reason, cases[i].reason);
		CHECK(mark.kind != MARK_INFRA);
		/* The same from a worker of ours is our fault. */
		if (mark.kind != MARK_NONE)
			CHECK_INT(of(cases[i].end, cases[i].status, WORKER_BASELINE).kind,
				  MARK_INFRA);
	}
}

TEST(an_end_by_memory_is_a_resource)
{
	struct mark mark = of(CALIPER_DIED, 0, WORKER_CANDIDATE);

	verdict_set_end(&mark, (struct worker_end){ .ending = WORKER_OOM, .code = 9 });
	CHECK_INT(mark.kind, MARK_RESOURCE);
	CHECK_INT(mark.reason, REASON_MEMORY);
	mark = of(CALIPER_DIED, 0, WORKER_ORACLE);
	verdict_set_end(&mark, (struct worker_end){ .ending = WORKER_OOM, .code = 9 });
	CHECK_INT(mark.kind, MARK_INFRA);
	/* One that answered wrongly and ran out of memory later was wrong. */
	mark = of(CALIPER_LATE, PROTOCOL_OK, WORKER_CANDIDATE);
	verdict_set_end(&mark, (struct worker_end){ .ending = WORKER_OOM, .code = 9 });
	CHECK_INT(mark.reason, REASON_LATE);
}

static const struct cases *cases; /* for the names of arguments */

static void check_text(const struct mark *mark, const char *want)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct str text = STR_INIT;

	judge_plan(plan);
	judge_add_softmax(plan, 4, 100, false);
	judge_add_softmax(plan, 5, 101, true);
	verdict_text(mark, plan, cases, &text);
	CHECK_STR(text.text, want);
	str_done(&text);
	mem_free(&plan);
}

TEST(a_mark_says_where_and_what)
{
	struct comparison found = {
		.wrong = true, .index = 17, .element = ELEMENT_F32, .got = 0.5, .want = 0.25
	};
	struct mark mark = verdict_of_comparison(&found, 1, WORKER_CANDIDATE, STAGE_TIMING);
	const struct cases named = { .args = { { .name = "x" }, { .name = "y" } }, .arg_count = 2 };

	check_text(&(struct mark){ .kind = MARK_VALID }, "VALID");
	mark.has_case = true;
	mark.call = 3;
	check_text(&mark, "WRONG: candidate, timing: an output is wrong; case 'softmax 4x100', "
			  "call 3, argument 1, element 17: got 0.5, want 0.25");
	cases = &named;
	check_text(&mark, "WRONG: candidate, timing: an output is wrong; case 'softmax 4x100', "
			  "call 3, argument 'y', element 17: got 0.5, want 0.25");
	found.unwritten = true;
	mark = verdict_of_comparison(&found, 2, WORKER_CANDIDATE, STAGE_CHECK);
	mark.has_case = true;
	check_text(&mark, "WRONG: candidate, check: an output was not written; case 'softmax "
			  "4x100', call 0, argument 2, element 17");
	mark = of(CALIPER_TIMEOUT, 0, WORKER_CANDIDATE);
	check_text(&mark, "RESOURCE: candidate, check: its library took longer than 10 s to load");
	mark.has_case = true;
	check_text(&mark, "RESOURCE: candidate, check: it took longer than a call may take; case "
			  "'softmax 4x100', call 0");
	mark = of(CALIPER_DIED, 0, WORKER_CANDIDATE);
	verdict_set_end(&mark, (struct worker_end){ .ending = WORKER_EXITED, .code = 77 });
	check_text(&mark, "WRONG: candidate, check: its worker ended (exit code 77)");
}

TEST(values_are_told_in_the_digits_of_their_type)
{
	static const struct {
		struct comparison found;
		const char *values;
	} rows[] = {
		{ { .element = ELEMENT_F32, .got = (double) 0.1f, .want = 0.2 },
		  "got 0.1, want 0.2" },
		{ { .element = ELEMENT_F32, .got = (double) 0.1f, .want = 0.10000000001 },
		  "got 0.1, want 0.10000000001" },
		{ { .element = ELEMENT_F64, .got = 0.1, .want = 0.30000000000000004 },
		  "got 0.1, want 0.30000000000000004" },
		{ { .element = ELEMENT_F16, .got = 0.333251953125, .want = 1.0 / 3 },
		  "got 0.3333, want 0.33333334" },
		{ { .element = ELEMENT_BF16, .got = 3.140625, .want = 3.0 }, "got 3.14, want 3" },
		{ { .element = ELEMENT_F32, .got = NAN, .want = INFINITY }, "got nan, want inf" },
		{ { .element = ELEMENT_I64,
		    .got = 0x1p53,
		    .want = 0x1p53,
		    .got_whole = 9007199254740993,
		    .want_whole = 9007199254740992 },
		  "got 9007199254740993, want 9007199254740992" },
		{ { .element = ELEMENT_I4, .got_whole = -8, .want_whole = 7 }, "got -8, want 7" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mark mark =
			verdict_of_comparison(&rows[i].found, 1, WORKER_CANDIDATE, STAGE_CHECK);
		char want[200];

		mark.has_case = true;
		snprintf(want, sizeof(want),
			 "WRONG: candidate, check: an output is wrong; case 'softmax 4x100', call "
			 "0, argument 1, element 0: %s",
			 rows[i].values);
		check_text(&mark, want);
	}
}

TEST(a_byte_beside_the_elements_is_a_redzone)
{
	struct comparison found = { .wrong = true, .outside = true, .index = 4100 };
	struct mark mark = verdict_of_comparison(&found, 1, WORKER_CANDIDATE, STAGE_CHECK);

	mark.has_case = true;
	check_text(&mark, "WRONG: candidate, check: it wrote outside its outputs; case 'softmax "
			  "4x100', call 0, byte 4100 of the outputs");
}

TEST(nothing_is_told_of_an_unseen_case)
{
	struct comparison found = {
		.wrong = true, .index = 17, .element = ELEMENT_F32, .got = 0.5, .want = 0.25
	};
	struct mark mark = verdict_of_comparison(&found, 1, WORKER_CANDIDATE, STAGE_CHECK);

	mark.has_case = true;
	mark.case_index = 1;
	check_text(&mark, "WRONG: candidate, check: an output is wrong; unseen case 1");
}
