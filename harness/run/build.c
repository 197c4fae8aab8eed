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

static const struct manifest_entry *find(const struct manifest *manifest, const char *path)
{
	for (size_t i = 0; i < manifest->count; i++)
		if (strcmp(manifest->entries[i].path, path) == 0)
			return &manifest->entries[i];
	return NULL;
}

static void show_size(uint64_t bytes, char *out, size_t room)
{
	if (bytes % MIB == 0)
		snprintf(out, room, "%llu MiB", (unsigned long long) (bytes / MIB));
	else
		snprintf(out, room, "%llu bytes", (unsigned long long) bytes);
}

void build_judge_products(const struct manifest *manifest, const struct argv *promised,
			  const struct stream_limits *limits, char *why, size_t room)
{
	char most[64];

	show_size(limits->total, most, sizeof(most));
	why[0] = '\0';
	for (uint64_t i = 0; i < promised->count && why[0] == '\0'; i++) {
		const char *path = promised->items[i];
		const struct manifest_entry *entry = find(manifest, path);

		if (entry && entry->reason == STREAM_OVERSIZE)
			snprintf(why, room, "the build's '%s' is larger than %s", path, most);
		else if (entry && entry->reason == STREAM_OVER_TOTAL)
			snprintf(why, room,
				 "the build's files are larger than %s together, so that '%s' does "
				 "not fit",
				 most, path);
		else if (!entry || entry->kind != STREAM_FILE)
			snprintf(why, room, "the build left no '%s'", path);
	}
}

bool build_takes(const struct stream_limits *limits, const struct stream_counts *has,
		 const char *role, char *why, size_t room)
{
	if (has->bytes <= limits->total && has->files + has->folders <= limits->entries)
		return true;
	snprintf(why, room,
		 "the candidate has %llu bytes in %llu files and folders; the policy's %s jail "
		 "takes %llu in %u",
		 (unsigned long long) has->bytes, (unsigned long long) (has->files + has->folders),
		 role, (unsigned long long) limits->total, limits->entries);
	return false;
}

static int look_at_products(const struct task_build *build, const struct jail_spec *spec, int fd,
			    struct build_result *result, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;

	if (rewind_to_start(fd, err) < 0 ||
	    manifest_read(fd, &spec->collect.limits, &manifest, err) < 0)
		return err_wrap(err, "what the build left");
	build_judge_products(&manifest, &build->out, &spec->collect.limits, result->why,
			     sizeof(result->why));
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
	if (outcome.last.result.flags & JAIL_IMAGE_CHANGED)
		return err_set(err, ERR_HOST, "the image was written while it was used");
	judge_ending(&outcome, result->why, sizeof(result->why));
	if (result->why[0] == '\0' &&
	    look_at_products(job->build, spec, job->products_fd, result, err) < 0)
		return -1;
	result->is_built = result->why[0] == '\0';
	return 0;
}
