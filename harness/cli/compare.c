/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_comparison.h"
#include "harness/aka/pyjson.h"
#include "harness/cli/cli.h"
#include "harness/console/options.h"
#include "harness/evidence/json.h"
#include "harness/run/account.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/path.h"

#define COMPARE_SCHEMA "proctor/compare/1"
#define BREAKDOWN      "reports/task_type_breakdown.json"

struct compare_options {
	const char *output;
	int json_fd;
};

#define AT(member) offsetof(struct compare_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "output", "FILE",  OPTION_TEXT, AT(output),  0, 0, "write the report to FILE as well, which is overwritten" },
	{ "json",   "[=FD]", OPTION_FD,   AT(json_fd), 0, 0, "write one JSON object to FD (1, in place of the text)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor compare [OPTION]… RUN1 RUN2",
	.about = "Puts the figures of two runs of AgentKernelArena's tasks side by side, in the "
		 "form of its own comparison report. A RUN\nis a folder with " BREAKDOWN
		 ", or such a file. Needs no privilege and starts nothing.\n"
		 "Only figures are compared. It does not check that both runs had the same tasks, "
		 "nor that a difference is more than\nchance; where the numbers of tasks differ it "
		 "says so on standard error.\n"
		 "Exit codes: 0 done; 2 usage; 3 a report is not there or is none; 4 host; "
		 "5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

struct side {
	const char *path;
	int fd; /* of its task_type_breakdown.json */
	struct aka_summary summary;
};

struct comparison {
	const struct compare_options *options;
	struct side sides[2];
	int output_fd;
};

static void comparison_done(struct comparison *comparison)
{
	for (size_t i = 0; i < ARRAY_LEN(comparison->sides); i++) {
		fd_close(&comparison->sides[i].fd);
		aka_summary_done(&comparison->sides[i].summary);
	}
	fd_close(&comparison->output_fd);
}

static int check_regular(int fd, struct err *err)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_sys(err, "look at it");
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INPUT, "it is no regular file");
	return 0;
}

