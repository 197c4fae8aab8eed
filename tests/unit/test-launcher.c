/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

static void put_script(const char *name, const char *text)
{
	auto_fd fd = openat(check_folder(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

TEST(a_program_is_looked_for_in_the_folder_first)
{
	struct err err = ERR_INIT;
	char text[16] = "";
	auto_fd fd = -1;

	put_script("proctor-thing", "here");
	fd = launcher_open_program(check_folder_path(), "proctor-thing", &err);
	CHECK(fd >= 0);
	CHECK_INT(read(fd, text, sizeof(text)), 4);
	CHECK_STR(text, "here");
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(a_program_that_is_nowhere_is_the_hosts_fault_and_both_places_are_named)
{
	struct err err = ERR_INIT;

	CHECK_INT(launcher_open_program("/nonexistent", "proctor-thing", &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text,
		  "open 'proctor-thing', which is neither in '/nonexistent' nor in '" LIBEXECDIR
		  "': No such file or directory");
	err = (struct err) ERR_INIT;
	CHECK_INT(launcher_open_program(NULL, "proctor-thing", &err), -1);
	CHECK_STR(err.text, "open 'proctor-thing', which is not in '" LIBEXECDIR
			    "': No such file or directory");
}

TEST(a_launcher_starts_and_ends_with_its_socket_and_leaves_nothing)
{
	struct jails jails;

	jails_start(&jails);
	CHECK_INT(jails_children(getpid(), NULL), 1);
	jails_end(&jails);
}

TEST(a_launcher_that_is_done_twice_is_done_once)
{
	struct jails jails;

	jails_start(&jails);
	launcher_done(&jails.launcher);
	CHECK_INT(jails.launcher.socket_fd, -1);
	CHECK_INT(jails.launcher.process.pid_fd, -1);
	launcher_done(&jails.launcher);
	CHECK_INT(jails_count_fds(getpid()), jails.fds);
}

TEST(a_launcher_that_was_killed_is_not_waited_for)
{
	struct jails jails;
	int64_t before;

	jails_start(&jails);
	CHECK_INT(kill(jails.launcher.process.pid, SIGKILL), 0);
	before = clock_now();
	launcher_done(&jails.launcher);
	CHECK(clock_now() - before < 5 * NS_PER_S);
	CHECK_INT(jails_count_fds(getpid()), jails.fds);
}

TEST(without_root_the_launchers_own_words_come_back)
{
	struct launcher launcher = LAUNCHER_INIT;
	struct err err = ERR_INIT;
	int fds = jails_count_fds(getpid());

	if (geteuid() == 0)
		CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
		      prctl(PR_SET_DUMPABLE, 1) == 0);
	CHECK_INT(launcher_start(PROGRAMS, &launcher, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "launcher: proctor's launcher needs root: use sudo");
	CHECK_INT(launcher.socket_fd, -1);
	CHECK_INT(jails_count_fds(getpid()), fds);
	CHECK_INT(jails_children(getpid(), NULL), 0);
}

TEST(a_launcher_that_dies_at_once_is_an_error)
{
	struct launcher launcher = LAUNCHER_INIT;
	struct err err = ERR_INIT;

	put_script("proctor-launcher", "#!/bin/false\n");
	CHECK_INT(launcher_start(check_folder_path(), &launcher, &err), -1);
	CHECK_STR(err.text, "launcher: the launcher has gone without a word");
	CHECK_INT(jails_children(getpid(), NULL), 0);
}

static void check_not_connected(const char *path, const char *part)
{
	struct launcher launcher = LAUNCHER_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(launcher_connect(path, &launcher, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' lacks '%s'", err.text, part);
	CHECK_INT(launcher.socket_fd, -1);
}

/* A socket in our folder. */
static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CHECK(bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0);
	return fd;
}

TEST(a_service_that_is_not_there_or_not_for_us_is_told_with_a_way_out)
{
	char path[108], name[300];
	int fd;

	check_folder();
	snprintf(path, sizeof(path), "%s/socket", check_folder_path());
	check_not_connected(path, "use sudo; or the service of a shared node, which is not there");
	fd = listen_at(path);
	check_not_connected(path, "nobody serves");
	CHECK(listen(fd, 1) == 0);
	if (geteuid() != 0)
		SKIP("needs root");
	/* One that root has not started is believed nothing. */
	close(fd);
	CHECK(unlink(path) == 0 && fchmod(check_folder(), 0777) == 0);
	CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	fd = listen_at(path);
	CHECK(listen(fd, 1) == 0);
	check_not_connected(path, "is served by account 65534, not by root");
	CHECK(chmod(path, 0) == 0);
	check_not_connected(path, "this account may not use proctor's launcher");
	check_not_connected(path, "(usermod -aG nogroup NAME)");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check_not_connected(name, "is too long");
}

/* What a client says that is no request of this version: it is told so, and the next is served. */
TEST(nonsense_is_answered_and_others_are_served)
{
	struct message_fds fds = MESSAGE_FDS_INIT;
	struct jail_outcome outcome;
	struct err err = ERR_INIT;
	struct jail_spec spec;
	struct jails jails;
	struct event event;
	int pair[2];

	jails_start(&jails);
	CHECK_OK(message_pair(pair, &err));
	fds.fd[fds.count++] = pair[1];
	CHECK_OK(message_send(jails.launcher.socket_fd, "nonsense", 8, &fds, &err));
	close(pair[1]);
	CHECK_OK(wire_next(pair[0], &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_FAILED);
	CHECK_STR(event.err.text, "a request of another version of proctor");
	CHECK_OK(wire_next(pair[0], &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_LOST);
	close(pair[0]);
	CHECK_OK(message_send(jails.launcher.socket_fd, "nonsense", 8, NULL, &err));
	jails_spec(&spec, "exit 6");
	outcome = jails_run(&jails, &spec, "next", MIB);
	CHECK_INT(outcome.last.result.code, 6);
	jails_end(&jails);
}

/* The spare is a child of the next jail's: it has a socket and a pidfd here. */
TEST(a_launcher_keeps_no_descriptor_and_no_child_of_jails_that_are_over)
{
	enum { SPARE = 1, SPARE_FDS = 2 };
	struct jail_outcome outcome;
	struct jail_spec spec;
	struct jails jails;
	int fds;

	jails_start(&jails);
	fds = jails_count_fds(jails.launcher.process.pid);
	jails_spec(&spec, "exit 0");
	for (int i = 0; i < 3; i++) {
		char name[2] = { (char) ('a' + i), '\0' };

		outcome = jails_run(&jails, &spec, name, MIB);
		CHECK_INT(outcome.last.kind, EVENT_ENDED);
	}
	/* On a busy machine a jail is over before the launcher has seen it begin. */
	for (int64_t deadline = clock_after_ms(5000);
	     jails_children(jails.launcher.process.pid, NULL) > SPARE ||
	     jails_count_fds(jails.launcher.process.pid) != fds + SPARE_FDS;)
		CHECK(clock_now() < deadline);
	jails_end(&jails);
}
