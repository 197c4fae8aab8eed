/* SPDX-License-Identifier: Apache-2.0 */

/* The network, the hypervisor, and names of sockets. */
#include "tests/attacks/attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void interfaces(const struct scene *scene)
{
	struct ifaddrs *list;

	if (namespace_of("net") == scene->netns)
		got("the host's network");
	if (getifaddrs(&list) < 0)
		held_by("getifaddrs");
	for (const struct ifaddrs *at = list; at; at = at->ifa_next)
		if (strcmp(at->ifa_name, "lo") != 0)
			got("an interface: %s", at->ifa_name);
	held("there is nothing but lo");
}

static void try_connect(int domain, const void *address, socklen_t len, const char *whom)
{
	int fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	if (fd >= 0 && connect(fd, address, len) == 0 && poll(&ready, 1, 2000) > 0)
		try_secret(dup(fd), whom);
	if (fd >= 0)
		close(fd);
}

static void try_loopback(long port, const char *whom)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) },
				  .sin_port = htons((uint16_t) port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT,
				   .sin6_port = htons((uint16_t) port) };

	try_connect(AF_INET, &v4, sizeof(v4), whom);
	try_connect(AF_INET6, &v6, sizeof(v6), whom);
}

static socklen_t abstract_name(const char *tag, const char *end, struct sockaddr_un *out)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "%s%s", tag, end);
	return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(out->sun_path + 1));
}

static void host_loopback(const struct scene *scene)
{
	try_loopback(scene->port, "a listener on the host's loopback");
	held_by("connect");
}

static void host_abstract(const struct scene *scene)
{
	struct sockaddr_un address;
	socklen_t len = abstract_name(scene->tag, "", &address);

	try_connect(AF_UNIX, &address, len, "a socket of the host without a file");
	held_by("connect");
}

static void near_loopback(const struct scene *scene)
{
	try_loopback(scene->near_port, "a listener in another jail");
	held_by("connect");
}

static void near_abstract(const struct scene *scene)
{
	struct sockaddr_un address;
	socklen_t len = abstract_name(scene->tag, "-near", &address);

	try_connect(AF_UNIX, &address, len, "a socket of another jail");
	held_by("connect");
}

/* What would have to be asked on the way out: a datagram is gone the moment that it is sent. */
static void outside(const struct scene *scene)
{
	static const char *const addresses[] = { "169.254.169.254", "192.0.2.1", "10.0.0.1" };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		inet_pton(AF_INET, addresses[i], &address.sin_addr);
		/* Connecting a datagram's socket looks for a way and sends nothing. */
		if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
			got("there is a way to %s", addresses[i]);
		close(fd);
	}
	held_by("connect");
}

/* Past the network namespace, to the hypervisor. */
static void hypervisor(const struct scene *scene)
{
	struct sockaddr_vm address = { .svm_family = AF_VSOCK, .svm_cid = 1 /* ourselves */ };
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 && scene->bare)
		not_here("this kernel has no AF_VSOCK: %s", strerror(errno));
	if (fd < 0)
		held_by("socket(AF_VSOCK)");
	address.svm_port = VMADDR_PORT_ANY;
	if (bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 || fd >= 0)
		got("a socket to the hypervisor");
	held_by("bind");
}

static void packets(const struct scene *scene)
{
	(void) scene;
	if (socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0)
		got("every packet");
	if (socket(AF_INET, SOCK_PACKET | SOCK_CLOEXEC, 0) >= 0)
		got("every packet, by the oldest name");
	if (socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP) >= 0)
		got("raw packets");
	held_by("socket");
}

static void netlinks(const struct scene *scene)
{
	static const struct {
		int protocol;
		const char *name;
	} kinds[] = { { NETLINK_NETFILTER, "netfilter" },
		      { NETLINK_AUDIT, "audit" },
		      { NETLINK_KOBJECT_UEVENT, "uevent" },
		      { NETLINK_GENERIC, "generic" },
		      { NETLINK_XFRM, "xfrm" },
		      { NETLINK_CRYPTO, "crypto" },
		      { NETLINK_SOCK_DIAG, "sock_diag" },
		      { NETLINK_CONNECTOR, "connector" } };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, kinds[i].protocol) >= 0)
			got("a netlink socket: %s", kinds[i].name);
	held_by("socket(AF_NETLINK)");
}

