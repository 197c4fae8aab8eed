/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/attacks/attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct attack *const themes[] = {
	attacks_on_identity,    attacks_on_files,     attacks_on_secrets,    attacks_on_mounts,
	attacks_on_processes,   attacks_on_the_end,   attacks_on_the_kernel, attacks_on_devices,
	attacks_on_the_network, attacks_on_resources, attacks_on_the_freeze, attacks_on_results,
};

static printf_like(2, 0) void put_word(const char *word, const char *format, va_list args)
{
	char line[400];
	size_t len = (size_t) snprintf(line, sizeof(line), "%s ", word);
	int added = vsnprintf(line + len, sizeof(line) - len - 1, format, args);

	len = added < 0 ? len : MIN_OF(len + (size_t) added, sizeof(line) - 2);
	for (size_t i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[len++] = '\n';
	/* Whole or not at all: a line is shorter than a pipe takes at once. */
	if (write(WORD_FD, line, len) < 0)
		_exit(3);
}

#define WORD_AND_END(word)                    \
	do {                                  \
		va_list args;                 \
		va_start(args, format);       \
		put_word(word, format, args); \
		va_end(args);                 \
		_exit(0);                     \
	} while (0)

void got(const char *format, ...)
{
	WORD_AND_END("GOT");
}

void held(const char *format, ...)
{
	WORD_AND_END("HELD");
}

void broken(const char *format, ...)
{
	WORD_AND_END("BROKEN");
}

void not_here(const char *format, ...)
{
	WORD_AND_END("NA");
}

void held_by(const char *call)
{
	held("%s: %s", call, strerror(errno));
}

void needs_capability(const struct scene *scene, int capability, const char *name)
{
	if (scene->bare && !((unsigned long) status_number("CapEff", 16) >> capability & 1))
		not_here("root of this host has no %s", name);
}

void say_ready(void)
{
	if (write(WORD_FD, "READY\n", 6) != 6)
		_exit(3);
}

const char *secret_mark(void)
{
	static char mark[32];

	snprintf(mark, sizeof(mark), "%s-%s:", "drill", "secret");
	return mark;
}

bool has_secret(const void *bytes, size_t len)
{
	enum { DIGITS = 32 };
	const char *mark = secret_mark(), *text = bytes;
	const size_t mark_len = strlen(mark);

	for (size_t at = 0; at + mark_len + DIGITS <= len; at++) {
		const char *digits = text + at + mark_len;
		size_t good = 0;

		if (text[at] != mark[0] || memcmp(text + at, mark, mark_len) != 0)
			continue;
		while (good < DIGITS && strchr("0123456789abcdef", digits[good]) && digits[good])
			good++;
		if (good == DIGITS)
			return true;
	}
	return false;
}

void try_secret(int fd, const char *where)
{
	char text[4096];
	ssize_t len;

	if (fd < 0)
		return;
	len = read(fd, text, sizeof(text));
	if (len > 0 && has_secret(text, (size_t) len))
		got("read the secret in %s", where);
	close(fd);
}

const char *below(const char *folder, const char *name)
{
	static char paths[8][4096];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

ssize_t read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t len = fd < 0 ? -1 : read(fd, text, room - 1);
	int saved = errno;

	text[len < 0 ? 0 : len] = '\0';
	if (fd >= 0)
		close(fd);
	errno = saved;
	return len;
}

bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool put = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text);
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return put;
}

long status_number(const char *key, int base)
{
	char text[8192];
	const char *at;

	if (read_text("/proc/self/status", text, sizeof(text)) < 0)
		return -1;
	for (at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == ':')
			return strtol(at + strlen(key) + 1, NULL, base);
	}
	return -1;
}

long namespace_of(const char *kind)
{
	struct stat info;

	return stat(below("/proc/self/ns", kind), &info) < 0 ? 0 : (long) info.st_ino;
}

