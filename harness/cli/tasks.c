/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/cli/tasks_aka.h"
#include "harness/config/catalog.h"
#include "harness/console/options.h"
#include "harness/report/tasks.h"
#include "harness/run/account.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"

struct tasks_options {
	int json_fd;
	const char *aka, *set, *arch;
};

#define AT(member) offsetof(struct tasks_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "json", "[=FD]", OPTION_FD,   AT(json_fd), 0, 0, "write one JSON object to FD (1, in place of the text)" },
	{ "aka",  "DIR",   OPTION_TEXT, AT(aka),     0, 0, "the tasks of DIR, a checkout of AgentKernelArena" },
	{ "set",  "NAME",  OPTION_TEXT, AT(set),     0, 0, "list --aka: those of a set: curated-60, paper-196 or a file" },
	{ "arch", "ARCH",  OPTION_TEXT, AT(arch),    0, 0, "list --aka: drop what does not run on this GPU, gfx942 say" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor tasks list [OPTION]… [FOLDER]…\n"
		 "       proctor tasks list --aka DIR [OPTION]… [SELECTOR]…\n"
		 "       proctor tasks show [OPTION]… TASK\n"
		 "       proctor tasks check [OPTION]… FOLDER…",
	.about =
		"list: the tasks in each FOLDER and below it (without one: those that came with "
		"proctor); goes on past a\nbroken one and then ends with 3. show: all of one TASK, "
		"a folder or the name of one that came with proctor.\ncheck: tries tasks out, see "
		"proctor tasks check --help.\n"
		"Exit codes: 0 done; 2 usage; 3 a task is broken or not there; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

enum { FOLDERS_MAX = 64 };

/* Folders by descriptor: what the operator named, opened while we may be root. */
struct places {
	size_t count;
	struct {
		int fd;
		const char *path;
	} items[FOLDERS_MAX];
	char shipped[512];
};

static void places_done(struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		fd_close(&places->items[i].fd);
}

static int open_place(struct places *places, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, "folder '%s'", path);
		err->kind = ERR_INPUT;
		return -1;
	}
	places->items[places->count].fd = fd;
	places->items[places->count++].path = path;
	return 0;
}

/* Beside a build folder, or where they were installed. */
static int open_shipped(const struct cli *cli, struct places *places, struct err *err)
{
	const char *slash = cli->programs ? strrchr(cli->programs, '/') : NULL;

	if (slash) {
		snprintf(places->shipped, sizeof(places->shipped), "%.*s/tasks",
			 (int) (slash - cli->programs), cli->programs);
		if (open_place(places, places->shipped, err) == 0)
			return 0;
	}
	snprintf(places->shipped, sizeof(places->shipped), "%s/tasks", PROCTOR_DATADIR);
	if (open_place(places, places->shipped, err) == 0)
		return 0;
	return err_wrap(err, "the tasks that came with proctor");
}

/* A folder whose task can not be read, and why. */
struct broken {
	const char *folder, *why;
	struct broken *next;
};

/* What a walk fills. */
struct found {
	struct arena arena;
	struct table table;            /* list: the tasks */
	struct broken *broken, **last; /* list: the others, in order */
	const char *wanted;            /* show: the name of the task's folder */
	int folder_fd;                 /* show: owned; -1: not found */
	const char *folder;
};

static void found_done(struct found *found)
{
	table_done(&found->table);
	fd_close(&found->folder_fd);
	arena_done(&found->arena);
}

