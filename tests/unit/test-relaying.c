/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/relaying.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

/* Jails with services, and a server on the host that says "heard: " and what it heard. */

static struct jails jails;
static struct jail_spec spec;
static struct err err;
static struct service items[2];
static struct services services = { items, 0 };
static char endpoint[64];
static pid_t server;

static int listen_anywhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	CHECK(bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0);
	CHECK(listen(fd, 128) == 0);
	CHECK(getsockname(fd, (struct sockaddr *) &address, &len) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

no_return static void serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		char text[256];
		ssize_t len;

		while ((len = read(fd, text, sizeof(text))) > 0) {
			best_effort(write(fd, "heard: ", 7));
			best_effort(write(fd, text, (size_t) len));
		}
		close(fd);
	}
}

static void start_server(void)
{
	uint16_t port;
	int listener = listen_anywhere(&port);

	snprintf(endpoint, sizeof(endpoint), "127.0.0.1:%u", port);
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing */
		serve(listener);
	}
	close(listener);
}

static void stop_server(void)
{
	CHECK(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server);
}

static struct service *add_service(const char *name, uint64_t port, const char *connect)
{
	struct service *service = &items[services.count++];

	*service = service_default;
	service->name = name;
	service->listen = port;
	service->connect = connect;
	return service;
}

/* What a bash can do with sockets. */
static void make_spec(const char *script)
{
	spec_init(&spec, "test");
	spec.time.wall_ms = 20 * 1000;
	spec.time.grace_ms = 100;
	CHECK_OK(spec_add_arg(&spec, "/bin/bash", &err));
	CHECK_OK(spec_add_arg(&spec, "-c", &err));
	CHECK_OK(spec_add_arg(&spec, script, &err));
	CHECK_OK(spec_add_env(&spec, "PATH=/usr/bin:/bin", &err));
	for (size_t i = 0; i < services.count; i++)
		spec.net.ports[spec.net.count++] = (uint32_t) items[i].listen;
}

static struct jail_outcome run(const char *script, int log_fd)
{
	const struct jail_io io = {
		.folder_fd = check_folder(),
		.name = "a",
		.output_max = MIB,
		.stop_fd = -1,
		.services = &services,
		.services_log_fd = log_fd,
	};
	struct jail_outcome outcome;
	struct spec_fds fds;

	make_spec(script);
	spec_fds_init(&fds);
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	return outcome;
}

