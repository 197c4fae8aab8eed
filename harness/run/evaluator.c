/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/run/compose.h"
#include "harness/run/jail.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

void evaluator_result_done(struct evaluator_result *result)
{
	aka_said_done(&result->said);
}

/* On the disk where it can be: a workspace may be larger than the memory that is left. */
int evaluator_file(int folder_fd, struct err *err)
{
	int fd = openat(folder_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		fd = memfd_create("proctor-tree", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "make a file for a tree");
	return fd;
}

static void log_name(const struct evaluator_job *job, size_t stream, char out[128])
{
	snprintf(out, 128, "%s.%s", job->name, stream == OUTPUT_STDOUT ? "stdout" : "stderr");
}

/* What one that was cut off has printed: no log is written over. */
static int remove_logs(const struct evaluator_job *job, struct err *err)
{
	char name[128];

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		log_name(job, i, name);
		if (unlinkat(job->folder_fd, name, 0) < 0 && errno != ENOENT)
			return err_sys(err, "remove '%s'", name);
	}
	return 0;
}

/* Both streams are read as one text, which a string has to hold with some words of ours. */
static uint64_t output_max(const struct evaluator_job *job)
{
	return MIN_OF(job->run->policy.evaluator.output, (uint64_t) STR_MAX - KIB);
}

static int compose(const struct evaluator_job *job, struct jail_spec *spec, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const char *const environment[] = {
		arena_printf(&arena, "AGENT_KERNEL_ARENA_PYTHON=%s", job->run->planned.aka.python),
		NULL,
	};

	if (compose_evaluator(&job->run->policy, job->wall_s * 1000, job->argv.items, environment,
			      spec, err) < 0)
		return -1;
	if (compose_gpus(spec, job->run->gpus, job->run->gpu_count, err) < 0)
		return -1;
	snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "%s", job->run->cpus.others);
	return 0;
}

static int read_log(const struct evaluator_job *job, size_t stream, struct str *out,
		    struct err *err)
{
	char name[128];

	log_name(job, stream, name);
	return io_read_file(job->folder_fd, name, STR_MAX - 1, out, err);
}

/* How it ended, in words; empty if all is well. */
static void tell_ending(const struct jail_result *result, char *why, size_t room)
{
	if (result->ending == ENDING_EXITED && result->code != 0)
		snprintf(why, room, "exit code %d", result->code);
	else if (result->ending == ENDING_SIGNALED)
		snprintf(why, room, "ended by signal %d", result->code);
	else if (result->ending != ENDING_EXITED)
		snprintf(why, room, "%s", names_text(ending_names, (int) result->ending));
}

/* As the reference words it, where the command was ended for its time. */
static unsigned int limit_s(const struct evaluator_job *job)
{
	const uint64_t policy_s = job->run->policy.evaluator.wall_ms / 1000;

	return (unsigned int) MIN_OF(policy_s, job->wall_s);
}

static int take_output(const struct evaluator_job *job, const struct jail_result *ended,
		       struct evaluator_result *out, struct err *err)
{
	cleanup(str_done) struct str printed = STR_INIT;
	cleanup(str_done) struct str complained = STR_INIT;
	struct aka_streams streams;

	if (ended->ending == ENDING_TIMEOUT) {
		aka_said_timed_out(&out->said, limit_s(job));
		return 0;
	}
	if (read_log(job, OUTPUT_STDOUT, &printed, err) < 0 ||
	    read_log(job, OUTPUT_STDERR, &complained, err) < 0)
		return -1;
	streams = (struct aka_streams){ .out = printed.text,
					.out_len = printed.len,
					.err = complained.text,
					.err_len = complained.len };
	aka_said_read(&out->said, &streams, ended->ending == ENDING_EXITED && ended->code == 0);
	return 0;
}

/* What the candidate was to make, and did not, or not so that it can be executed. */
static bool is_of_workspace(const char *program)
{
	return strncmp(program, COMPOSE_WORK "/", strlen(COMPOSE_WORK "/")) == 0 ||
	       (program[0] != '/' && strchr(program, '/'));
}

static int take_ending(const struct evaluator_job *job, const struct jail_outcome *outcome,
		       struct evaluator_result *out, struct err *err)
{
	const struct jail_result *result = &outcome->last.result;

	out->stopped = outcome->stopped;
	if (outcome->stopped)
		return err_set(err, ERR_SYS, "stopped by the operator");
	if (outcome->last.kind == EVENT_NOT_FOUND || outcome->last.kind == EVENT_NOT_EXECUTABLE) {
		if (is_of_workspace(job->argv.items[0])) {
			snprintf(out->why, sizeof(out->why), "there is no such program");
			str_addf(&out->said.err, "%s", outcome->last.err.text);
			return 0;
		}
		*err = outcome->last.err;
		err->kind = ERR_HOST;
		return err_wrap(err, "command '%s' in the jail", job->argv.items[0]);
	}
	if (outcome->last.kind != EVENT_ENDED) {
		*err = outcome->last.err;
		return err_wrap(err, "evaluator jail");
	}
	if (result->flags & JAIL_IMAGE_CHANGED)
		return err_set(err, ERR_HOST, "the image was written while it was used");
	out->wall_ns = result->wall_ns;
	out->has_left = result->collected;
	tell_ending(result, out->why, sizeof(out->why));
	return take_output(job, result, out, err);
}

int evaluator_run(const struct evaluator_job *job, struct evaluator_result *out, struct err *err)
{
	const struct run *run = job->run;
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	const struct jail_io io = {
		.folder_fd = job->folder_fd,
		.name = job->name,
		.output_max = output_max(job),
		.stop_fd = run->stop_fd,
	};
	struct jail_outcome outcome;
	struct spec_fds fds;

	if (compose(job, spec, err) < 0 || remove_logs(job, err) < 0)
		return -1;
	if (lseek(job->tree_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_TREES] = job->tree_fd;
	fds.fd[SPEC_FD_COLLECT] = job->left_fd;
	if (jail_run(run->launcher->socket_fd, spec, &fds, &io, &outcome, err) < 0)
		return -1;
	return take_ending(job, &outcome, out, err);
}
