/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { SIZE = 3 * PROTOCOL_PAGE };

static struct buffers made(void)
{
	struct buffers buffers = BUFFERS_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(buffers_create(&buffers, SIZE, SIZE, &err));
	return buffers;
}

static bool can_map_writable(int fd)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

TEST(only_the_judge_writes_inputs)
{
	struct buffers buffers = made();

	buffers.inputs[0] = 7;
	CHECK(!can_map_writable(buffers.inputs_fd));
	CHECK_INT(pwrite(buffers.inputs_fd, "x", 1, 0), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(fallocate(buffers.inputs_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			    PROTOCOL_PAGE),
		  -1);
	CHECK_INT(buffers.inputs[0], 7);
	buffers_done(&buffers);
}

TEST(a_worker_sees_inputs_and_writes_outputs)
{
	struct buffers buffers = made();
	uint8_t *inputs = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, buffers.inputs_fd, 0);
	uint8_t *outputs =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, buffers.outputs_fd, 0);

	CHECK(inputs != MAP_FAILED && outputs != MAP_FAILED);
	buffers.inputs[5] = 55;
	CHECK_INT(inputs[5], 55);
	outputs[6] = 66;
	CHECK_INT(buffers.outputs[6], 66);
	buffers_done(&buffers);
}

TEST(no_size_and_no_seal_can_change)
{
	struct buffers buffers = made();
	int fds[] = { buffers.control_fd, buffers.inputs_fd, buffers.outputs_fd };

	for (int i = 0; i < 3; i++) {
		CHECK_INT(ftruncate(fds[i], 0), -1);
		CHECK_INT(ftruncate(fds[i], 100 * PROTOCOL_PAGE), -1);
		CHECK_INT(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE), -1);
	}
	buffers_done(&buffers);
}

TEST(nothing_is_left_after_wiping)
{
	struct buffers buffers = made();
	static const uint8_t zeros[SIZE];

	memset(buffers.inputs, 1, SIZE);
	memset(buffers.outputs, 2, SIZE);
	memset(buffers.control, 3, PROTOCOL_PAGE);
	buffers_wipe(&buffers);
	CHECK(memcmp(buffers.inputs, zeros, SIZE) == 0);
	CHECK(memcmp(buffers.outputs, zeros, SIZE) == 0);
	CHECK(memcmp(buffers.control, zeros, PROTOCOL_PAGE) == 0);
	buffers_done(&buffers);
	buffers_done(&buffers);
}