void walk(const char *folder, int depth,
	  void (*visit)(const char *path, mode_t mode, const struct scene *scene),
	  const struct scene *scene)
{
	DIR *opened = depth > 24 ? NULL : opendir(folder);
	const struct dirent *entry;

	while (opened && (entry = readdir(opened))) {
		char path[4096];
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", strcmp(folder, "/") == 0 ? "" : folder,
			 entry->d_name);
		if (strcmp(path, "/proc") == 0 || lstat(path, &info) < 0)
			continue;
		visit(path, info.st_mode, scene);
		if (S_ISDIR(info.st_mode))
			walk(path, depth + 1, visit, scene);
	}
	if (opened)
		closedir(opened);
}

void ignore_signals(void)
{
	for (int number = 1; number < 64; number++)
		if (number != SIGCHLD)
			signal(number, SIG_IGN);
}

void sleep_ms(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

enum kind { TEXT, NUMBER };

/* clang-format off */
static const struct {
	const char *name;
	enum kind kind;
	size_t offset;
} properties[] = {
	{ "bait",       TEXT,   offsetof(struct scene, bait) },
	{ "outside",    TEXT,   offsetof(struct scene, outside) },
	{ "tag",        TEXT,   offsetof(struct scene, tag) },
	{ "own",        TEXT,   offsetof(struct scene, own) },
	{ "gpus",       TEXT,   offsetof(struct scene, gpus) },
	{ "victim",     NUMBER, offsetof(struct scene, victim) },
	{ "port",       NUMBER, offsetof(struct scene, port) },
	{ "near_port",  NUMBER, offsetof(struct scene, near_port) },
	{ "service",    NUMBER, offsetof(struct scene, service) },
	{ "key",        NUMBER, offsetof(struct scene, key) },
	{ "near_key",   NUMBER, offsetof(struct scene, near_key) },
	{ "netns",      NUMBER, offsetof(struct scene, netns) },
	{ "group",      NUMBER, offsetof(struct scene, group) },
	{ "disk_major", NUMBER, offsetof(struct scene, disk_major) },
	{ "disk_minor", NUMBER, offsetof(struct scene, disk_minor) },
	{ "memory",     NUMBER, offsetof(struct scene, memory) },
	{ "work",       NUMBER, offsetof(struct scene, work) },
	{ "inodes",     NUMBER, offsetof(struct scene, inodes) },
	{ "pids",       NUMBER, offsetof(struct scene, pids) },
	{ "files",      NUMBER, offsetof(struct scene, files) },
	{ "output",     NUMBER, offsetof(struct scene, output) },
	{ "huge",       NUMBER, offsetof(struct scene, huge) },
	{ "round",      NUMBER, offsetof(struct scene, round) },
	{ "bare",       NUMBER, offsetof(struct scene, bare) },
};
/* clang-format on */

static void take_property(struct scene *scene, const char *arg)
{
	const char *value = strchr(arg, '=');

	for (size_t i = 0; value && i < ARRAY_LEN(properties); i++) {
		void *at = (char *) scene + properties[i].offset;

		if (strlen(properties[i].name) != (size_t) (value - arg) ||
		    strncmp(arg, properties[i].name, (size_t) (value - arg)) != 0)
			continue;
		if (properties[i].kind == TEXT)
			memcpy(at, &(const char *){ value + 1 }, sizeof(const char *));
		else
			memcpy(at, &(long){ strtol(value + 1, NULL, 10) }, sizeof(long));
		return;
	}
	broken("nobody knows '%s'", arg);
}

static void list(void)
{
	for (size_t i = 0; i < ARRAY_LEN(themes); i++)
		for (const struct attack *attack = themes[i]; attack->id; attack++)
			puts(attack->id);
}

int main(int argc, char **argv)
{
	struct scene scene = { .bait = "", .outside = "", .tag = "", .own = "", .gpus = "" };

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	for (int i = 2; i < argc; i++)
		take_property(&scene, argv[i]);
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(themes); i++)
		for (const struct attack *attack = themes[i]; attack->id; attack++)
			if (strcmp(attack->id, argv[1]) == 0) {
				attack->run(&scene);
				return 0;
			}
	fprintf(stderr, "proctor-attack is started by proctor drill, see proctor-drill(1)\n");
	return 2;
}