static int new_log(void)
{
	int fd = openat(check_folder(), "log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	return fd;
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

TEST(a_program_in_a_jail_asks_and_is_answered_from_outside_and_a_line_says_so)
{
	struct jail_outcome outcome;
	struct relaying_flag flags[RELAYING_FLAGS_MAX];
	auto_fd log = -1;

	if (geteuid() != 0)
		SKIP("needs root");
	start_server();
	jails_start(&jails);
	add_service("echo", 8080, endpoint);
	log = new_log();
	outcome = run(
		"exec 3<>/dev/tcp/127.0.0.1/8080; echo hello >&3; read -r line <&3; echo \"$line\"",
		log);
	CHECK_STR(jails_text("a.stdout"), "heard: hello\n");
	CHECK_INT(outcome.services.count, 1);
	CHECK_INT(outcome.services.services[0].connections, 1);
	CHECK_INT(outcome.services.services[0].sent, 6);
	CHECK_INT(outcome.services.services[0].received, 13);
	CHECK_INT(relaying_flags(&services, &outcome.services, flags), 0);
	CHECK(strstr(jails_text("log"), "{\"service\":\"echo\",\"connection\":1,\"opened_ns\":"));
	CHECK(strstr(jails_text("log"), "\"sent\":6,\"received\":13,\"ended\":\""));
	CHECK(strstr(jails_text("log"),
		     "{\"service\":\"echo\",\"connections\":1,\"refused\":0,\"unreachable\":0,"
		     "\"sent\":6,\"received\":13,\"capped\":[],\"unlogged\":0}\n"));
	fd_close(&log);
	stop_server();
	jails_end(&jails);
}

TEST(nothing_else_of_the_host_is_reached_and_the_port_is_nobody_elses)
{
	char script[512];

	if (geteuid() != 0)
		SKIP("needs root");
	start_server();
	jails_start(&jails);
	add_service("echo", 8080, endpoint);
	snprintf(script, sizeof(script),
		 "(exec 3<>/dev/tcp/127.0.0.1/%s) 2>/dev/null || echo closed; "
		 "(exec 3<>/dev/tcp/127.0.0.1/8081) 2>/dev/null || echo closed; "
		 "(exec 3<>/dev/tcp/127.0.0.2/8080) 2>/dev/null || echo closed",
		 strchr(endpoint, ':') + 1);
	run(script, 0);
	CHECK_STR(jails_text("a.stdout"), "closed\nclosed\nclosed\n");
	stop_server();
	jails_end(&jails);
}

TEST(an_endpoint_that_is_absent_and_a_cap_that_is_met_are_flags)
{
	struct relaying_flag flags[RELAYING_FLAGS_MAX];
	struct jail_outcome outcome;
	auto_fd log = -1;

	if (geteuid() != 0)
		SKIP("needs root");
	start_server();
	jails_start(&jails);
	add_service("gone", 80, "unix:/nonexistent/socket");
	add_service("echo", 81, endpoint)->total = 1;
	log = new_log();
	outcome = run("for port in 80 81 81 81; do (exec 3<>/dev/tcp/127.0.0.1/$port; echo x >&3; "
		      "read -r line <&3; echo \"$port $line\") 2>/dev/null; done; exit 0",
		      log);
	CHECK_INT(outcome.last.result.ending, ENDING_EXITED);
	CHECK(strstr(jails_text("a.stdout"), "81 heard: x\n"));
	CHECK_INT(relaying_flags(&services, &outcome.services, flags), 2);
	CHECK_STR(flags[0].text, "service_unreachable:gone");
	CHECK_STR(flags[1].text, "service_capped:echo");
	CHECK(strstr(jails_text("log"), "\"ended\":\"unreachable\",\"error\":\"No such file or "
					"directory\"}\n"));
	CHECK(strstr(jails_text("log"), "\"capped\":[\"total\"]"));
	CHECK_INT(count_of(jails_text("log"), "\"ended\":\"total\""), 1);
	fd_close(&log);
	stop_server();
	jails_end(&jails);
}

/* The relay that @parent has started, if it has. */
static pid_t wait_for_relay(pid_t parent)
{
	int64_t deadline = clock_after_ms(20 * 1000);
	pid_t found;

	while ((found = jails_child(parent, "proctor-relay")) == 0) {
		CHECK(clock_now() < deadline);
		poll(NULL, 0, 5);
	}
	return found;
}

static bool is_gone(pid_t pid)
{
	int64_t deadline = clock_after_ms(10 * 1000);
	char path[64], text[512];
	struct err ignored = ERR_INIT;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	for (;;) {
		const char *end;

		if (io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &ignored) < 0)
			return true;
		end = strrchr(text, ')');
		if (end && (end[2] == 'Z' || end[2] == 'X'))
			return true;
		if (clock_now() > deadline)
			return false;
		poll(NULL, 0, 5);
	}
}

TEST(a_relay_ends_with_who_has_started_it_and_so_does_the_jail)
{
	pid_t client, relay;

	if (geteuid() != 0)
		SKIP("needs root");
	jails_start(&jails);
	add_service("echo", 8080, "127.0.0.1:1");
	client = fork();
	if (client == 0) {
		run("sleep 30", 0);
		_exit(0);
	}
	relay = wait_for_relay(client);
	CHECK(kill(client, SIGKILL) == 0 && waitpid(client, NULL, 0) == client);
	CHECK(is_gone(relay));
	jails_end(&jails);
}

TEST(a_relay_that_dies_ends_its_jail_and_is_our_failure)
{
	pid_t client, relay;
	int status = 0;

	if (geteuid() != 0)
		SKIP("needs root");
	jails_start(&jails);
	add_service("echo", 8080, "127.0.0.1:1");
	client = fork();
	if (client == 0) {
		const struct jail_io io = {
			.folder_fd = -1, .output_max = MIB, .stop_fd = -1, .services = &services
		};
		struct jail_outcome outcome;
		struct spec_fds fds;

		make_spec("sleep 15");
		spec_fds_init(&fds);
		_exit(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err) < 0 &&
				      strcmp(err.text, "the relay of the services was ended by "
						       "signal 9") == 0
			      ? 0
			      : 1);
	}
	relay = wait_for_relay(client);
	CHECK(kill(relay, SIGKILL) == 0);
	CHECK(waitpid(client, &status, 0) == client);
	CHECK_INT(status, 0);
	jails_end(&jails);
}

