/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/syscalls.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { GROUPS_MAX = 65536 };

static int open_pid(int socket_fd, pid_t pid, int *out, struct err *err)
{
	socklen_t len = sizeof(int);
	int fd = -1;

	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0) {
		*out = fd;
		return 0;
	}
	if (errno == ENOPROTOOPT)
		fd = sys_pidfd_open(pid, 0);
	if (fd < 0) {
		err_sys(err, "process %d, which has connected, can not be watched", (int) pid);
		err->kind = ERR_INPUT;
		return -1;
	}
	*out = fd;
	return 0;
}

int peer_open(int socket_fd, struct peer *out, struct err *err)
{
	struct peer peer = PEER_INIT;
	socklen_t len = sizeof(struct ucred);
	struct ucred who;

	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return err_sys(err, "ask who has connected");
	if (who.pid <= 0)
		return err_set(err, ERR_INPUT,
			       "who has connected is in no pid namespace below this one");
	peer.pid = who.pid;
	peer.uid = who.uid;
	if (open_pid(socket_fd, who.pid, &peer.pid_fd, err) < 0)
		return -1;
	if (!peer_is_alive(&peer)) {
		peer_done(&peer);
		return err_set(err, ERR_INPUT, "process %d, which has connected, has ended",
			       (int) who.pid);
	}
	*out = peer;
	return 0;
}

bool peer_is_in(int socket_fd, gid_t group)
{
	cleanup(mem_free) gid_t *groups = mem_alloc(GROUPS_MAX, sizeof(*groups));
	socklen_t len = sizeof(struct ucred), size = GROUPS_MAX * sizeof(*groups);
	struct ucred who;

	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return false;
	if (who.uid == 0 || who.gid == group)
		return true;
	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}

bool peer_is_sender(const struct peer *peer, pid_t sender)
{
	return sender == peer->pid && peer_is_alive(peer);
}

bool peer_is_alive(const struct peer *peer)
{
	struct pollfd ended = { .fd = peer->pid_fd, .events = POLLIN };
	int got;

	do
		got = poll(&ended, 1, 0);
	while (got < 0 && errno == EINTR);
	return got == 0;
}

void peer_done(struct peer *peer)
{
	fd_close(&peer->pid_fd);
}
