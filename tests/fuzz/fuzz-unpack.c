/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/collect.h"
#include "sandbox/unpack.h"

/*
 * Whatever the bytes are: nothing beside the target folder changes, an invalid stream is an
 * ERR_INPUT error, and a folder made of a valid one without REFUSED entries has that stream.
 * Once with links that lead out of the target there before, under names that the corpus likes.
 */
#define LIMITS ((struct stream_limits){ 4096, 1024, 50, 4, 600, 0 })

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void) info;
	(void) kind;
	(void) at;
	return remove(path);
}

static int memfd_of(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	int fd = memfd_create("stream", MFD_CLOEXEC);

	must(fd >= 0 && io_write_all(fd, data, size, "stream", &err) == 0);
	must(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void check_same(int root_fd, const uint8_t *data, size_t size)
{
	auto_fd out = memfd_of(NULL, 0);
	struct collect_report report;
	struct err err = ERR_INIT;
	uint8_t *copy = malloc(size + 1);

	must(copy && collect_tree(root_fd, &LIMITS, out, &report, &err) == 0);
	must(pread(out, copy, size + 1, 0) == (ssize_t) size);
	must(memcmp(copy, data, size) == 0);
	free(copy);
}

/* The neighbour of the target is an empty folder, and there is nothing else. */
static void check_surroundings(const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/neighbour", path);
	must(rmdir(name) == 0 && mkdir(name, 0755) == 0);
	snprintf(name, sizeof(name), "%s/target", path);
	must(nftw(name, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
	must(rmdir(path) < 0 && errno == ENOTEMPTY);
	snprintf(name, sizeof(name), "%s/neighbour", path);
	must(rmdir(name) == 0);
	must(rmdir(path) == 0);
}

static void unpack(const uint8_t *data, size_t size, bool links)
{
	char path[] = "/tmp/proctor-fuzz-XXXXXX";
	auto_fd dir = -1, root = -1, in = memfd_of(data, size);
	struct stream_counts counts;
	struct err err = ERR_INIT;

	must(mkdtemp(path) != NULL);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(mkdirat(dir, "target", 0755) == 0 && mkdirat(dir, "neighbour", 0755) == 0);
	root = openat(dir, "target", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (links)
		must(symlinkat("../neighbour", root, "a") == 0 &&
		     symlinkat("../neighbour/x", root, "b") == 0);
	if (unpack_tree(in, root, &LIMITS, &counts, &err) < 0)
		must(err.kind == ERR_INPUT && err.text[0] != '\0');
	else if (counts.refused == 0 && !links)
		check_same(root, data, size);
	check_surroundings(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unpack(data, size, false);
	unpack(data, size, true);
	return 0;
}
