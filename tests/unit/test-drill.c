/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/drill.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "tests/lib/check.h"

static struct err err;
static struct bait bait;
static struct drill_report report;
static const struct drill_listener nobody;

/* Says "got" for attacks that begin so, and lets others wait for each other. */
static int play(const struct drill *drill, const struct drill_order *order,
		struct jail_outcome *out, struct err *run_err)
{
	const char *id = order->attack->id;

	(void) drill;
	(void) run_err;
	if (strcmp(id, "@neighbour") == 0) {
		dprintf(order->word_fd, "READY\n");
		pause();
	}
	if (strncmp(id, "slow", 4) == 0)
		sleep(30);
	dprintf(order->word_fd, strncmp(id, "got", 3) == 0 ? "GOT it\n" : "HELD %s\n", id);
	*out = (struct jail_outcome){ .last = { .kind = EVENT_ENDED } };
	return 0;
}

static struct drill drill = { .bait = &bait, .launcher_fd = -1, .stop_fd = -1, .run = play };

TEST(results_come_in_the_order_that_was_asked_for)
{
	static const struct drill_attack rows[] = { { .id = "one", .flags = DRILL_ALONE },
						    { .id = "got-two" },
						    { .id = "three" },
						    { .id = "four", .flags = DRILL_ALONE },
						    { .id = "five", .flags = DRILL_NEAR } };
	const struct drill_attack *attacks[] = { rows, rows + 1, rows + 2, rows + 3, rows + 4 };

	CHECK_OK(drill_run(&drill, attacks, 5, &nobody, &report, &err));
	CHECK_INT(report.count, 5);
	for (size_t i = 0; i < 5; i++) {
		CHECK(report.results[i].attack == attacks[i]);
		CHECK_INT(report.results[i].seen, i == 1 ? DRILL_GOT : DRILL_HELD);
	}
	CHECK(!report.stopped);
}

static void count(void *context, const struct drill_result *result)
{
	(void) result;
	++*(int *) context;
}

TEST(whoever_listens_is_told_of_each)
{
	static const struct drill_attack rows[] = { { .id = "one" }, { .id = "two" } };
	const struct drill_attack *attacks[] = { rows, rows + 1 };
	int told = 0;
	const struct drill_listener listener = { count, &told };

	CHECK_OK(drill_run(&drill, attacks, 2, &listener, &report, &err));
	CHECK_INT(told, 2);
}

TEST(the_operator_can_end_it_and_what_was_not_tried_has_not_held)
{
	static const struct drill_attack rows[] = { { .id = "slow" }, { .id = "slow-too" } };
	const struct drill_attack *attacks[] = { rows, rows + 1 };
	int64_t begun = clock_now();
	int ends[2];

	CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
	drill.stop_fd = ends[0];
	CHECK_OK(drill_run(&drill, attacks, 2, &nobody, &report, &err));
	CHECK(report.stopped);
	CHECK_INT(report.results[0].seen, DRILL_NOT_HERE);
	CHECK(clock_now() - begun < 20 * NS_PER_S);
}

static int play_nothing(const struct drill *ignored, const struct drill_order *order,
			struct jail_outcome *out, struct err *run_err)
{
	(void) ignored;
	(void) order;
	(void) out;
	return err_set(run_err, ERR_HOST, "there is no memory control here");
}

TEST(a_host_without_jails_is_told_before_any_attack)
{
	static const struct drill_attack row = { .id = "one" };
	const struct drill_attack *attacks[] = { &row };

	drill.run = play_nothing;
	CHECK_INT(drill_run(&drill, attacks, 1, &nobody, &report, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "there is no memory control here"));
}
