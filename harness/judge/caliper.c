/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/caliper.h"

#include <poll.h>
#include <string.h>

#include "harness/judge/flush.h"
#include "harness/judge/poison.h"
#include "harness/judge/raw_clock.h"
#include "sandbox/base/mem.h"

static bool has_probes(const struct caliper *caliper)
{
#ifdef PROCTOR_TEST_HOOKS
	return !caliper->walls.no_probes;
#else
	(void) caliper;
	return true;
#endif
}

static bool has_hold(const struct caliper *caliper)
{
#ifdef PROCTOR_TEST_HOOKS
	return !caliper->walls.no_hold;
#else
	(void) caliper;
	return true;
#endif
}

void caliper_init(struct caliper *out, const struct worker_source *source, struct buffers *buffers,
		  struct sentry *sentry)
{
	*out = CALIPER_INIT;
	out->source = source;
	out->buffers = buffers;
	out->sentry = sentry;
	out->snapshot = mem_alloc(buffers->outputs_size, 1);
	out->flush_unordered = flush_probe();
}

/* A worker that can not be held has used up its time, whatever it answered. */
static int hold(struct caliper *caliper, struct caliper_reading *reading, struct err *err)
{
	int rc;

	if (!has_hold(caliper))
		return 0;
	rc = caliper->source->hold(caliper->source->context, &caliper->worker, err);
	if (rc < 0)
		return err_wrap(err, "hold the worker");
	if (rc > 0)
		reading->end = CALIPER_TIMEOUT;
	return 0;
}

static bool has_died(const struct caliper *caliper)
{
	struct pollfd process = { .fd = caliper->worker.pid_fd, .events = POLLIN };

	return poll(&process, 1, 0) > 0;
}

/*
 * Spins until the worker rings. Nothing in here touches what the worker works on, and all but one
 * in JUDGE_SPINS looks at the bell is a load of a line that the worker leaves alone until it
 * rings.
 */
static enum caliper_end wait_done(const struct caliper *caliper, uint32_t number, int64_t deadline)
{
	_Atomic uint32_t *done = &caliper->buffers->control->done;
	int64_t watch = raw_clock_ns() + JUDGE_WATCH_NS;

	for (;;) {
		uint32_t rung = PROTOCOL_IDLE;
		int64_t now;

		for (int i = 0; i < JUDGE_SPINS && rung == PROTOCOL_IDLE; i++) {
			spin_pause();
			rung = atomic_load_explicit(done, memory_order_acquire);
			/* Who was held between two rings of the last call rings it once more. */
			if (rung == number - 1)
				rung = PROTOCOL_IDLE;
		}
		if (rung == number)
			return CALIPER_DONE;
		if (rung != PROTOCOL_IDLE)
			return CALIPER_GARBAGE;
		now = raw_clock_ns();
		if (now >= deadline)
			return CALIPER_TIMEOUT;
		if (now < watch)
			continue;
		watch = now + JUDGE_WATCH_NS;
		/* It may have rung and ended since the last look. */
		if (has_died(caliper))
			return atomic_load_explicit(done, memory_order_acquire) == number
				     ? CALIPER_DONE
				     : CALIPER_DIED;
	}
}

static void read_answer(const struct caliper *caliper, struct caliper_reading *reading)
{
	struct protocol_control *control = caliper->buffers->control;

	reading->status = atomic_load_explicit(&control->status, memory_order_relaxed);
	reading->claimed_ns = atomic_load_explicit(&control->claimed_ns, memory_order_relaxed);
}

int caliper_open(struct caliper *caliper, enum worker_role role, struct caliper_reading *reading,
		 struct err *err)
{
	struct buffers *buffers = caliper->buffers;
	struct worker_fds fds;
	int lent[BUFFERS_COUNT];
	int rc;

	buffers_wipe(buffers);
	caliper->number = 0;
	rc = buffers_lend(buffers, lent, err);
	fds = (struct worker_fds){ lent[0], lent[1], lent[2] };
	if (rc == 0)
		rc = caliper->source->start(caliper->source->context, role, &fds, &caliper->worker,
					    err);
	buffers_take_back(lent);
	if (rc < 0)
		return err_wrap(err, "start a worker");
	*reading = (struct caliper_reading){ .end = CALIPER_DONE };
	reading->end = wait_done(caliper, PROTOCOL_READY, raw_clock_ns() + JUDGE_START_NS);
	read_answer(caliper, reading);
	return hold(caliper, reading, err);
}

/* What an inout holds before the call stands where the poison was. */
static void fill_outputs(uint8_t *outputs, const struct caliper_job *job)
{
	const uint8_t *from = job->fill;

	for (uint32_t i = 0; i < job->outputs->count; i++) {
		if (!(job->filled >> i & 1))
			continue;
		memcpy(outputs + job->outputs->offset[i], from, job->outputs->bytes[i]);
		from += protocol_fill_bytes(job->outputs->bytes[i]);
	}
}

