/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

enum { REMOVE_MS = 2000, KILL_MS = 5000 };

/* -- paths: a v1 leaf is reached from the folder, the v2 leaf has a descriptor of its own -- */

struct file {
	int dir_fd;
	char path[128];
};

static struct file file_of(const struct cgroup *cg, enum cgroup_controller controller,
			   const char *name)
{
	struct file file = { .dir_fd = cg->fd };

	if ((cg->v1 & CGROUP_BIT(controller)) == 0) {
		snprintf(file.path, sizeof(file.path), "%s", name);
		return file;
	}
	file.dir_fd = cg->host->v1_fds[controller];
	snprintf(file.path, sizeof(file.path), "%s/%s", cg->name, name);
	return file;
}

/* -- setting a knob -- */

static int refuse(const struct cgroup_knob *knob, const char *holds, struct err *err)
{
	return err_set(
		err, ERR_HOST,
		"the limit '%s' of '%s' does not hold: the kernel says '%s'; ask for a value "
		"that the group above allows",
		knob->text, knob->effective ? knob->effective : knob->file, holds);
}

static int check_cpus(const struct cgroup *cg, const struct cgroup_knob *knob, struct err *err)
{
	struct file file = file_of(cg, knob->controller, knob->effective);
	char text[1024];

	if (io_read_kernel_file(file.dir_fd, file.path, text, sizeof(text), err) < 0)
		return -1;
	return cgroup_same_cpus(knob->text, text) ? 0 : refuse(knob, text, err);
}

/*
 * One descriptor for writing and reading back: on this path every call counts.
 * Return: 1; 0 if the kernel does not have this optional knob; -1.
 */
static int set_knob(const struct cgroup *cg, const struct cgroup_knob *knob, struct err *err)
{
	struct file file = file_of(cg, knob->controller, knob->file);
	auto_fd fd = openat(file.dir_fd, file.path, O_RDWR | O_CLOEXEC);
	char text[64];
	ssize_t got;

	if (fd < 0 && errno == ENOENT && knob->optional)
		return 0;
	if (fd < 0)
		return err_host(err, "open '%s'; does the kernel have the controller %s?",
				knob->file, cgroup_controller_names[knob->controller]);
	if (write(fd, knob->text, strlen(knob->text)) < 0)
		return err_host(err, "write '%s' to '%s'", knob->text, knob->file);
	if (knob->effective)
		return check_cpus(cg, knob, err) < 0 ? -1 : 1;

	got = pread(fd, text, sizeof(text) - 1, 0);
	if (got < 0)
		return err_sys(err, "read '%s' back", knob->file);
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, knob->text) == 0 ? 1 : refuse(knob, text, err);
}

/* -- making and removing leaves -- */

/* Even where they are not limited. */
static const uint32_t always_counted = CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS);

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";
	size_t len = strlen(name);

	return len > 0 && len < sizeof(CGROUP_INIT.name) && strspn(name, letters) == len;
}

static uint32_t asked_for(const struct cgroup_limits *limits)
{
	return (limits->memory != 0 ? CGROUP_BIT(CGROUP_MEMORY) : 0) |
	       (limits->pids != 0 ? CGROUP_BIT(CGROUP_PIDS) : 0) |
	       (limits->cpu_milli != 0 ? CGROUP_BIT(CGROUP_CPU) : 0) |
	       (limits->cpus[0] != '\0' ? CGROUP_BIT(CGROUP_CPUSET) : 0);
}

static const struct {
	enum cgroup_limit limit;
	const char *name; /* as a policy accepts it */
} limit_of[CGROUP_CONTROLLERS] = {
	[CGROUP_MEMORY] = { CGROUP_LIMIT_MEMORY, "memory" },
	[CGROUP_PIDS] = { CGROUP_LIMIT_PIDS, "pids" },
	[CGROUP_CPU] = { CGROUP_LIMIT_CPUS, "cpus" },
	[CGROUP_CPUSET] = { CGROUP_LIMIT_CPUS, "cpus" },
};

