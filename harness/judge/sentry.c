/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/sentry.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/judge/constants.h"
#include "harness/judge/raw_clock.h"

struct sentry_page {
	_Alignas(64) _Atomic uint32_t posted;  /* the judge: the round to keep the CPU for */
	_Alignas(64) _Atomic uint32_t watched; /* the judge: the round whose handover counts */
	_Alignas(64) _Atomic uint32_t beating; /* the sentry: the round it spins for */
	_Atomic uint32_t left;                 /* the sentry: the round whose gap it has seen */
	_Atomic int64_t beat;                  /* the sentry: its last look at the clock */
};

/* Spins until a watched gap, which it notices when it gets the CPU back. */
static void keep_cpu(struct sentry_page *page, uint32_t round)
{
	int64_t last = raw_clock_ns();

	atomic_store_explicit(&page->beat, last, memory_order_release);
	atomic_store_explicit(&page->beating, round, memory_order_release);
	for (;;) {
		int64_t now = raw_clock_ns();

		if (now - last > JUDGE_GAP_NS &&
		    atomic_load_explicit(&page->watched, memory_order_acquire) == round)
			break;
		if (atomic_load_explicit(&page->posted, memory_order_relaxed) != round)
			break;
		last = now;
		atomic_store_explicit(&page->beat, now, memory_order_release);
	}
	atomic_store_explicit(&page->left, round, memory_order_release);
}

no_return static void serve(struct sentry_page *page)
{
	uint32_t round = 0;

	for (;;) {
		while (atomic_load(&page->posted) == round)
			syscall(SYS_futex, &page->posted, FUTEX_WAIT, round, NULL, NULL, 0);
		round = atomic_load(&page->posted);
		keep_cpu(page, round);
	}
}

no_return static void child(struct sentry_page *page, uint32_t cpu, pid_t parent)
{
	static const struct sched_param lowest;
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	prctl(PR_SET_NAME, "sentry");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    sched_setaffinity(0, sizeof(only), &only) < 0 ||
	    sched_setscheduler(0, SCHED_IDLE, &lowest) < 0)
		_exit(1);
	serve(page);
}

int sentry_start(struct sentry *out, uint32_t cpu, struct err *err)
{
	struct sentry made = SENTRY_INIT;
	pid_t self = getpid();
	void *map;
	int side;

	if (cpu >= CPU_SETSIZE)
		return err_set(err, ERR_INPUT, "there is no CPU %u", cpu);
	map = mmap(NULL, sizeof(struct sentry_page), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "map the sentry's page");
	side = process_fork(&made.process, err);
	if (side == 0)
		child(map, cpu, self);
	if (side < 0) {
		munmap(map, sizeof(struct sentry_page));
		return err_wrap(err, "start the sentry");
	}
	made.page = map;
	*out = made;
	return 0;
}

void sentry_post(struct sentry *sentry)
{
	struct sentry_page *page = sentry->page;

	sentry->round++;
	atomic_store(&page->posted, sentry->round);
	syscall(SYS_futex, &page->posted, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool sentry_watch(struct sentry *sentry)
{
	struct sentry_page *page = sentry->page;

	if (atomic_load_explicit(&page->beating, memory_order_acquire) != sentry->round)
		return false;
	atomic_store(&page->watched, sentry->round);
	return true;
}

bool sentry_handover(const struct sentry *sentry, int64_t *at)
{
	const struct sentry_page *page = sentry->page;
	int64_t first, until;

	if (atomic_load(&page->watched) != sentry->round)
		return false;
	first = atomic_load_explicit(&page->beat, memory_order_acquire);
	*at = first;
	if (atomic_load_explicit(&page->left, memory_order_acquire) == sentry->round)
		return true;
	/* Not noticed yet: then the sentry is off its CPU, and the beat stands still. */
	until = raw_clock_ns() + 2 * JUDGE_GAP_NS;
	while (raw_clock_ns() < until)
		spin_pause();
	return atomic_load_explicit(&page->beat, memory_order_acquire) == first;
}

void sentry_done(struct sentry *sentry)
{
	process_kill(&sentry->process);
	if (sentry->page)
		munmap(sentry->page, sizeof(struct sentry_page));
	*sentry = SENTRY_INIT;
}
