/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/config/catalog.h"
#include "harness/evidence/tree.h"
#include "harness/run/compose.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/* What a script, or a solution, may weigh. */
#define SCRIPT_MAX (8 * MIB)

static const struct stream_limits script_limits = { SCRIPT_MAX, SCRIPT_MAX,      4096,
						    32,         STREAM_PATH_MAX, 0 };

enum { SHOWN_SOLUTIONS = 8 };

/* Which there are, so that a name that is mistyped is found. */
static int no_solution(int task_fd, const char *name, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err ignored = ERR_INIT;
	auto_fd folder = path_open_folder(task_fd, "solutions", &ignored);
	const char **names = NULL;
	size_t count = 0;

	if (folder >= 0)
		names = catalog_names(folder, &arena, &count, &ignored);
	for (size_t i = 0; names && i < MIN_OF(count, (size_t) SHOWN_SOLUTIONS); i++) {
		str_addf(&text, "%s ", i > 0 ? "," : "; there are");
		str_add_shown(&text, names[i], strlen(names[i]));
	}
	if (count > SHOWN_SOLUTIONS)
		str_addf(&text, " and %zu more", count - SHOWN_SOLUTIONS);
	if (count == 0)
		str_addf(&text, "; the task has none");
	err->kind = ERR_INPUT;
	if (err->sys != ENOENT)
		return err_wrap(err, "solution '%s'", name);
	return err_set(err, ERR_INPUT, "there is no solution '%s'%s", name, text.text);
}

int agent_pack_solution(int task_fd, const char *name, int out_fd, struct err *err)
{
	struct stream_counts counts;
	char path[256];
	auto_fd folder = -1;

	snprintf(path, sizeof(path), "solutions/%s", name);
	if (!path_is_relative(path))
		return err_set(err, ERR_INPUT, "'%s' is no name of a solution", name);
	folder = path_open_folder(task_fd, path, err);
	if (folder < 0)
		return no_solution(task_fd, name, err);
	return tree_pack(folder, &script_limits, out_fd, &counts, err);
}

int agent_pack_program(int program_fd, int out_fd, struct err *err)
{
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	cleanup(str_done) struct str text = STR_INIT;
	struct stream_entry entry = { .kind = STREAM_FILE, .executable = true };

	if (lseek(program_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind the program");
	if (io_read_fd(program_fd, SCRIPT_MAX, "the agent's program", &text, err) < 0)
		return -1;
	entry.path = "program";
	entry.path_len = sizeof("program") - 1;
	entry.size = text.len;
	stream_writer_open(writer, out_fd, &script_limits);
	if (stream_writer_entry(writer, &entry, err) < 0 ||
	    stream_writer_content(writer, text.text, text.len, err) < 0)
		return -1;
	return stream_writer_close(writer, err);
}

/* What the tree holds; the descriptor is at its beginning again. */
static int count_given(int fd, struct stream_counts *out, struct err *err)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	int more;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	stream_reader_open(reader, fd, &limits);
	while ((more = stream_reader_entry(reader, err)) > 0)
		continue;
	if (more < 0)
		return err_wrap(err, "what the agent is given");
	*out = reader->decoder.cursor.counts;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return 0;
}

int agent_run(const struct agent_job *job, struct jail_outcome *out, struct err *err)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one path of two parts */
	static const char *const copy[] = { "/bin/cp", "-R", COMPOSE_AGENT "/.", COMPOSE_WORK,
					    NULL };
	static const char *const program[] = { COMPOSE_AGENT "/program", NULL };
	const struct run *run = job->run;
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	struct jail_io io = {
		.folder_fd = job->folder_fd,
		.name = "agent",
		.output_max = run->policy.agent.output,
		.stop_fd = run->stop_fd,
		.services = &run->policy.services,
		.services_log_fd = job->services_fd,
	};
	const bool has_given = job->given_fd > 0;
	struct stream_counts given;
	struct spec_fds fds;

	if (has_given && count_given(job->given_fd, &given, err) < 0)
		return -1;
	if (compose_agent(&run->policy, &job->task->limits, has_given ? &given : NULL,
			  job->is_solution ? copy : program, spec, err) < 0)
		return -1;
	if (compose_gpus(spec, run->gpus, run->gpu_count, err) < 0)
		return -1;
	snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "%s", run->cpus.others);
	if (job->task->limits.output != 0)
		io.output_max = MIN_OF(io.output_max, job->task->limits.output);
	if (lseek(job->script_fd, 0, SEEK_SET) < 0 || lseek(job->pristine_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_TREES] = job->pristine_fd;
	fds.fd[SPEC_FD_TREES + 1] = job->script_fd;
	if (has_given)
		fds.fd[SPEC_FD_TREES + 2] = job->given_fd;
	fds.fd[SPEC_FD_COLLECT] = job->frozen_fd;
	return jail_run(run->launcher->socket_fd, spec, &fds, &io, out, err);
}
