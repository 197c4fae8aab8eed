/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Each is a place in which one worker could tell the next that it was there. */
TEST(what_the_kernel_keeps_beside_the_bytes_is_not_left_either)
{
	struct buffers buffers = made();
	int fds[] = { buffers.control_fd, buffers.inputs_fd, buffers.outputs_fd };
	void *maps[] = { buffers.control, buffers.inputs, buffers.outputs };
	const uint64_t set = 2; /* RWH_WRITE_LIFE_SHORT */
	int policy = 9, has_numa = 0;
	struct stat info;

	CHECK_INT(pwrite(buffers.outputs_fd, "x", 1, 0), 1);
	for (int i = 0; i < BUFFERS_COUNT; i++) {
		uint64_t hint = set;

		CHECK_INT(fcntl(fds[i], F_SET_RW_HINT, &hint), 0);
		/* 4: MPOL_LOCAL, on this node */
		has_numa += syscall(SYS_mbind, maps[i], PROTOCOL_PAGE, 4, NULL, 0, 0) == 0;
	}
	buffers_wipe(&buffers);
	for (int i = 0; i < BUFFERS_COUNT; i++) {
		uint64_t hint = set;

		CHECK_INT(fstat(fds[i], &info), 0);
		CHECK(info.st_mtim.tv_sec == 0 && info.st_mtim.tv_nsec == 0);
		CHECK(info.st_atim.tv_sec == 0 && info.st_atim.tv_nsec == 0);
		CHECK_INT(fcntl(fds[i], F_GET_RW_HINT, &hint), 0);
		CHECK_INT(hint, 0);
		/* 2: MPOL_F_ADDR */
		if (has_numa)
			CHECK_INT(syscall(SYS_get_mempolicy, &policy, NULL, 0, maps[i], 2), 0);
		CHECK_INT(has_numa ? policy : 0, 0);
	}
	buffers_done(&buffers);
}

static void lend(const struct buffers *buffers, int out[BUFFERS_COUNT])
{
	struct err err = ERR_INIT;

	CHECK_OK(buffers_lend(buffers, out, &err));
}

TEST(each_worker_gets_descriptors_that_no_other_had)
{
	struct buffers buffers = made();
	int lent[BUFFERS_COUNT], next[BUFFERS_COUNT];
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	lend(&buffers, lent);
	for (int i = 0; i < BUFFERS_COUNT; i++) {
		CHECK_INT(lseek(lent[i], 5, SEEK_SET), 5);
		CHECK_INT(fcntl(lent[i], F_OFD_SETLK, &lock), 0);
		CHECK_INT(fcntl(lent[i], F_SETSIG, SIGUSR1), 0);
		CHECK_INT(fcntl(lent[i], F_SETFL, O_APPEND | O_NONBLOCK), 0);
	}
	CHECK_INT(pwrite(lent[1], "x", 1, 0), -1);
	CHECK_INT(errno, EBADF); /* read only */
	buffers_take_back(lent);
	lend(&buffers, next);
	for (int i = 0; i < BUFFERS_COUNT; i++) {
		CHECK_INT(lent[i], -1);
		CHECK_INT(lseek(next[i], 0, SEEK_CUR), 0);
		CHECK_INT(fcntl(next[i], F_GETSIG), 0);
		CHECK_INT(fcntl(next[i], F_GETFL) & (O_APPEND | O_NONBLOCK), 0);
		lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		CHECK_INT(fcntl(next[i], F_OFD_GETLK, &lock), 0);
		CHECK_INT(lock.l_type, F_UNLCK);
	}
	buffers_take_back(next);
	buffers_done(&buffers);
}
