/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/judging.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/judge/keeper.h"
#include "harness/run/hidden.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"

#define MAGIC UINT32_C(0x6a756467)

#define KEEPER_MS (10 * 1000)

/* --- in the judge --- */

/* Keeps the standard descriptors and those named; everything else of proctor's is let go. */
static void keep_only(const int *fds, size_t count)
{
	for (unsigned int first = 3;;) {
		unsigned int next = ~0U;

		for (size_t i = 0; i < count; i++)
			if (fds[i] >= (int) first && (unsigned int) fds[i] < next)
				next = (unsigned int) fds[i];
		if (next == ~0U) {
			close_range(first, ~0U, 0);
			return;
		}
		if (next > first)
			close_range(first, next - 1, 0);
		first = next + 1;
	}
}

static void let_go(const struct judging *what, int result_fd)
{
	const struct jail_source *source = what->source;
	int kept[5 + JAIL_SOURCE_ROLES] = { result_fd, what->keeper_fd, source->launcher_fd,
					    source->program_fd, source->null_fd };

	for (size_t i = 0; i < JAIL_SOURCE_ROLES; i++)
		kept[5 + i] = source->roles[i].tree_fd;
	keep_only(kept, ARRAY_LEN(kept));
}

static int ask_for_key(const struct judging *what, struct judging_result *result,
		       struct digest *key, struct err *err)
{
	struct keeper_answer answer;

	if (keeper_ask(what->keeper_fd, &what->root, clock_after_ms(KEEPER_MS), &answer, err) < 0)
		return -1;
	if (answer.status != KEEPER_GRANTED)
		return err_set(err, ERR_SYS, "the keeper refuses the key: %s",
			       names_text(keeper_status_names, (int) answer.status));
	result->committed_first = answer.committed_first;
	*key = answer.key;
	return 0;
}

static void put_why(const struct mark *mark, const struct marking_plan *plan,
		    const struct cases *cases, char *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (mark->kind != MARK_NONE)
		verdict_text(mark, plan, cases, &text);
	snprintf(out, JUDGING_WHY_MAX, "%s", text.text);
}

static int mark(const struct judging *what, struct judging_result *result, struct samples *samples,
		struct err *err)
{
	cleanup(mem_free) struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	cleanup(marking_result_done) struct marking_result made = MARKING_RESULT_INIT;
	const struct marking_options options = {
		/* A tenth is left to end in: past the deadline it is the candidate that was slow.
		 */
		.limit_ns = (what->deadline - clock_now()) / 10 * 9,
	};
	const struct worker_source workers = jail_source_workers(what->source);
	struct digest key;

	if (ask_for_key(what, result, &key, err) < 0 ||
	    hidden_plan(what->task, key.bytes, plan, err) < 0)
		return -1;
	plan->judge_cpu = what->judge_cpu;
	plan->worker_cpu = what->worker_cpu;
	plan->floor_ppm = what->floor_ppm;
	if (marking_run(plan, key.bytes, &workers, &options, &made, err) < 0)
		return -1;
	result->wall_ns = made.wall_ns;
	result->seen = made.seen;
	result->unseen = made.unseen;
	put_why(&made.seen.mark, plan, &what->task->cases, result->seen_why);
	put_why(&made.unseen.mark, plan, &what->task->cases, result->unseen_why);
	result->case_count = plan->case_count;
	memcpy(result->cases, made.cases, sizeof(result->cases));
	for (uint32_t i = 0; i < plan->case_count; i++) {
		memcpy(result->names[i], plan->cases[i].name, MARKING_NAME_MAX);
		result->is_unseen[i] = plan->cases[i].unseen != 0;
	}
	*samples = take(made.samples, SAMPLES_INIT);
	result->sample_count = samples->count;
	return 0;
}

static int send_result(int result_fd, struct judging_result *result, const struct samples *samples,
		       struct err *err)
{
	struct message_fds fds = MESSAGE_FDS_INIT;
	auto_fd list_fd = io_memfd("proctor-samples", samples->list,
				   samples->count * sizeof(*samples->list), err);

	if (list_fd < 0)
		return -1;
	fds.fd[fds.count++] = list_fd;
	return message_send(result_fd, result, sizeof(*result), &fds, err);
}