/* Takes the limits away that the host has no controller for and that need not hold. */
static int drop_unenforceable(const struct cgroup_host *host, struct cgroup_limits *limits,
			      uint32_t *without, struct err *err)
{
	const uint32_t lacking = asked_for(limits) & ~(host->v1 | host->unified);

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		if ((lacking & CGROUP_BIT(i)) == 0)
			continue;
		if ((limits->accept & CGROUP_BIT(limit_of[i].limit)) == 0)
			return err_set(err, ERR_HOST,
				       "the host can not enforce a limit of %s: it is not in "
				       "'%s/cgroup.controllers'; write '+%s' to "
				       "cgroup.subtree_control of the groups above, start proctor "
				       "as a service with Delegate=yes, or accept to do without: "
				       "'%s' in the policy's accept, or proctor jail --accept %s",
				       cgroup_controller_names[i], host->path,
				       cgroup_controller_names[i], limit_of[i].name,
				       limit_of[i].name);
		*without |= CGROUP_BIT(limit_of[i].limit);
	}
	if (lacking & CGROUP_BIT(CGROUP_MEMORY))
		limits->memory = 0;
	if (lacking & CGROUP_BIT(CGROUP_PIDS))
		limits->pids = 0;
	if (lacking & CGROUP_BIT(CGROUP_CPU))
		limits->cpu_milli = 0;
	if (lacking & CGROUP_BIT(CGROUP_CPUSET))
		limits->cpus[0] = '\0';
	return 0;
}

/* rmdir, again and again while the kernel is still letting go of the last process. */
static int remove_folder(int dir_fd, const char *name, int64_t deadline, struct err *err)
{
	struct timespec pause = { .tv_nsec = 200 * NS_PER_US };

	while (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_now() > deadline)
			return err_sys(err, "remove control group '%s'", name);
		nanosleep(&pause, NULL);
		pause.tv_nsec = MIN_OF(pause.tv_nsec * 2, 20 * NS_PER_MS);
	}
	return 0;
}

/* v2 last: it is what cgroup_reap() looks at to see whether there is something to kill. */
static int remove_folders(const struct cgroup_host *host, const char *name, uint32_t v1,
			  struct err *err)
{
	int64_t deadline = clock_after_ms(REMOVE_MS);

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if ((v1 & CGROUP_BIT(i)) != 0 &&
		    remove_folder(host->v1_fds[i], name, deadline, err) < 0)
			return err_wrap(err, "%s", cgroup_controller_names[i]);
	if (host->unified_fd < 0) /* cgroup_places_reap(): the folder has gone */
		return 0;
	return remove_folder(host->unified_fd, name, deadline, err);
}

void cgroup_done(struct cgroup *cg)
{
	fd_close(&cg->fd);
	*cg = CGROUP_INIT;
}

int cgroup_remove(struct cgroup *cg, struct err *err)
{
	int result = 0;

	if (cg->host)
		result = remove_folders(cg->host, cg->name, cg->v1, err);
	cgroup_done(cg);
	return result;
}

/* For a leaf that is not finished; what resists is left to cgroup_reap(). */
static void drop(struct cgroup *cg)
{
	struct err ignored = ERR_INIT;

	best_effort(cgroup_remove(cg, &ignored));
}

/* Those of @wanted that have a hierarchy, and no folder as yet. */
static int make_v1_folders(struct cgroup *made, uint32_t wanted, struct err *err)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		if ((wanted & made->host->v1 & ~made->v1 & CGROUP_BIT(i)) == 0)
			continue;
		if (mkdirat(made->host->v1_fds[i], made->name, 0755) < 0)
			return err_sys(err, "create it for %s", cgroup_controller_names[i]);
		made->v1 |= CGROUP_BIT(i);
	}
	return 0;
}

