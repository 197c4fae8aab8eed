/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/brought.h"

#include <stdlib.h>
#include <string.h>

#include "harness/evidence/json.h"
#include "harness/run/planned.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

enum { FILE_MAX = 16 << 20, TEXT_MAX = 512 };

/* What is read of one plan, before it counts. */
struct plan {
	struct brought *into;
	const struct json_value *root;
	const char *run;
};

static void add(struct brought *brought, const struct brought_item *item)
{
	if (brought->count == brought->room) {
		brought->room = MAX_OF(2 * brought->room, (size_t) 64);
		brought->list = mem_resize(brought->list, brought->room, sizeof(*brought->list));
	}
	brought->list[brought->count++] = *item;
}

static const char *keep(struct brought *brought, const char *text)
{
	return arena_copy(&brought->arena, text, strlen(text));
}

/* One agent on one task. */
static int read_item(const struct plan *plan, const struct json_value *task, size_t agent,
		     struct err *err)
{
	const struct json_value *entry = json_item(json_member(plan->root, "agents"), agent);
	struct brought *into = plan->into;
	struct brought_item item = { .run = plan->run, .what = "" };
	const char *name = NULL, *task_name = NULL, *tree = NULL;
	bool is_solution = false;

	if (json_get_text(entry, "name", TEXT_MAX, &name, err) < 0 ||
	    json_get_bool(entry, "solution", &is_solution, err) < 0 ||
	    json_get_text(task, "name", TEXT_MAX, &task_name, err) < 0 ||
	    json_get_text(task, "tree", TEXT_MAX, &tree, err) < 0 ||
	    json_get_digest(json_item(json_member(task, "agents"), agent), "sha256", &item.digest,
			    err) < 0)
		return -1;
	item.agent = keep(into, name);
	if (is_solution) {
		item.task = keep(into, task_name);
		item.what = arena_printf(&into->arena, "%s %s", task_name, tree);
	}
	add(into, &item);
	return 0;
}

static int read_items(const struct plan *plan, struct err *err)
{
	const struct json_value *tasks = json_member(plan->root, "tasks");
	const size_t task_count = json_count(tasks);
	const size_t agent_count = json_count(json_member(plan->root, "agents"));

	if (task_count * agent_count > BROUGHT_MAX - plan->into->count)
		return err_set(err, ERR_INPUT, "there are more than %d", (int) BROUGHT_MAX);
	for (size_t i = 0; i < task_count; i++)
		for (size_t j = 0; j < agent_count; j++)
			if (read_item(plan, json_item(tasks, i), j, err) < 0)
				return -1;
	return 0;
}

void brought_read(struct brought *brought, int folder_fd, const char *run,
		  const struct digest *planned)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	const size_t before = brought->count;
	struct err ignored = ERR_INIT;
	struct plan plan = { .into = brought };
	struct digest is;

	if (io_read_file(folder_fd, PLANNED_FILE, FILE_MAX, &text, &ignored) < 0)
		return;
	is = digest_sha256(text.text, text.len);
	if (!digest_equal(&is, planned) ||
	    json_parse(&json, text.text, text.len, FILE_MAX, &ignored) < 0)
		return;
	plan.root = json_root(&json);
	plan.run = keep(brought, run);
	if (read_items(&plan, &ignored) < 0)
		brought->count = before;
}

/* What can be compared stands together; programs first. */
static int compare_items(const void *a, const void *b)
{
	const struct brought_item *left = a, *right = b;
	const int by_agent = strcmp(left->agent, right->agent);
	const int by_what = strcmp(left->what, right->what);

	if (by_agent != 0)
		return by_agent;
	return by_what != 0 ? by_what : strcmp(left->run, right->run);
}

/* One that is a program here and a solution there is not the same either. */
static bool is_other(const struct brought_item *left, const struct brought_item *right)
{
	if (!left->task != !right->task)
		return true;
	return strcmp(left->what, right->what) == 0 && !digest_equal(&left->digest, &right->digest);
}

size_t brought_compare(struct brought *brought, struct brought_difference **out)
{
	const struct brought_item *list = brought->list;
	struct brought_difference *found = mem_alloc(brought->count + 1, sizeof(*found));
	size_t count = 0, first = 0;

	if (brought->count > 1)
		qsort(brought->list, brought->count, sizeof(*list), compare_items);
	for (size_t i = 1; i < brought->count; i++) {
		const bool is_known =
			count > 0 && strcmp(found[count - 1].agent, list[i].agent) == 0;

		if (strcmp(list[first].agent, list[i].agent) != 0 || is_known) {
			first = i;
			continue;
		}
		if (is_other(&list[first], &list[i]))
			found[count++] = (struct brought_difference){
				.agent = list[i].agent,
				.task = list[i].task,
				.run = list[first].run,
				.other = list[i].run,
			};
		if (strcmp(list[first].what, list[i].what) != 0)
			first = i;
	}
	*out = found;
	return count;
}

void brought_done(struct brought *brought)
{
	mem_free(&brought->list);
	arena_done(&brought->arena);
	*brought = BROUGHT_INIT;
}
