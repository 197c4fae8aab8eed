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

/* clang-format off */
#define ROW(resource_, what_, unit_, unit_key_) \
	.row = { .resource = RLIMIT_##resource_, .name = "RLIMIT_" #resource_, .what = (what_), .unit = (unit_), .unit_key = (unit_key_) }

/* Limits that a jail must not inherit from somebody's shell, those that are the same in every jail,
   and those that a slice decides, where it has one. */
enum kind { OPENED, FIXED, CHOSEN };

static const struct {
	enum kind kind;
	struct rlimit_row row;
	size_t offset;  /* of a chosen one in the slice */
	uint64_t value; /* of a fixed one */
} limits_of_a_jail[] = {
	{ OPENED, ROW(AS,         "address space",      "bytes", NULL) },
	{ OPENED, ROW(CPU,        "CPU time",           "seconds", NULL) },
	{ OPENED, ROW(DATA,       "data",               "bytes", NULL) },
	{ OPENED, ROW(FSIZE,      "file size",          "bytes", NULL) },
	{ OPENED, ROW(LOCKS,      "locks",              "locks", NULL) },
	{ OPENED, ROW(RSS,        "resident set",       "bytes", NULL) },
	{ FIXED,  ROW(CORE,       "core file size",     "bytes", "LimitCORE"), .value = 1 },
	{ FIXED,  ROW(RTPRIO,     "real-time priority", "priority", "LimitRTPRIO") },
	{ FIXED,  ROW(NICE,       "nice",               "20 - nice", "LimitNICE") },
	{ CHOSEN, ROW(NOFILE,     "open files",         "descriptors", "LimitNOFILE"),     offsetof(struct rlimit_slice, files) },
	{ CHOSEN, ROW(STACK,      "stack",              "bytes", "LimitSTACK"),      offsetof(struct rlimit_slice, stack) },
	{ CHOSEN, ROW(NPROC,      "processes",          "processes", "LimitNPROC"),      offsetof(struct rlimit_slice, processes) },
	{ CHOSEN, ROW(FSIZE,      "file size",          "bytes", "LimitFSIZE"),      offsetof(struct rlimit_slice, file_size) },
	{ CHOSEN, ROW(MEMLOCK,    "locked memory",      "bytes", "LimitMEMLOCK"),    offsetof(struct rlimit_slice, memlock) },
	{ CHOSEN, ROW(MSGQUEUE,   "message queues",     "bytes", "LimitMSGQUEUE"),   offsetof(struct rlimit_slice, msgqueue) },
	{ CHOSEN, ROW(SIGPENDING, "pending signals",    "signals", "LimitSIGPENDING"), offsetof(struct rlimit_slice, sigpending) },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(limits_of_a_jail) <= RLIMITS_MAX, "a plan has room for all of them");

size_t rlimits_plan(const struct rlimit_slice *limits, struct rlimit_row out[RLIMITS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(limits_of_a_jail); i++) {
		struct rlimit_row row = limits_of_a_jail[i].row;

		row.is_opened = limits_of_a_jail[i].kind == OPENED;
		row.value = limits_of_a_jail[i].value;
		if (limits_of_a_jail[i].kind == CHOSEN) {
			memcpy(&row.value, (const char *) limits + limits_of_a_jail[i].offset,
			       sizeof(row.value));
			if (row.value == 0)
				continue;
		}
		out[count++] = row;
	}
	return count;
}

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

static int refuse_raise(const struct rlimit_row *limit, struct err *err)
{
	struct rlimit now = { 0 };

	getrlimit(limit->resource, &now);
	err_set(err, ERR_HOST,
		"the limit of %s can not be raised to %llu: the hard limit is %llu and "
		"CAP_SYS_RESOURCE is missing; start with %s=%llu or a higher 'ulimit -H'",
		limit->what, (unsigned long long) limit->value, (unsigned long long) now.rlim_max,
		limit->unit_key, (unsigned long long) limit->value);
	err->sys = EPERM;
	return -1;
}

/*
 * A limit of 1 keeps even a program that core_pattern names from being started, see core(5). Where
 * it names none, 0 is as good; sudo sets that, and without CAP_SYS_RESOURCE nothing raises it.
 */
static bool can_stay_zero(const struct rlimit_row *limit)
{
	struct rlimit now;
	char first = '|';
	auto_fd fd = -1;

	if (limit->resource != RLIMIT_CORE || getrlimit(RLIMIT_CORE, &now) < 0 || now.rlim_max != 0)
		return false;
	fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &first, 1) == 1 && first != '|';
}

static int set_limit(const struct rlimit_row *limit, struct err *err)
{
	const struct rlimit wanted = { .rlim_cur = limit->value, .rlim_max = limit->value };

	if (setrlimit(limit->resource, &wanted) == 0)
		return 0;
	if (errno == EPERM && can_stay_zero(limit))
		return 0;
	if (errno == EPERM)
		return refuse_raise(limit, err);
	return err_sys(err, "set the limit of %s to %llu", limit->what,
		       (unsigned long long) limit->value);
}

int rlimits_apply(const struct rlimit_slice *limits, struct err *err)
{
	struct rlimit_row rows[RLIMITS_MAX];
	const size_t count = rlimits_plan(limits, rows);

	for (size_t i = 0; i < count; i++)
		if ((rows[i].is_opened ? open_up(rows[i].resource, err)
				       : set_limit(&rows[i], err)) < 0)
			return -1;
	return 0;
}