/* Optional knobs are those of swap: where there is none, nothing is missing. */
static int do_without(struct cgroup *made, const struct cgroup_knob *knob,
		      const struct cgroup_limits *limits, struct err *err)
{
	if (!made->host->has_swap)
		return 0;
	if ((limits->accept & CGROUP_BIT(CGROUP_LIMIT_SWAP)) == 0)
		return err_set(err, ERR_HOST,
			       "the host can not keep a jail out of its swap: the kernel has no "
			       "'%s'; boot it with swapaccount=1, switch swap off (swapoff -a), or "
			       "accept that: 'swap' in the policy's accept, or proctor jail "
			       "--accept swap",
			       knob->file);
	made->without |= CGROUP_BIT(CGROUP_LIMIT_SWAP);
	return 0;
}

static int fill(struct cgroup *made, const struct cgroup_limits *limits, struct err *err)
{
	struct cgroup_knob plan[CGROUP_KNOBS_MAX];
	size_t count;

	if (make_v1_folders(made, asked_for(limits), err) < 0)
		return -1;
	count = cgroup_plan(limits, made->host->v1, made->host->mems, plan);
	for (size_t i = 0; i < count; i++) {
		int set = set_knob(made, &plan[i], err);

		if (set < 0 || (set == 0 && do_without(made, &plan[i], limits, err) < 0))
			return -1;
	}
	return 0;
}

int cgroup_make(const struct cgroup_host *host, const char *name, struct cgroup *out,
		struct err *err)
{
	cleanup(drop) struct cgroup made = CGROUP_INIT;

	if (!is_name(name))
		return err_set(
			err, ERR_INPUT,
			"'%s' can not name a control group: 1 to 63 letters, digits, '-', '_'",
			name);
	if (mkdirat(host->unified_fd, name, 0755) < 0)
		return err_sys(err, "create control group '%s'", name);
	made.host = host;
	memcpy(made.name, name, strlen(name) + 1);

	made.fd = openat(host->unified_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made.fd < 0)
		return err_sys(err, "open control group '%s'", name);
	if (make_v1_folders(&made, always_counted, err) < 0)
		return err_wrap(err, "control group '%s'", name);
	*out = take(made, CGROUP_INIT);
	return 0;
}

int cgroup_limit(struct cgroup *cg, const struct cgroup_limits *limits, struct err *err)
{
	struct cgroup_limits held = *limits;

	if (drop_unenforceable(cg->host, &held, &cg->without, err) < 0)
		return -1;
	if (fill(cg, &held, err) < 0)
		return err_wrap(err, "control group '%s'", cg->name);
	return 0;
}

int cgroup_create(const struct cgroup_host *host, const char *name,
		  const struct cgroup_limits *limits, struct cgroup *out, struct err *err)
{
	cleanup(drop) struct cgroup made = CGROUP_INIT;

	if (cgroup_make(host, name, &made, err) < 0 || cgroup_limit(&made, limits, err) < 0)
		return -1;
	*out = take(made, CGROUP_INIT);
	return 0;
}

static int open_join_fds(const struct cgroup *cg, int fds[CGROUP_CONTROLLERS], struct err *err)
{
	int count = 0;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		struct file file = file_of(cg, (enum cgroup_controller) i, "tasks");

		if ((cg->v1 & CGROUP_BIT(i)) == 0)
			continue;
		fds[count] = openat(file.dir_fd, file.path, O_WRONLY | O_CLOEXEC);
		if (fds[count] < 0)
			return err_sys(err, "open '%s'", file.path);
		count++;
	}
	return count;
}

int cgroup_join_fds(const struct cgroup *cg, int fds[CGROUP_CONTROLLERS], struct err *err)
{
	int count;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		fds[i] = -1;
	count = open_join_fds(cg, fds, err);
	for (size_t i = 0; count < 0 && i < CGROUP_CONTROLLERS; i++)
		fd_close(&fds[i]);
	return count;
}

/* -- watching and ending -- */

int cgroup_kill(const struct cgroup *cg, struct err *err)
{
	return io_write_kernel_file(cg->fd, "cgroup.kill", "1", err);
}

int cgroup_populated_fd(const struct cgroup *cg, struct err *err)
{
	int fd = openat(cg->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, "open 'cgroup.events' of '%s'", cg->name) : fd;
}

