/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/jail.h"
#include "tests/lib/check.h"

/*
 * Leases and control groups of our own: what is cleared up here has the names that jails of other
 * launchers have, so none of it may be in the folder that launchers share.
 */
static struct cgroup_host shared = CGROUP_HOST_INIT, ours = CGROUP_HOST_INIT;
static struct cgroup_groups groups;
static struct jail_host host;
static struct err err;
static char job[48];

static void copy_cpuset(const char *file)
{
	char text[1024], path[128];
	int fd = shared.v1_fds[CGROUP_CPUSET];

	snprintf(path, sizeof(path), "%s/%s", job, file);
	CHECK_OK(io_read_kernel_file(fd, file, text, sizeof(text), &err));
	CHECK_OK(io_write_kernel_file(fd, path, text, &err));
}

static void name_group(char *out, size_t *mount, const char *folder)
{
	snprintf(out, CGROUP_PATH_MAX, "%s/%s", folder, job);
	*mount = strlen("/sys/fs/cgroup");
}

/* A group of this test in each hierarchy, and launchers' folders in it. */
static void begin(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(cgroup_host_open(&shared, &err));
	if (shared.v1 != CGROUP_BIT(CGROUP_CONTROLLERS) - 1)
		SKIP("not all controllers are v1's here");
	snprintf(job, sizeof(job), "test-lease-%d", (int) getpid());
	CHECK(mkdirat(shared.unified_fd, job, 0755) == 0);
	name_group(groups.unified, &groups.unified_mount, shared.path);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		CHECK(mkdirat(shared.v1_fds[i], job, 0755) == 0);
		name_group(groups.v1[i], &groups.v1_mount[i], shared.v1_paths[i]);
	}
	copy_cpuset("cpuset.mems");
	copy_cpuset("cpuset.cpus");
	CHECK_OK(cgroup_host_open_for(&groups, getpid(), 0, &shared, &ours, &err));
	CHECK(strstr(ours.path, job));
	host = (struct jail_host){ .cgroups = &ours,
				   .state_fd = check_folder(),
				   .range_count = 3,
				   .over_fd = -1,
				   .ties = TIES_INIT };
}

/* Nothing keeps the groups that a client's jails were in from going. */
static void end(void)
{
	cgroup_host_done(&ours);
	CHECK(unlinkat(shared.unified_fd, job, AT_REMOVEDIR) == 0);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		CHECK(unlinkat(shared.v1_fds[i], job, AT_REMOVEDIR) == 0);
	cgroup_host_done(&shared);
}

static off_t size_of(const char *name)
{
	struct stat info;

	CHECK(fstatat(check_folder(), name, &info, 0) == 0);
	return info.st_size;
}

TEST(a_leaf_is_named_after_its_lease)
{
	char leaf[64];

	jail_name_leaf(7, leaf, sizeof(leaf));
	CHECK_STR(leaf, "uids-0007");
	jail_name_leaf(65533, leaf, sizeof(leaf));
	CHECK_STR(leaf, "uids-65533");
}

static void note(uint32_t number, const char *text)
{
	struct lease lease = LEASE_INIT;

	CHECK_INT(lease_try(check_folder(), JAIL_LEASE, number, &lease, &err), 1);
	CHECK_OK(lease_note(&lease, text, &err));
	lease_done(&lease);
}

TEST(who_takes_a_lease_notes_where_his_groups_are)
{
	char text[CGROUP_PLACES_MAX], want[CGROUP_PLACES_MAX];
	struct lease lease = LEASE_INIT;

	begin();
	note(0, "v2 /sys/fs/cgroup/no/such/folder\n");
	host.range_count = 1;
	CHECK_OK(jail_take_lease(&host, &lease, &err));
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	cgroup_places_text(&ours, want);
	CHECK_STR(text, want);
	CHECK_INT(jail_take_lease(&host, &lease, &err), -1);
	CHECK_STR(err.text, "all 1 leases of 'uids' are taken: too many jails at once");
	lease_done(&lease);
	end();
}

