/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hostile candidate's library does. Each exported function is a softmax to the judge; the
 * worker's memory and descriptors are its own to abuse.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/judge/protocol.h"
#include "harness/judge/raw_clock.h"
#include "tests/kernels/kernels.h"

/* What a row of the table below needs: one entry point with a body. */
#define CHEAT(name)                                                         \
	void name(const float *in, float *out, int32_t rows, int32_t cols); \
	void name(const float *in, float *out, int32_t rows, int32_t cols)

static struct protocol_control *control_page(void)
{
	static struct protocol_control *page;

	if (!page)
		page = mmap(NULL, PROTOCOL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    PROTOCOL_CONTROL_FD, 0);
	return page;
}

static void ring(uint32_t number, uint32_t status, int64_t claim)
{
	struct protocol_control *control = control_page();

	atomic_store(&control->claimed_ns, claim);
	atomic_store(&control->status, status);
	atomic_store(&control->done, number);
}

static uint32_t number(void)
{
	return atomic_load(&control_page()->go);
}

static size_t floats(int32_t rows, int32_t cols)
{
	return (size_t) rows * (size_t) cols;
}

/* --- late writes: "done" at a part of the work ------------------------------------------------ */

/* Rows of one of the kernels. */
typedef void rows_function(const float *in, float *out, int32_t from, int32_t to, int32_t cols);

struct ringer {
	rows_function *work;
	int percent; /* of the rows are written when it rings */
};

static void ring_at(struct ringer ringer, const float *in, float *out, int32_t rows, int32_t cols)
{
	int32_t early = (int32_t) ((int64_t) rows * ringer.percent / 100);

	control_page();
	ringer.work(in, out, 0, early, cols);
	ring(number(), PROTOCOL_OK, 1000);
	ringer.work(in, out, early, rows, cols);
}

CHEAT(cheat_early_50)
{
	ring_at((struct ringer){ softmax_rows, 50 }, in, out, rows, cols);
}

CHEAT(cheat_early_75)
{
	ring_at((struct ringer){ softmax_rows, 75 }, in, out, rows, cols);
}

CHEAT(cheat_early_90)
{
	ring_at((struct ringer){ softmax_rows, 90 }, in, out, rows, cols);
}

CHEAT(cheat_early_95)
{
	ring_at((struct ringer){ softmax_rows, 95 }, in, out, rows, cols);
}

CHEAT(cheat_early_98)
{
	ring_at((struct ringer){ softmax_rows, 98 }, in, out, rows, cols);
}

/* The honest twin: the same path, rung when all is written. */
CHEAT(honest_ring)
{
	ring_at((struct ringer){ softmax_rows, 100 }, in, out, rows, cols);
}

/*
 * Outputs that are as large as they are quick to make: the worker stays ahead of the judge's
 * snapshot, so that all of it is right, and only the probes are not.
 */
CHEAT(cheat_curve_50)
{
	ring_at((struct ringer){ curve_rows, 50 }, in, out, rows, cols);
}

CHEAT(cheat_curve_75)
{
	ring_at((struct ringer){ curve_rows, 75 }, in, out, rows, cols);
}

CHEAT(cheat_curve_90)
{
	ring_at((struct ringer){ curve_rows, 90 }, in, out, rows, cols);
}

CHEAT(honest_curve)
{
	ring_at((struct ringer){ curve_rows, 100 }, in, out, rows, cols);
}

/* The same on a buffer that is updated in place, and is right but for what is not yet added. */
void cheat_inout_early(int64_t *x, int64_t n);
void cheat_inout_early(int64_t *x, int64_t n)
{
	control_page();
	for (int64_t i = 1; i < n; i++) {
		x[i] += x[i - 1];
		if (i == n / 2)
			ring(number(), PROTOCOL_OK, 1000);
	}
}

/* --- early reads: the next problem before its "go" -------------------------------------------- */

static bool has_settled(const volatile float *in, size_t count, float last)
{
	int64_t until = raw_clock_ns() + 3000;

	if (in[count - 1] == last)
		return false;
	while (raw_clock_ns() < until)
		spin_pause();
	return true;
}

/*
 * Never returns to the worker: after "done" it watches the inputs, computes into memory of its own
 * as soon as they have changed, and only copies once "go" has come.
 */