/* Everything that the worker must not see before its time runs. It is held. */
static void set_up(struct caliper *caliper, const struct caliper_job *job)
{
	struct buffers *buffers = caliper->buffers;
	struct protocol_control *control = buffers->control;

	memcpy(buffers->inputs, job->inputs, job->inputs_span);
	poison_fill(buffers->outputs, job->outputs->span, job->poison_seed);
	fill_outputs(buffers->outputs, job);
	memcpy(&control->call, job->call, sizeof(control->call));
	atomic_store(&control->shape, job->shape);
	atomic_store(&control->done, PROTOCOL_IDLE);
	atomic_store(&control->status, PROTOCOL_UNSAID);
	atomic_store(&control->claimed_ns, 0);
	flush_caches(buffers->inputs, job->inputs_span, caliper->flush_unordered);
	flush_caches(buffers->outputs, job->outputs->span, caliper->flush_unordered);
}

/* The sentry needs a wake-up (50 us), which set_up() has mostly covered. */
static bool watch_handover(struct caliper *caliper)
{
	int64_t deadline = raw_clock_ns() + JUDGE_WATCH_NS;

	if (!has_hold(caliper))
		return false;
	while (!sentry_watch(caliper->sentry)) {
		if (raw_clock_ns() >= deadline)
			return false;
		spin_pause();
	}
	return true;
}

/* The measured stretch. Returns when the probes have been read. */
static void measure(struct caliper *caliper, const struct caliper_job *job, uint64_t *seen,
		    struct caliper_reading *reading)
{
	struct protocol_control *control = caliper->buffers->control;
	const uint8_t *outputs = caliper->buffers->outputs;
	bool watched = watch_handover(caliper);
	uint32_t number = ++caliper->number;
	int64_t released, rung, handover;

	memset(seen, 0, JUDGE_PROBES * sizeof(*seen)); /* in the cache before they are needed */
	released = raw_clock_ns();
	atomic_store_explicit(&control->go, number, memory_order_release);
	if (has_hold(caliper))
		caliper->source->release(caliper->source->context, &caliper->worker);
	reading->end = wait_done(caliper, number, released + job->wall_ns);
	rung = raw_clock_ns();
	if (has_probes(caliper))
		for (int i = 0; i < JUDGE_PROBES; i++)
			seen[i] = *(const volatile uint64_t *) (outputs + job->probes[i]);

	memcpy(caliper->snapshot, outputs, job->outputs->span);
	reading->handover_seen = watched && sentry_handover(caliper->sentry, &handover);
	/* A sentry that was off its CPU for other reasons tells a time before the release. */
	if (!reading->handover_seen || handover < released)
		handover = released;
	reading->sealed_ns = rung - handover;
}

/* What the snapshot says before anybody looks at values; the worker is held again. */
static void verify(struct caliper *caliper, const struct caliper_job *job, const uint64_t *seen,
		   struct caliper_reading *reading)
{
	for (int i = 0; has_probes(caliper) && i < JUDGE_PROBES; i++) {
		if (memcmp(&seen[i], caliper->snapshot + job->probes[i], sizeof(seen[i])) != 0) {
			reading->end = CALIPER_LATE;
			reading->offset = job->probes[i];
			return;
		}
	}
	if (poison_find_damage(caliper->snapshot, job->outputs, job->poison_seed, &reading->offset))
		reading->end = CALIPER_REDZONE;
	else if (memcmp(caliper->buffers->inputs, job->inputs, job->inputs_span) != 0)
		reading->end = CALIPER_TAMPERED;
}

int caliper_call(struct caliper *caliper, const struct caliper_job *job,
		 struct caliper_reading *reading, struct err *err)
{
	uint64_t seen[JUDGE_PROBES];

	*reading = (struct caliper_reading){ .end = CALIPER_DONE };
	if (has_hold(caliper))
		sentry_post(caliper->sentry);
	set_up(caliper, job);
	measure(caliper, job, seen, reading);
	read_answer(caliper, reading);
	if (hold(caliper, reading, err) < 0)
		return -1;
	if (reading->end == CALIPER_DONE)
		verify(caliper, job, seen, reading);
	return 0;
}

int caliper_close(struct caliper *caliper, struct worker_end *end, struct err *err)
{
	if (caliper->worker.pid_fd < 0)
		return 0;
	if (caliper->source->stop(caliper->source->context, &caliper->worker, end, err) < 0)
		return err_wrap(err, "stop a worker");
	return 0;
}

void caliper_done(struct caliper *caliper)
{
	struct worker_end end;
	struct err err = ERR_INIT;

	/* On the way out of another failure, which is the one to be told. */
	best_effort(caliper_close(caliper, &end, &err));
	mem_free(&caliper->snapshot);
	*caliper = CALIPER_INIT;
}
