/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/console/options.h"
#include "harness/report/attempts.h"
#include "harness/report/brought.h"
#include "harness/report/journals.h"
#include "harness/report/kept.h"
#include "harness/report/standing.h"
#include "harness/run/account.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/names.h"

struct report_options {
	const char *by;
	bool has_attempts, has_files;
	int json_fd, csv_fd;
};

#define AT(member) offsetof(struct report_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "by",       "WHAT",  OPTION_TEXT, AT(by),           0, 0, "a row for each agent, or for each task and agent: agent, task (agent)" },
	{ "attempts", NULL,    OPTION_FLAG, AT(has_attempts), 0, 0, "a row for each attempt as well; in CSV, which is one table, instead" },
	{ "files",    NULL,    OPTION_FLAG, AT(has_files),    0, 0, "verify the files of each run as well: plan, records, samples and trees" },
	{ "json",     "[=FD]", OPTION_FD,   AT(json_fd),      0, 0, "write one JSON object to FD (1, in place of the text)" },
	{ "csv",      "[=FD]", OPTION_FD,   AT(csv_fd),       0, 0, "write comma-separated values to FD (1, in place of the text)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor report [OPTION]… FOLDER…",
	.about = "Reads the journals of the runs in these FOLDERs and says how their agents stand: "
		 "scores, speedups, and how much of\nboth holds on cases that the agents did not "
		 "know. Needs no privilege and starts nothing. A journal that is damaged is\nnamed "
		 "with the line that is off (with --files, the file); the others are reported, and "
		 "the exit code is 3.\n"
		 "Exit codes: 0 done; 2 usage; 3 a journal is damaged or not there; 4 host; "
		 "5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

static const struct name by_names[] = {
	{ "agent", STANDING_BY_AGENT },
	{ "task", STANDING_BY_TASK },
	{ NULL, 0 },
};

/* A folder that was named, and what kept its run out of the report. */
struct place {
	int fd;
	const char *path;
	struct err why;
};

struct report {
	const struct report_options *options;
	enum standing_by by;
	struct place places[JOURNALS_RUNS_MAX];
	size_t place_count, broken;
	struct journals journals;
	struct standing standing;
	struct brought brought;
	struct brought_difference *mixed; /* owned */
	size_t mixed_count;
};

static void report_done(struct report *report)
{
	for (size_t i = 0; i < report->place_count; i++)
		fd_close(&report->places[i].fd);
	standing_done(&report->standing);
	journals_done(&report->journals);
	brought_done(&report->brought);
	mem_free(&report->mixed);
}

/* ---- reading ---- */

/* All of them while we may be root: what is named may lie where only root gets. */
static void open_places(struct report *report, int count, char **paths)
{
	for (int i = 0; i < count; i++) {
		struct place *place = &report->places[report->place_count++];

		*place = (struct place){ .path = paths[i], .why = ERR_INIT };
		place->fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (place->fd < 0)
			(void) err_sys(&place->why, "open the folder");
	}
}

static void read_brought(struct report *report, int folder_fd)
{
	const struct journals *journals = &report->journals;
	const struct journals_run *run = &journals->runs[journals->run_count - 1];

	brought_read(&report->brought, folder_fd, run->run, &run->digest);
}

static void read_places(struct report *report)
{
	for (size_t i = 0; i < report->place_count; i++) {
		struct place *place = &report->places[i];

		if (place->fd >= 0 &&
		    (!report->options->has_files || kept_check(place->fd, &place->why) == 0) &&
		    journals_read(&report->journals, place->fd, place->path, &place->why) == 0) {
			read_brought(report, place->fd);
			continue;
		}
		report->broken++;
		log_say(LOG_ERROR, "report.broken", "run '%s': %s", place->path, place->why.text);
	}
	report->mixed_count = brought_compare(&report->brought, &report->mixed);
}

/* ---- writing ---- */

/* They come out of a journal: somebody may have written anything there. */
static void add_shown(struct str *out, const char *before, const char *text)
{
	str_addf(out, "%s", before);
	str_add_shown(out, text, strlen(text));
}

static void add_words(const char *const *words, size_t count, struct str *out)
{
	for (size_t i = 0; i < count; i++)
		add_shown(out, i > 0 ? ", " : " ", words[i]);
	str_addf(out, "\n");
}

/* Which runs these are, where that is not plain. */
static void add_runs(const struct journals *journals, struct str *out)
{
	for (size_t i = 0; i < journals->run_count; i++) {
		const struct journals_run *run = &journals->runs[i];

		if (journals->run_count == 1 && run->label_count == 0)
			continue;
		add_shown(out, "run ", run->run);
		add_shown(out, ": in ", run->folder);
		if (run->name)
			add_shown(out, ", name ", run->name);
		for (size_t j = 0; j < run->label_count; j++) {
			add_shown(out, j == 0 ? ", labels " : ", ", run->labels[j].key);
			add_shown(out, "=", run->labels[j].value);
		}
		str_addf(out, "\n");
	}
}

static void add_mixed(const struct report *report, struct str *out)
{
	for (size_t i = 0; i < report->mixed_count; i++) {
		const struct brought_difference *item = &report->mixed[i];

		add_shown(out, "agent ", item->agent);
		add_shown(out, ": it is other files in run ", item->run);
		add_shown(out, " than in run ", item->other);
		if (item->task)
			add_shown(out, ", on task ", item->task);
		str_addf(out, "; its figures are those of both: report these runs apart\n");
	}
}

/* What the figures do not say: under what they were made, and attempts that are not in them. */
static void add_rest(const struct journals *journals, struct str *out)
{
	for (size_t i = 0; i < journals->run_count; i++) {
		const struct journals_run *run = &journals->runs[i];

		if (run->weaker_count > 0) {
			str_addf(out, "run %s: its policy", run->run);
			if (run->policy) {
				str_addf(out, " '");
				str_add_shown(out, run->policy, strlen(run->policy));
				str_addf(out, "'");
			}
			str_addf(out, " is weaker than the shipped default:");
			add_words(run->weaker, run->weaker_count, out);
		}
		if (run->recorded < run->planned)
			str_addf(out,
				 "run %s: %zu of %zu planned attempts have no record yet, and are "
				 "in no figure\n",
				 run->run, run->planned - run->recorded, run->planned);
		if (run->infra > 0)
			str_addf(out,
				 "run %s: %zu attempt%s INFRA (ours), those tried again "
				 "included\n",
				 run->run, run->infra, run->infra == 1 ? " was" : "s were");
	}
}

static int print_text(const struct cli *cli, const struct report *report, struct err *err)
{
	const struct journals *journals = &report->journals;
	const struct table_style style = { .has_color = cli->color };
	cleanup(table_done) struct table attempts = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	if (journals->run_count == 0)
		return 0;
	if (report->options->has_attempts) {
		attempts_table(journals->records, journals->record_count, journals->run_count > 1,
			       &attempts);
		table_print(&attempts, &style, &text);
		str_addf(&text, "\n");
	}
	standing_add_long(&report->standing, &style, &text);
	add_runs(journals, &text);
	add_mixed(report, &text);
	add_rest(journals, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the report", err);
}

static void put_labels(const struct journals_run *run, struct json_writer *json)
{
	const struct planned labels = { .name = run->name,
					.labels = run->labels,
					.label_count = run->label_count };

	planned_put_labels(json, &labels);
}

static void put_mixed(const struct report *report, struct json_writer *json)
{
	json_put_array(json, "mixed_agents");
	for (size_t i = 0; i < report->mixed_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "agent", report->mixed[i].agent);
		json_put_text(json, "task", report->mixed[i].task);
		json_put_text(json, "run", report->mixed[i].run);
		json_put_text(json, "other_run", report->mixed[i].other);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_runs(const struct report *report, struct json_writer *json)
{
	json_put_array(json, "runs");
	for (size_t i = 0; i < report->journals.run_count; i++) {
		const struct journals_run *run = &report->journals.runs[i];

		json_put_object(json, NULL);
		json_put_text(json, "run", run->run);
		put_labels(run, json);
		json_put_text(json, "folder", run->folder);
		json_put_text(json, "policy", run->policy);
		record_put_texts(json, "weaker", run->weaker, run->weaker_count);
		json_put_int(json, "planned", (int64_t) run->planned);
		json_put_int(json, "recorded", (int64_t) run->recorded);
		json_put_int(json, "infra", (int64_t) run->infra);
		json_put_bool(json, "finished", run->is_finished);
		json_put_int(json, "torn", (int64_t) run->torn);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "broken");
	for (size_t i = 0; i < report->place_count; i++) {
		if (report->places[i].why.kind == ERR_NONE)
			continue;
		json_put_object(json, NULL);
		json_put_text(json, "folder", report->places[i].path);
		json_put_text(json, "error", report->places[i].why.text);
		json_put_end(json);
	}
	json_put_end(json);
}

static int write_json(const struct report *report, struct err *err)
{
	const struct journals *journals = &report->journals;
	cleanup(table_done) struct table attempts = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", REPORT_SCHEMA);
	put_runs(report, &json);
	put_mixed(report, &json);
	standing_put(&report->standing, &json);
	if (report->options->has_attempts) {
		attempts_table(journals->records, journals->record_count, true, &attempts);
		table_put(&attempts, &json, "attempts");
	}
	json_put_end(&json);
	str_add(&text, "\n", 1);
	if (!json_writer_is_whole(&json))
		return err_set(err, ERR_INPUT, "the JSON report would be larger than %llu bytes",
			       (unsigned long long) STR_MAX);
	return io_write_waiting(report->options->json_fd, text.text, text.len, "the JSON report",
				err);
}

static int write_csv(const struct report *report, struct err *err)
{
	const struct journals *journals = &report->journals;
	cleanup(table_done) struct table all = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	if (report->options->has_attempts)
		attempts_table(journals->records, journals->record_count, true, &all);
	else
		standing_table(&report->standing, &all);
	table_add_csv(&all, &text);
	if (text.truncated)
		return err_set(err, ERR_INPUT, "the CSV report would be larger than %llu bytes",
			       (unsigned long long) STR_MAX);
	return io_write_waiting(report->options->csv_fd, text.text, text.len, "the CSV report",
				err);
}

static int write_report(const struct cli *cli, struct report *report, struct err *err)
{
	const struct report_options *options = report->options;
	const bool has_text = options->json_fd != STDOUT_FILENO && options->csv_fd != STDOUT_FILENO;

	standing_make(report->journals.records, report->journals.trees,
		      report->journals.record_count, report->by, &report->standing);
	if (has_text && print_text(cli, report, err) < 0)
		return -1;
	if (options->json_fd >= 0 && write_json(report, err) < 0)
		return -1;
	if (options->csv_fd >= 0 && write_csv(report, err) < 0)
		return -1;
	return report->broken > 0 ? 3 : 0;
}

static int check_options(const struct report_options *options, int folders, int *by,
			 struct err *err)
{
	if (options->by && names_find(by_names, options->by, by) < 0)
		return err_set(err, ERR_USAGE, "option --by: '%s' is not agent or task",
			       options->by);
	if (options->json_fd >= 0 && options->json_fd == options->csv_fd)
		return err_set(err, ERR_USAGE,
			       "options --json and --csv: both go to descriptor %d; give one of "
			       "them another, --csv=3 for instance",
			       options->json_fd);
	if (folders == 0)
		return err_set(err, ERR_USAGE,
			       "it takes the FOLDERs of runs; see proctor report "
			       "--help");
	if (folders > JOURNALS_RUNS_MAX)
		return err_set(err, ERR_USAGE, "more than %d folders", (int) JOURNALS_RUNS_MAX);
	return 0;
}

int cli_report(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct report_options options = { .json_fd = -1, .csv_fd = -1 };
	cleanup(report_done) struct report report = {
		.options = &options,
		.journals = JOURNALS_INIT,
		.standing = STANDING_INIT,
		.brought = BROUGHT_INIT,
	};
	int by = STANDING_BY_AGENT;
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0 || check_options(&options, argc - first, &by, err) < 0)
		return -1;
	report.by = (enum standing_by) by;
	/* Who came by sudo reaches what he may; plain root opens, and does not parse. */
	if (cli->sudo_uid && account_drop(cli->sudo_uid, err) < 0)
		return -1;
	open_places(&report, argc - first, argv + first);
	if (account_drop(NULL, err) < 0)
		return -1;
	read_places(&report);
	return write_report(cli, &report, err);
}