/* A group that has been removed has no process: the read then fails. */
bool cgroup_is_populated(int populated_fd)
{
	char text[256];
	ssize_t got = pread(populated_fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return strstr(text, "populated 1") != NULL;
}

/* The number behind `key` in lines of "key number", or 0; the whole file is one number: NULL. */
static uint64_t number_in(const char *text, const char *key)
{
	size_t len = key ? strlen(key) : 0;

	for (; key && text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (strncmp(text, key, len) == 0 && text[len] == ' ')
			break;
	return text ? strtoull(text + len, NULL, 10) : 0;
}

/* clang-format off */
static const struct {
	enum cgroup_controller controller;
	size_t offset;
	const char *v1, *v2, *v1_key, *v2_key;
} counters[] = {
	{ CGROUP_MEMORY, offsetof(struct cgroup_usage, memory_peak), "memory.max_usage_in_bytes", "memory.peak",   NULL,       NULL },
	{ CGROUP_MEMORY, offsetof(struct cgroup_usage, oom_kills),   "memory.oom_control",        "memory.events", "oom_kill", "oom_kill" },
	{ CGROUP_PIDS,   offsetof(struct cgroup_usage, pids_peak),   "pids.peak",                 "pids.peak",     NULL,       NULL },
	{ CGROUP_PIDS,   offsetof(struct cgroup_usage, pids_hits),   "pids.events",               "pids.events",   "max",      "max" },
};
/* clang-format on */

int cgroup_usage(const struct cgroup *cg, struct cgroup_usage *out, struct err *err)
{
	struct cgroup_usage usage = { 0 };
	char text[4096];

	if (io_read_kernel_file(cg->fd, "cpu.stat", text, sizeof(text), err) < 0)
		return -1;
	usage.cpu_us = number_in(text, "usage_usec");

	for (size_t i = 0; i < ARRAY_LEN(counters); i++) {
		bool v1 = (cg->v1 & CGROUP_BIT(counters[i].controller)) != 0;
		const char *name = v1 ? counters[i].v1 : counters[i].v2;
		struct file file = file_of(cg, counters[i].controller, name);
		struct err why = ERR_INIT;
		uint64_t value;

		if (io_read_kernel_file(file.dir_fd, file.path, text, sizeof(text), &why) < 0) {
			/* An older kernel: 0 is "not known". */
			if (why.sys == ENOENT)
				continue;
			*err = why;
			return -1;
		}
		value = number_in(text, v1 ? counters[i].v1_key : counters[i].v2_key);
		memcpy((char *) &usage + counters[i].offset, &value, sizeof(value));
	}
	*out = usage;
	return 0;
}

/* -- after somebody's death -- */

static int kill_and_wait(const struct cgroup *cg, struct err *err)
{
	int64_t deadline = clock_after_ms(KILL_MS);
	auto_fd populated_fd = cgroup_populated_fd(cg, err);
	struct pollfd event = { .fd = populated_fd, .events = POLLPRI };

	if (populated_fd < 0 || cgroup_kill(cg, err) < 0)
		return -1;
	while (cgroup_is_populated(populated_fd)) {
		if (clock_now() > deadline)
			return err_set(err, ERR_SYS, "processes in it do not die");
		if (poll(&event, 1, clock_poll_ms(deadline)) < 0 && errno != EINTR)
			return err_sys(err, "wait for its processes to end");
	}
	return 0;
}

int cgroup_reap(const struct cgroup_host *host, const char *name, struct err *err)
{
	cleanup(cgroup_done) struct cgroup left = CGROUP_INIT;

	if (!is_name(name))
		return err_set(err, ERR_INPUT, "'%s' can not name a control group", name);
	left.host = host;
	memcpy(left.name, name, strlen(name) + 1);
	if (host->unified_fd >= 0)
		left.fd = openat(host->unified_fd, name,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (host->unified_fd >= 0 && left.fd < 0 && errno != ENOENT)
		return err_sys(err, "open control group '%s'", name);
	if (left.fd >= 0 && kill_and_wait(&left, err) < 0)
		return err_wrap(err, "control group '%s'", name);
	return remove_folders(host, name, host->v1, err);
}
