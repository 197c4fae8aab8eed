/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/peer.h"

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"

/* A client with ids of its own, connected to us; it lives until it is told to end. */
static struct err err;
static struct peer peer = PEER_INIT;
static int listener, socket_fd, tell;
static pid_t client;

static void connect_as(uid_t uid, gid_t gid, gid_t group)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len;
	int pipes[2];
	char byte;

	CHECK(pipe(pipes) == 0);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *) &address, sizeof(sa_family_t)) ==
	      0); /* any name */
	len = sizeof(address);
	CHECK(getsockname(listener, (struct sockaddr *) &address, &len) == 0);
	CHECK(listen(listener, 1) == 0);
	client = fork();
	if (client == 0) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		close(pipes[1]);
		if (geteuid() == 0)
			CHECK(setgroups(1, &group) == 0 && setresgid(gid, gid, gid) == 0 &&
			      setresuid(uid, uid, uid) == 0);
		CHECK(connect(fd, (struct sockaddr *) &address, len) == 0);
		CHECK(read(pipes[0], &byte, 1) >= 0);
		_exit(0);
	}
	close(pipes[0]);
	tell = pipes[1];
	socket_fd = accept(listener, NULL, NULL);
	CHECK(socket_fd >= 0);
}

static void end_client(void)
{
	close(tell);
	CHECK(waitpid(client, NULL, 0) == client);
}

TEST(the_kernel_says_who_has_connected)
{
	if (geteuid() != 0)
		SKIP("needs root");
	connect_as(12345, 12346, 12347);
	CHECK_OK(peer_open(socket_fd, &peer, &err));
	CHECK_INT(peer.pid, client);
	CHECK_INT(peer.uid, 12345);
	CHECK(peer_is_alive(&peer));
	CHECK(peer_is_in(socket_fd, 12346));
	CHECK(peer_is_in(socket_fd, 12347));
	CHECK(!peer_is_in(socket_fd, 12345));
	CHECK(!peer_is_in(socket_fd, 0));
	end_client();
	CHECK(!peer_is_alive(&peer));
	peer_done(&peer);
	CHECK_INT(peer.pid_fd, -1);
}

TEST(root_is_in_every_group)
{
	if (geteuid() != 0)
		SKIP("needs root");
	connect_as(0, 0, 0);
	CHECK(peer_is_in(socket_fd, 12347));
	end_client();
}

TEST(a_peer_that_has_ended_is_no_peer)
{
	connect_as(getuid(), getgid(), getgid());
	end_client();
	CHECK_INT(peer_open(socket_fd, &peer, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(peer.pid_fd, -1);
}

TEST(only_the_living_process_itself_proves_that_it_is_the_peer)
{
	connect_as(getuid(), getgid(), getgid());
	CHECK_OK(peer_open(socket_fd, &peer, &err));
	CHECK(peer_is_sender(&peer, client));
	CHECK(!peer_is_sender(&peer, getpid()));
	CHECK(!peer_is_sender(&peer, 0));
	end_client();
	/* Whoever sends with its number now is somebody else. */
	CHECK(!peer_is_sender(&peer, client));
}

TEST(what_is_no_socket_has_no_peer)
{
	int pipes[2];

	CHECK(pipe(pipes) == 0);
	CHECK_INT(peer_open(pipes[0], &peer, &err), -1);
	CHECK(!peer_is_in(pipes[0], 0));
}
