/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/paper_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/attempt_state.h"
#include "harness/run/planned.h"

/* Ends the test or the program: what is not written is not tested. */
static void must(int result, const struct err *err)
{
	if (result >= 0)
		return;
	fprintf(stderr, "paper run: %s\n", err->text);
	exit(1);
}

struct record paper_record(const char *run, const char *task, const char *agent, uint32_t attempt)
{
	return (struct record){
		.run = run,
		.task = task,
		.agent = agent,
		.policy = "default",
		.attempt = attempt,
		.tier = "T2",
		.trust = "OPERATOR-TRUSTED",
		.is_committed_first = true,
		.ending = { "exited", 0, RECORD_UNKNOWN, NULL, 0 },
		.is_built = true,
		.seen = RECORD_MARK_NONE,
		.unseen = RECORD_MARK_NONE,
		.times = { .leased_ns = NS_PER_S, .recorded_ns = 4 * NS_PER_S },
	};
}

struct record_mark paper_mark(const char *kind, double speedup)
{
	struct record_mark mark = RECORD_MARK_NONE;

	mark.kind = kind;
	mark.cases = 8;
	if (strcmp(kind, "VALID") != 0) {
		mark.reason = "value";
		mark.why = "an output is wrong";
		return mark;
	}
	mark.blocks = 10;
	mark.verdict = speedup > 1.01 ? "FAST" : speedup < 0.99 ? "SLOW" : "SAME";
	mark.ratio = log(speedup);
	mark.ratio_low = mark.ratio - 0.01;
	mark.ratio_high = mark.ratio + 0.01;
	mark.margin = 0.01;
	return mark;
}

void paper_run_create(struct journal *out, int folder_fd, const char *run, int64_t tasks,
		      int64_t agents, int64_t repeats)
{
	struct err err = ERR_INIT;
	struct json_writer *json;

	*out = JOURNAL_INIT;
	must(journal_create(out, folder_fd, run, &err), &err);
	json = journal_begin(out, "run.planned");
	json_put_null(json, "name");
	json_put_int(json, "tasks", tasks);
	json_put_int(json, "agents", agents);
	json_put_int(json, "repeats", repeats);
	must(journal_commit(out, &err), &err);
}

void paper_run_create_named(struct journal *out, int folder_fd, const char *run, uint8_t files)
{
	struct planned_label labels[] = { { "machine", "paper" }, { "os", "none\n" } };
	struct digest program[] = { { { files } } };
	struct planned_task task = { .name = "matmul", .agents = program };
	struct planned_agent agent = { .name = "honest" };
	const struct planned planned = {
		.run = run,
		.name = "nightly",
		.labels = labels,
		.label_count = ARRAY_LEN(labels),
		.tasks = &task,
		.agents = &agent,
		.task_count = 1,
		.agent_count = 1,
		.repeats = 1,
		.seats = 1,
	};
	struct err err = ERR_INIT;
	struct json_writer *json;
	struct digest digest;

	*out = JOURNAL_INIT;
	must(journal_create(out, folder_fd, run, &err), &err);
	must(planned_write(&planned, folder_fd, &digest, &err), &err);
	json = journal_begin(out, "run.planned");
	planned_put_labels(json, &planned);
	json_put_digest(json, "planned", &digest);
	json_put_int(json, "tasks", 1);
	json_put_int(json, "agents", 1);
	json_put_int(json, "repeats", 1);
	must(journal_commit(out, &err), &err);
}

static struct json_writer *begin(struct journal *journal, const char *event, int64_t slot,
				 const struct record *record)
{
	struct json_writer *json = journal_begin(journal, event);

	json_put_text(json, "task", record->task);
	json_put_int(json, "slot", slot);
	json_put_int(json, "attempt", record->attempt);
	return json;
}

void paper_run_add(struct journal *journal, int64_t slot, const struct record *record)
{
	struct err err = ERR_INIT;
	struct json_writer *json = begin(journal, ATTEMPT_BEGUN, slot, record);

	json_put_text(json, "agent", record->agent);
	json_put_text(json, "state", "LEASED");
	must(journal_commit(journal, &err), &err);
	json = begin(journal, ATTEMPT_RECORDED_LINE, slot, record);
	json_put_bool(json, "stopped", false);
	record_put(json, "record", record);
	must(journal_commit(journal, &err), &err);
}

void paper_run_tell(struct journal *journal, const char *event)
{
	struct err err = ERR_INIT;

	journal_begin(journal, event);
	must(journal_commit(journal, &err), &err);
}
