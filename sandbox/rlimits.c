/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/rlimits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

struct limit {
	int resource;
	const char *name, *unit_key; /* the key of a systemd unit that raises the hard limit */
};

/* clang-format off */
/* Limits that a slice decides. */
static const struct {
	struct limit limit;
	size_t offset;
} chosen[] = {
	{ { RLIMIT_NOFILE,     "open files",      "LimitNOFILE" },     offsetof(struct rlimit_slice, files) },
	{ { RLIMIT_STACK,      "stack",           "LimitSTACK" },      offsetof(struct rlimit_slice, stack) },
	{ { RLIMIT_NPROC,      "processes",       "LimitNPROC" },      offsetof(struct rlimit_slice, processes) },
	{ { RLIMIT_FSIZE,      "file size",       "LimitFSIZE" },      offsetof(struct rlimit_slice, file_size) },
	{ { RLIMIT_MEMLOCK,    "locked memory",   "LimitMEMLOCK" },    offsetof(struct rlimit_slice, memlock) },
	{ { RLIMIT_MSGQUEUE,   "message queues",  "LimitMSGQUEUE" },   offsetof(struct rlimit_slice, msgqueue) },
	{ { RLIMIT_SIGPENDING, "pending signals", "LimitSIGPENDING" }, offsetof(struct rlimit_slice, sigpending) },
};

/* Limits that are the same in every jail. */
static const struct {
	struct limit limit;
	rlim_t value;
} fixed[] = {
	{ { RLIMIT_CORE,   "core file size",     "LimitCORE" },   1 },
	{ { RLIMIT_RTPRIO, "real-time priority", "LimitRTPRIO" }, 0 },
	{ { RLIMIT_NICE,   "nice",               "LimitNICE" },   0 },
};

/* Limits that a jail must not inherit from somebody's shell. */
static const int opened[] = {
	RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_LOCKS, RLIMIT_RSS,
};
/* clang-format on */

static int open_up(int resource, struct err *err)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return err_sys(err, "read resource limit %d", resource);
	if (now.rlim_cur == now.rlim_max)
		return 0;
	now.rlim_cur = now.rlim_max;
	if (setrlimit(resource, &now) < 0)
		return err_sys(err, "raise resource limit %d to its hard limit", resource);
	return 0;
}

static int refuse_raise(const struct limit *limit, uint64_t value, struct err *err)
{
	struct rlimit now = { 0 };

	getrlimit(limit->resource, &now);
	err_set(err, ERR_HOST,
		"the limit of %s can not be raised to %llu: the hard limit is %llu and "
		"CAP_SYS_RESOURCE is missing; start with %s=%llu or a higher 'ulimit -H'",
		limit->name, (unsigned long long) value, (unsigned long long) now.rlim_max,
		limit->unit_key, (unsigned long long) value);
	err->sys = EPERM;
	return -1;
}

/*
 * A limit of 1 keeps even a program that core_pattern names from being started, see core(5). Where
 * it names none, 0 is as good; sudo sets that, and without CAP_SYS_RESOURCE nothing raises it.
 */
static bool can_stay_zero(const struct limit *limit)
{
	struct rlimit now;
	char first = '|';
	auto_fd fd = -1;

	if (limit->resource != RLIMIT_CORE || getrlimit(RLIMIT_CORE, &now) < 0 || now.rlim_max != 0)
		return false;
	fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &first, 1) == 1 && first != '|';
}

static int set_limit(const struct limit *limit, uint64_t value, struct err *err)
{
	const struct rlimit wanted = { .rlim_cur = value, .rlim_max = value };

	if (setrlimit(limit->resource, &wanted) == 0)
		return 0;
	if (errno == EPERM && can_stay_zero(limit))
		return 0;
	if (errno == EPERM)
		return refuse_raise(limit, value, err);
	return err_sys(err, "set the limit of %s to %llu", limit->name, (unsigned long long) value);
}

int rlimits_apply(const struct rlimit_slice *limits, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(opened); i++)
		if (open_up(opened[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (set_limit(&fixed[i].limit, fixed[i].value, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(chosen); i++) {
		uint64_t value;

		memcpy(&value, (const char *) limits + chosen[i].offset, sizeof(value));
		if (value != 0 && set_limit(&chosen[i].limit, value, err) < 0)
			return -1;
	}
	return 0;
}
