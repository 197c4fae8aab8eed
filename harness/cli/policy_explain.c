/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/config/policy_file.h"
#include "harness/console/options.h"
#include "harness/explain/explain.h"
#include "harness/run/account.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

struct explain_options {
	const char *role, *task;
	int json_fd;
};

#define AT(member) offsetof(struct explain_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "json", "[=FD]",  OPTION_FD,   AT(json_fd), 0, 0, "write one JSON object to FD (1; the text is then not printed)" },
	{ "role", "ROLE",   OPTION_TEXT, AT(role),    0, 0, "one jail only: agent, build, worker or evaluator" },
	{ "task", "FOLDER", OPTION_TEXT, AT(task),    0, 0, "the jails of this task, which may ask for less than the policy allows" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor policy explain [OPTION]… [NAME|FILE]",
	.about =
		"Shows the jails that a policy makes on this host, composed as a run composes "
		"them: "
		"each mount, device node, limit\nwith what enforces it, system call and refused "
		"ioctl; and what the policy changes to the shipped default. Without a\npolicy, the "
		"default. Needs no privilege and starts nothing.\n"
		"Exit codes: 0 done; 2 usage; 3 a policy or a task is wrong or not there; 4 this "
		"host; "
		"5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

struct explaining {
	const struct explain_options *options;
	struct policy_file file;
	int task_fd;
	struct policy policy;
	struct task task;
	struct arena arena;
	struct describe_host host;
	struct cpus cpus;
	size_t count;
	struct explained jails[EXPLAIN_ROLES];
};

static void explaining_done(struct explaining *explaining)
{
	policy_file_done(&explaining->file);
	fd_close(&explaining->task_fd);
	policy_done(&explaining->policy);
	task_done(&explaining->task);
	arena_done(&explaining->arena);
}

/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
static int open_all(struct explaining *explaining, const struct cli *cli, const char *policy,
		    struct err *err)
{
	const char *task = explaining->options->task;

	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	if (policy && policy_file_open(&explaining->file, AT_FDCWD, policy, err) < 0)
		return -1;
	if (task) {
		explaining->task_fd = open(task, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (explaining->task_fd < 0) {
			err_sys(err, "task '%s'", task);
			err->kind = ERR_INPUT;
			return -1;
		}
	}
	return account_drop(NULL, err);
}

/* A task of proctor's own is marked by workers: it has no evaluator. */
static bool is_asked_for(const struct explain_options *options, int asked, int role)
{
	return asked < 0 ? role != EXPLAIN_EVALUATOR || !options->task : role == asked;
}

static int make(struct explaining *explaining, int role, struct err *err)
{
	struct explain_question question = {
		.policy = &explaining->policy,
		.task = explaining->options->task ? &explaining->task : NULL,
		.host = &explaining->host,
	};
	struct err ignored = ERR_INIT;
	cpu_set_t allowed;

	/* A host that can not run anything can still be asked. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
	    cpus_choose(&allowed, &explaining->cpus, &ignored) == 0)
		question.cpus = &explaining->cpus;
	if (explain_look(&explaining->arena, &explaining->host, err) < 0)
		return -1;
	for (int i = 0; i < EXPLAIN_ROLES; i++)
		if (is_asked_for(explaining->options, role, i) &&
		    explain_make(&question, (enum explain_role) i, &explaining->arena,
				 &explaining->jails[explaining->count++], err) < 0)
			return -1;
	return 0;
}

static int print(const struct explaining *explaining, const struct cli *cli, struct err *err)
{
	const struct table_style style = { .has_color = cli->color };
	cleanup(str_done) struct str text = STR_INIT;

	explain_print_policy(&explaining->policy, &style, &text);
	for (size_t i = 0; i < explaining->count; i++) {
		str_addf(&text, "%s", i > 0 ? "\n" : "");
		explain_print(&explaining->jails[i], i > 0 ? &explaining->jails[0] : NULL, &style,
			      &text);
	}
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the explanation", err);
}

static int write_json(const struct explaining *explaining, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", "proctor/policy-explain/1");
	explain_put_policy(&explaining->policy, &json);
	json_put_text(&json, "task", explaining->options->task ? explaining->task.name : NULL);
	explain_put_host(&explaining->host, &json);
	json_put_array(&json, "jails");
	for (size_t i = 0; i < explaining->count; i++)
		explain_put(&explaining->jails[i], &json);
	json_put_end(&json);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	return io_write_waiting(explaining->options->json_fd, text.text, text.len,
				"the JSON object", err);
}

static int explain(struct explaining *explaining, const struct cli *cli, int role, struct err *err)
{
	if (policy_file_read(&explaining->file, &explaining->policy, NULL, err) < 0)
		return -1;
	if (explaining->options->task && task_load(explaining->task_fd, &explaining->task, err) < 0)
		return err_wrap(err, "task '%s'", explaining->options->task);
	if (make(explaining, role, err) < 0)
		return -1;
	if (explaining->options->json_fd != STDOUT_FILENO && print(explaining, cli, err) < 0)
		return -1;
	return explaining->options->json_fd >= 0 ? write_json(explaining, err) : 0;
}

int cli_policy_explain(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct explain_options options = { .json_fd = -1 };
	cleanup(explaining_done) struct explaining explaining = {
		.options = &options,
		.file = POLICY_FILE_INIT,
		.task_fd = -1,
		.policy = policy_default(),
		.task = TASK_INIT,
		.arena = ARENA_INIT,
	};
	int first, role = -1, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (options.role && names_find(explain_role_names, options.role, &role) < 0)
		return err_set(err, ERR_USAGE,
			       "option --role: '%s' is not one of agent, build, worker, "
			       "evaluator",
			       options.role);
	if (argc - first > 1)
		return err_set(err, ERR_USAGE, "proctor policy explain takes one policy");
	if (open_all(&explaining, cli, argc > first ? argv[first] : NULL, err) < 0)
		return -1;
	return explain(&explaining, cli, role, err);
}