no_return static void be_judge(const struct judging *what, int result_fd, pid_t parent)
{
	cleanup(mem_free) struct judging_result *result = mem_alloc(1, sizeof(*result));
	struct samples samples = SAMPLES_INIT;
	struct err err = ERR_INIT;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "proctor-judge");
	/* Without proctor nobody waits for a verdict; its jails end with our sockets. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    getppid() != parent)
		_exit(1);
	let_go(what, result_fd);
	result->magic = MAGIC;
	if (mark(what, result, &samples, &err) < 0) {
		result->has_error = 1;
		result->err = err;
	}
	jail_source_done(what->source);
	_exit(send_result(result_fd, result, &samples, &err) < 0);
}

/* --- in proctor --- */

static void fail(struct judging_result *out, const char *why)
{
	*out = (struct judging_result){ .magic = MAGIC, .has_error = 1 };
	err_set(&out->err, ERR_SYS, "the judge %s", why);
}

/*
 * The author has tried baseline and oracle, so what takes the time is the candidate's doing: were
 * it ours, a candidate could have itself tried again by being slow.
 */
static void run_out(struct judging_result *out)
{
	const struct mark mark = { .kind = MARK_RESOURCE,
				   .stage = STAGE_TIMING,
				   .reason = REASON_TIMEOUT,
				   .role = WORKER_CANDIDATE };

	*out = (struct judging_result){ .magic = MAGIC };
	out->seen.mark = mark;
	snprintf(out->seen_why, sizeof(out->seen_why),
		 "RESOURCE: the marking took longer than the task's mark.wall");
}

static int read_samples(const struct judging_result *result, struct message_fds *fds,
			struct samples *samples, struct err *err)
{
	size_t size = result->sample_count * sizeof(struct sample);

	if (fds->count != 1)
		return err_set(err, ERR_SYS, "the judge sent no samples");
	samples->list = mem_alloc(result->sample_count, sizeof(struct sample));
	samples->count = samples->room = result->sample_count;
	return io_read_exact(fds->fd[0], samples->list, size, "the samples", err);
}

static void receive(int result_fd, struct judging_result *out, struct samples *samples)
{
	cleanup(message_fds_done) struct message_fds fds = MESSAGE_FDS_INIT;
	struct err err = ERR_INIT;
	ssize_t len = message_receive(result_fd, out, sizeof(*out), &fds, &err);

	if (len == 0) {
		fail(out, "died before its verdict");
	} else if (len != (ssize_t) sizeof(*out) || out->magic != MAGIC ||
		   out->case_count > MARKING_CASES_MAX) {
		fail(out, "sent nonsense");
	} else if (read_samples(out, &fds, samples, &err) < 0) {
		fail(out, "sent no samples");
	}
}

static void wait_for_result(int result_fd, const struct judging *what, struct judging_result *out,
			    struct samples *samples)
{
	struct pollfd ready[] = { { .fd = result_fd, .events = POLLIN },
				  { .fd = what->stop_fd, .events = POLLIN } };

	for (;;) {
		int count = poll(ready, ARRAY_LEN(ready), clock_poll_ms(what->deadline));

		if (count > 0 && ready[0].revents) {
			receive(result_fd, out, samples);
			return;
		}
		if (count > 0) {
			fail(out, "was stopped by the operator");
			out->stopped = 1;
			return;
		}
		if (count < 0 && errno != EINTR) {
			fail(out, "can not be heard");
			return;
		}
		if (clock_now() >= what->deadline) {
			run_out(out);
			return;
		}
	}
}

int judging_run(const struct judging *what, struct judging_result *out, struct samples *samples,
		struct err *err)
{
	struct process judge = PROCESS_INIT;
	auto_fd ours = -1, theirs = -1;
	pid_t self = getpid();
	int pair[2], side;

	if (message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	side = process_fork(&judge, err);
	if (side < 0)
		return err_wrap(err, "judge");
	if (side == 0)
		be_judge(what, theirs, self);
	fd_close(&theirs);
	wait_for_result(ours, what, out, samples);
	process_kill(&judge);
	return 0;
}
