/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_timing.h"

#include <stdio.h>
#include <string.h>

#include "harness/aka/pyjson.h"
#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/evaluation_command.h"
#include "sandbox/base/io.h"

/* The reports that a command left, kept under names of their own. */
static int keep_reports(const struct command *command, const struct tree_file *files,
			struct err *err)
{
	for (size_t i = 0; i < AKA_REPORTS; i++) {
		char name[256];

		if (!files[i].is_there || files[i].is_too_large)
			continue;
		snprintf(name, sizeof(name), "%s+%s", command->name, files[i].path);
		for (char *at = name; *at; at++)
			if (*at == '/')
				*at = '+';
		if (io_replace_file(command->job->folder_fd, name, files[i].bytes.text,
				    files[i].bytes.len, 0644, err) < 0)
			return -1;
	}
	return 0;
}

static void read_cases(const struct command *command, const struct tree_file *files,
		       bool is_baseline, struct aka_cases *out)
{
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = {
		.task_type = command->job->task->type,
		.is_baseline = is_baseline,
		.output = &output,
	};

	aka_said_all(&output, &command->result.said);
	for (size_t i = 0; i < AKA_REPORTS; i++)
		if (files[i].is_there)
			measured.reports[i] =
				(struct aka_bytes){ files[i].bytes.text, files[i].bytes.len };
	aka_cases_read(out, &measured);
	/* Where it is, it says nothing: as one that can not be read. */
	for (size_t i = 0; i < AKA_REPORTS; i++)
		if (files[i].is_too_large)
			out->doubts |= AKA_DOUBT_TOO_LARGE;
}

static int take_cases(const struct command *command, bool is_baseline, struct aka_cases *out,
		      struct err *err)
{
	struct tree_file files[AKA_REPORTS];
	const struct stream_limits limits = tree_own_limits();
	int result = 0;

	for (size_t i = 0; i < AKA_REPORTS; i++)
		files[i] = (struct tree_file){ .path = aka_report_path((enum aka_channel) i),
					       .bytes = STR_INIT };
	if (command->result.has_left)
		result = tree_files_read(command->left_fd, &limits, files, AKA_REPORTS,
					 PYJSON_BYTES_MAX, err);
	if (result == 0)
		result = keep_reports(command, files, err);
	if (result == 0)
		read_cases(command, files, is_baseline, out);
	tree_files_done(files, AKA_REPORTS);
	return result;
}

/* The first command that ends well and says something is the measurement. */
int evaluation_time_once(const struct evaluation_job *job, struct evaluation *out, size_t index,
			 struct err *err)
{
	const bool is_baseline = aka_timing_side(index) == AKA_SIDE_BASELINE;
	const enum aka_step step = is_baseline ? AKA_BASELINE_PERFORMANCE : AKA_PERFORMANCE;
	struct aka_run *run = &out->runs[index];

