/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Leaves a workspace that is hostile to whoever collects it, and a daemon that goes on writing.
 *
 * Run as the payload of a jail with /work as its workspace. What the archive must hold:
 * plain (5 bytes), secret (mode 000), dark/inside (in a folder of mode 000), twin-a and twin-b
 * (hard links), a name with a newline, a name of 255 bytes, a path of more than 3,900 bytes,
 * parked. All else is to be refused or listed: links, FIFO, socket, a sparse terabyte, a setuid
 * file, folders 300 deep and 6,000 bytes long.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/base/message.h"

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

static int make(const char *path, mode_t mode, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	must(fd, path);
	must((int) write(fd, text, strlen(text)), path);
	must(fchmod(fd, mode), path);
	return fd;
}

/* Folders inside each other, more than the collector goes down, and a file at the end. */
static void make_chain(const char *name, int depth)
{
	must(mkdir(depth > 100 ? "deep" : "long", 0700), "chain");
	must(chdir(depth > 100 ? "deep" : "long"), "chain");
	for (int i = 0; i < depth; i++) {
		must(mkdir(name, 0700), "chain");
		must(chdir(name), "chain");
	}
	make("end", 0644, "end");
	must(chdir("/work"), "back");
}

static void make_names(void)
{
	char name[256], folder[201];

	memset(name, 'n', 255);
	name[255] = '\0';
	make(name, 0644, "long");
	make("new\nline", 0644, "nl");
	memset(folder, 'd', 200);
	folder[200] = '\0';
	for (int i = 0; i < 19; i++) {
		must(mkdir(folder, 0700), "deep");
		must(chdir(folder), "deep");
	}
	make("end", 0644, "end");
	must(chdir("/work"), "back");
	make_chain("below", 300);
	make_chain(folder, 30);
}

static void make_specials(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd;

	must(symlink("/etc/passwd", "link-out"), "link");
	must(symlink("plain", "link-in"), "link");
	must(mkfifo("fifo", 0600), "fifo");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	must(bind(fd, (const struct sockaddr *) &address, sizeof(address)), "socket");
	if (mknod("device", S_IFCHR | 0600, 0x103) == 0)
		exit(1);
	fd = make("sparse", 0644, "");
	must(ftruncate(fd, (off_t) TIB), "sparse");
	must(chmod("plain", 0644), "plain");
	make("setuid", 04755, "#!/bin/sh\n");
}

/* A writable descriptor in a cycle of sockets: nobody holds it, and it is never closed. */
static void park(void)
{
	struct message_fds fds = { .count = 3 };
	struct err err = ERR_INIT;
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "pair");
	fds.fd[0] = make("parked", 0644, "parked");
	fds.fd[1] = pair[0];
	fds.fd[2] = pair[1];
	must(message_send(pair[0], "x", 1, &fds, &err), "park");
}

/* Double fork, own session, every signal ignored: writes until somebody ends it. */
static void start_daemon(void)
{
	int fd;

	if (fork() != 0)
		return;
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int signal_number = 1; signal_number < 64; signal_number++)
		signal(signal_number, SIG_IGN);
	fd = open("written", O_WRONLY | O_CREAT | O_APPEND, 0600);
	for (;;)
		if (write(fd, "late\n", 5) < 0 && ftruncate(fd, 0) < 0)
			_exit(1);
}

int main(void)
{
	must(chdir("/work"), "/work");
	make("plain", 0644, "plain");
	make("secret", 0, "secret");
	must(mkdir("dark", 0700), "dark");
	make("dark/inside", 0600, "inside");
	must(chmod("dark", 0), "dark");
	make("twin-a", 0644, "twin");
	must(link("twin-a", "twin-b"), "twin");
	make_names();
	make_specials();
	park();
	start_daemon();
	usleep(200000);
	return 0;
}
