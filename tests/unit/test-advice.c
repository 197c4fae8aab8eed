/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/advice.h"

#include <fcntl.h>
#include <string.h>

#include "tests/lib/check.h"

static struct task task = TASK_INIT;
static struct err err;

static void load(void)
{
	int folder = open(SOURCE_ROOT "/tasks/c2c/row-softmax", O_RDONLY | O_DIRECTORY);

	CHECK(folder >= 0);
	CHECK_OK(task_load(folder, &task, &err));
}

static const char *prototype(enum worker_role role)
{
	static struct str text = STR_INIT;

	str_clear(&text);
	advice_prototype(&task, role, &text);
	return text.text;
}

TEST(a_function_is_shown_as_the_task_says_it_is_called)
{
	load();
	CHECK_STR(prototype(WORKER_BASELINE),
		  "void row_softmax(const float *x, float *y, int64_t rows, int64_t cols)");
	CHECK_STR(prototype(WORKER_ORACLE), "void row_softmax_oracle(const double *x, double *y, "
					    "int64_t rows, int64_t cols)");
}

static const char *advise(struct mark mark)
{
	err = (struct err) ERR_INIT;
	mark.kind = mark.role == WORKER_CANDIDATE ? MARK_WRONG : MARK_INFRA;
	CHECK_INT(advice_on_mark(&task, &mark, "odd 1 (rows=3)", &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	return err.text;
}

TEST(each_failure_names_a_key_and_a_way_out)
{
	static const struct {
		struct mark mark;
		const char *key, *way_out;
	} rows[] = {
		{ { .reason = REASON_NO_LIBRARY, .role = WORKER_ORACLE },
		  "oracle.build.out: 'oracle.so' can not be loaded",
		  "-shared" },
		{ { .reason = REASON_NO_LIBRARY, .role = WORKER_BASELINE },
		  "build.out: 'softmax.so' can not",
		  "-lm" },
		{ { .reason = REASON_NO_SYMBOL, .role = WORKER_BASELINE },
		  "entry.symbol: the library of the baseline has no function 'row_softmax'",
		  "not static" },
		{ { .reason = REASON_NO_SYMBOL, .role = WORKER_ORACLE },
		  "oracle.symbol: the library of the oracle has no function 'row_softmax_oracle'",
		  "evaluate/" },
		{ { .reason = REASON_DIED,
		    .role = WORKER_ORACLE,
		    .has_case = true,
		    .end = { WORKER_SIGNALED, 11 } },
		  "case odd 1 (rows=3): entry.args: the oracle crashes (signal 11)",
		  "void row_softmax_oracle(const double *x, double *y" },
		{ { .reason = REASON_DIED, .role = WORKER_BASELINE },
		  "the baseline ends its process before it is called",
		  "constructor" },
		{ { .reason = REASON_MEMORY, .role = WORKER_BASELINE, .has_case = true },
		  "reaches the memory limit",
		  "worker.memory" },
		{ { .reason = REASON_TIMEOUT, .role = WORKER_ORACLE, .has_case = true },
		  "mark.call_wall: a call of the oracle takes longer than 2000 ms",
		  "raise it" },
		{ { .reason = REASON_TIMEOUT, .role = WORKER_ORACLE },
		  "the oracle takes longer than 10 s to load, before it is called",
		  "constructor" },
		{ { .reason = REASON_VALUE,
		    .role = WORKER_BASELINE,
		    .has_case = true,
		    .arg = 1,
		    .index = 7,
		    .got = 1,
		    .want = 2 },
		  "case odd 1 (rows=3): args.y: the baseline and the oracle disagree at element 7: "
		  "1, and the oracle wants 2",
		  "widen args.y.compare" },
		{ { .reason = REASON_UNWRITTEN,
		    .role = WORKER_CANDIDATE,
		    .has_case = true,
		    .arg = 1 },
		  "args.y: the workspace as it is does not write element 0",
		  "void row_softmax(" },
		{ { .reason = REASON_REDZONE, .role = WORKER_BASELINE, .has_case = true },
		  "args: the baseline writes outside its outputs",
		  "shape too small" },
		{ { .reason = REASON_INPUT, .role = WORKER_BASELINE, .has_case = true },
		  "writes to an argument that is `in`",
		  "void row_softmax(" },
		{ { .reason = REASON_LATE, .role = WORKER_BASELINE, .has_case = true },
		  "the baseline fails: late",
		  "void row_softmax(" },
	};

	load();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = advise(rows[i].mark);

		if (!strstr(text, rows[i].key) || !strstr(text, rows[i].way_out))
			check_fail(__FILE__, __LINE__, "row %zu: %s", i, text);
	}
}

static struct jail_outcome ended(enum ending ending, int code, uint32_t flags)
{
	return (struct jail_outcome){
		.last = { .kind = EVENT_ENDED,
			  .result = { .ending = ending, .code = code, .flags = flags } },
	};
}

static void check_agent(struct jail_outcome outcome, const char *want)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(advice_on_agent(&task, &outcome, "it says: x", &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	if (!strstr(err.text, want))
		check_fail(__FILE__, __LINE__, "'%s' is not in '%s'", want, err.text);
}

TEST(a_limit_that_an_agent_would_meet_at_once_is_named)
{
	struct jail_outcome outcome = ended(ENDING_EXITED, 0, 0);

	load();
	CHECK_OK(advice_on_agent(&task, &outcome, "", &err));
	check_agent(ended(ENDING_OOM, 9, 0), "limits.memory: ");
	check_agent(ended(ENDING_TIMEOUT, 0, 0), "limits.wall: ");
	check_agent(ended(ENDING_OUTPUT, 0, 0), "limits.output: ");
	check_agent(ended(ENDING_EXITED, 3, JAIL_PIDS_HIT), "limits.pids: ");
	check_agent(ended(ENDING_EXITED, 3, JAIL_DISK_FULL), "limits.workspace: ");
	check_agent(ended(ENDING_EXITED, 3, JAIL_INODES_FULL), "limits.inodes: ");
	check_agent(ended(ENDING_EXITED, 3, 0), "check: in the agent's jail, over the workspace as "
						"it is, it ends with code 3; it says: x");
	outcome.last = (struct event){ .kind = EVENT_FAILED };
	err_set(&outcome.last.err, ERR_INPUT, "unpack at '/work': full");
	check_agent(outcome, "limits: the agent's jail can not hold the workspace");
	outcome.last.kind = EVENT_NOT_FOUND;
	check_agent(outcome, "check.argv: 'proctor-check': ");
}

TEST(what_is_the_hosts_fault_stays_so)
{
	struct jail_outcome outcome = { .last = { .kind = EVENT_LOST } };

	load();
	err_set(&outcome.last.err, ERR_SYS, "gone");
	CHECK_INT(advice_on_agent(&task, &outcome, "", &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
	outcome = ended(ENDING_STOPPED, 0, 0);
	outcome.stopped = true;
	CHECK_INT(advice_on_agent(&task, &outcome, "", &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
}
