/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Runs a fuzz target over the files of a folder once, where there is no libFuzzer. A file that
 * the target does not survive ends the program; its name is the last one printed.
 */
enum { FILE_MAX = 1 << 20 };

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int replay(int dir_fd, const char *name)
{
	static uint8_t bytes[FILE_MAX];
	uint8_t *exact;
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return fail(name);
	len = read(fd, bytes, FILE_MAX);
	close(fd);
	if (len < 0)
		return fail(name);
	/* As libFuzzer does: not a byte of room behind the input. */
	exact = malloc((size_t) len);
	if (!exact && len > 0)
		return fail(name);
	if (len > 0)
		memcpy(exact, bytes, (size_t) len);
	printf("%s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, (size_t) len);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	const struct dirent *item;
	DIR *dir;
	int count = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	dir = opendir(argv[1]);
	if (!dir)
		return fail(argv[1]);
	while ((item = readdir(dir))) {
		if (item->d_name[0] == '.')
			continue;
		if (replay(dirfd(dir), item->d_name) != 0)
			return 1;
		count++;
	}
	closedir(dir);
	printf("%d inputs\n", count);
	return count == 0;
}
