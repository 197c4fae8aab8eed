/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/build.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/evidence/manifest.h"
#include "harness/run/compose.h"
#include "harness/run/jail.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

static int rewind_to_start(int fd, struct err *err)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return 0;
}

/* How the command ended, in words; empty if all is well. */
static void judge_ending(const struct jail_outcome *outcome, char *why, size_t room)
{
	const struct jail_result *result = &outcome->last.result;

	if (outcome->last.kind == EVENT_NOT_FOUND || outcome->last.kind == EVENT_NOT_EXECUTABLE)
		snprintf(why, room, "%s", outcome->last.err.text);
	else if (result->ending == ENDING_EXITED && result->code != 0)
		snprintf(why, room, "the build ended with code %d", result->code);
	else if (result->ending == ENDING_SIGNALED)
		snprintf(why, room, "the build was ended by signal %d", result->code);
	else if (result->ending != ENDING_EXITED)
		snprintf(why, room, "the build was ended: %s",
			 names_text(ending_names, (int) result->ending));
}

/* The first promised file that is not there; NULL if all are. */
static const char *find_missing(const struct manifest *manifest, const struct argv *promised)
{
	for (uint64_t i = 0; i < promised->count; i++) {
		bool found = false;

		for (size_t j = 0; j < manifest->count && !found; j++)
			found = manifest->entries[j].kind == STREAM_FILE &&
				strcmp(manifest->entries[j].path, promised->items[i]) == 0;
		if (!found)
			return promised->items[i];
	}
	return NULL;
}

static int look_at_products(const struct task_build *build, const struct jail_spec *spec, int fd,
			    struct build_result *result, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	const char *missing;

	if (rewind_to_start(fd, err) < 0 ||
	    manifest_read(fd, &spec->collect.limits, &manifest, err) < 0)
		return err_wrap(err, "what the build left");
	missing = find_missing(&manifest, &build->out);
	if (missing)
		snprintf(result->why, sizeof(result->why), "the build left no '%s'", missing);
	result->digest = manifest.root;
	return 0;
}

int build_tree(const struct build_job *job, struct build_result *result, struct err *err)
{
	const struct run *run = job->run;
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	const struct jail_io io = {
		.folder_fd = job->folder_fd,
		.name = job->name,
		.output_max = run->policy.build.output,
		.stop_fd = run->stop_fd,
	};
	struct jail_outcome outcome;
	struct spec_fds fds;

	*result = (struct build_result){ .is_built = false };
	if (compose_build(&run->policy, job->build, spec, err) < 0 ||
	    rewind_to_start(job->tree_fd, err) < 0)
		return -1;
	snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "%s", run->cpus.others);
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_TREES] = job->tree_fd;
	fds.fd[SPEC_FD_COLLECT] = job->products_fd;
	if (jail_run(run->launcher->socket_fd, spec, &fds, &io, &outcome, err) < 0)
		return -1;
	if (outcome.last.kind == EVENT_FAILED || outcome.last.kind == EVENT_LOST) {
		*err = outcome.last.err;
		return err_wrap(err, "build jail");
	}
	result->stopped = outcome.stopped;
	if (outcome.stopped)
		return err_set(err, ERR_SYS, "stopped by the operator");
	judge_ending(&outcome, result->why, sizeof(result->why));
	if (result->why[0] == '\0' &&
	    look_at_products(job->build, spec, job->products_fd, result, err) < 0)
		return -1;
	result->is_built = result->why[0] == '\0';
	return 0;
}
