/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/str.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

/*
 * A batch system in small: a job's groups, with limits, and a process in them that asks for jails.
 * The groups lie in the launchers' own folders, where no job of anybody's is.
 */
static struct cgroup_host host;
static struct cgroup_groups groups;
static struct cgroup_bounds bounds;
static struct err err;
static pid_t client;
static char job[32];

static void write_at(int dir_fd, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", job, file);
	CHECK_OK(io_write_kernel_file(dir_fd, path, text, &err));
}

static void copy_at(int dir_fd, const char *file)
{
	char text[1024];

	CHECK_OK(io_read_kernel_file(dir_fd, file, text, sizeof(text), &err));
	write_at(dir_fd, file, text);
}

static void make_job(void)
{
	char who[16];

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(cgroup_host_open(&host, &err));
	snprintf(job, sizeof(job), "test-job-%d", (int) getpid());
	client = fork();
	CHECK(client >= 0);
	if (client == 0) {
		pause();
		_exit(0);
	}
	snprintf(who, sizeof(who), "%d", (int) client);
	CHECK(mkdirat(host.unified_fd, job, 0755) == 0);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		CHECK(host.v1_fds[i] < 0 || mkdirat(host.v1_fds[i], job, 0755) == 0);
	if (host.v1_fds[CGROUP_CPUSET] >= 0) {
		copy_at(host.v1_fds[CGROUP_CPUSET], "cpuset.mems");
		copy_at(host.v1_fds[CGROUP_CPUSET], "cpuset.cpus");
	}
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (host.v1_fds[i] >= 0)
			write_at(host.v1_fds[i], "cgroup.procs", who);
	write_at(host.unified_fd, "cgroup.procs", who);
}

static void end_job(void)
{
	kill(client, SIGKILL);
	CHECK(waitpid(client, NULL, 0) == client);
	for (int try = 0; try < 100 && unlinkat(host.unified_fd, job, AT_REMOVEDIR) < 0; try++)
		usleep(10000);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		for (int try = 0; host.v1_fds[i] >= 0 && try < 100 &&
				  unlinkat(host.v1_fds[i], job, AT_REMOVEDIR) < 0;
		     try++)
			usleep(10000);
	cgroup_host_done(&host);
}

TEST(a_process_is_found_in_its_groups_and_only_looked_for_again_when_it_moves)
{
	make_job();
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 1);
	CHECK(strstr(groups.unified, job));
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		CHECK_INT(groups.v1[i][0] != '\0', host.v1_fds[i] >= 0);
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 0);
	CHECK_OK(io_write_kernel_file(host.unified_fd, "../cgroup.procs", "0", &err));
	CHECK_INT(cgroup_groups_of(getpid(), &groups, &err), 1);
	CHECK(!strstr(groups.unified, job));
	end_job();
	CHECK_INT(cgroup_groups_of(client, &groups, &err), -1);
}

TEST(the_limits_of_a_job_are_read_where_the_controllers_are)
{
	make_job();
	if (host.v1 != CGROUP_BIT(CGROUP_CONTROLLERS) - 1)
		SKIP("not all controllers are v1's here");
	write_at(host.v1_fds[CGROUP_MEMORY], "memory.limit_in_bytes", "134217728");
	write_at(host.v1_fds[CGROUP_PIDS], "pids.max", "33");
	write_at(host.v1_fds[CGROUP_CPU], "cpu.cfs_quota_us", "150000");
	write_at(host.v1_fds[CGROUP_CPUSET], "cpuset.cpus", "0");
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 1);
	CHECK_OK(cgroup_bounds_read(&groups, &host, &bounds, &err));
	CHECK_INT(bounds.memory, 134217728);
	CHECK_INT(bounds.pids, 33);
	CHECK_INT(bounds.cpu_milli, 1500);
	CHECK_STR(bounds.cpus, "0");
	/* The launchers' folder is no group of the client's: what is there counts for itself. */
	CHECK_INT(bounds.level_count, 3);
	CHECK_INT(bounds.levels[0].memory, 134217728);
	CHECK(bounds.levels[0].id != 0);
	write_at(host.v1_fds[CGROUP_PIDS], "pids.max", "max");
	CHECK_OK(cgroup_bounds_read(&groups, &host, &bounds, &err));
	CHECK_INT(bounds.pids, CGROUP_ANY);
	end_job();
}

