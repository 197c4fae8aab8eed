/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/console/signals.h"
#include "harness/report/aka_reports.h"
#include "harness/report/attempts.h"
#include "harness/report/standing.h"
#include "harness/run/schedule.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"

/*
 * The folder is the operator's, who could have put anything there under this name: what is opened
 * by root is root's own file, with no second name elsewhere. Without root it is the operator's own:
 * then he could read it, and the record, which says OPERATOR-TRUSTED, says no more. No agent can:
 * it sees no folder of the host, and runs with ids that are nobody's.
 */
static int open_secret(struct running *running, bool is_new, struct err *err)
{
	struct stat info;
	auto_fd fd = openat(running->place.folder_fd, KEEPER_SECRET_FILE,
			    O_RDWR | (is_new ? O_CREAT | O_EXCL : 0) | O_NOFOLLOW | O_NONBLOCK |
				    O_CLOEXEC,
			    0600);

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_INPUT,
			       "no run was begun in '%s': `proctor run` begins one, in a folder "
			       "that is new or empty",
			       running->folder);
	if (fd < 0 && errno == EACCES && !is_new)
		return err_set(err, ERR_INPUT,
			       "the run in '%s' was begun by root, who keeps its secret: resume it "
			       "through sudo",
			       running->folder);
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_sys(err, "open '%s/" KEEPER_SECRET_FILE "'", running->folder);
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || info.st_nlink != 1 ||
	    (info.st_mode & 077) != 0 || (info.st_size != 0 && info.st_size != KEEPER_SECRET_LEN))
		return err_set(err, ERR_INPUT,
			       "'%s/" KEEPER_SECRET_FILE
			       "' is not the file that proctor made there",
			       running->folder);
	running->place.secret_fd = fd_take(&fd);
	return 0;
}

/*
 * Nobody but the keeper needs it any more: seats, which are forks of us, shall not have it. One
 * that is still empty is nobody's, and would keep the folder from being used again.
 */
static void leave_secret(struct running *running)
{
	struct stat info;

	if (running->place.secret_fd < 0)
		return;
	if (fstat(running->place.secret_fd, &info) == 0 && info.st_size == 0)
		unlinkat(running->place.folder_fd, KEEPER_SECRET_FILE, 0);
	fd_close(&running->place.secret_fd);
}

int running_check_launcher(const struct cli *cli, struct err *err)
{
	cleanup(launcher_done) struct launcher service = LAUNCHER_INIT;

	return geteuid() == 0 ? 0 : launcher_connect(cli->socket, &service, err);
}

int running_name(struct running *running, const char *path, struct err *err)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || len >= sizeof(running->folder))
		return err_set(err, ERR_INPUT, "the run's folder: a path has 1 to %zu bytes",
			       sizeof(running->folder) - 1);
	memcpy(running->folder, path, len);
	running->folder[len] = '\0';
	return 0;
}

int running_become(struct running *running, const struct cli *cli, const struct account *account,
		   bool is_new, struct err *err)
{
	if (open_secret(running, is_new, err) < 0 ||
	    launcher_open(cli->programs, cli->socket, &running->launcher, err) < 0 ||
	    timing_open(running->launcher.is_service ? running->launcher.socket_fd : -1,
			&running->place.timing, err) < 0 ||
	    account_become(account, err) < 0)
		return -1;
	running->place.programs = cli->programs;
	running->place.stop_fd = signals_open_stop(err);
	return running->place.stop_fd < 0 ? -1 : 0;
}

/* --- the report --- */

/* Of each slot the record of its latest attempt; the caller frees them. */
static struct record *collect(const struct run *run, size_t *count)
{
	struct record *records = mem_alloc(run->slots.count, sizeof(*records));

	*count = 0;
	for (size_t i = 0; i < run->slots.count; i++)
		if (run->slots.list[i].state == SLOT_RECORDED)
			records[(*count)++] = run->slots.list[i].record;
	return records;
}

/* What has no mark has no part in it. */
static struct score_summary summarise(const struct record *records, size_t count)
{
	cleanup(mem_free) struct score_result *results = mem_alloc(count, sizeof(*results));
	size_t marked = 0;

	for (size_t i = 0; i < count; i++)
		if (record_is_marked(&records[i]))
			results[marked++] = record_result(&records[i]);
	return score_summarise(results, marked);
}

static size_t count_final(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->slots.count; i++)
		count += slots_is_final(&run->slots, &run->slots.list[i]);
	return count;
}

/* What the table does not say: under what it was made, and attempts that are not in it. */
static void add_rest(const struct run *run, size_t count, struct str *out)
{
	const size_t left = run->slots.count - count_final(run);

	for (size_t i = 0; i < run->weaker_count; i++)
		str_addf(out, "%s%s%s",
			 i > 0 ? ", " : "the policy is weaker than the shipped default: ",
			 run->weaker[i], i + 1 == run->weaker_count ? "\n" : "");
	if (run->slots.infra > 0)
		str_addf(out, "%zu attempt%s INFRA (ours, not the candidate's)\n", run->slots.infra,
			 run->slots.infra == 1 ? " was" : "s were");
	if (left > 0)
		str_addf(out,
			 "%zu of %zu planned attempts are still to do: %zu have no record yet, %zu "
			 "ended INFRA and will be tried again\n",
			 left, run->slots.count, run->slots.count - count,
			 left - (run->slots.count - count));
}

