/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/listen.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct listener listener = LISTENER_INIT, other = LISTENER_INIT;
static struct err err;
static char path[108];

static void choose(const char *name)
{
	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	snprintf(path, sizeof(path), "%s/%s", check_folder_path(), name);
}

static void check_refused(const char *group, const char *part)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(listen_on(path, group, &other, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' lacks '%s'", err.text, part);
	CHECK_INT(other.fd, -1);
}

TEST(the_socket_is_roots_and_one_groups_and_goes_with_its_service)
{
	struct stat info;

	choose("socket");
	CHECK_OK(listen_on(path, "12345", &listener, &err));
	CHECK(stat(path, &info) == 0);
	CHECK_INT(info.st_mode, S_IFSOCK | 0660);
	CHECK_INT(info.st_uid, 0);
	CHECK_INT(info.st_gid, 12345);
	CHECK_INT(listener.group, 12345);
	CHECK(fcntl(listener.fd, F_GETFL) & O_NONBLOCK);
	listen_done(&listener);
	CHECK(stat(path, &info) < 0);
	listen_done(&listener);
}

TEST(one_that_is_served_is_left_alone_and_one_of_a_dead_service_replaced)
{
	choose("socket");
	CHECK_OK(listen_on(path, "0", &listener, &err));
	check_refused("0", "is served by another launcher");
	close(listener.fd); /* as when it is killed: the file stays */
	CHECK_OK(listen_on(path, "0", &other, &err));
	listen_done(&other);
}

TEST(nothing_else_is_removed_and_no_folder_of_others_used)
{
	struct stat info;
	int fd;

	choose("socket");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	check_refused("0", "is there and no socket: remove it");
	CHECK(stat(path, &info) == 0);
	CHECK(unlink(path) == 0);
	check_refused("no-such-group", "there is no group 'no-such-group'");
	CHECK(fchmod(check_folder(), 0777) == 0);
	check_refused("0", "is not root's alone");
	CHECK(fchmod(check_folder(), 0700) == 0);
	snprintf(path, sizeof(path), "relative");
	check_refused("0", "can not name a socket");
}

/* As systemd does it: descriptor 3, and two variables. */
static void pass(int type, mode_t mode, bool listens)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	CHECK(bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0);
	CHECK(chmod(path, mode) == 0 && chown(path, 0, 4321) == 0);
	CHECK(!listens || listen(fd, 1) == 0);
	if (fd != 3) {
		CHECK(dup2(fd, 3) == 3);
		close(fd);
	}
}

static void check_not_taken(const char *pid, const char *count, const char *part)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(listen_inherited(pid, count, &other, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' lacks '%s'", err.text, part);
}

TEST(what_systemd_passes_is_looked_at_before_it_is_believed)
{
	char own[16];

	choose("passed");
	snprintf(own, sizeof(own), "%d", (int) getpid());
	check_not_taken(NULL, NULL, "there is no socket from systemd");
	check_not_taken("1", "1", "there is no socket from systemd");
	check_not_taken(own, "2", "systemd passes 2 sockets");
	pass(SOCK_STREAM, 0660, true);
	check_not_taken(own, "1", "no listening SOCK_SEQPACKET socket");
	pass(SOCK_SEQPACKET, 0660, false);
	check_not_taken(own, "1", "no listening SOCK_SEQPACKET socket");
	pass(SOCK_SEQPACKET, 0666, true);
	check_not_taken(own, "1", "everybody may connect");
	pass(SOCK_SEQPACKET, 0660, true);
	CHECK_OK(listen_inherited(own, "1", &listener, &err));
	CHECK_INT(listener.fd, 3);
	CHECK_INT(listener.group, 4321);
	CHECK(fcntl(3, F_GETFD) & FD_CLOEXEC);
	listen_done(&listener);
	CHECK(access(path, F_OK) == 0); /* systemd's to remove */
}
