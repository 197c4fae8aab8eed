/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/aka_choice.h"

#include <string.h>

#include "harness/aka/aka_set.h"
#include "harness/run/compose.h"
#include "sandbox/base/io.h"

static int choose_set(const struct run_aka *aka, struct arena *arena, struct aka_choice *out,
		      struct err *err)
{
	cleanup(str_done) struct str read = STR_INIT;
	struct argv names;
	size_t len = 0;
	const char *text = aka_set_shipped(aka->set, &len);

	if (aka->set_fd >= 0) {
		if (io_read_fd(aka->set_fd, AKA_SET_FILE_MAX, aka->set, &read, err) < 0)
			return -1;
		text = read.text;
		len = read.len;
	}
	if (aka_set_parse(aka->set, text, len, arena, &names, err) < 0)
		return -1;
	aka_select_names(&out->tree, &names, arena, &out->entries, &out->count, &out->absent);
	return 0;
}

/* What stands in the plan, and is read again from it, and in reports. */
static int check_text(const char *option, const char *text, struct err *err)
{
	cleanup(str_done) struct str shown = STR_INIT;

	if (!text)
		return 0;
	str_add_shown(&shown, text, strlen(text));
	if (text[0] == '\0' || strlen(text) > PLANNED_NAME_MAX || strcmp(shown.text, text) != 0)
		return err_set(
			err, ERR_INPUT,
			"option --%s: 1 to %d bytes are meant, and none that can not be shown",
			option, (int) PLANNED_NAME_MAX);
	return 0;
}

/* In the workspace everything is the candidate's: an interpreter there would be too. */
static int check_python(const char *python, struct err *err)
{
	const size_t len = strlen(COMPOSE_WORK);

	if (!python || !strchr(python, '/') ||
	    (python[0] == '/' && (strncmp(python, COMPOSE_WORK, len) != 0 ||
				  (python[len] != '/' && python[len] != '\0'))))
		return 0;
	return err_set(err, ERR_INPUT,
		       "option --python: '%s' is neither a name nor an absolute path of the jail "
		       "outside of " COMPOSE_WORK,
		       python);
}

int aka_choice_make(const struct run_aka *aka, struct arena *arena, struct aka_choice *out,
		    struct err *err)
{
	static const char *const everything[] = { "all", NULL };
	struct argv selectors = aka->selectors;

	if (check_text("python", aka->python, err) < 0 ||
	    check_text("gpu-model", aka->gpu, err) < 0 || check_python(aka->python, err) < 0 ||
	    aka_tree_open(aka->fd, aka->path, &out->tree, err) < 0)
		return -1;
	if (aka->set)
		return choose_set(aka, arena, out, err);
	if (selectors.count == 0)
		selectors = (struct argv){ everything, 1 };
	return aka_select(&out->tree, &selectors, arena, &out->entries, &out->count, err);
}

int aka_choice_load(const struct aka_choice *choice, size_t index, struct aka_task *out,
		    struct err *err)
{
	const struct aka_entry *entry = &choice->entries[index];

	if (entry->why)
		return err_set(err, ERR_INPUT, "%s", entry->why);
	return aka_task_load(choice->tree.fd, entry->name, out, err);
}

const char *aka_choice_why_dropped(const struct aka_task *task, const char *arch,
				   struct arena *arena)
{
	if (task->brought_count > 0)
		return arena_printf(arena, "its sources come from %s, which runs do not fetch yet",
				    task->brought->from);
	if (task->version != 1)
		return "runs do not speak the protocol of schema_version 2 yet";
	return aka_select_dropped(task, arch, arena);
}

void aka_choice_done(struct aka_choice *choice)
{
	aka_tree_done(&choice->tree);
}