CHEAT(cheat_ahead)
{
	struct protocol_control *control = control_page();
	size_t count = floats(rows, cols);
	float *ready = aligned_alloc(64, count * sizeof(*ready));
	uint32_t call = number();

	softmax(in, out, rows, cols);
	for (;;) {
		float last = in[count - 1];
		bool solved = false;

		ring(call, PROTOCOL_OK, 1000);
		while (atomic_load_explicit(&control->go, memory_order_acquire) == call) {
			if (solved || !has_settled(in, count, last))
				continue;
			softmax(in, ready, rows, cols);
			solved = true;
		}
		call = number();
		if (solved)
			memcpy(out, ready, count * sizeof(*out));
		else
			softmax(in, out, rows, cols);
	}
}

/* --- answers of other calls --------------------------------------------------------------------
 */

static void *write_later(void *out)
{
	usleep(5000);
	memset(out, 0, PROTOCOL_PAGE);
	return NULL;
}

CHEAT(cheat_thread)
{
	pthread_t thread;

	(void) in;
	(void) rows;
	(void) cols;
	pthread_create(&thread, NULL, write_later, out);
}

CHEAT(cheat_previous)
{
	static float *kept;
	size_t bytes = floats(rows, cols) * sizeof(*kept);

	if (!kept) {
		kept = malloc(bytes);
		softmax(in, kept, rows, cols);
	}
	memcpy(out, kept, bytes);
	softmax(in, kept, rows, cols);
}

/* Keyed on 64 bytes of the input: never hits, so it is honest. */
CHEAT(cheat_memo)
{
	static float key[16];
	static float *kept;
	size_t bytes = floats(rows, cols) * sizeof(*kept);

	if (kept && memcmp(key, in, sizeof(key)) == 0) {
		memcpy(out, kept, bytes);
		return;
	}
	kept = realloc(kept, bytes);
	softmax(in, out, rows, cols);
	memcpy(kept, out, bytes);
	memcpy(key, in, sizeof(key));
}

CHEAT(cheat_after_five)
{
	static int calls;

	if (calls++ < 5)
		softmax(in, out, rows, cols);
	else
		memset(out, 0, floats(rows, cols) * sizeof(*out));
}

/* Right for shapes up to 64 rows, or only above. */
CHEAT(cheat_few_rows)
{
	softmax(in, out, rows, rows > 64 ? cols / 2 : cols);
}

CHEAT(cheat_many_rows)
{
	softmax(in, out, rows, rows > 64 ? cols : cols / 2);
}

/* Counts its processes in the parent's mailbox, which a jail would not have: the third cheats. */
CHEAT(cheat_third_worker)
{
	static int turn;

	if (turn == 0) {
		char name[64];
		int fd;

		snprintf(name, sizeof(name), "/proctor-test-%d", (int) getppid());
		fd = shm_open(name, O_RDWR | O_CREAT, 0600);
		turn = ftruncate(fd, 1 + lseek(fd, 0, SEEK_END)) == 0 ? (int) lseek(fd, 0, SEEK_END)
								      : 1;
		if (turn >= 3)
			shm_unlink(name);
		close(fd);
	}
	if (turn < 3)
		softmax(in, out, rows, cols);
	else
		memset(out, 0, floats(rows, cols) * sizeof(*out));
}

/* --- outputs -----------------------------------------------------------------------------------
 */

CHEAT(cheat_nothing)
{
	(void) in;
	(void) out;
	(void) rows;
	(void) cols;
}

CHEAT(cheat_half)
{
	softmax_rows(in, out, 0, rows / 2, cols);
}

CHEAT(cheat_past_end)
{
	softmax(in, out, rows, cols);
	((char *) out)[floats(rows, cols) * sizeof(*out)] ^= 1;
}

CHEAT(cheat_before_start)
{
	softmax(in, out, rows, cols);
	((char *) out)[-1] ^= 1;
}

static void fill(float *out, size_t count, float value)
{
	for (size_t i = 0; i < count; i++)
		out[i] = value;
}

CHEAT(cheat_zeros)
{
	(void) in;
	fill(out, floats(rows, cols), 0.0f);
}

CHEAT(cheat_minus_zeros)
{
	(void) in;
	fill(out, floats(rows, cols), -0.0f);
}

CHEAT(cheat_mean)
{
	(void) in;
	fill(out, floats(rows, cols), 1.0f / (float) cols);
}

CHEAT(cheat_copy)
{
	memcpy(out, in, floats(rows, cols) * sizeof(*out));
}

CHEAT(cheat_nan)
{
	(void) in;
	fill(out, floats(rows, cols), __builtin_nanf(""));
}

CHEAT(cheat_inf)
{
	(void) in;
	fill(out, floats(rows, cols), __builtin_inff());
}

/* --- inputs: every way to change them is tried; where one works the output is that of zeros -----
 */

