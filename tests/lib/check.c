/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/check.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_SKIP = 77 };

static struct check_test *first, **last = &first;

/* What a test tells main(), in memory that both see: it outlives a test that is killed. */
static struct {
	char folder[64];
	char skip[400];
} * told;

void check_register(struct check_test *test)
{
	*last = test;
	last = &test->next;
}

printf_like(1, 0) static void print_note(const char *format, va_list args)
{
	fputs("# ", stdout);
	vprintf(format, args);
	fputc('\n', stdout);
	fflush(stdout);
}

void check_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_note(format, args);
	va_end(args);
}

void check_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: failed\n", file, line);
	va_start(args, format);
	print_note(format, args);
	va_end(args);
	_exit(EXIT_FAIL);
}

void check_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(told->skip, sizeof(told->skip), format, args);
	va_end(args);
	_exit(EXIT_SKIP);
}

const char *check_folder_path(void)
{
	char path[sizeof(told->folder)] = "/tmp/proctor-test-XXXXXX";

	if (told->folder[0] == '\0') {
		if (!mkdtemp(path))
			check_fail(__FILE__, __LINE__, "make a folder in /tmp: %m");
		memcpy(told->folder, path, sizeof(path));
	}
	return told->folder;
}

int check_folder(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(check_folder_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		check_fail(__FILE__, __LINE__, "open '%s': %m", told->folder);
	return fd;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void) info;
	(void) kind;
	(void) at;
	return remove(path);
}

static void remove_folder(void)
{
	if (told->folder[0] == '\0')
		return;
	if (nftw(told->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		printf("# '%s' could not be removed: %m\n", told->folder);
	told->folder[0] = '\0';
}

void check_str(const char *file, int line, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		check_fail(file, line, "%s is\n#   '%s', not\n#   '%s'", what, got, want);
}

void check_int(const char *file, int line, const char *what, int64_t got, int64_t want)
{
	if (got != want)
		check_fail(file, line, "%s is %lld, not %lld", what, (long long) got,
			   (long long) want);
}

static int run(const struct check_test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test->run();
		/* exit() and not _exit(): the leak check of a sanitizer build runs there. */
		exit(EXIT_PASS);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return EXIT_FAIL;
	if (WIFSIGNALED(status)) {
		printf("# the test was ended by signal %d\n", WTERMSIG(status));
		return EXIT_FAIL;
	}
	return WEXITSTATUS(status);
}

/* Arguments name the tests to run; without arguments all run. */
static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(name, argv[i]) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int count = 0, failed = 0;

	for (struct check_test *test = first; test; test = test->next)
		if (wanted(test->name, argc, argv))
			count++;
	printf("TAP version 13\n1..%d\n", count);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return EXIT_FAIL;
	count = 0;
	for (struct check_test *test = first; test; test = test->next) {
		int result;

		if (!wanted(test->name, argc, argv))
			continue;
		result = run(test);
		remove_folder();
		failed += result != EXIT_PASS && result != EXIT_SKIP;
		printf("%sok %d - %s", result == EXIT_PASS || result == EXIT_SKIP ? "" : "not ",
		       ++count, test->name);
		if (result == EXIT_SKIP)
			printf(" # SKIP %s", told->skip);
		putchar('\n');
	}
	return failed > 0;
}