/* Routes may be read: can they be written? An address of the loopback's own is added. */
static void configure(const struct scene *scene)
{
	struct {
		struct nlmsghdr header;
		struct ifaddrmsg body;
		struct rtattr attribute;
		uint32_t address;
	} request = {
		.header = { .nlmsg_len = sizeof(request),
			    .nlmsg_type = RTM_NEWADDR,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		.body = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1 },
		.attribute = { .rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL },
		.address = htonl(0x7f4d4d4d), /* 127.77.77.77 */
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	(void) scene;
	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0)
		held_by("ask for an address");
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t) sizeof(answer.header))
		broken("no answer: %s", strerror(errno));
	if (answer.error.error == 0) {
		request.header.nlmsg_type = RTM_DELADDR;
		request.header.nlmsg_flags = NLM_F_REQUEST;
		best_effort(send(fd, &request, sizeof(request), 0));
		got("gave the loopback an address");
	}
	held("add an address: %s", strerror(-answer.error.error));
}

static void families(const struct scene *scene)
{
	static const struct {
		int domain, type;
		const char *name;
	} kinds[] = { { AF_ALG, SOCK_SEQPACKET, "AF_ALG" },
		      { AF_TIPC, SOCK_SEQPACKET, "AF_TIPC" },
		      { AF_RDS, SOCK_SEQPACKET, "AF_RDS" },
		      { AF_XDP, SOCK_RAW, "AF_XDP" },
		      { AF_CAN, SOCK_RAW, "AF_CAN" },
		      { AF_KEY, SOCK_RAW, "AF_KEY" },
		      { AF_BLUETOOTH, SOCK_RAW, "AF_BLUETOOTH" },
		      { AF_QIPCRTR, SOCK_DGRAM, "AF_QIPCRTR" },
		      { AF_SMC, SOCK_STREAM, "AF_SMC" },
		      { AF_PPPOX, SOCK_STREAM, "AF_PPPOX" } };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (socket(kinds[i].domain, kinds[i].type | SOCK_CLOEXEC, 0) >= 0)
			got("a socket of %s", kinds[i].name);
	held_by("socket");
}

/* Return: a socket, or -1. */
static int connect_to_service(const struct scene *scene)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(INADDR_LOOPBACK) },
					     .sin_port = htons((uint16_t) scene->service) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void try_request(const struct scene *scene, const void *bytes, size_t len, const char *how)
{
	int fd = connect_to_service(scene);
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	if (fd < 0 && !scene->bare)
		broken("there is no service: %s", strerror(errno));
	if (fd < 0)
		return;
	if (send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t) len && poll(&ready, 1, 200) > 0)
		try_secret(dup(fd), how);
	close(fd);
}

/* What proxies take for a wish to be led elsewhere. */
static void service_elsewhere(const struct scene *scene)
{
	const char high = (char) (scene->port >> 8), low = (char) (scene->port & 0xff);
	const char socks4[] = { 4, 1, high, low, 127, 0, 0, 1, 0 };
	const char socks5[] = { 5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, high, low };
	char text[256];

	snprintf(text, sizeof(text), "CONNECT 127.0.0.1:%ld HTTP/1.1\r\n\r\n", scene->port);
	try_request(scene, text, strlen(text), "by CONNECT");
	snprintf(text, sizeof(text), "GET http://127.0.0.1:%ld/ HTTP/1.0\r\n\r\n", scene->port);
	try_request(scene, text, strlen(text), "by a whole address");
	snprintf(text, sizeof(text), "PROXY TCP4 127.0.0.1 127.0.0.1 1 %ld\r\n", scene->port);
	try_request(scene, text, strlen(text), "by PROXY");
	try_request(scene, socks4, sizeof(socks4), "by SOCKS 4");
	try_request(scene, socks5, sizeof(socks5), "by SOCKS 5");
	try_loopback(scene->port, "a listener on the host's loopback");
	held("its endpoint heard it, or nobody");
}

