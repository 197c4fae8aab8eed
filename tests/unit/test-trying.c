/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/trying.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

/* Attacks of the test's own, and somebody who plays what becomes of them. */

static struct err err;
static struct bait bait;
static struct drill_result result;
static const char *words;        /* what the attack says */
static struct event last;        /* how its jail ended */
static unsigned int stays_for_s; /* a process of it, after the end */
static int fails;

static int play(const struct drill *drill, const struct drill_order *order,
		struct jail_outcome *out, struct err *run_err)
{
	(void) drill;
	if (fails)
		return err_set(run_err, ERR_HOST, "there is no jail");
	if (stays_for_s && fork() == 0) {
		sleep(stays_for_s);
		_exit(0);
	}
	if (write(order->word_fd, words, strlen(words)) < 0)
		return -1;
	if (order->attack->rounds > 1)
		dprintf(order->word_fd, "HELD round %d\n", order->round);
	*out = (struct jail_outcome){ .last = last };
	return 0;
}

static struct drill drill = { .bait = &bait, .launcher_fd = -1, .stop_fd = -1, .run = play };

static void try(struct drill_attack attack)
{
	static struct drill_attack kept;

	kept = attack;
	kept.id = "an-attack";
	trying_attack(&drill, &kept, &result);
}

static void begin(const char *said)
{
	words = said;
	last = (struct event){ .kind = EVENT_ENDED, .result = { .ending = ENDING_EXITED } };
}

static void check_result(enum drill_seen seen, const char *text)
{
	CHECK_STR(result.text, text);
	CHECK_INT(result.seen, seen);
}

TEST(the_word_of_an_attack_counts)
{
	begin("HELD open: Permission denied\n");
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_HELD, "open: Permission denied");
	begin("GOT a secret\n");
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_GOT, "a secret");
	begin("NA no such thing\n");
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_NOT_HERE, "no such thing");
}

TEST(an_attack_without_a_word_has_not_held)
{
	begin("");
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_BROKEN, "exited 0, without a word");
}

TEST(one_that_was_ended_where_nobody_expected_it_has_not_held)
{
	begin("HELD something\n");
	last.result.ending = ENDING_OOM;
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_BROKEN, "oom 0");
}

TEST(an_ending_that_is_expected_has_held_and_another_one_has_not)
{
	begin("");
	last.result.ending = ENDING_OOM;
	try((struct drill_attack){ .judge = JUDGE_ENDING, .want = ENDING_OOM });
	check_result(DRILL_HELD, "ended: oom");
	try((struct drill_attack){ .judge = JUDGE_ENDING, .want = ENDING_TIMEOUT });
	check_result(DRILL_BROKEN, "oom 0, without a word");
	begin("GOT 240 MiB\n");
	last.result.ending = ENDING_OOM;
	try((struct drill_attack){ .judge = JUDGE_ENDING, .want = ENDING_OOM });
	check_result(DRILL_GOT, "240 MiB");
}

TEST(either_of_two_may_be_enough)
{
	begin("HELD pipe: Too many open files\n");
	try((struct drill_attack){ .judge = JUDGE_EITHER, .want = ENDING_OOM });
	check_result(DRILL_HELD, "pipe: Too many open files");
	begin("");
	try((struct drill_attack){ .judge = JUDGE_EITHER, .want = ENDING_OOM });
	check_result(DRILL_BROKEN, "exited 0, without a word");
}

TEST(the_code_is_the_jails_to_tell)
{
	begin("HELD left forged results\n");
	last.result.code = 7;
	try((struct drill_attack){ .judge = JUDGE_CODE, .want = 7 });
	check_result(DRILL_HELD, "left forged results");
	last.result.code = 0;
	try((struct drill_attack){ .judge = JUDGE_CODE, .want = 7 });
	check_result(DRILL_GOT, "exited 0");
}

TEST(a_process_that_stays_has_got_through)
{
	begin("HELD left a daemon\n");
	stays_for_s = 4;
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_GOT, "a process of it is still there");
}

TEST(the_last_of_several_rounds_counts_unless_one_before_it_got_through)
{
	begin("");
	try((struct drill_attack){ .judge = JUDGE_WORD, .rounds = 3 });
	check_result(DRILL_HELD, "round 3");
	begin("GOT something\n");
	try((struct drill_attack){ .judge = JUDGE_WORD, .rounds = 3 });
	check_result(DRILL_GOT, "something");
}

TEST(a_jail_that_was_not_built_has_held_only_where_that_was_the_point)
{
	begin("");
	last.kind = EVENT_NOT_EXECUTABLE;
	err_set(&last.err, ERR_INPUT, "no right to execute");
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_BROKEN, "no right to execute");
	try((struct drill_attack){ .judge = JUDGE_WORD, .flags = DRILL_MAY_FAIL });
	check_result(DRILL_HELD, "no right to execute");
	last.kind = EVENT_LOST;
	try((struct drill_attack){ .judge = JUDGE_WORD, .flags = DRILL_MAY_FAIL });
	CHECK_INT(result.seen, DRILL_BROKEN);
}

TEST(what_could_not_be_run_is_told)
{
	begin("");
	fails = 1;
	try((struct drill_attack){ .judge = JUDGE_WORD });
	check_result(DRILL_BROKEN, "there is no jail");
}

TEST(whether_root_still_has_some_is_asked_while_the_attack_is_ready)
{
	const struct victim_part part = {
		.name = "victim", .secret = "", .listeners = { -1, -1, -1, -1 }, .readable_fd = -1
	};

	CHECK_OK(victim_start(&part, &bait.victim, &err));
	begin("READY\nHELD has 128 of them\n");
	try((struct drill_attack){ .judge = JUDGE_MEANWHILE, .ask = 'i' });
	check_result(DRILL_HELD, "has 128 of them");
	try((struct drill_attack){ .judge = JUDGE_MEANWHILE, .ask = '?' });
	check_result(DRILL_GOT, "root has none left: Invalid argument");
	begin("HELD was never ready\n");
	try((struct drill_attack){ .judge = JUDGE_MEANWHILE, .ask = 'i' });
	check_result(DRILL_BROKEN, "root was never asked");
	victim_done(&bait.victim);
}

TEST(without_walls_only_a_word_counts)
{
	drill.is_bare = true;
	begin("GOT all of it\n");
	try((struct drill_attack){ .judge = JUDGE_ARCHIVE, .entry = "x" });
	check_result(DRILL_GOT, "all of it");
	begin("");
	try((struct drill_attack){ .judge = JUDGE_ENDING, .want = ENDING_EXITED });
	check_result(DRILL_BROKEN, "exited 0, without a word");
}

TEST(a_bait_that_a_jail_does_not_see_ends_the_drill)
{
	uint32_t without;

	begin("BROKEN it is not there\n");
	CHECK_INT(trying_bait(&drill, &without, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "a harmless program in a jail: it is not there");
	begin("HELD it is there\n");
	last.result.without = 6;
	CHECK_OK(trying_bait(&drill, &without, &err));
	CHECK_INT(without, 6);
}