	out->run_count = index + 1;
	for (size_t i = 0; i < job->task->steps[step].count && run->cases.count == 0; i++) {
		char stem[48], log[COMMAND_NAME_MAX];
		cleanup(command_done) struct command command = {
			.job = job,
			.step = step,
			.index = i,
			.name = log,
			.tree_fd = is_baseline ? out->baseline_fd : out->candidate_fd,
			.left_fd = -1,
			.result = EVALUATOR_RESULT_INIT,
		};

		snprintf(stem, sizeof(stem), "perf-%02zu-%s", index + 1,
			 is_baseline ? "baseline" : "candidate");
		command_name(job, stem, i, log);
		if (command_run(&command, err) < 0)
			return -1;
		aka_cases_done(&run->cases);
		run->wall_ns = command.result.wall_ns;
		if (command.result.said.is_success &&
		    take_cases(&command, is_baseline, &run->cases, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_settled(const struct evaluation *out, bool is_on_gpu)
{
	struct aka_timing so_far;

	return aka_timing_make(&so_far, out->runs, out->run_count, is_on_gpu) == 0 &&
	       strcmp(so_far.verdict, "SAME") == 0;
}

static bool is_on_gpu(const struct evaluation_job *job)
{
	return job->run->policy.evaluator.gpus > 0;
}

void evaluation_make_result(const struct evaluation_job *job, const struct evaluation *out,
			    const struct aka_cases *baseline, const struct aka_cases *optimized,
			    struct aka_result *result)
{
	const struct aka_attempt attempt = {
		.task_name = job->task_name,
		.agent_name = job->agent_name,
		.compile_error = out->compile_error,
		.correct_error = out->correct_error,
		.correct_doubt = out->correct_doubt,
		.baseline = baseline,
		.optimized = optimized,
	};

	aka_result_make(result, &attempt);
}

/* Does what the first run of the baseline and this one left bear a speedup out? */
static bool is_borne_out(const struct evaluation_job *job, struct evaluation *out, size_t index)
{
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	struct aka_strict strict;

	evaluation_make_result(job, out, &out->runs[0].cases, &out->runs[index].cases, &result);
	aka_score_strict(&strict, &result, &out->runs[0].cases, &out->runs[index].cases);
	if (strict.speedup > 0)
		return true;
	snprintf(out->strict.reason, sizeof(out->strict.reason), "run %zu: %.220s", index + 1,
		 strict.reason);
	return false;
}

/* Can the runs so far, and the one that was made last, still bear a speedup out? */
static bool goes_on(const struct evaluation_job *job, struct evaluation *out)
{
	return out->runs[0].cases.count > 0 && out->runs[out->run_count - 1].cases.count > 0 &&
	       is_borne_out(job, out, out->run_count - 1);
}

/*
 * The baseline once, for the reference's record has its time whatever becomes of the candidate; the
 * candidate once, for it may have one without a baseline; and the rest of the rounds.
 */
int evaluation_time(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	const size_t most = job->run->planned.aka.rounds * AKA_ROUND_RUNS;

	out->run_count = 1;
	if (out->has_baseline && evaluation_time_once(job, out, 0, err) < 0)
		return -1;
	if (out->compile_error || out->correct_error)
		return 0;
	for (size_t i = 1; i < most && (i == 1 || goes_on(job, out)); i++) {
		if (i % AKA_ROUND_RUNS == 0 && is_settled(out, is_on_gpu(job)))
			return 0;
		if (evaluation_time_once(job, out, i, err) < 0)
			return -1;
	}
	return 0;
}

static void refuse(struct evaluation *out, const char *why)
{
	if (out->strict.reason[0] == '\0')
		snprintf(out->strict.reason, sizeof(out->strict.reason), "%s", why);
}

/* What the formula pays for is what all runs together bear out. */
void evaluation_be_strict(const struct evaluation_job *job, struct evaluation *out)
{
	const bool has_speedup = out->strict.speedup > 0;
	bool is_whole = has_speedup && out->run_count >= AKA_ROUND_RUNS;
	size_t odd;

	for (size_t i = 2; is_whole && i < out->run_count; i++)
		is_whole = is_borne_out(job, out, i);
	out->strict.speedup = 0;
	if (is_whole) {
		odd = aka_timing_make(&out->timing, out->runs, out->run_count, is_on_gpu(job));
		if (odd != 0)
			snprintf(out->strict.reason, sizeof(out->strict.reason),
				 "run %zu: its cases are not those of the first run", odd);
		out->strict.speedup = aka_timing_counts(&out->timing);
		if (odd == 0 && out->strict.speedup == 0)
			refuse(out, "a time is shorter than a kernel of a GPU can take");
	} else if (has_speedup) {
		refuse(out, "not every run of the performance command left figures");
	}
	out->strict.score = out->result.has_compiled ? 20.0 + (out->result.has_passed ? 100.0 : 0) +
							       100.0 * out->strict.speedup
						     : 0;
}
