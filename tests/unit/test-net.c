/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

static struct err err;

static void enter_namespace(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(unshare(CLONE_NEWNET) == 0);
	CHECK_OK(net_loopback_up(&err));
}

/* Return: a socket that is connected to this port of @host, or -1 with errno. */
static int connect_to(uint32_t host, uint32_t port)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(host) },
					     .sin_port = htons((uint16_t) port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Return: errno, or 0. */
static int try_bind(uint32_t host, uint32_t port, bool shares)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(host) },
					     .sin_port = htons((uint16_t) port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = shares, result;

	CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) == 0);
	result = bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 ? 0 : errno;
	close(fd);
	return result;
}

TEST(loopback_comes_up_in_a_new_network_namespace)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(unshare(CLONE_NEWNET) == 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
	CHECK((request.ifr_flags & IFF_UP) == 0);
	CHECK_OK(net_loopback_up(&err));
	CHECK(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
	CHECK((request.ifr_flags & IFF_UP) != 0);
}

TEST(a_slice_that_makes_no_sense_is_refused_by_its_port)
{
	static const struct {
		struct net_slice slice;
		const char *text;
	} rows[] = {
		{ { 9, { 0 } }, "9 services; 8 at most" },
		{ { UINT32_MAX, { 0 } }, "4294967295 services; 8 at most" },
		{ { 1, { 0 } }, "a service at 0; a port is 1 to 65535" },
		{ { 2, { 80, 65536 } }, "a service at 65536; a port is 1 to 65535" },
		{ { 3, { 80, 81, 80 } }, "two services at the port 80" },
	};
	const struct net_slice good = { 3, { 1, 65535, 80 } }, none = { 0, { 0 } };

	CHECK_OK(net_check(&good, &err));
	CHECK_OK(net_check(&none, &err));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		err = ERR_INIT;
		CHECK_INT(net_check(&rows[i].slice, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_STR(err.text, rows[i].text);
	}
}

TEST(who_connects_to_a_port_in_the_namespace_is_accepted_outside_of_it)
{
	const struct net_slice slice = { 2, { 8080, 81 } };
	int listeners[NET_SERVICES_MAX], client, accepted;
	char byte = 0;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	enter_namespace();
	CHECK_OK(net_listen(&slice, listeners, &err));
	pid = fork();
	if (pid == 0) {
		client = connect_to(INADDR_LOOPBACK, 81);
		_exit(client >= 0 && write(client, "x", 1) == 1 ? 0 : 1);
	}
	CHECK(unshare(CLONE_NEWNET) == 0); /* we are elsewhere now */
	CHECK_INT(connect_to(INADDR_LOOPBACK, 81), -1);
	CHECK(poll(&(struct pollfd){ .fd = listeners[1], .events = POLLIN }, 1, 10000) == 1);
	CHECK_INT(accept(listeners[0], NULL, NULL), -1);
	CHECK_INT(errno, EAGAIN);
	accepted = accept(listeners[1], NULL, NULL);
	CHECK(accepted >= 0);
	CHECK(read(accepted, &byte, 1) == 1 && byte == 'x');
	CHECK(waitpid(pid, NULL, 0) == pid);
}

TEST(nobody_else_can_have_the_port)
{
	const struct net_slice slice = { 1, { 8080, 0 } };
	int listeners[NET_SERVICES_MAX];

	enter_namespace();
	CHECK_OK(net_listen(&slice, listeners, &err));
	for (int shares = 0; shares < 2; shares++) {
		CHECK_INT(try_bind(INADDR_LOOPBACK, 8080, shares), EADDRINUSE);
		CHECK_INT(try_bind(INADDR_ANY, 8080, shares), EADDRINUSE);
	}
	CHECK_INT(try_bind(INADDR_LOOPBACK, 8081, false), 0);
	/* Not even once nothing is accepted there any more. */
	CHECK(shutdown(listeners[0], SHUT_RDWR) == 0);
	CHECK_INT(connect_to(INADDR_LOOPBACK, 8080), -1);
	CHECK_INT(errno, ECONNREFUSED);
	CHECK_INT(try_bind(INADDR_LOOPBACK, 8080, true), EADDRINUSE);
}

TEST(a_port_that_is_taken_leaves_no_socket_behind)
{
	const struct net_slice taken = { 1, { 82, 0 } }, slice = { 2, { 80, 82 } };
	int listeners[NET_SERVICES_MAX], others[NET_SERVICES_MAX] = { -2, -2 }, next;

	enter_namespace();
	CHECK_OK(net_listen(&taken, listeners, &err));
	next = dup(0);
	close(next);
	CHECK_INT(net_listen(&slice, others, &err), -1);
	CHECK_STR(err.text, "listen at the port 82: Address already in use");
	CHECK_INT(others[0], -2);
	CHECK_INT(dup(0), next);
	CHECK_INT(try_bind(INADDR_LOOPBACK, 80, false), 0);
}
