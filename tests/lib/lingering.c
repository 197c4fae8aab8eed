/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/lingering.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/message.h"

static struct err err;

no_return static void die(const char *what)
{
	perror(what);
	exit(9);
}

/*
 * A connected socket with bytes that its other end never reads: whoever closes it last waits for
 * a minute.
 */
static int open_lingering(void)
{
	static char bytes[4096];
	const struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (struct sockaddr *) &address, len) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *) &address, &len) < 0 ||
	    connect(fd, (struct sockaddr *) &address, len) < 0 ||
	    accept(listener, NULL, NULL) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) < 0)
		die("make a socket that lingers");
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* A child sends it, since whoever ends is never the one that waits. */
void lingering_send(int fd, bool is_behind)
{
	struct message_fds sent = { .count = 2 };
	int pair[2], closed[2];
	char byte;

	if (message_pair(pair, &err) < 0 || pipe(closed) < 0)
		die("pair");
	sent.fd[0] = pair[1];
	sent.fd[1] = open_lingering();
	if (fork() == 0) {
		close(closed[1]);
		if (read(closed[0], &byte, 1) < 0 ||
		    (is_behind && send(fd, "", 0, MSG_NOSIGNAL) < 0) ||
		    message_send(fd, "x", 1, &sent, &err) < 0)
			die("send");
		_exit(0);
	}
	close(sent.fd[1]);
	close(closed[1]);
	wait(NULL);
	close(pair[1]);
}