static int print_report(const struct run *run, const struct record *records, size_t count,
			bool color, struct err *err)
{
	cleanup(table_done) struct table report = TABLE_INIT;
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const struct table_style style = { .has_color = color };

	attempts_table(records, count, false, &report);
	table_print(&report, &style, &text);
	standing_make(records, NULL, count, STANDING_BY_AGENT, &standing);
	str_addf(&text, "\n");
	standing_add_short(&standing, &style, &text);
	add_rest(run, count, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "the report", err);
}

static int write_json(const struct run *run, const struct record *records, size_t count,
		      const struct running *running, struct err *err)
{
	cleanup(table_done) struct table report = TABLE_INIT;
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct score_summary summary = summarise(records, count);
	struct json_writer json;

	attempts_table(records, count, false, &report);
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "run", run->planned.run);
	planned_put_labels(&json, &run->planned);
	json_put_text(&json, "folder", running->folder);
	json_put_text(&json, "policy", run->policy.name);
	record_put_texts(&json, "weaker", run->weaker, run->weaker_count);
	json_put_int(&json, "planned", (int64_t) run->slots.count);
	json_put_int(&json, "infra", (int64_t) run->slots.infra);
	json_put_int(&json, "left", (int64_t) (run->slots.count - count_final(run)));
	json_put_bool(&json, "finished", slots_are_through(&run->slots));
	table_put(&report, &json, "attempts");
	standing_make(records, NULL, count, STANDING_BY_AGENT, &standing);
	standing_put(&standing, &json);
	attempts_put_summary(&summary, &json, "summary");
	json_put_end(&json);
	str_add(&text, "\n", 1);
	return io_write_waiting(running->json_fd, text.text, text.len, "the JSON report", err);
}

static int report(const struct run *run, const struct running *running, bool color, struct err *err)
{
	size_t count;
	cleanup(mem_free) struct record *records = collect(run, &count);

	if (aka_reports_write(run, err) < 0)
		return -1;
	if (running->json_fd != STDOUT_FILENO && print_report(run, records, count, color, err) < 0)
		return -1;
	if (running->json_fd >= 0 && write_json(run, records, count, running, err) < 0)
		return -1;
	return 0;
}

static bool is_valid(const struct record_mark *mark)
{
	return mark->kind && strcmp(mark->kind, "VALID") == 0;
}

/* 0 only if every planned attempt is VALID, seen and unseen. */
static int exit_code(const struct run *run)
{
	for (size_t i = 0; i < run->slots.count; i++) {
		const struct slot *slot = &run->slots.list[i];

		if (slot->state != SLOT_RECORDED || !is_valid(&slot->record.seen) ||
		    (slot->record.unseen.kind && !is_valid(&slot->record.unseen)))
			return 1;
	}
	return 0;
}

/* Whatever ended it, what has a record is reported. */
static int carry_on(struct running *running, const struct cli *cli, struct run *run,
		    struct progress *progress, struct err *err)
{
	struct err ignored = ERR_INIT;
	int result;

	progress->total = run->slots.count;
	progress_add(progress, count_final(run), clock_now());
	result = schedule_run(run, err);
	progress_clear(progress);
	if (result < 0) {
		best_effort(report(run, running, cli->color, &ignored));
		return err_wrap(err, "run '%s', which `proctor resume` goes on with",
				running->folder);
	}
	if (report(run, running, cli->color, err) < 0)
		return -1;
	if (run->stopped)
		log_say(LOG_NOTICE, "run.kept", "stopped: `proctor resume %s` goes on",
			running->folder);
	else
		log_say(LOG_NOTICE, "run.kept", "done: %s", running->folder);
	return exit_code(run);
}

int running_carry_out(struct running *running, const struct cli *cli, const struct run_plan *plan,
		      struct err *err)
{
	cleanup(progress_done) struct progress progress = PROGRESS_INIT;
	cleanup(run_done) struct run run;
	int result;

	progress_start(&progress, STDERR_FILENO, cli->terminal, cli->width, 0, clock_now());
	result = plan ? run_create(&run, &running->place, plan, &running->launcher, &progress, err)
		      : run_resume(&run, &running->place, &running->launcher, &progress, err);
	leave_secret(running);
	if (result == 0) {
		run_folder_done(&running->made);
		return carry_on(running, cli, &run, &progress, err);
	}
	progress_clear(&progress);
	return err_wrap(err, "run '%s'", running->folder);
}

void running_done(struct running *running)
{
	launcher_done(&running->launcher);
	timing_files_done(&running->place.timing);
	fd_close(&running->place.stop_fd);
	leave_secret(running);
	run_folder_done(&running->made);
	fd_close(&running->place.folder_fd);
}