TEST(two_jails_with_the_same_port_reach_each_its_own_endpoint)
{
	struct jail_outcome outcome;
	int status = 0;
	pid_t other;

	if (geteuid() != 0)
		SKIP("needs root");
	start_server();
	jails_start(&jails);
	add_service("echo", 8080, endpoint);
	other = fork();
	if (other == 0) {
		/* Nobody is there for this one. */
		const struct jail_io io = {
			.folder_fd = -1, .output_max = MIB, .stop_fd = -1, .services = &services
		};
		struct spec_fds fds;

		items[0].connect = "127.0.0.1:1";
		make_spec("for i in 1 2 3 4 5 6 7 8 9; do exec 3<>/dev/tcp/127.0.0.1/8080; echo x "
			  ">&3; read -r l <&3 && exit 1; sleep 0.05; done; exit 0");
		spec_fds_init(&fds);
		_exit(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err) == 0 &&
				      outcome.last.result.ending == ENDING_EXITED
			      ? outcome.last.result.code
			      : 9);
	}
	outcome = run("for i in 1 2 3 4 5 6 7 8 9; do exec 3<>/dev/tcp/127.0.0.1/8080; echo x >&3; "
		      "read -r l <&3; [ \"$l\" = 'heard: x' ] || exit 1; sleep 0.05; done",
		      0);
	CHECK_INT(outcome.last.result.ending, ENDING_EXITED);
	CHECK_INT(outcome.last.result.code, 0);
	CHECK_INT(outcome.services.services[0].connections, 9);
	CHECK(waitpid(other, &status, 0) == other);
	CHECK_INT(status, 0);
	stop_server();
	jails_end(&jails);
}

TEST(the_log_is_bounded_and_says_how_much_it_left_out)
{
	struct jail_outcome outcome;
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd log = -1;
	off_t size;

	if (geteuid() != 0)
		SKIP("needs root");
	jails_start(&jails);
	add_service("gone", 80, "unix:/nonexistent/socket");
	log = new_log();
	outcome = run("i=0; while [ $i -lt 9000 ]; do (exec 3<>/dev/tcp/127.0.0.1/80) 2>/dev/null; "
		      "i=$((i + 1)); done; exit 0",
		      log);
	size = lseek(log, 0, SEEK_END);
	CHECK(outcome.services.services[0].unreachable > 8000);
	CHECK(outcome.services.unlogged > 0);
	CHECK(size <= RELAYING_LOG_MAX + 4096);
	CHECK_OK(io_read_file(check_folder(), "log", 2 * MIB, &text, &err));
	CHECK_INT(count_of(text.text, "\n") - 1 + outcome.services.unlogged,
		  outcome.services.services[0].unreachable);
	fd_close(&log);
	jails_end(&jails);
}

TEST(sockets_that_are_too_few_are_no_services)
{
	const struct started_fds started = STARTED_FDS_INIT;
	struct relaying relaying = RELAYING_INIT;

	add_service("echo", 8080, "127.0.0.1:1");
	CHECK_INT(relaying_start(&services, &started, -1, &relaying, &err), -1);
	CHECK_STR(err.text, "the launcher sent 0 sockets for 1 services");
}
