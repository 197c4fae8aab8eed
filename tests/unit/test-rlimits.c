/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/rlimits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static void check_limit(int resource, rlim_t want)
{
	struct rlimit now;

	CHECK(getrlimit(resource, &now) == 0);
	CHECK_INT(now.rlim_cur, want);
	CHECK_INT(now.rlim_max, want);
}

static void give_up_sys_resource(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	CHECK(syscall(SYS_capget, &header, data) == 0);
	data[0].effective &= ~(1U << CAP_SYS_RESOURCE);
	CHECK(syscall(SYS_capset, &header, data) == 0);
}

TEST(limits_are_set_soft_and_hard)
{
	const struct rlimit_slice limits = {
		.files = 100,
		.stack = 1 << 20,
		.processes = 50,
		.file_size = 1 << 16,
		.memlock = 4096,
		.msgqueue = 0,
		.sigpending = 99,
	};
	struct err err = ERR_INIT;

	CHECK_OK(rlimits_apply(&limits, &err));
	check_limit(RLIMIT_NOFILE, 100);
	check_limit(RLIMIT_STACK, 1 << 20);
	check_limit(RLIMIT_NPROC, 50);
	check_limit(RLIMIT_FSIZE, 1 << 16);
	check_limit(RLIMIT_MEMLOCK, 4096);
	check_limit(RLIMIT_SIGPENDING, 99);
	check_limit(RLIMIT_CORE, 1);
	check_limit(RLIMIT_RTPRIO, 0);
	check_limit(RLIMIT_NICE, 0);
}

TEST(descriptors_end_at_the_limit)
{
	const struct rlimit_slice limits = { .files = 16 };
	struct err err = ERR_INIT;
	int fd, last = 0;

	CHECK_OK(rlimits_apply(&limits, &err));
	while ((fd = dup(0)) >= 0)
		last = fd;
	CHECK_INT(errno, EMFILE);
	CHECK_INT(last, 15);
	CHECK(close_range(3, 15, 0) == 0); /* the leak check of a sanitizer build needs some */
}

TEST(what_a_shell_had_lowered_is_opened_again)
{
	const struct rlimit_slice limits = { 0 };
	struct err err = ERR_INIT;
	struct rlimit low;

	CHECK(getrlimit(RLIMIT_AS, &low) == 0);
	low.rlim_cur = 1 << 30;
	CHECK(setrlimit(RLIMIT_AS, &low) == 0);
	CHECK_OK(rlimits_apply(&limits, &err));
	check_limit(RLIMIT_AS, low.rlim_max);
}

TEST(a_hard_limit_in_the_way_is_explained)
{
	const struct rlimit_slice limits = { .files = 5000 };
	const struct rlimit hard = { 1000, 1000 };
	struct err err = ERR_INIT;

	give_up_sys_resource();
	CHECK(setrlimit(RLIMIT_NOFILE, &hard) == 0);
	CHECK_INT(rlimits_apply(&limits, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text,
		  "the limit of open files can not be raised to 5000: the hard limit is "
		  "1000 and CAP_SYS_RESOURCE is missing; start with LimitNOFILE=5000 or a "
		  "higher 'ulimit -H'");
}

/* What this process sees as the host's core_pattern from here on. */
static void show_core_pattern(const char *pattern)
{
	char link[64], path[4096];
	auto_fd fd = -1;
	ssize_t len;

	/* By name: a descriptor's mount is that of the namespace that we leave. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", check_folder());
	len = readlink(link, path, sizeof(path) - 16);
	CHECK(len > 0);
	snprintf(path + len, sizeof(path) - (size_t) len, "/pattern");
	fd = openat(check_folder(), "pattern", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK_INT(write(fd, pattern, strlen(pattern)), strlen(pattern));
	if (unshare(CLONE_NEWNS) < 0)
		SKIP("needs a mount namespace");
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount(path, "/proc/sys/kernel/core_pattern", NULL, MS_BIND, NULL) == 0);
}

static int apply_at_zero(struct err *err)
{
	const struct rlimit_slice limits = { 0 };
	const struct rlimit none = { 0, 0 };

	give_up_sys_resource();
	CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
	return rlimits_apply(&limits, err);
}

TEST(a_core_limit_of_zero_is_not_taken_for_one_where_a_program_takes_cores)
{
	struct err err = ERR_INIT;

	show_core_pattern("|/usr/lib/taker %p");
	CHECK_INT(apply_at_zero(&err), -1);
	CHECK(strstr(err.text, "LimitCORE=1"));
}

TEST(a_core_limit_of_zero_is_enough_where_cores_are_files)
{
	struct err err = ERR_INIT;

	show_core_pattern("core");
	CHECK_OK(apply_at_zero(&err));
	check_limit(RLIMIT_CORE, 0);
}

TEST(the_plan_says_what_is_done_in_its_order)
{
	const struct rlimit_slice limits = { .files = 100 };
	struct rlimit_row rows[RLIMITS_MAX];
	const size_t count = rlimits_plan(&limits, rows);

	CHECK_INT(count, 10);
	CHECK_STR(rows[0].name, "RLIMIT_AS");
	CHECK(rows[0].is_opened);
	CHECK_STR(rows[6].name, "RLIMIT_CORE");
	CHECK(!rows[6].is_opened);
	CHECK_INT(rows[6].value, 1);
	CHECK_STR(rows[9].name, "RLIMIT_NOFILE");
	CHECK_INT(rows[9].value, 100);
}