/* To answer in the place of the endpoint. */
static void service_port(const struct scene *scene)
{
	static const uint32_t hosts[] = { INADDR_LOOPBACK, INADDR_ANY };
	const int yes = 1;

	for (size_t i = 0; i < 2 * ARRAY_LEN(hosts); i++) {
		const struct sockaddr_in address = { .sin_family = AF_INET,
						     .sin_addr = { htonl(hosts[i / 2]) },
						     .sin_port = htons((uint16_t) scene->service) };
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (i % 2 > 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
				  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) < 0))
			broken("setsockopt: %s", strerror(errno));
		if (bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 &&
		    listen(fd, 1) == 0)
			got("listens at the service's port");
		close(fd);
	}
	held_by("bind");
}

static bool is_served(int fd)
{
	char byte;

	return fd >= 0 && (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0 || errno == EAGAIN);
}

/* All that it can have at a time; then there has to be room again. */
static void service_exhaust(const struct scene *scene)
{
	enum { MANY = 800 };
	int fds[MANY], first = connect_to_service(scene), last;

	if (first < 0)
		broken("there is no service: %s", strerror(errno));
	sleep_ms(200);
	for (size_t i = 0; i < MANY; i++)
		fds[i] = connect_to_service(scene);
	sleep_ms(500);
	if (!is_served(first))
		got("a connection that was there was ended");
	for (size_t i = 0; i < MANY; i++)
		close(fds[i]);
	sleep_ms(500);
	last = connect_to_service(scene);
	sleep_ms(300);
	if (!is_served(first) || !is_served(last))
		got("the service is there for nobody any more");
	held("those that were too many were refused");
}

/* The other side of near_loopback() and near_abstract(). */
void serve_neighbours(const struct scene *scene, const char *secret)
{
	struct sockaddr_in loopback = { .sin_family = AF_INET,
					.sin_addr = { htonl(INADDR_LOOPBACK) },
					.sin_port = htons((uint16_t) scene->near_port) };
	struct sockaddr_un abstract;
	socklen_t len = abstract_name(scene->tag, "-near", &abstract);
	struct pollfd listeners[] = {
		{ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLIN },
		{ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLIN },
	};

	signal(SIGPIPE, SIG_IGN);
	if (bind(listeners[0].fd, (const struct sockaddr *) &loopback, sizeof(loopback)) < 0 ||
	    bind(listeners[1].fd, (const struct sockaddr *) &abstract, len) < 0 ||
	    listen(listeners[0].fd, 8) < 0 || listen(listeners[1].fd, 8) < 0)
		broken("listen: %s", strerror(errno));
	say_ready();
	for (;;) {
		if (poll(listeners, ARRAY_LEN(listeners), -1) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(listeners); i++) {
			int fd = listeners[i].revents ? accept(listeners[i].fd, NULL, NULL) : -1;

			if (fd >= 0) {
				best_effort(write(fd, secret, strlen(secret)));
				close(fd);
			}
		}
	}
}

/* clang-format off */
const struct attack attacks_on_the_network[] = {
	{ "net-interfaces",    interfaces },
	{ "net-host-loopback", host_loopback },
	{ "net-host-abstract", host_abstract },
	{ "net-outside",       outside },
	{ "net-hypervisor",    hypervisor },
	{ "net-packets",       packets },
	{ "net-netlinks",      netlinks },
	{ "net-configure",     configure },
	{ "net-families",      families },
	{ "service-elsewhere", service_elsewhere },
	{ "service-port",      service_port },
	{ "service-exhaust",   service_exhaust },
	{ "near-loopback",     near_loopback },
	{ "near-abstract",     near_abstract },
	{ NULL,                NULL },
};
/* clang-format on */
