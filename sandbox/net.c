/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/net.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"

/* For each direction of a connection, before the kernel doubles it for what it needs itself. */
enum { BUFFER = 128 * 1024 };

int net_check(const struct net_slice *slice, struct err *err)
{
	if (slice->count > NET_SERVICES_MAX)
		return err_set(err, ERR_INPUT, "%u services; %u at most", slice->count,
			       (unsigned) NET_SERVICES_MAX);
	for (uint32_t i = 0; i < slice->count; i++) {
		if (slice->ports[i] < 1 || slice->ports[i] > UINT16_MAX)
			return err_set(err, ERR_INPUT, "a service at %u; a port is 1 to 65535",
				       slice->ports[i]);
		for (uint32_t k = 0; k < i; k++)
			if (slice->ports[k] == slice->ports[i])
				return err_set(err, ERR_INPUT, "two services at the port %u",
					       slice->ports[i]);
	}
	return 0;
}

int net_loopback_up(struct err *err)
{
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0)
		return err_sys(err, "open a socket");
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_sys(err, "bring up interface 'lo'");
	return 0;
}

/* What is accepted inherits the options. */
static int set_options(int fd, struct err *err)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_RCVBUF, BUFFER },
		{ SOL_SOCKET, SO_SNDBUF, BUFFER },
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			       sizeof(int)) < 0)
			return err_sys(err, "set up a socket");
	return 0;
}

/* Without SO_REUSEADDR: nobody else can have the port as long as this socket is there. */
static int listen_at(uint32_t port, struct err *err)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr = { htonl(INADDR_LOOPBACK) },
					     .sin_port = htons((uint16_t) port) };
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return err_sys(err, "open a socket");
	if (set_options(fd, err) < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(fd, NET_BACKLOG) < 0)
		return err_sys(err, "listen at the port %u", port);
	return fd_take(&fd);
}

int net_listen(const struct net_slice *slice, int out[NET_SERVICES_MAX], struct err *err)
{
	int made[NET_SERVICES_MAX];

	for (uint32_t i = 0; i < slice->count; i++) {
		made[i] = listen_at(slice->ports[i], err);
		if (made[i] >= 0)
			continue;
		while (i > 0)
			fd_close(&made[--i]);
		return -1;
	}
	for (uint32_t i = 0; i < slice->count; i++)
		out[i] = made[i];
	return 0;
}
