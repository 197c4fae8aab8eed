/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/io.h"
#include "sandbox/base/process.h"

/* Shared by both: the child writes, the parent reads when the child is gone. */
struct page {
	bool is_complete, has_error;
	struct marking_told told;
	struct err err;
};

/* How long this process stood in line for its CPU so far; 0 where the kernel does not count. */
static int64_t waited_ns(void)
{
	char text[128], *end;
	struct err none = ERR_INIT;
	int64_t waited;

	if (io_read_kernel_file(AT_FDCWD, "/proc/self/schedstat", text, sizeof(text), &none) < 0)
		return 0;
	strtoll(text, &end, 10); /* the time that it ran */
	waited = strtoll(end, NULL, 10);
	return MAX_OF(waited, INT64_C(0));
}

/* A marking that no look has come to has samples all the same. */
static void look_early(const struct marking_plan *plan, const struct marking_result *made,
		       struct marking_told *told)
{
	const struct samples *samples = &made->samples;
	bool counted[MARKING_CASES_MAX];

	if (samples->count == 0 || made->seen.stats.blocks > 0)
		return;
	for (uint32_t i = 0; i < plan->case_count; i++)
		counted[i] =
			(plan->cases[i].unseen ? made->unseen : made->seen).mark.kind == MARK_VALID;
	stats_mark(samples, counted, plan->case_count, plan->floor_ppm,
		   samples->list[samples->count - 1].block + 1, told->cases);
}

static int mark(const struct marking_child *what, struct marking_told *told, struct err *err)
{
	cleanup(marking_result_done) struct marking_result made = MARKING_RESULT_INIT;

	if (marking_run(what->plan, what->key, what->source, &what->options, &made, err) < 0)
		return -1;
	told->seen = made.seen;
	told->unseen = made.unseen;
	for (uint32_t i = 0; i < what->plan->case_count; i++)
		told->cases[i] = made.cases[i];
	told->wall_ns = made.wall_ns;
	told->busy = (double) waited_ns() / (double) MAX_OF(made.wall_ns, INT64_C(1));
	look_early(what->plan, &made, told);
	return 0;
}

no_return static void be_judge(const struct marking_child *what, struct page *page, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	page->has_error = mark(what, &page->told, &page->err) < 0;
	page->is_complete = true;
	_exit(0);
}

/* Return: 1 when the child has ended. */
static int wait_for_end(const struct process *child, const struct marking_child *what,
			enum marking_fate *fate, struct err *err)
{
	struct pollfd ready[] = { { .fd = child->pid_fd, .events = POLLIN },
				  { .fd = what->stop_fd, .events = POLLIN } };

	for (;;) {
		int count = poll(ready, ARRAY_LEN(ready), clock_poll_ms(what->deadline));

		if (count < 0 && errno != EINTR)
			return err_sys(err, "wait for a marking");
		if (count > 0 && ready[0].revents)
			return 1;
		if (count > 0) {
			*fate = MARKING_STOPPED;
			return 0;
		}
		if (count == 0 && clock_now() >= what->deadline) {
			*fate = MARKING_TOO_LONG;
			return 0;
		}
	}
}

static int read_page(const struct page *page, struct marking_told *out, struct err *err)
{
	if (!page->is_complete)
		return err_set(err, ERR_SYS, "a marking died before its verdict");
	if (page->has_error) {
		*err = page->err;
		return -1;
	}
	*out = page->told;
	return 0;
}

static int run_child(const struct marking_child *what, struct page *page, struct marking_told *out,
		     struct err *err)
{
	struct process child = PROCESS_INIT;
	struct marking_told cut = { .fate = MARKING_MADE };
	pid_t self = getpid();
	int rc = process_fork(&child, err);

	if (rc < 0)
		return err_wrap(err, "judge");
	if (rc == 0)
		be_judge(what, page, self);
	rc = wait_for_end(&child, what, &cut.fate, err);
	process_kill(&child);
	if (rc > 0)
		return read_page(page, out, err);
	if (rc == 0)
		*out = cut;
	return rc;
}

int marking_child_run(const struct marking_child *what, struct marking_told *out, struct err *err)
{
	struct page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (page == MAP_FAILED)
		return err_sys(err, "map a page for a marking");
	rc = run_child(what, page, out, err);
	munmap(page, sizeof(*page));
	return rc;
}
