/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/buffers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* The mapping comes first: FUTURE_WRITE forbids every later one that can write. */
static int make(const char *name, uint64_t size, int seals, int *fd_out, void **map_out,
		struct err *err)
{
	auto_fd fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;

	if (fd < 0)
		return err_sys(err, "make the memory '%s'", name);
	if (ftruncate(fd, (off_t) size) < 0)
		return err_sys(err, "give the memory '%s' %llu bytes", name,
			       (unsigned long long) size);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "map the memory '%s'", name);
	/*
	 * The judge's alone: a worker could otherwise leave extended attributes or times on it for
	 * the next one, or open it again. The seals come after.
	 */
	if (fchmod(fd, 0600) < 0) {
		err_sys(err, "take a memfd's mode away");
		return -1;
	}
	if (fcntl(fd, F_ADD_SEALS, seals) < 0) {
		err_host(err, "seal the memory '%s'", name);
		munmap(map, size);
		return -1;
	}
	*fd_out = fd_take(&fd);
	*map_out = map;
	return 0;
}

int buffers_create(struct buffers *out, uint64_t inputs, uint64_t outputs, struct err *err)
{
	cleanup(buffers_done) struct buffers made = BUFFERS_INIT;
	void *map;

	if (make("proctor-control", PROTOCOL_PAGE, SEALS, &made.control_fd, &map, err) < 0)
		return -1;
	made.control = map;
	if (make("proctor-inputs", inputs, SEALS | F_SEAL_FUTURE_WRITE, &made.inputs_fd, &map,
		 err) < 0)
		return -1;
	made.inputs = map;
	made.inputs_size = inputs;
	if (make("proctor-outputs", outputs, SEALS, &made.outputs_fd, &map, err) < 0)
		return -1;
	made.outputs = map;
	made.outputs_size = outputs;
	*out = take(made, BUFFERS_INIT);
	return 0;
}

/*
 * A file has more than its bytes: the time of the last write(2), which a worker may choose to the
 * nanosecond; a hint on how long writes live (F_SET_RW_HINT, fs/fcntl.c); where its pages are to be
 * (mbind(2) on shared memory). Kernels that know none of the last two have nothing to be reset.
 */
static void wipe(int fd, void *map, uint64_t size)
{
	static const struct timespec never[2];
	uint64_t hint = 0; /* RWH_WRITE_LIFE_NOT_SET */

	memset(map, 0, size);
	best_effort(futimens(fd, never));
	best_effort(fcntl(fd, F_SET_RW_HINT, &hint));
	best_effort((int) syscall(SYS_mbind, map, size, 0 /* MPOL_DEFAULT */, NULL, 0, 0));
}

void buffers_wipe(struct buffers *buffers)
{
	wipe(buffers->control_fd, buffers->control, PROTOCOL_PAGE);
	wipe(buffers->inputs_fd, buffers->inputs, buffers->inputs_size);
	wipe(buffers->outputs_fd, buffers->outputs, buffers->outputs_size);
}

int buffers_lend(const struct buffers *buffers, int out[BUFFERS_COUNT], struct err *err)
{
	const struct {
		int fd, flags;
	} rows[BUFFERS_COUNT] = {
		{ buffers->control_fd, O_RDWR },
		{ buffers->inputs_fd, O_RDONLY },
		{ buffers->outputs_fd, O_RDWR },
	};
	char path[32];

	for (size_t i = 0; i < BUFFERS_COUNT; i++)
		out[i] = -1;
	for (size_t i = 0; i < BUFFERS_COUNT; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", rows[i].fd);
		out[i] = open(path, rows[i].flags | O_CLOEXEC);
		if (out[i] < 0)
			return err_sys(err, "open memory of the judge's for a worker");
	}
	return 0;
}

void buffers_take_back(int lent[BUFFERS_COUNT])
{
	for (size_t i = 0; i < BUFFERS_COUNT; i++)
		fd_close(&lent[i]);
}

void buffers_done(struct buffers *buffers)
{
	if (buffers->control)
		munmap(buffers->control, PROTOCOL_PAGE);
	if (buffers->inputs)
		munmap(buffers->inputs, buffers->inputs_size);
	if (buffers->outputs)
		munmap(buffers->outputs, buffers->outputs_size);
	fd_close(&buffers->control_fd);
	fd_close(&buffers->inputs_fd);
	fd_close(&buffers->outputs_fd);
	*buffers = BUFFERS_INIT;
}
