/* SPDX-License-Identifier: Apache-2.0 */

/*
 * endpoint serve WHERE HOW: what services lead to, for e2e/46-services; prints the port, or the
 *path WHERE	a path, or "tcp" for a port of the loopback that is free HOW	echo	says what it
 *hears count	says how many bytes came, once no more come pour N	says N bytes, whatever it
 *hears deaf	hears and says nothing
 *
 * endpoint ask PORT		standard input goes there and is then ended; what comes back is
 *printed endpoint pour PORT N		N bytes go there and are then ended; what comes back is
 *printed endpoint many PORT N		N connections, one after the other; prints how many were
 *reset endpoint hold PORT N		N connections at a time; prints how many stayed
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024, SETTLE_MS = 300 };

static char block[BLOCK];

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "endpoint: %s: %s\n", what, strerror(errno));
	exit(9);
}

static bool put(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, bytes, len);

		if (done <= 0)
			return false;
		bytes += done;
		len -= (size_t) done;
	}
	return true;
}

static bool pour(int fd, unsigned long long count)
{
	memset(block, 'p', sizeof(block));
	while (count > 0) {
		size_t len = count < sizeof(block) ? (size_t) count : sizeof(block);

		if (!put(fd, block, len))
			return false;
		count -= len;
	}
	return true;
}

/* --- the server --- */

static int listen_at(const char *where)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	const bool is_tcp = strcmp(where, "tcp") == 0;
	socklen_t len = sizeof(v4);
	int fd = socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);

	snprintf(path.sun_path, sizeof(path.sun_path), "%s", where);
	if (is_tcp ? bind(fd, (struct sockaddr *) &v4, sizeof(v4)) < 0
		   : bind(fd, (struct sockaddr *) &path, sizeof(path)) < 0)
		die("bind");
	if (listen(fd, 256) < 0)
		die("listen");
	if (is_tcp && getsockname(fd, (struct sockaddr *) &v4, &len) == 0)
		printf("%d\n", ntohs(v4.sin_port));
	else
		printf("%s\n", where);
	fflush(stdout);
	return fd;
}

static void answer(int fd, const char *how, unsigned long long amount)
{
	unsigned long long count = 0;
	char text[32];
	ssize_t len;

	if (strcmp(how, "deaf") == 0)
		pause();
	if (strcmp(how, "pour") == 0) {
		pour(fd, amount);
		return;
	}
	while ((len = read(fd, block, sizeof(block))) > 0) {
		count += (unsigned long long) len;
		if (strcmp(how, "echo") == 0 && !put(fd, block, (size_t) len))
			return;
	}
	snprintf(text, sizeof(text), "%llu\n", count);
	if (strcmp(how, "count") == 0)
		put(fd, text, strlen(text));
}

static int serve(const char *where, const char *how, unsigned long long amount)
{
	int listener = listen_at(where);

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (fork() == 0) {
			close(listener);
			answer(fd, how, amount);
			_exit(0);
		}
		close(fd);
	}
}

/* --- the client --- */

static int try_connect(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) },
				       .sin_port = htons((uint16_t) atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Both ways at once: who waits for the end of one may wait for the other's. */
static int ask(int fd, bool has_input, unsigned long long amount)
{
	ssize_t len;

	if (fd < 0)
		die("connect");
	if (fork() == 0) {
		while (has_input && (len = read(STDIN_FILENO, block, sizeof(block))) > 0)
			if (!put(fd, block, (size_t) len))
				_exit(1);
		if (!has_input)
			pour(fd, amount);
		shutdown(fd, SHUT_WR);
		_exit(0);
	}
	while ((len = read(fd, block, sizeof(block))) > 0)
		if (!put(STDOUT_FILENO, block, (size_t) len))
			die("write");
	if (len < 0)
		die("read");
	return 0;
}

static bool is_reset(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno != EAGAIN;
}

static int many(const char *port, int count)
{
	int reset = 0;

	for (int i = 0; i < count; i++) {
		int fd = try_connect(port);

		if (fd >= 0)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 1);
		if (fd < 0 || is_reset(fd))
			reset++;
		close(fd);
	}
	printf("%d\n", reset);
	return 0;
}

static int hold(const char *port, int count)
{
	int *fds = calloc((size_t) count, sizeof(*fds)), stayed = 0;

	if (!fds)
		die("memory");
	for (int i = 0; i < count; i++)
		fds[i] = try_connect(port);
	poll(NULL, 0, SETTLE_MS);
	for (int i = 0; i < count; i++)
		stayed += fds[i] >= 0 && !is_reset(fds[i]);
	printf("%d\n", stayed);
	free(fds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const unsigned long long amount = argc > 3 ? strtoull(argv[argc - 1], NULL, 10) : 0;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	if (strcmp(what, "serve") == 0 && argc > 3)
		return serve(argv[2], argv[3], amount);
	if (strcmp(what, "ask") == 0)
		return ask(try_connect(argv[2]), true, 0);
	if (strcmp(what, "pour") == 0)
		return ask(try_connect(argv[2]), false, amount);
	if (strcmp(what, "many") == 0)
		return many(argv[2], (int) amount);
	if (strcmp(what, "hold") == 0)
		return hold(argv[2], (int) amount);
	fprintf(stderr, "endpoint: see its head\n");
	return 2;
}