TEST(jails_of_a_job_lie_in_its_groups_and_are_held_to_its_limits)
{
	const struct cgroup_limits limits = { .memory = 512 * MIB, .pids = 200 };
	struct cgroup_host inside = CGROUP_HOST_INIT;
	struct cgroup leaf = CGROUP_INIT;
	cleanup(str_done) struct str path = STR_INIT;
	int fds[CGROUP_CONTROLLERS], status;
	char byte = '0';
	pid_t pid;

	make_job();
	if (host.v1 != CGROUP_BIT(CGROUP_CONTROLLERS) - 1)
		SKIP("not all controllers are v1's here");
	write_at(host.v1_fds[CGROUP_PIDS], "pids.max", "4");
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 1);
	CHECK_OK(cgroup_host_open_for(&groups, client, 0, &host, &inside, &err));
	str_addf(&path, "%s/proctor", groups.v1[CGROUP_PIDS]);
	CHECK_STR(inside.v1_paths[CGROUP_PIDS], path.text);
	CHECK_OK(cgroup_bounds_read(&groups, &inside, &bounds, &err));
	CHECK_INT(bounds.pids, 4);
	CHECK_INT(bounds.level_count, 0);   /* the kernel holds jails to all of them */
	CHECK_INT(bounds.cpus_are_held, 0); /* unless a jail names CPUs, it has no leaf there */
	CHECK_OK(cgroup_create(&inside, "test-leaf", &limits, &leaf, &err));
	CHECK_OK(cgroup_join_fds(&leaf, fds, &err));
	pid = fork();
	if (pid == 0) {
		int forks = 0;

		for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
			CHECK(fds[i] < 0 || write(fds[i], &byte, 1) == 1);
		while (forks < 20) {
			pid_t child = fork();

			if (child == 0) {
				pause();
				_exit(0);
			}
			if (child < 0)
				break;
			forks++;
		}
		_exit(forks);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(WEXITSTATUS(status), 2); /* the client, the jail's first process, and two */
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		fd_close(&fds[i]);
	{
		char text[256], *rest = text;
		char file[64] = "test-leaf/cgroup.procs";

		CHECK_OK(io_read_kernel_file(inside.v1_fds[CGROUP_PIDS], file, text, sizeof(text),
					     &err));
		for (char *end; *rest; rest = end) {
			long one = strtol(rest, &end, 10);

			if (end == rest)
				break;
			kill((pid_t) one, SIGKILL);
		}
	}
	CHECK_OK(cgroup_remove(&leaf, &err));
	cgroup_host_done(&inside);
	str_clear(&path);
	str_addf(&path, "%s/proctor", groups.v1[CGROUP_PIDS]);
	CHECK(access(path.text, F_OK) < 0); /* nothing that keeps the job from being removed */
	end_job();
}

TEST(a_job_that_loses_its_last_process_says_so)
{
	struct pollfd event = { .events = POLLPRI };

	make_job();
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 1);
	event.fd = cgroup_groups_events_fd(&groups);
	CHECK(event.fd >= 0);
	CHECK_INT(poll(&event, 1, 0), 0);
	kill(client, SIGKILL);
	CHECK_INT(poll(&event, 1, 5000), 1);
	close(event.fd);
	end_job();
}

TEST(the_root_group_has_no_events)
{
	struct cgroup_groups root = { .unified = "/sys/fs/cgroup/none" };

	CHECK_INT(cgroup_groups_events_fd(&root), -1);
}

TEST(a_folder_that_a_client_has_made_in_its_own_group_is_refused)
{
	struct cgroup_host inside = CGROUP_HOST_INIT;
	char path[64];

	make_job();
	CHECK_INT(cgroup_groups_of(client, &groups, &err), 1);
	if (host.v1_fds[CGROUP_PIDS] < 0)
		SKIP("not all controllers are v1's here");
	snprintf(path, sizeof(path), "%s/proctor", job);
	CHECK(mkdirat(host.v1_fds[CGROUP_PIDS], path, 0777) == 0);
	CHECK(fchownat(host.v1_fds[CGROUP_PIDS], path, 12345, 12345, 0) == 0);
	CHECK_INT(cgroup_host_open_for(&groups, client, 0, &host, &inside, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "belongs to user 12345, not to root: remove it"));
	CHECK(unlinkat(host.v1_fds[CGROUP_PIDS], path, AT_REMOVEDIR) == 0);
	end_job();
}
