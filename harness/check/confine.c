/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/confine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

/* What agents write to, and what has rules of its own. */
static bool is_kept(const char *name)
{
	static const char *const kept[] = { ".", "..", "work", "tmp", "run", "dev", "proc" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (strcmp(name, kept[i]) == 0)
			return true;
	return false;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static int add_root(struct landlock_slice *slice, struct err *err)
{
	cleanup(close_folder) DIR *root = opendir("/");
	const struct dirent *entry;
	char path[300];

	if (!root)
		return err_sys(err, "read '/'");
	while ((entry = readdir(root))) {
		snprintf(path, sizeof(path), "/%s", entry->d_name);
		if (is_kept(entry->d_name) || access(path, F_OK) < 0)
			continue;
		if (landlock_add(slice, path, LANDLOCK_READ_EXEC, err) < 0)
			return err_wrap(err, "what a worker may read");
	}
	return 0;
}

int confine_open(struct confinement *out, const struct given_limits *limits, struct err *err)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
					       "/dev/urandom" };
	struct confinement made = { .limits = limits };

	/* First what is needed in any case: there is room for so many. */
	if (landlock_add(&made.rules, "/proc", LANDLOCK_OWN_PROC, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (access(devices[i], F_OK) == 0 &&
		    landlock_add(&made.rules, devices[i], LANDLOCK_DEVICE, err) < 0)
			return -1;
	if (add_root(&made.rules, err) < 0)
		return -1;
	*out = made;
	return 0;
}

bool confine_has_walls(void)
{
	return landlock_abi() > 0;
}

/* By way of /proc: a rule has no room for any path. */
static int add_fd(struct landlock_slice *slice, int fd, enum landlock_access access,
		  struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return landlock_add(slice, path, access, err);
}

static int restrict_files(const struct landlock_slice *slice, struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "give up new privileges");
	return landlock_restrict(slice, err);
}

int confine_build(const struct confinement *confinement, int folder_fd, struct err *err)
{
	struct landlock_slice slice = confinement->rules;

	if (access("/tmp", F_OK) == 0 && landlock_add(&slice, "/tmp", LANDLOCK_WRITE, err) < 0)
		return -1;
	if (add_fd(&slice, folder_fd, LANDLOCK_WRITE, err) < 0)
		return -1;
	return restrict_files(&slice, err);
}

static int lower(int resource, uint64_t value, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return err_sys(err, "read resource limit %d", resource);
	limit.rlim_max = MIN_OF(limit.rlim_max, (rlim_t) value);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(resource, &limit) < 0)
		return err_sys(err, "lower resource limit %d", resource);
	return 0;
}

int confine_worker(const struct confinement *confinement, int program_fd, int folder_fd,
		   uint64_t tasks, struct err *err)
{
	const struct given_limits *limits = confinement->limits;
	struct landlock_slice slice = confinement->rules;

	if (add_fd(&slice, program_fd, LANDLOCK_READ_EXEC, err) < 0 ||
	    (folder_fd >= 0 && add_fd(&slice, folder_fd, LANDLOCK_READ_EXEC, err) < 0) ||
	    restrict_files(&slice, err) < 0)
		return -1;
	if (!limits)
		return 0;
	/* Not of the address space: buffers are mapped, and pages that nobody touches are free.
	 * Of the processes in a jail of the judge one is its pid 1. */
	if ((!CONFINE_SANITIZED && lower(RLIMIT_DATA, limits->worker_memory, err) < 0) ||
	    lower(RLIMIT_NPROC, tasks + limits->worker_pids - 1, err) < 0)
		return -1;
	return lower(RLIMIT_NOFILE, limits->worker_nofile, err);
}

static uint64_t threads_of(int proc_fd, const char *pid)
{
	char path[300];
	struct stat info;

	if (fstatat(proc_fd, pid, &info, 0) < 0 || info.st_uid != geteuid())
		return 0;
	/* A folder has a link from each folder in it, and two more. */
	snprintf(path, sizeof(path), "%s/task", pid);
	return fstatat(proc_fd, path, &info, 0) < 0 ? 0 : MAX_OF(info.st_nlink, 2) - 2;
}

uint64_t confine_tasks(void)
{
	cleanup(close_folder) DIR *proc = opendir("/proc");
	const struct dirent *entry;
	uint64_t count = 0;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char) entry->d_name[0]))
			count += threads_of(dirfd(proc), entry->d_name);
	return count;
}
