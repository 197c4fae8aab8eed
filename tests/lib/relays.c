/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/relays.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

enum { PATIENCE_MS = 20 * 1000 };

struct relay relays_relay;
int relays_endpoints[NET_SERVICES_MAX];
static uint16_t ports[NET_SERVICES_MAX];
int relays_lines_fd, relays_payload_fd, relays_parent_fd;
static int counts_fd;
pid_t relays_child;
static struct err err;

static int listen_anywhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(address);

	CHECK(bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0);
	CHECK(listen(fd, 128) == 0);
	CHECK(getsockname(fd, (struct sockaddr *) &address, &len) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* With caps that nothing here meets by itself. */
void relays_add_service(void)
{
	struct relay_service *service = &relays_relay.services[relays_relay.count];
	char text[64];
	uint16_t port;

	relays_endpoints[relays_relay.count] = listen_anywhere(&port);
	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	*service = (struct relay_service){
		.connections = 16,
		.total = 100000,
		.sent = GIB,
		.received = GIB,
		.idle_ms = PATIENCE_MS,
	};
	service->listen_fd = listen_anywhere(&ports[relays_relay.count]);
	CHECK(!relay_endpoint_parse(text, &service->endpoint));
	relays_relay.count++;
}

static int tell(void *user, const struct relay_line *line, struct err *why)
{
	return io_write_all(*(const int *) user, line, sizeof(*line), "a line", why);
}

void relays_start(void)
{
	int lines[2], sums[2], payload[2], parent[2];

	CHECK(pipe(lines) == 0 && pipe(sums) == 0 && pipe(payload) == 0 && pipe(parent) == 0);
	relays_child = fork();
	if (relays_child == 0) {
		struct relay_counts counts[NET_SERVICES_MAX];

		close(payload[1]);
		close(parent[1]);
		close(lines[0]);
		for (uint32_t i = 0; i < relays_relay.count; i++)
			close(relays_endpoints[i]);
		relays_relay.payload_fd = payload[0];
		relays_relay.parent_fd = parent[0];
		relays_relay.begun = clock_now();
		relays_relay.tell = tell;
		relays_relay.user = &lines[1];
		if (relay_run(&relays_relay, counts, &err) < 0)
			_exit(1);
		_exit(write(sums[1], counts, sizeof(counts)) == sizeof(counts) ? 0 : 2);
	}
	close(lines[1]);
	close(sums[1]);
	close(payload[0]);
	close(parent[0]);
	relays_lines_fd = lines[0];
	counts_fd = sums[0];
	relays_payload_fd = payload[1];
	relays_parent_fd = parent[1];
	for (uint32_t i = 0; i < relays_relay.count; i++)
		close(relays_relay.services[i].listen_fd);
}

struct relay_line relays_next_line(void)
{
	struct pollfd ready = { .fd = relays_lines_fd, .events = POLLIN };
	struct relay_line line = { .service = 0 };

	if (poll(&ready, 1, PATIENCE_MS) != 1)
		check_fail(__FILE__, __LINE__, "the relay says nothing");
	CHECK_OK(io_read_exact(relays_lines_fd, &line, sizeof(line), "a line", &err));
	return line;
}

struct relay_line relays_expect_line(enum relay_how how)
{
	struct relay_line line = relays_next_line();

	CHECK_STR(names_text(relay_how_names, (int) line.how),
		  names_text(relay_how_names, (int) how));
	CHECK(line.closed_ns >= line.opened_ns && line.opened_ns >= 0);
	return line;
}

/* The jail is over: what the relay has to say of its services. */
void relays_finish(struct relay_counts counts[NET_SERVICES_MAX])
{
	int status = -1;

	close(relays_payload_fd);
	CHECK_OK(io_read_exact(counts_fd, counts, NET_SERVICES_MAX * sizeof(*counts), "counts",
			       &err));
	CHECK(waitpid(relays_child, &status, 0) == relays_child);
	CHECK_INT(status, 0);
}

int relays_knock(uint32_t service)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(INADDR_LOOPBACK) },
					     .sin_port = htons(ports[service]) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

int relays_answer(uint32_t service)
{
	struct pollfd ready = { .fd = relays_endpoints[service], .events = POLLIN };

	if (poll(&ready, 1, PATIENCE_MS) != 1)
		check_fail(__FILE__, __LINE__, "nobody comes to the endpoint");
	return accept4(relays_endpoints[service], NULL, NULL, SOCK_CLOEXEC);
}

/* Return: bytes, 0 for an end, -1 for a reset. */
ssize_t relays_hear(int fd, char *text, size_t room)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	if (poll(&ready, 1, PATIENCE_MS) != 1)
		check_fail(__FILE__, __LINE__, "nothing is heard");
	return recv(fd, text, room, 0);
}

void relays_expect(int fd, const char *text)
{
	char got[64] = "";

	CHECK_INT(relays_hear(fd, got, sizeof(got) - 1), strlen(text));
	CHECK_STR(got, text);
}

void relays_say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t) strlen(text));
}

void relays_expect_reset(int fd)
{
	char byte;

	CHECK_INT(relays_hear(fd, &byte, 1), -1);
	CHECK_INT(errno, ECONNRESET);
}

int relays_count_fds(void)
{
	char path[64];
	int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) relays_child);
	folder = opendir(path);
	CHECK(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Whoever waits for nothing in particular waits all the time. */
void relays_check_rests(const char *when)
{
	struct timespec before, after;
	clockid_t clock;
	int64_t used;

	CHECK(clock_getcpuclockid(relays_child, &clock) == 0);
	poll(NULL, 0, 50);
	CHECK(clock_gettime(clock, &before) == 0);
	poll(NULL, 0, 300);
	CHECK(clock_gettime(clock, &after) == 0);
	used = (after.tv_sec - before.tv_sec) * NS_PER_S + after.tv_nsec - before.tv_nsec;
	if (used > 100 * NS_PER_MS)
		check_fail(__FILE__, __LINE__, "it computes for %lld ms, %s",
			   (long long) (used / NS_PER_MS), when);
}
