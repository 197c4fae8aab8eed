/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run/launcher.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

/*
 * The service, as a client of root's and as one that is not: e2e/44-service has the attacks, and
 * all that takes several accounts.
 */
enum { GROUP = 61000, MEMBER = 61001, PATIENCE_MS = 20 * 1000 };

static struct err err;
static char socket_path[108];
static pid_t service;

static void put_conf(const char *text)
{
	auto_fd fd =
		openat(check_folder(), "site.conf", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

no_return static void run_service(void)
{
	char socket[160], site[300];

	snprintf(socket, sizeof(socket), "--socket=%s", socket_path);
	snprintf(site, sizeof(site), "--site=%s/site.conf", check_folder_path());
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execl(PROGRAMS "/proctor-launcher", "proctor-launcher", "--listen", socket, site, NULL);
	_exit(127);
}

static void start_service(const char *conf)
{
	struct launcher launcher = LAUNCHER_INIT;

	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(fchmod(check_folder(), 0755) == 0);
	snprintf(socket_path, sizeof(socket_path), "%s/socket", check_folder_path());
	put_conf(conf);
	service = fork();
	CHECK(service >= 0);
	if (service == 0)
		run_service();
	for (int64_t deadline = clock_after_ms(PATIENCE_MS);
	     launcher_connect(socket_path, &launcher, &err) < 0; usleep(5000))
		if (clock_now() > deadline)
			check_fail(__FILE__, __LINE__, "no service: %s", err.text);
	launcher_done(&launcher);
}

static void end_service(void)
{
	int status;

	CHECK(kill(service, SIGTERM) == 0);
	CHECK(waitpid(service, &status, 0) == service);
	CHECK_INT(status, 0);
	CHECK(access(socket_path, F_OK) < 0);
}

static int run_script(const struct launcher *launcher, const char *script)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome;
	struct jail_spec spec;
	struct spec_fds fds;

	jails_spec(&spec, script);
	spec_fds_init(&fds);
	CHECK_OK(jail_run(launcher->socket_fd, &spec, &fds, &io, &outcome, &err));
	if (outcome.last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "%s", outcome.last.err.text);
	return outcome.last.result.code;
}

TEST(several_clients_are_served_over_one_socket)
{
	struct launcher one = LAUNCHER_INIT, two = LAUNCHER_INIT;

	start_service("group 61000\n");
	CHECK_OK(launcher_connect(socket_path, &one, &err));
	CHECK_OK(launcher_connect(socket_path, &two, &err));
	CHECK(one.is_service && one.process.pid_fd == -1);
	CHECK_INT(run_script(&one, "exit 3"), 3);
	CHECK_INT(run_script(&two, "exit 4"), 4);
	launcher_done(&one);
	CHECK_INT(run_script(&two, "exit 5"), 5);
	launcher_done(&two);
	end_service();
}

TEST(a_launcher_that_is_told_to_end_ends_its_jails_first)
{
	struct launcher launcher = LAUNCHER_INIT;
	struct jails jails;
	struct jails_held held;
	struct jail_spec spec;
	struct event event;

	start_service("group 61000\n");
	CHECK_OK(launcher_connect(socket_path, &launcher, &err));
	jails = (struct jails){ .launcher = launcher };
	jails_spec(&spec, "trap '' TERM; sleep 30 & wait; sleep 30");
	jails_open(&jails, &spec, NULL, &held);
	end_service();
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_ENDED);
	CHECK_INT(event.result.ending, ENDING_STOPPED);
	CHECK(jails_is_gone(&held, 0));
	jails_close(&held);
	launcher_done(&launcher);
}

/* As a member of the group, in a process of its own. */
static void as_member(void (*run)(void))
{
	const gid_t group = GROUP;
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(setgroups(1, &group) == 0 && setresgid(MEMBER, MEMBER, MEMBER) == 0 &&
		      setresuid(MEMBER, MEMBER, MEMBER) == 0);
		run();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

static void have_one_jail_of_two(void)
{
	struct launcher launcher = LAUNCHER_INIT;
	struct started_fds started;
	struct jail_spec spec;
	struct spec_fds fds;
	struct event event;
	int first, second;

	CHECK_OK(launcher_connect(socket_path, &launcher, &err));
	CHECK_INT(run_script(&launcher, "exit 6"), 6);
	jails_spec(&spec, "exec sleep 30");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = fds.fd[SPEC_FD_STDERR] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	first = wire_request(launcher.socket_fd, &spec, &fds, &err);
	CHECK_OK(wire_next(first, &event, &started, &err));
	CHECK_INT(event.kind, EVENT_STARTED);
	second = wire_request(launcher.socket_fd, &spec, &fds, &err);
	CHECK_OK(wire_next(second, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_FAILED);
	CHECK(strstr(event.err.text, "account 61001 has jails with 1 jails together"));
	CHECK(strstr(event.err.text, "raise 'client.jails' in"));
}

TEST(an_account_has_its_quota_and_root_none)
{
	struct launcher launcher = LAUNCHER_INIT;

	start_service("group 61000\nclient.jails 1\n");
	as_member(have_one_jail_of_two);
	CHECK_OK(launcher_connect(socket_path, &launcher, &err));
	for (int i = 0; i < 3; i++)
		CHECK_INT(run_script(&launcher, "exit 7"), 7);
	launcher_done(&launcher);
	end_service();
}

static void ask_about_timing(void)
{
	struct launcher launcher = LAUNCHER_INIT;

	CHECK_OK(launcher_connect(socket_path, &launcher, &err));
	CHECK_INT(wire_timing(launcher.socket_fd, TIMING_ASK_TURN, &err), 1);
	CHECK_INT(wire_timing(launcher.socket_fd, TIMING_LEAVE_TURN, &err), 1);
	CHECK_INT(run_script(&launcher, "exit 0"), 0); /* one does not get into the other's way */
	usleep(110 * 1000);                            /* it is for others first */
	CHECK_INT(wire_timing(launcher.socket_fd, TIMING_ASK_TURN, &err), 1);
}

TEST(questions_and_jails_go_over_one_connection)
{
	start_service("group 61000\n");
	as_member(ask_about_timing);
	usleep(110 * 1000);
	as_member(ask_about_timing); /* the first one's turn ended with it */
	end_service();
}

TEST(the_site_is_the_services_law)
{
	struct launcher launcher = LAUNCHER_INIT;
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome;
	struct jail_spec spec;
	struct spec_fds fds;

	start_service("group 61000\njail.pids 8\n");
	CHECK_OK(launcher_connect(socket_path, &launcher, &err));
	jails_spec(&spec, "exit 0");
	spec_fds_init(&fds);
	CHECK_OK(jail_run(launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK(strstr(outcome.last.err.text, "256 processes are more than the 8 that this host "
					    "allows a jail"));
	launcher_done(&launcher);
	end_service();
}