TEST(where_none_can_be_had_it_is_said_why)
{
	struct lease held = LEASE_INIT, lease = LEASE_INIT;

	begin();
	host.range_count = 2;
	CHECK_OK(jail_take_lease(&host, &held, &err));
	note(1, "nonsense\n");
	CHECK_INT(jail_take_lease(&host, &lease, &err), -1);
	CHECK_STR(err.text, "of the 2 leases of 'uids' 1 are taken, and of 1 the control groups of "
			    "an earlier jail can not be removed: a line of a lease is 'nonsense'");
	/* Which is not found out anew each time. */
	CHECK_INT(jail_take_lease(&host, &lease, &err), -1);
	CHECK_STR(err.text, "of the 2 leases of 'uids' 1 are taken, and of 1 the control groups of "
			    "an earlier jail can not be removed");
	lease_done(&held);
	end();
}

TEST(who_gives_back_a_lease_that_he_could_not_clear_says_so)
{
	char text[CGROUP_PLACES_MAX];
	struct lease lease = LEASE_INIT;

	begin();
	note(0, "v2 /sys/fs/cgroup/no/such/folder\n");
	CHECK_INT(lease_try(check_folder(), JAIL_LEASE, 0, &lease, &err), 1);
	for (int i = 0; i < 2; i++) {
		jail_leave_stuck(&lease);
		CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
		CHECK_STR(text, "stuck\nv2 /sys/fs/cgroup/no/such/folder\n");
	}
	lease_done(&lease);
	CHECK_OK(jail_take_lease(&host, &lease, &err));
	CHECK_INT(lease.number, 1);
	lease_done(&lease);
	end();
}

TEST(a_lease_that_can_not_be_cleared_is_passed_over_until_it_can)
{
	char text[CGROUP_PLACES_MAX];
	struct lease lease = LEASE_INIT;

	begin();
	note(0, "nonsense");
	CHECK_OK(jail_take_lease(&host, &lease, &err));
	CHECK_INT(lease.number, 1);
	lease_done(&lease);
	CHECK_INT(lease_try(check_folder(), JAIL_LEASE, 0, &lease, &err), 1);
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	CHECK_STR(text, "stuck\nnonsense");
	lease_done(&lease);
	/* What resists goes on to be passed over, at once. */
	jail_reap(&host);
	CHECK_OK(jail_take_lease(&host, &lease, &err));
	CHECK_INT(lease.number, 1);
	lease_done(&lease);
	note(0, "stuck\nv2 /sys/fs/cgroup/no/such/folder\n");
	jail_reap(&host);
	CHECK_INT(size_of("uids-0000.lock"), 0);
	CHECK_OK(jail_take_lease(&host, &lease, &err));
	CHECK_INT(lease.number, 0);
	lease_done(&lease);
	end();
}

TEST(what_a_dead_monitor_left_is_reaped_also_by_a_launcher_that_is_elsewhere)
{
	const struct cgroup_limits limits = { .memory = 64 * MIB, .pids = 9 };
	struct cgroup_host other = CGROUP_HOST_INIT;
	struct cgroup leaf = CGROUP_INIT;
	char text[CGROUP_PLACES_MAX], path[128], who[16];
	int status;
	pid_t pid;

	begin();
	/* The same groups, one level down in v2: as another client's job. */
	CHECK(mkdirat(ours.unified_fd, "other", 0755) == 0);
	snprintf(groups.unified, sizeof(groups.unified), "%s/other", ours.path);
	CHECK_OK(cgroup_host_open_for(&groups, getpid(), 0, &shared, &other, &err));
	CHECK_OK(cgroup_create(&other, "uids-0002", &limits, &leaf, &err));
	cgroup_places_text(&other, text);
	note(2, text);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(who, sizeof(who), "%d", (int) pid);
	snprintf(path, sizeof(path), "uids-0002/cgroup.procs");
	CHECK_OK(io_write_kernel_file(other.unified_fd, path, who, &err));
	cgroup_done(&leaf);
	cgroup_host_done(&other);
	jail_reap(&host);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(size_of("uids-0002.lock"), 0);
	CHECK(unlinkat(ours.unified_fd, "other", AT_REMOVEDIR) == 0); /* its folder went as well */
	end();
}
