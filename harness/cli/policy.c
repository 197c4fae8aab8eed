/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/config/policy_file.h"
#include "harness/console/options.h"
#include "harness/explain/explain.h"
#include "harness/run/account.h"
#include "harness/run/record.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"

struct policy_options {
	int json_fd;
};

/* clang-format off */
static const struct option_row rows[] = {
	{ "json", "[=FD]", OPTION_FD, offsetof(struct policy_options, json_fd), 0, 0, "write one JSON object to FD (1; the text is then not printed)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor policy check [OPTION]… NAME|FILE…\n"
		 "       proctor policy explain [OPTION]… [NAME|FILE]\n"
		 "       proctor policy diff [OPTION]… NAME|FILE NAME|FILE",
	.about = "check reads policies and says what is wrong with them; explain shows the jails "
		 "that "
		 "one makes (see proctor policy\nexplain --help); diff shows what differs between "
		 "two, "
		 "and whether it weakens a wall. Needs no privilege and starts\nnothing.\n"
		 "Exit codes: 0 done; 2 usage; 3 a policy is wrong or not there; 4 this host; 5 "
		 "internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

enum { FILES_MAX = 64 };

struct files {
	size_t count;
	struct policy_file items[FILES_MAX];
	struct err why[FILES_MAX]; /* what kept us from opening it */
};

static void files_done(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		policy_file_done(&files->items[i]);
}

/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
static int open_files(const struct cli *cli, int count, char **paths, struct files *files,
		      struct err *err)
{
	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		struct policy_file *file = &files->items[files->count];

		*file = POLICY_FILE_INIT;
		files->why[files->count] = ERR_INIT;
		best_effort(policy_file_open(file, AT_FDCWD, paths[i], &files->why[files->count]));
		files->count++;
	}
	return account_drop(NULL, err);
}

static int write_json(int fd, struct json_writer *json, struct err *err)
{
	json_put_end(json);
	str_add(json->out, "\n", 1);
	if (!json_writer_is_whole(json))
		return err_set(err, ERR_INPUT, "the JSON object would be larger than %llu bytes",
			       (unsigned long long) STR_MAX);
	return io_write_waiting(fd, json->out->text, json->out->len, "the JSON object", err);
}

/* --- check --- */

static void add_checked(const char *path, const struct policy *policy, const struct err *why,
			struct json_writer *json, struct str *text)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	size_t count = 0;
	const char *const *weaker =
		why->kind == ERR_NONE ? policy_weaker(policy, &arena, &count) : NULL;

	json_put_object(json, NULL);
	json_put_text(json, "file", path);
	json_put_bool(json, "ok", why->kind == ERR_NONE);
	json_put_text(json, "policy", why->kind == ERR_NONE ? policy->name : NULL);
	json_put_text(json, "error", why->kind == ERR_NONE ? NULL : why->text);
	record_put_texts(json, "weaker", weaker, count);
	json_put_end(json);
	if (why->kind != ERR_NONE)
		return;
	str_add_shown(text, path, strlen(path));
	str_addf(text, ": ok");
	for (size_t i = 0; i < count; i++)
		str_addf(text, "%s%s",
			 i > 0 ? ", " : "; weaker than the shipped default: ", weaker[i]);
	str_addf(text, "\n");
}

static int check(const struct policy_options *options, struct files *files, char **paths,
		 struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT, object = STR_INIT;
	struct json_writer json;
	size_t wrong = 0;

	json_writer_init(&json, &object);
	json_put_object(&json, NULL);
	json_put_array(&json, "policies");
	for (size_t i = 0; i < files->count; i++) {
		cleanup(policy_done) struct policy policy = policy_default();
		struct err *why = &files->why[i];

		if (why->kind == ERR_NONE)
			best_effort(policy_file_read(&files->items[i], &policy, NULL, why));
		if (why->kind != ERR_NONE) {
			log_say(LOG_ERROR, "policy.wrong", "%s", why->text);
			wrong++;
		}
		add_checked(paths[i], &policy, why, &json, &text);
	}
	json_put_end(&json);
	if (options->json_fd != STDOUT_FILENO &&
	    io_write_waiting(STDOUT_FILENO, text.text, text.len, "what was found", err) < 0)
		return -1;
	if (options->json_fd >= 0 && write_json(options->json_fd, &json, err) < 0)
		return -1;
	return wrong > 0 ? 3 : 0;
}

/* --- diff --- */

static int read_file(const struct files *files, size_t index, struct policy *out, struct err *err)
{
	if (files->why[index].kind != ERR_NONE) {
		*err = files->why[index];
		return -1;
	}
	return policy_file_read(&files->items[index], out, NULL, err);
}

static int print_changes(const struct cli *cli, const struct table *changes, struct err *err)
{
	const struct table_style style = { .has_color = cli->color };
	cleanup(str_done) struct str text = STR_INIT;

	if (changes->cell_count > 0)
		table_print(changes, &style, &text);
	else
		str_addf(&text, "no value differs\n");
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the differences", err);
}

static int diff(const struct cli *cli, const struct policy_options *options,
		const struct files *files, struct err *err)
{
	cleanup(policy_done) struct policy before = policy_default(), after = policy_default();
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(table_done) struct table changes = TABLE_INIT;
	cleanup(str_done) struct str object = STR_INIT;
	struct json_writer json;

	if (read_file(files, 0, &before, err) < 0 || read_file(files, 1, &after, err) < 0)
		return -1;
	explain_changes(&before, &after, true, &arena, &changes);
	if (options->json_fd != STDOUT_FILENO && print_changes(cli, &changes, err) < 0)
		return -1;
	if (options->json_fd < 0)
		return 0;
	json_writer_init(&json, &object);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", "proctor/policy-diff/1");
	json_put_text(&json, "before", before.name);
	json_put_text(&json, "after", after.name);
	table_put(&changes, &json, "changes");
	return write_json(options->json_fd, &json, err);
}

int cli_policy(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct policy_options options = { .json_fd = -1 };
	cleanup(files_done) struct files files = { .count = 0 };
	const char *verb = argc > 1 ? argv[1] : "";
	const bool is_check = strcmp(verb, "check") == 0, is_diff = strcmp(verb, "diff") == 0;
	const int skipped = is_check || is_diff ? 1 : 0;
	int first, asked;

	if (strcmp(verb, "explain") == 0)
		return cli_policy_explain(cli, argc - 1, argv + 1, err);
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
		return err_set(err, ERR_USAGE, "it is proctor policy check, explain or diff%s%s%s",
			       verb[0] ? ", not '" : "", verb, verb[0] ? "'" : "");
	if (is_diff && argc - first != 2)
		return err_set(err, ERR_USAGE, "proctor policy diff takes two policies");
	if (argc - first < 1 || argc - first > FILES_MAX)
		return err_set(err, ERR_USAGE, "proctor policy check takes 1 to %d policies",
			       FILES_MAX);
	if (open_files(cli, argc - first, argv + first, &files, err) < 0)
		return -1;
	return is_check ? check(&options, &files, argv + first, err)
			: diff(cli, &options, &files, err);
}
