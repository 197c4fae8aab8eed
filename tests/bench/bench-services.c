/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-services [COUNT]: what a relay adds to a connection
 *
 *	round trip	100 bytes there and back, over a connection that is open
 *	connection	the same, with a connection of its own
 *	stream		64 MiB one way
 *
 * Each of them directly and through a confined relay, in turns, so that whatever else the machine
 * does meets both. Both ends and the relay are processes of this program, on the host's loopback.
 *Run by hand, on a quiet machine with three CPUs or more; with fewer the relay takes turns with
 *whom it serves, as it does in a run.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/mem.h"
#include "sandbox/relay.h"

enum { DIRECTLY, RELAYED, WAYS };
enum { ROUND_TRIP, CONNECTION, STREAM, KINDS };
enum { MESSAGE = 100, TRIPS = 100, STREAM_BYTES = 64 * 1024 * 1024, BLOCK = 64 * 1024 };

static const char *const kind_names[] = { "round trip", "connection", "stream" };

struct bench {
	size_t count;
	uint16_t echo[WAYS], sink[WAYS]; /* ports */
	int open[WAYS];                  /* connections to the echo */
	double *times[KINDS][WAYS];      /* microseconds */
};

no_return static void die(const char *what)
{
	fprintf(stderr, "bench-services: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int listen_anywhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	socklen_t len = sizeof(address);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (bind(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(fd, 128) < 0 || getsockname(fd, (struct sockaddr *) &address, &len) < 0)
		die("listen");
	*port = ntohs(address.sin_port);
	return fd;
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(INADDR_LOOPBACK) },
					     .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
		die("connect");
	return fd;
}

/* Says what it hears; of a sink, one byte when all is heard. */
no_return static void serve(int listener, bool is_sink)
{
	static char bytes[BLOCK];

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		ssize_t len;

		if (fd < 0 || fork() > 0) {
			close(fd);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while ((len = read(fd, bytes, sizeof(bytes))) > 0)
			if (!is_sink && write(fd, bytes, (size_t) len) != len)
				_exit(1);
		best_effort(write(fd, bytes, is_sink));
		_exit(0);
	}
}

static uint16_t start_server(bool is_sink)
{
	uint16_t port;
	int listener = listen_anywhere(&port);

	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(listener, is_sink);
	}
	close(listener);
	return port;
}

static int ignore_line(void *user, const struct relay_line *line, struct err *err)
{
	(void) user;
	(void) line;
	(void) err;
	return 0;
}

static void add_service(struct relay *relay, uint16_t to, uint16_t *port)
{
	struct relay_service *service = &relay->services[relay->count++];
	char text[32];

	snprintf(text, sizeof(text), "127.0.0.1:%u", to);
	*service = (struct relay_service){
		.connections = 16,
		.total = UINT64_MAX,
		.sent = UINT64_MAX,
		.received = UINT64_MAX,
		.idle_ms = UINT32_MAX,
	};
	service->listen_fd = listen_anywhere(port);
	if (fcntl(service->listen_fd, F_SETFL, O_NONBLOCK) < 0)
		die("fcntl");
	if (relay_endpoint_parse(text, &service->endpoint))
		die(text);
}

static void start_relay(struct bench *bench)
{
	struct relay relay = { .begun = clock_now(), .tell = ignore_line };
	struct relay_counts counts[NET_SERVICES_MAX];
	struct err err = ERR_INIT;
	pid_t parent = getpid();
	int payload[2], ours[2];

	add_service(&relay, bench->echo[DIRECTLY], &bench->echo[RELAYED]);
	add_service(&relay, bench->sink[DIRECTLY], &bench->sink[RELAYED]);
	if (pipe(payload) < 0 || pipe(ours) < 0)
		die("pipe");
	if (fork() > 0)
		return; /* the pipes' other ends stay open until we end */
	relay.payload_fd = payload[0];
	relay.parent_fd = ours[0];
	if (relay_confine((const int[]){ payload[0], ours[0], relay.services[0].listen_fd,
					 relay.services[1].listen_fd },
			  4, parent, 32, &err) < 0 ||
	    relay_run(&relay, counts, &err) < 0)
		_exit(1);
	_exit(0);
}

static void exchange(int fd)
{
	char bytes[MESSAGE] = "";

	if (write(fd, bytes, MESSAGE) != MESSAGE ||
	    recv(fd, bytes, MESSAGE, MSG_WAITALL) != MESSAGE)
		die("exchange");
}

static void stream(uint16_t port)
{
	static char bytes[BLOCK];
	int fd = connect_to(port);

	for (size_t left = STREAM_BYTES; left > 0; left -= BLOCK)
		if (write(fd, bytes, BLOCK) != BLOCK)
			die("stream");
	shutdown(fd, SHUT_WR);
	if (read(fd, bytes, 1) != 1)
		die("stream");
	close(fd);
}

static double measure(struct bench *bench, int kind, int way)
{
	const int64_t start = clock_now();
	int repeats = 1;

	if (kind == STREAM) {
		stream(bench->sink[way]);
	} else if (kind == ROUND_TRIP) {
		repeats = TRIPS;
		for (int i = 0; i < TRIPS; i++)
			exchange(bench->open[way]);
	} else {
		int fd = connect_to(bench->echo[way]);

		exchange(fd);
		close(fd);
	}
	return (double) (clock_now() - start) / 1e3 / repeats;
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median(double *times, size_t count)
{
	qsort(times, count, sizeof(*times), compare);
	return times[count / 2];
}

int main(int argc, char **argv)
{
	struct bench bench = { .count = argc > 1 ? strtoul(argv[1], NULL, 10) : 200 };

	if (bench.count < 10 || bench.count > 100000) {
		fprintf(stderr, "usage: bench-services [COUNT]\n");
		return 2;
	}
	bench.echo[DIRECTLY] = start_server(false);
	bench.sink[DIRECTLY] = start_server(true);
	start_relay(&bench);
	for (int way = 0; way < WAYS; way++)
		bench.open[way] = connect_to(bench.echo[way]);
	for (int kind = 0; kind < KINDS; kind++) {
		const size_t count = kind == STREAM ? bench.count / 10 : bench.count;
		double medians[WAYS];

		for (int way = 0; way < WAYS; way++)
			bench.times[kind][way] = mem_alloc(count, sizeof(double));
		for (size_t i = 0; i < count; i++)
			for (int k = 0; k < WAYS; k++) {
				int way = (k + (int) i) % WAYS;

				bench.times[kind][way][i] = measure(&bench, kind, way);
			}
		for (int way = 0; way < WAYS; way++)
			medians[way] = median(bench.times[kind][way], count);
		printf("%-10s  directly %9.1f us  relayed %9.1f us  added %8.1f us  x %.2f",
		       kind_names[kind], medians[DIRECTLY], medians[RELAYED],
		       medians[RELAYED] - medians[DIRECTLY], medians[RELAYED] / medians[DIRECTLY]);
		if (kind == STREAM)
			printf("  (%.0f and %.0f MiB/s)",
			       STREAM_BYTES / medians[DIRECTLY] / 1.048576,
			       STREAM_BYTES / medians[RELAYED] / 1.048576);
		printf("\n");
	}
	return 0;
}