static const char *const *read_solutions(int folder_fd, struct arena *arena, size_t *count)
{
	auto_fd solutions = openat(folder_fd, "solutions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err none = ERR_INIT;

	*count = 0;
	return solutions < 0 ? NULL : catalog_names(solutions, arena, count, &none);
}

static int tell_broken(struct found *found, const char *path, const struct err *why)
{
	struct broken *broken = arena_alloc(&found->arena, 1, sizeof(*broken));

	log_say(LOG_ERROR, "task.broken", "task '%s': %s", path, why->text);
	broken->folder = arena_copy(&found->arena, path, strlen(path));
	broken->why = arena_copy(&found->arena, why->text, strlen(why->text));
	*found->last = broken;
	found->last = &broken->next;
	return 0;
}

static int list_task(void *user, int folder_fd, const char *path, const struct err *why,
		     struct err *err)
{
	cleanup(task_done) struct task task = TASK_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct tasks_shown shown = { .task = &task, .folder = path };
	struct err broken = ERR_INIT;
	struct found *found = user;

	(void) err;
	if (why)
		return tell_broken(found, path, why);
	if (task_load(folder_fd, &task, &broken) < 0)
		return tell_broken(found, path, &broken);
	shown.solutions = read_solutions(folder_fd, &arena, &shown.solution_count);
	tasks_add(&found->table, &shown);
	return 0;
}

static int write_list(int fd, const struct found *found, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	table_put(&found->table, &json, "tasks");
	json_put_array(&json, "broken");
	for (const struct broken *broken = found->broken; broken; broken = broken->next) {
		json_put_object(&json, NULL);
		json_put_text(&json, "folder", broken->folder);
		json_put_text(&json, "error", broken->why);
		json_put_end(&json);
	}
	json_put_end(&json);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	return io_write_waiting(fd, text.text, text.len, "the list", err);
}

static int list(const struct cli *cli, const struct tasks_options *options,
		const struct places *places, struct err *err)
{
	cleanup(found_done) struct found found = { .folder_fd = -1 };
	const struct catalog_visitor visitor = { list_task, &found };
	const struct table_style style = { .has_color = cli->color };
	cleanup(str_done) struct str text = STR_INIT;

	found.last = &found.broken;
	tasks_table(&found.table);
	for (size_t i = 0; i < places->count; i++)
		if (catalog_walk(places->items[i].fd, places->items[i].path, &visitor, err) < 0)
			return -1;
	if (options->json_fd != STDOUT_FILENO) {
		table_print(&found.table, &style, &text);
		if (io_write_waiting(STDOUT_FILENO, text.text, text.len, "the list", err) < 0)
			return -1;
	}
	if (options->json_fd >= 0 && write_list(options->json_fd, &found, err) < 0)
		return -1;
	return found.broken ? 3 : 0;
}

/* ---- show ---- */

static int match_task(void *user, int folder_fd, const char *path, const struct err *why,
		      struct err *err)
{
	struct found *found = user;
	const char *slash = strrchr(path, '/');

	if (why || found->folder_fd >= 0 || strcmp(slash ? slash + 1 : path, found->wanted) != 0)
		return 0;
	found->folder_fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (found->folder_fd < 0)
		return err_sys(err, "open the task's folder");
	found->folder = arena_copy(&found->arena, path, strlen(path));
	return 0;
}

static int print_task(const struct cli *cli, const struct tasks_options *options,
		      const struct tasks_shown *shown, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	const struct table_style style = { .has_color = cli->color };
	struct json_writer json;

	if (options->json_fd != STDOUT_FILENO) {
		tasks_print(shown, &style, &text);
		if (io_write_waiting(STDOUT_FILENO, text.text, text.len, "the task", err) < 0)
			return -1;
	}
	if (options->json_fd < 0)
		return 0;
	str_clear(&text);
	json_writer_init(&json, &text);
	tasks_put(shown, &json);
	str_add(&text, "\n", 1);
	return io_write_waiting(options->json_fd, text.text, text.len, "the task", err);
}

/* A name without a slash that is no folder here is one that came with proctor. */
static int show(const struct cli *cli, const struct tasks_options *options, const char *wanted,
		const struct places *places, struct err *err)
{
	cleanup(task_done) struct task task = TASK_INIT;
	cleanup(found_done) struct found found = { .wanted = wanted, .folder_fd = -1 };
	const struct catalog_visitor visitor = { match_task, &found };
	struct tasks_shown shown = { .task = &task, .folder = wanted };
	int folder_fd = places->items[0].fd;

	if (places->items[0].path == places->shipped) {
		if (catalog_walk(folder_fd, places->shipped, &visitor, err) < 0)
			return -1;
		if (found.folder_fd < 0)
			return err_set(err, ERR_INPUT,
				       "there is no folder '%s', and no task of this name in '%s'",
				       wanted, places->shipped);
		folder_fd = found.folder_fd;
		shown.folder = found.folder;
	}
	if (task_load(folder_fd, &task, err) < 0)
		return err_wrap(err, "task '%s'", shown.folder);
	shown.solutions = read_solutions(folder_fd, &found.arena, &shown.solution_count);
	return print_task(cli, options, &shown, err);
}

static int open_task(const struct cli *cli, const char *wanted, struct places *places,
		     struct err *err)
{
	if (open_place(places, wanted, err) == 0)
		return 0;
	if (strchr(wanted, '/') || err->sys != ENOENT)
		return -1;
	return open_shipped(cli, places, err);
}

static int open_list(const struct cli *cli, int count, char **paths, struct places *places,
		     struct err *err)
{
	if (count > FOLDERS_MAX)
		return err_set(err, ERR_USAGE, "more than %d folders", FOLDERS_MAX);
	for (int i = 0; i < count; i++)
		if (open_place(places, paths[i], err) < 0)
			return -1;
	return count > 0 ? 0 : open_shipped(cli, places, err);
}

static int list_aka(const struct cli *cli, const struct tasks_options *options, bool is_list,
		    int count, char **words, struct err *err)
{
	const struct tasks_aka aka = { .folder = options->aka,
				       .set = options->set,
				       .arch = options->arch,
				       .json_fd = options->json_fd };

	return cli_tasks_aka(cli, &aka, is_list, count, words, err);
}

int cli_tasks(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct tasks_options options = { .json_fd = -1 };
	cleanup(places_done) struct places places = { .count = 0 };
	const char *verb = argc > 1 ? argv[1] : "";
	const bool is_list = strcmp(verb, "list") == 0, is_show = strcmp(verb, "show") == 0;
	const int skipped = is_list || is_show ? 1 : 0;
	int first, asked;

	if (strcmp(verb, "check") == 0)
		return cli_tasks_check(cli, argc - 1, argv + 1, err);
	argc -= skipped;
	argv += skipped;
	asked = options_parse(&table, argc, argv, &options, &first, err);
	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (skipped == 0)
		return err_set(err, ERR_USAGE, "it is proctor tasks list, show or check%s%s%s",
			       verb[0] ? ", not '" : "", verb, verb[0] ? "'" : "");
	if (is_show && argc - first != 1)
		return err_set(err, ERR_USAGE, "proctor tasks show takes one TASK");
	if (options.aka)
		return list_aka(cli, &options, is_list, argc - first, argv + first, err);
	if (options.set || options.arch)
		return err_set(err, ERR_USAGE, "--set and --arch need --aka");
	/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	if ((is_list ? open_list(cli, argc - first, argv + first, &places, err)
		     : open_task(cli, argv[first], &places, err)) < 0 ||
	    account_drop(NULL, err) < 0)
		return -1;
	return is_list ? list(cli, &options, &places, err)
		       : show(cli, &options, argv[first], &places, err);
}
