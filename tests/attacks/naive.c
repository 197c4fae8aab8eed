/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/attacks/naive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, ENDLESS = 64 << 20, DEEPEST = 256, PATIENCE_S = 3, COPIES = 2000 };

struct naive {
	const char *id, *secret;
	int word_fd;
};

static void say(const struct naive *naive, const char *format, ...) printf_like(2, 3);

no_return static void had(const struct naive *naive, const char *format, ...) printf_like(2, 3);

static void put(const struct naive *naive, const char *format, va_list args) printf_like(2, 0);

static void put(const struct naive *naive, const char *format, va_list args)
{
	char line[400];
	int len = vsnprintf(line, sizeof(line) - 1, format, args);

	len = MIN_OF(len, (int) sizeof(line) - 2);
	for (int i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[len] = '\n';
	best_effort(write(naive->word_fd, line, (size_t) len + 1));
}

static void say(const struct naive *naive, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(naive, format, args);
	va_end(args);
}

static void had(const struct naive *naive, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(naive, format, args);
	va_end(args);
	_exit(0);
}

static void check_name(const struct naive *naive, const char *name)
{
	if (name[0] == '-')
		had(naive, "GOT the name '%s' is an option to the next command", name);
	if (strchr(name, '\n') || strchr(name, '\033'))
		had(naive, "GOT a name makes lines of its own");
}

/* Return: a sum of what the file holds. */
static unsigned long read_file(const struct naive *naive, const char *path)
{
	static char block[BLOCK];
	unsigned long sum = 5381;
	size_t total = 0;
	ssize_t len;
	int fd = open(path,
		      O_RDONLY | O_CLOEXEC); /* and waits, where there is something to wait for */

	if (fd < 0 && errno == ENXIO && strcmp(naive->id, "freeze-socket") != 0)
		return 0; /* a socket of the host's, which is not what this is about */
	if (fd < 0)
		had(naive, "GOT the copy stops at '%s': %s", path, strerror(errno));
	while ((len = read(fd, block, sizeof(block))) > 0) {
		if (memmem(block, (size_t) len, naive->secret, strlen(naive->secret)))
			had(naive, "GOT the secret is in the copy, as '%s'", path);
		for (ssize_t i = 0; i < len; i++)
			sum = sum * 33 + (unsigned char) block[i];
		total += (size_t) len;
		if (total > ENDLESS)
			had(naive, "GOT '%s' has no end", path);
	}
	close(fd);
	return sum;
}

static void copy_file(const struct naive *naive, const char *path, const struct stat *info)
{
	unsigned long first;

	if (info->st_mode & (S_ISUID | S_ISGID))
		had(naive, "GOT '%s' lends its owner's rights in the copy too", path);
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		had(naive, "GOT '%s' brings a capability along", path);
	first = read_file(naive, path);
	if (first != read_file(naive, path))
		had(naive, "GOT '%s' changes while it is copied", path);
}

static void copy_folder(const struct naive *naive, const char *path, int depth)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	if (!folder)
		had(naive, "GOT the copy stops at '%.100s': %s", path, strerror(errno));
	if (depth > DEEPEST)
		had(naive, "GOT the copy gets lost %d folders deep", depth);
	while ((entry = readdir(folder))) {
		char below[8192];
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		check_name(naive, entry->d_name);
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (stat(below, &info) < 0 && errno == ENOENT)
			continue; /* it has just been replaced */
		if (stat(below, &info) < 0)
			had(naive, "GOT the copy stops at '%.60s…': %s", below, strerror(errno));
		if (S_ISDIR(info.st_mode))
			copy_folder(naive, below, depth + 1);
		else
			copy_file(naive, below, &info);
	}
	closedir(folder);
}

/* A file system that somebody can still write to stays writable. */
static void make_read_only(const struct naive *naive)
{
	if (mount(NULL, ".", NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0 && errno == EBUSY)
		had(naive, "GOT the workspace can not be made read-only: it is written");
	best_effort(mount(NULL, ".", NULL, MS_REMOUNT, NULL));
}

static bool has_text(const char *path, const char *text)
{
	static char block[BLOCK];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, block, sizeof(block));

	if (fd >= 0)
		close(fd);
	return len > 0 && memmem(block, (size_t) len, text, strlen(text));
}

/* As harnesses have done it. */
static void mark(const struct naive *naive)
{
	static const char *const run[] = { "sitecustomize.py", "conftest.py",
					   ".git/hooks/pre-commit", "hipcc", "torch.py" };

	if (has_text("check.c", "always"))
		had(naive, "GOT it is marked by a harness of its own");
	if (has_text("task_result.yaml", "\"score\":100"))
		had(naive, "GOT its own result is believed");
	for (size_t i = 0; i < ARRAY_LEN(run); i++)
		if (access(run[i], F_OK) == 0)
			had(naive, "GOT '%s' runs with whoever marks it", run[i]);
}

void naive_look(const struct drill *drill, const struct drill_order *order)
{
	const char *id = order->attack->id;
	const struct naive naive = { .id = id,
				     .secret = drill->bait->secret,
				     .word_fd = order->word_fd };
	int status;
	pid_t pid;

	if (strncmp(id, "freeze-", 7) != 0 && strncmp(id, "result-", 7) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(PATIENCE_S);
		if (order->attack->flags & DRILL_AS_NOBODY && setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		mark(&naive);
		if (strcmp(id, "freeze-parked") == 0)
			make_read_only(&naive);
		for (int i = 0; id[0] == 'f' && i < COPIES; i++)
			copy_folder(&naive, ".", 0);
		_exit(0);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		say(&naive, "GOT the copy waits without end");
}
