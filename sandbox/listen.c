/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

enum { BACKLOG = 128, INHERITED_FD = 3 };

static int find_group(const char *name, gid_t *out, struct err *err)
{
	const struct group *entry;
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	if (end != name && *end == '\0' && number < UINT32_MAX) {
		*out = (gid_t) number;
		return 0;
	}
	entry = getgrnam(name);
	if (!entry)
		return err_set(
			err, ERR_HOST,
			"there is no group '%s' for those who may use the service: make it "
			"(groupadd --system %s), or name another one by 'group' in site.conf",
			name, name);
	*out = entry->gr_gid;
	return 0;
}

static int address_of(const char *path, struct sockaddr_un *out, struct err *err)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path[0] != '/' || strlen(path) >= sizeof(out->sun_path))
		return err_set(err, ERR_HOST,
			       "'%s' can not name a socket: take an absolute path of at most %zu "
			       "bytes",
			       path, sizeof(out->sun_path) - 1);
	snprintf(out->sun_path, sizeof(out->sun_path), "%s", path);
	return 0;
}

/* Whoever may write there could put another socket in the place of ours. */
static int check_folder(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct sockaddr_un room;
	char folder[sizeof(room.sun_path)];
	struct stat info;

	snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int) (slash - path), path);
	if (stat(folder, &info) < 0)
		return err_host(err, "look at the folder '%s'", folder);
	if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
		return err_set(err, ERR_HOST,
			       "the folder '%s' is not root's alone: choose another for the socket",
			       folder);
	return 0;
}

/* A file that a dead service has left goes; one that is served, or is no socket, stays. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
	auto_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat info;

	if (lstat(address->sun_path, &info) < 0)
		return errno == ENOENT ? 0 : err_host(err, "look at '%s'", address->sun_path);
	if (!S_ISSOCK(info.st_mode))
		return err_set(err, ERR_HOST, "'%s' is there and no socket: remove it",
			       address->sun_path);
	if (fd < 0)
		return err_sys(err, "make a socket");
	if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return err_set(err, ERR_HOST, "'%s' is served by another launcher: end that one",
			       address->sun_path);
	if (unlink(address->sun_path) < 0)
		return err_host(err, "remove '%s'", address->sun_path);
	return 0;
}

/* With no rights for anybody until it has its group. */
static int bind_closed(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0777);
	int result = bind(fd, (const struct sockaddr *) address, sizeof(*address));

	umask(before);
	return result;
}

int listen_on(const char *path, const char *group, struct listener *out, struct err *err)
{
	cleanup(listen_done) struct listener made = LISTENER_INIT;
	struct sockaddr_un address;

	if (address_of(path, &address, err) < 0 || check_folder(path, err) < 0 ||
	    find_group(group, &made.group, err) < 0 || clear_path(&address, err) < 0)
		return -1;
	made.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made.fd < 0)
		return err_sys(err, "make a socket");
	if (bind_closed(made.fd, &address) < 0)
		return err_host(err, "bind a socket to '%s'", path);
	snprintf(made.path, sizeof(made.path), "%s", path);
	if (lchown(path, (uid_t) -1, made.group) < 0 || listen(made.fd, BACKLOG) < 0 ||
	    chmod(path, 0660) < 0)
		return err_host(err, "open '%s' to its group", path);
	*out = take(made, LISTENER_INIT);
	return 0;
}

static int check_inherited(int fd, struct listener *out, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	socklen_t len = sizeof(address), size = sizeof(int);
	int type = 0, listens = 0;
	struct stat info;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 ||
	    getsockname(fd, (struct sockaddr *) &address, &len) < 0 || type != SOCK_SEQPACKET ||
	    !listens || address.sun_family != AF_UNIX || address.sun_path[0] != '/')
		return err_set(err, ERR_HOST,
			       "what was passed is no listening SOCK_SEQPACKET socket with a file: "
			       "write ListenSequentialPacket= into the unit");
	if (stat(address.sun_path, &info) < 0)
		return err_host(err, "look at the socket '%s'", address.sun_path);
	if ((info.st_mode & 07) != 0)
		return err_set(err, ERR_HOST,
			       "the socket '%s' has mode %04o, so everybody may connect: write "
			       "SocketMode=0660 and SocketGroup= into the unit",
			       address.sun_path, info.st_mode & 07777U);
	out->group = info.st_gid;
	return 0;
}

int listen_inherited(const char *pid, const char *count, struct listener *out, struct err *err)
{
	struct listener made = LISTENER_INIT;
	int flags = fcntl(INHERITED_FD, F_GETFL);

	if (!pid || !count || strtol(pid, NULL, 10) != (long) getpid())
		return err_set(err, ERR_HOST,
			       "there is no socket from systemd (LISTEN_FDS): start "
			       "proctor-launcher.socket, or name a path by --socket");
	if (strcmp(count, "1") != 0)
		return err_set(err, ERR_HOST,
			       "systemd passes %s sockets: it should be one, see "
			       "proctor-launcher.socket",
			       count);
	if (flags < 0 || fcntl(INHERITED_FD, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(INHERITED_FD, F_SETFD, FD_CLOEXEC) < 0)
		return err_host(err, "take the socket from systemd");
	if (check_inherited(INHERITED_FD, &made, err) < 0)
		return -1;
	made.fd = INHERITED_FD;
	*out = made;
	return 0;
}

void listen_done(struct listener *listener)
{
	fd_close(&listener->fd);
	if (listener->path[0] != '\0')
		unlink(listener->path);
	*listener = LISTENER_INIT;
}
