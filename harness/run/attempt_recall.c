/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_recall.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "harness/run/record_read.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"

void attempt_folder(const struct attempt *attempt, char out[PLANNED_PATH_MAX])
{
	snprintf(out, PLANNED_PATH_MAX, "attempts/%s-%04u", attempt->planned->folder,
		 attempt->slot->attempt);
}

int attempt_open_folder(struct attempt *attempt, struct err *err)
{
	char name[PLANNED_PATH_MAX];

	attempt_folder(attempt, name);
	attempt->folder_fd = path_open_folder(attempt->run->place->folder_fd, name, err);
	return attempt->folder_fd < 0 ? -1 : 0;
}

static int parse_task(struct attempt *attempt, const struct str *text, struct err *err)
{
	if (attempt->run->planned.kind == PLANNED_AKA)
		return aka_task_parse(attempt->planned->name, text->text, text->len, &attempt->aka,
				      err);
	return task_parse("task.yaml", text->text, text->len, &attempt->task, err);
}

int attempt_open_task(struct attempt *attempt, struct err *err)
{
	const char *file = planned_file_name(attempt->run->planned.kind, PLANNED_TASK);
	cleanup(str_done) struct str text = STR_INIT;
	char path[PLANNED_PATH_MAX];

	snprintf(path, sizeof(path), "tasks/%s", attempt->planned->folder);
	attempt->task_fd = path_open_folder(attempt->run->place->folder_fd, path, err);
	if (attempt->task_fd < 0 ||
	    io_read_file(attempt->task_fd, file, STR_MAX - 1, &text, err) < 0 ||
	    parse_task(attempt, &text, err) < 0)
		return -1;
	attempt->pristine_fd = path_open_file(attempt->task_fd, "pristine.tree", err);
	return attempt->pristine_fd < 0 ? -1 : 0;
}

static int note_agent(struct attempt *attempt, const struct json_value *fields, struct err *err)
{
	attempt->has_services = !json_is_absent(json_member(fields, "services"));
	if (attempt->has_services &&
	    json_get_digest(fields, "services", &attempt->services, err) < 0)
		return -1;
	return record_read_ending(fields, &attempt->run->arena, &attempt->ending, &attempt->usage,
				  err);
}

static int note_line(struct attempt *attempt, const struct journal_entry *entry, struct err *err)
{
	const char *state = NULL;

	if (strcmp(entry->event, ATTEMPT_LEASED_LINE) == 0)
		attempt->times.leased_ns = entry->time_ns;
	if (strcmp(entry->event, "attempt.judged") == 0)
		attempt->was_judged = true;
	if (strcmp(entry->event, ATTEMPT_BEGUN) == 0 &&
	    json_get_text(entry->fields, "state", 32, &state, err) == 0 &&
	    strcmp(state, names_text(attempt_state_names, ATTEMPT_AGENT)) == 0)
		attempt->times.agent_ns = entry->time_ns;
	if (strcmp(entry->event, ATTEMPT_AGENT_LINE) == 0)
		return note_agent(attempt, entry->fields, err);
	if (strcmp(entry->event, KEEPER_FROZEN) == 0 && !attempt->has_root_before) {
		if (json_get_digest(entry->fields, "candidate", &attempt->root_before, err) < 0)
			return -1;
		attempt->has_root_before = true;
	}
	return 0;
}

static bool is_ours(const struct attempt *attempt, const struct journal_entry *entry)
{
	struct err ignored = ERR_INIT;
	const char *task = NULL;
	int64_t number = 0;

	return strncmp(entry->event, "attempt.", 8) == 0 &&
	       json_get_text(entry->fields, "task", 255, &task, &ignored) == 0 &&
	       json_get_int(entry->fields, "attempt", 1, UINT32_MAX, &number, &ignored) == 0 &&
	       strcmp(task, attempt->planned->name) == 0 &&
	       (uint32_t) number == attempt->slot->attempt;
}

/* What the journal knows of this attempt. */
static int recall(struct attempt *attempt, struct err *err)
{
	cleanup(journal_reader_done) struct journal_reader reader;
	auto_fd fd = journal_open_read(attempt->run->place->folder_fd, err);
	struct journal_entry entry;
	int got;

	journal_reader_init(&reader, fd);
	if (fd < 0)
		return -1;
	while ((got = journal_read(&reader, &entry, err)) > 0)
		if (is_ours(attempt, &entry) && note_line(attempt, &entry, err) < 0)
			return -1;
	return got;
}

int attempt_take_up(struct attempt *attempt, struct err *err)
{
	if (recall(attempt, err) < 0 || attempt_open_task(attempt, err) < 0 ||
	    attempt_open_folder(attempt, err) < 0)
		return -1;
	attempt->frozen_fd = path_open_file(attempt->folder_fd, "frozen.tree", err);
	return attempt->frozen_fd < 0 ? -1 : 0;
}

void attempt_cut_off(struct attempt *attempt, enum slot_work work)
{
	struct err ignored = ERR_INIT;

	best_effort(recall(attempt, &ignored));
	best_effort(attempt_open_folder(attempt, &ignored));
	if (work == SLOT_CUT)
		err_set(&attempt->infra, ERR_SYS, "proctor was ended while the agent ran");
	else
		err_set(&attempt->infra, ERR_SYS,
			"the attempt was taken up %u times and ended proctor's own process each "
			"time",
			attempt->slot->entries);
}