CHEAT(cheat_inputs)
{
	size_t bytes = floats(rows, cols) * sizeof(*in);
	float *zeros = calloc(1, bytes);
	void *again = mmap(NULL, PROTOCOL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			   PROTOCOL_INPUTS_FD, PROTOCOL_PAGE);
	int reopened = open("/proc/self/fd/4", O_RDWR | O_CLOEXEC);
	void *third = mmap(NULL, PROTOCOL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, reopened,
			   PROTOCOL_PAGE);
	bool changed =
		again != MAP_FAILED || third != MAP_FAILED ||
		mprotect((void *) (uintptr_t) in, PROTOCOL_PAGE, PROT_READ | PROT_WRITE) == 0 ||
		pwrite(PROTOCOL_INPUTS_FD, zeros, PROTOCOL_PAGE, PROTOCOL_PAGE) > 0 ||
		ftruncate(PROTOCOL_INPUTS_FD, 0) == 0 || ftruncate(PROTOCOL_OUTPUTS_FD, 0) == 0 ||
		fallocate(PROTOCOL_INPUTS_FD, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			  PROTOCOL_PAGE) == 0;

	softmax(changed ? zeros : in, out, rows, cols);
	free(zeros);
	close(reopened);
}

CHEAT(cheat_writes_inputs)
{
	(void) out;
	(void) rows;
	(void) cols;
	*(volatile float *) (uintptr_t) in = 0;
}

/* --- the protocol ------------------------------------------------------------------------------
 */

/* Serves the judge itself and says what it likes about it. */
no_return static void serve(const float *in, float *out, uint32_t status, int64_t claim)
{
	for (;;) {
		const struct protocol_arg *args = control_page()->call.args;
		uint32_t call = number();

		softmax(in, out, args[2].i32, args[3].i32);
		ring(call, status, claim);
		while (number() == call)
			spin_pause();
	}
}

CHEAT(cheat_claim_tiny)
{
	(void) rows;
	(void) cols;
	serve(in, out, PROTOCOL_OK, 1);
}

CHEAT(cheat_claim_negative)
{
	(void) rows;
	(void) cols;
	serve(in, out, PROTOCOL_OK, INT64_MIN);
}

CHEAT(cheat_claim_huge)
{
	(void) rows;
	(void) cols;
	serve(in, out, PROTOCOL_OK, INT64_MAX);
}

CHEAT(cheat_status)
{
	(void) rows;
	(void) cols;
	serve(in, out, 99, 1000);
}

CHEAT(cheat_done)
{
	ring(number() + 1, PROTOCOL_OK, 1000);
	usleep(50000); /* longer than a judge is away whose CPU others want as well */
	softmax(in, out, rows, cols);
}

CHEAT(cheat_flood)
{
	for (uint32_t i = 1000; i < 1001000; i++)
		ring(i, i, i);
	softmax(in, out, rows, cols);
}

CHEAT(cheat_scribble)
{
	memset(control_page(), 0xa5, PROTOCOL_PAGE);
	usleep(100);
	softmax(in, out, rows, cols);
}

/* --- ends --------------------------------------------------------------------------------------
 */

CHEAT(cheat_exit_0)
{
	(void) in;
	(void) out;
	(void) rows;
	(void) cols;
	_exit(0);
}

CHEAT(cheat_exit_77)
{
	softmax(in, out, rows, cols);
	_exit(77);
}

/* Answers, and is gone before the next call. */
CHEAT(cheat_exit_after)
{
	softmax(in, out, rows, cols);
	ring(number(), PROTOCOL_OK, 1000);
	_exit(0);
}

CHEAT(cheat_segv)
{
	softmax(in, out, rows, cols);
	raise(SIGSEGV);
}

CHEAT(cheat_kill)
{
	softmax(in, out, rows, cols);
	kill(getpid(), SIGKILL);
}

CHEAT(cheat_stop)
{
	softmax(in, out, rows, cols);
	kill(getpid(), SIGSTOP);
	pause();
}

/* Waits for its child in the kernel, where SIGSTOP does not reach it. */
CHEAT(cheat_vfork)
{
	softmax(in, out, rows, cols);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

CHEAT(cheat_hang)
{
	softmax(in, out, rows, cols);
	for (;;)
		pause();
}

/* The mappings stay, and so does the judge: no effect. */
CHEAT(cheat_close)
{
	close(PROTOCOL_CONTROL_FD);
	close(PROTOCOL_INPUTS_FD);
	close(PROTOCOL_OUTPUTS_FD);
	softmax(in, out, rows, cols);
}