/* While we may be root: what is named may lie where only root gets. */
static int open_side(struct side *side, struct err *err)
{
	auto_fd fd = open(side->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return err_set(err, ERR_INPUT, "run '%s': %s", side->path, strerror(errno));
	if (fstat(fd, &stat) < 0)
		return err_sys(err, "run '%s'", side->path);
	if (S_ISDIR(stat.st_mode)) {
		side->fd = path_open_file(fd, BREAKDOWN, err);
		return side->fd < 0 ? err_wrap(err, "run '%s'", side->path) : 0;
	}
	if (check_regular(fd, err) < 0)
		return err_wrap(err, "run '%s'", side->path);
	side->fd = take(fd, -1);
	return 0;
}

/* What is there already stays until there is something to write. */
static int open_output(struct comparison *comparison, struct err *err)
{
	const char *path = comparison->options->output;

	if (!path)
		return 0;
	comparison->output_fd = open(
		path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
	if (comparison->output_fd < 0)
		return err_set(err, ERR_INPUT, "option --output: '%s': %s", path, strerror(errno));
	if (check_regular(comparison->output_fd, err) < 0)
		return err_wrap(err, "option --output: '%s'", path);
	return 0;
}

static int read_side(struct side *side, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_fd(side->fd, PYJSON_BYTES_MAX, BREAKDOWN, &text, err) < 0 ||
	    aka_summary_read(&side->summary, text.text, text.len, err) < 0)
		return err_wrap(err, "run '%s'", side->path);
	return 0;
}

static const struct aka_figures *figures_of(const struct aka_summary *summary, const char *type)
{
	for (size_t i = 0; i < summary->type_count; i++)
		if (strcmp(summary->types[i].name, type) == 0)
			return &summary->types[i].figures;
	return NULL;
}

static bool has_same_types(const struct aka_summary *one, const struct aka_summary *other)
{
	for (size_t i = 0; i < one->type_count; i++) {
		const struct aka_figures *figures = figures_of(other, one->types[i].name);

		if ((figures ? figures->count : 0) != one->types[i].figures.count)
			return false;
	}
	return true;
}

/* The same numbers are no proof of the same tasks; other numbers are one of others. */
static bool may_have_same_tasks(const struct comparison *comparison)
{
	const struct aka_summary *one = &comparison->sides[0].summary;
	const struct aka_summary *other = &comparison->sides[1].summary;

	return one->all.count == other->all.count && has_same_types(one, other) &&
	       has_same_types(other, one);
}

static void warn(const struct comparison *comparison)
{
	size_t one = comparison->sides[0].summary.all.count;
	size_t other = comparison->sides[1].summary.all.count;

	if (may_have_same_tasks(comparison))
		return;
	if (one != other)
		log_say(LOG_WARNING, "compare.tasks",
			"run 1 has %zu tasks and run 2 has %zu: these are figures of other tasks, "
			"and a "
			"difference of means or rates may come from that alone",
			one, other);
	else
		log_say(LOG_WARNING, "compare.tasks",
			"both runs have %zu tasks, but not as many of each type: these are figures "
			"of other tasks",
			one);
}

/* Names in the report come out of files that anybody may have written. */
static void add_lines_shown(struct str *out, const struct str *text)
{
	for (const char *line = text->text; line;) {
		const char *end = strchr(line, '\n');

		str_add_shown(out, line, end ? (size_t) (end - line) : strlen(line));
		str_addf(out, "\n");
		line = end ? end + 1 : NULL;
	}
}

static int write_text(const struct comparison *comparison, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT, shown = STR_INIT;

	aka_comparison(&text, &comparison->sides[0].summary, &comparison->sides[1].summary);
	if (comparison->output_fd >= 0) {
		if (ftruncate(comparison->output_fd, 0) < 0)
			return err_sys(err, "option --output: empty '%s'",
				       comparison->options->output);
		if (io_write_all(comparison->output_fd, text.text, text.len,
				 comparison->options->output, err) < 0)
			return -1;
	}
	if (comparison->options->json_fd == STDOUT_FILENO)
		return 0;
	add_lines_shown(&shown, &text);
	return io_write_waiting(STDOUT_FILENO, shown.text, shown.len, "the comparison", err);
}

static void put_figures(struct json_writer *json, const struct aka_figures *of)
{
	json_put_int(json, "tasks", (int64_t) of->count);
	json_put_double(json, "total_score", of->total_score);
	json_put_double(json, "average_score", of->average_score);
	json_put_double(json, "compilation_pass_rate", of->compiled_rate);
	json_put_double(json, "correctness_pass_rate", of->correct_rate);
	json_put_double(json, "speedup_gt_1_rate", of->faster_rate);
	json_put_double(json, "average_speedup", of->average);
	json_put_double(json, "median_speedup", of->median);
	json_put_double(json, "std_dev_speedup", of->deviation);
	json_put_double(json, "p25_speedup", of->p25);
	json_put_double(json, "p75_speedup", of->p75);
	json_put_double(json, "p90_speedup", of->p90);
	json_put_int(json, "valid_speedup_count", (int64_t) of->valid);
}

static void put_side(struct json_writer *json, const struct side *side)
{
	const struct aka_summary *summary = &side->summary;

	json_put_object(json, NULL);
	json_put_text(json, "run", side->path);
	json_put_bytes(json, "run_timestamp", summary->timestamp.text, summary->timestamp.len);
	json_put_bytes(json, "agent", summary->agent.text, summary->agent.len);
	json_put_bytes(json, "target_gpu", summary->gpu.text, summary->gpu.len);
	json_put_object(json, "overall");
	put_figures(json, &summary->all);
	json_put_end(json);
	json_put_array(json, "task_types");
	for (size_t i = 0; i < summary->type_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "task_type", summary->types[i].name);
		put_figures(json, &summary->types[i].figures);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}

static int write_json(const struct comparison *comparison, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", COMPARE_SCHEMA);
	json_put_bool(&json, "same_numbers_of_tasks", may_have_same_tasks(comparison));
	json_put_array(&json, "runs");
	for (size_t i = 0; i < ARRAY_LEN(comparison->sides); i++)
		put_side(&json, &comparison->sides[i]);
	json_put_end(&json);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	if (!json_writer_is_whole(&json))
		return err_set(err, ERR_INPUT, "the JSON object would be larger than %llu bytes",
			       (unsigned long long) STR_MAX);
	return io_write_waiting(comparison->options->json_fd, text.text, text.len,
				"the JSON object", err);
}

static int compare(struct comparison *comparison, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(comparison->sides); i++)
		if (read_side(&comparison->sides[i], err) < 0)
			return -1;
	warn(comparison);
	if (write_text(comparison, err) < 0)
		return -1;
	return comparison->options->json_fd >= 0 ? write_json(comparison, err) : 0;
}

int cli_compare(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct compare_options options = { .json_fd = -1 };
	cleanup(comparison_done) struct comparison comparison = {
		.options = &options,
		.sides = { { .fd = -1, .summary = AKA_SUMMARY_INIT },
			   { .fd = -1, .summary = AKA_SUMMARY_INIT } },
		.output_fd = -1,
	};
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (argc - first != (int) ARRAY_LEN(comparison.sides))
		return err_set(err, ERR_USAGE,
			       "it takes two runs, and options before them; see proctor compare "
			       "--help");
	/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	for (int i = 0; i < (int) ARRAY_LEN(comparison.sides); i++) {
		comparison.sides[i].path = argv[first + i];
		if (open_side(&comparison.sides[i], err) < 0)
			return -1;
	}
	if (open_output(&comparison, err) < 0 || account_drop(NULL, err) < 0)
		return -1;
	return compare(&comparison, err);
}
