/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/tasks_aka.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_list.h"
#include "harness/aka/aka_select.h"
#include "harness/aka/aka_set.h"
#include "harness/run/account.h"
#include "harness/run/aka_choice.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"

/* A task that is not listed, and why. */
struct told {
	const char *task, *why;
	struct told *next;
};

struct told_list {
	struct told *first, *last;
};

struct listing {
	const struct tasks_aka *options;
	struct arena arena;
	struct aka_choice choice; /* what is meant */
	struct table table;
	struct aka_counts counts;
	struct told_list refused, dropped;
};

static void listing_done(struct listing *listing)
{
	table_done(&listing->table);
	aka_choice_done(&listing->choice);
	arena_done(&listing->arena);
}

static void tell(struct listing *listing, struct told_list *list, const char *task, const char *why)
{
	struct told *told = arena_alloc(&listing->arena, 1, sizeof(*told));

	told->task = task;
	told->why = arena_copy(&listing->arena, why, strlen(why));
	if (list->last)
		list->last->next = told;
	else
		list->first = told;
	list->last = told;
}

static void refuse(struct listing *listing, const char *task, const char *why)
{
	log_say(LOG_ERROR, "task.broken", "task '%s': %s", task, why);
	tell(listing, &listing->refused, task, why);
}

/* ---- what is meant ---- */

static void list_task(struct listing *listing, const struct aka_entry *entry)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	struct err err = ERR_INIT;
	const char *why;

	if (entry->why) {
		refuse(listing, entry->name, entry->why);
		return;
	}
	if (aka_task_load(listing->choice.tree.fd, entry->name, &task, &err) < 0) {
		refuse(listing, entry->name, err.text);
		return;
	}
	why = listing->options->arch
		    ? aka_select_dropped(&task, listing->options->arch, &task.arena)
		    : NULL;
	if (why) {
		tell(listing, &listing->dropped, entry->name, why);
		return;
	}
	aka_counts_add(&listing->counts, task.type);
	aka_list_add(&listing->table, &task);
}

/* ---- what is written ---- */

static void put_told(struct json_writer *json, const char *key, const struct told_list *list)
{
	json_put_array(json, key);
	for (const struct told *told = list->first; told; told = told->next) {
		json_put_object(json, NULL);
		json_put_text(json, "task", told->task);
		json_put_text(json, "why", told->why);
		json_put_end(json);
	}
	json_put_end(json);
}

static int write_json(const struct listing *listing, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(table_done) struct table types = TABLE_INIT;
	struct json_writer json;

	aka_counts_table(&listing->counts, &types);
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	table_put(&listing->table, &json, "tasks");
	table_put(&types, &json, "types");
	put_told(&json, "dropped", &listing->dropped);
	put_told(&json, "refused", &listing->refused);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	return io_write_waiting(listing->options->json_fd, text.text, text.len, "the list", err);
}

static void print_told(const struct told_list *list, const struct table_style *style,
		       struct str *out)
{
	static const struct table_column columns[] = {
		{ "task", "DROPPED", TABLE_LEFT },
		{ "why", "WHY", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	if (!list->first)
		return;
	table_init(&table, columns, ARRAY_LEN(columns));
	for (const struct told *told = list->first; told; told = told->next) {
		table_text(&table, told->task);
		table_text(&table, told->why);
	}
	str_addf(out, "\n");
	table_print(&table, style, out);
}

static int write_text(const struct cli *cli, const struct listing *listing, struct err *err)
{
	static const char *const keys[] = { "task",     "type",   "from",     "language",
					    "commands", "source", "platform", "editable" };
	const struct table_style style = { .has_color = cli->color };
	cleanup(table_done) struct table types = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	table_print_some(&listing->table, keys, ARRAY_LEN(keys), &style, &text);
	print_told(&listing->dropped, &style, &text);
	aka_counts_table(&listing->counts, &types);
	table_text(&types, "all");
	table_int(&types, (int64_t) listing->counts.total);
	str_addf(&text, "\n");
	table_print(&types, &style, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the list", err);
}

static int list(const struct cli *cli, struct listing *listing, struct err *err)
{
	aka_list_table(&listing->table);
	for (size_t i = 0; i < listing->choice.count; i++)
		list_task(listing, &listing->choice.entries[i]);
	if (listing->options->json_fd != STDOUT_FILENO && write_text(cli, listing, err) < 0)
		return -1;
	if (listing->options->json_fd >= 0 && write_json(listing, err) < 0)
		return -1;
	return listing->refused.first ? 3 : 0;
}

static int show(const struct listing *listing, const char *name, struct err *err)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const int json_fd = listing->options->json_fd;
	struct json_writer json;

	if (aka_task_load(listing->choice.tree.fd, name, &task, err) < 0)
		return -1;
	if (json_fd != STDOUT_FILENO) {
		aka_list_print(&task, AKA_PYTHON, &text);
		if (io_write_waiting(STDOUT_FILENO, text.text, text.len, "the task", err) < 0)
			return -1;
	}
	if (json_fd < 0)
		return 0;
	str_clear(&text);
	json_writer_init(&json, &text);
	aka_list_put(&task, AKA_PYTHON, &json);
	str_add(&text, "\n", 1);
	return io_write_waiting(json_fd, text.text, text.len, "the task", err);
}

/* ---- what is opened ---- */

static int open_folder(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, "folder '%s'", path);
		err->kind = ERR_INPUT;
	}
	return fd;
}

/* -1 without an error: the set came with proctor, or none is named. */
static int open_set(const char *name, int *out, struct err *err)
{
	cleanup(str_done) struct str names = STR_INIT;
	struct stat info;
	size_t len;

	if (!name || aka_set_shipped(name, &len))
		return 0;
	*out = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	aka_set_names(&names);
	if (*out < 0) {
		err_sys(err,
			"set '%s': it is none of those that came with proctor (%s), and as a file",
			name, names.text);
		err->kind = ERR_INPUT;
		return -1;
	}
	if (fstat(*out, &info) < 0 || !S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "set '%s': it is no regular file", name);
	return 0;
}

int cli_tasks_aka(const struct cli *cli, const struct tasks_aka *options, bool is_list, int count,
		  char **words, struct err *err)
{
	cleanup(listing_done) struct listing listing = { .options = options,
							 .choice = AKA_CHOICE_INIT };
	auto_fd folder_fd = -1, set_fd = -1;
	struct run_aka what;

	if (options->set && (count > 0 || !is_list))
		return err_set(err, ERR_USAGE, "--set names the tasks: no other word does");
	if (!is_list && options->arch)
		return err_set(err, ERR_USAGE, "--arch is for proctor tasks list");
	/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	folder_fd = open_folder(options->folder, err);
	if (folder_fd < 0 || open_set(options->set, &set_fd, err) < 0 ||
	    account_drop(NULL, err) < 0)
		return -1;
	if (!is_list)
		return aka_tree_open(folder_fd, options->folder, &listing.choice.tree, err) < 0
			     ? -1
			     : show(&listing, words[0], err);
	what = (struct run_aka){
		.path = options->folder,
		.fd = folder_fd,
		.selectors = { (const char *const *) words, (uint64_t) count },
		.set = options->set,
		.set_fd = set_fd,
	};
	if (aka_choice_make(&what, &listing.arena, &listing.choice, err) < 0)
		return -1;
	for (size_t i = 0; i < listing.choice.absent.count; i++)
		refuse(&listing, listing.choice.absent.items[i], AKA_CHOICE_ABSENT);
	return list(cli, &listing, err);
}
