/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/trying.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "harness/drill/forger.h"
#include "harness/drill/inspect.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/*
 * Theory of operation
 *
 * An attack speaks over a pipe whose writing end only its processes have. So the pipe's end says
 * that none of them is left: a jail is over when its last event has come *and* the pipe has ended.
 * The process that runs the jail dies with us, and the jail with it.
 */

/* From the last event of a jail to the end of the pipe: what holds it longer has outlived its jail.
 */
enum { SURVIVE_MS = 2000 };

/* Longer than every limit of scene.c together: what then has not come never will. */
enum { PATIENCE_MS = 120 * 1000 };

/* What the child that ran a jail tells. */
struct told {
	int result;
	struct jail_outcome outcome;
	struct err err;
};

_Static_assert(sizeof(struct told) <= PIPE_BUF, "it is written in one piece");

/* One round of an attack, and what was made for it. */
struct round {
	const struct drill *drill;
	struct drill_order order;
	struct testimony *testimony;
	struct process runner;
	struct told told;
	int word_fd, told_fd; /* reading ends */
	int archive_fd, tree_fd, master_fd, slave_fd;
	bool has_told, asked;
};

static void round_done(struct round *round)
{
	process_kill(&round->runner);
	fd_close(&round->word_fd);
	fd_close(&round->told_fd);
	fd_close(&round->archive_fd);
	fd_close(&round->tree_fd);
	fd_close(&round->master_fd);
	fd_close(&round->slave_fd);
}

/* A terminal that shows what it gets as it gets it. */
static int open_terminal(struct round *round, struct err *err)
{
	struct termios raw;

	round->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (round->master_fd < 0 || unlockpt(round->master_fd) < 0)
		return err_host(err, "open a terminal");
	round->slave_fd = ioctl(round->master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (round->slave_fd < 0 || tcgetattr(round->slave_fd, &raw) < 0)
		return err_host(err, "open a terminal");
	cfmakeraw(&raw);
	if (tcsetattr(round->slave_fd, TCSANOW, &raw) < 0)
		return err_sys(err, "set up a terminal");
	round->order.terminal_fd = round->slave_fd;
	return 0;
}

static bool wants_archive(const struct drill_attack *attack)
{
	return attack->judge == JUDGE_ARCHIVE || attack->judge == JUDGE_ANY_ARCHIVE ||
	       attack->judge == JUDGE_CANDIDATE;
}

static int prepare(struct round *round, struct err *err)
{
	const struct drill_attack *attack = round->order.attack;

	if (attack->judge == JUDGE_TERMINAL && open_terminal(round, err) < 0)
		return -1;
	if (attack->judge == JUDGE_CANDIDATE) {
		round->tree_fd = inspect_pristine(err);
		if (round->tree_fd < 0)
			return -1;
		round->order.tree_fd = round->tree_fd;
	}
	if (!wants_archive(attack))
		return 0;
	round->archive_fd = memfd_create("proctor-archive", MFD_CLOEXEC);
	if (round->archive_fd < 0)
		return err_sys(err, "make a memfd");
	round->order.archive_fd = round->archive_fd;
	return 0;
}

no_return static void run_child(struct round *round, int told_fd, pid_t parent)
{
	struct told told = { .err = ERR_INIT };
	struct err ignored = ERR_INIT;

	/* The jail's socket is ours alone: what ends us ends the jail. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	told.result = round->drill->run(round->drill, &round->order, &told.outcome, &told.err);
	best_effort(io_write_all(told_fd, &told, sizeof(told), "what came of it", &ignored));
	_exit(0);
}

static int start(struct round *round, struct err *err)
{
	auto_fd word = -1, tells = -1;
	int words[2], told[2], child;
	pid_t parent = getpid();

	if (prepare(round, err) < 0)
		return -1;
	if (pipe2(words, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	round->word_fd = words[0];
	word = words[1];
	if (pipe2(told, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	round->told_fd = told[0];
	tells = told[1];
	round->order.word_fd = word;
	child = process_fork(&round->runner, err);
	if (child == 0)
		run_child(round, tells, parent);
	return child < 0 ? -1 : 0;
}

/* Return: has the pipe ended? */
static bool hear(struct round *round)
{
	char bytes[1024];
	ssize_t len = io_read_some(round->word_fd, bytes, sizeof(bytes));

	if (len <= 0)
		return true;
	testimony_hear(round->testimony, bytes, (size_t) len);
	return false;
}

static void ask(struct round *round)
{
	const struct drill_attack *attack = round->order.attack;
	char text[TESTIMONY_TEXT_MAX];
	struct err err = ERR_INIT;
	int answer;

	if (round->asked || !round->testimony->ready || !attack->ask)
		return;
	round->asked = true;
	if (victim_ask(&round->drill->bait->victim, attack->ask, &answer, &err) < 0) {
		testimony_say(round->testimony, DRILL_BROKEN, err.text);
	} else if (answer != 0) {
		snprintf(text, sizeof(text), "root has none left: %s", strerror(answer));
		testimony_say(round->testimony, DRILL_GOT, text);
	}
}

static void take_told(struct round *round)
{
	struct err err = ERR_INIT;

	round->has_told = true;
	if (io_read_exact(round->told_fd, &round->told, sizeof(round->told), "what came of it",
			  &err) < 0)
		round->told = (struct told){ .result = -1, .err = err };
}

static void say_survived(struct round *round)
{
	testimony_say(round->testimony, DRILL_GOT, "a process of it is still there");
}

/* Until the jail is over and the pipe has ended. */
static void listen_to(struct round *round)
{
	int64_t deadline = clock_after_ms(PATIENCE_MS);
	bool ended = false;

	while (!ended || !round->has_told) {
		struct pollfd ready[] = {
			{ .fd = ended ? -1 : round->word_fd, .events = POLLIN },
			{ .fd = round->has_told ? -1 : round->told_fd, .events = POLLIN },
		};
		int count = poll(ready, ARRAY_LEN(ready), clock_poll_ms(deadline));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			if (round->has_told)
				say_survived(round);
			else
				testimony_say(round->testimony, DRILL_BROKEN, "it does not end");
			return;
		}
		if (ready[0].revents)
			ended = hear(round);
		ask(round);
		if (ready[1].revents) {
			take_told(round);
			deadline = clock_after_ms(SURVIVE_MS);
		}
	}
}

/* -- judging -- */

static void say_ending(struct round *round, enum drill_seen seen)
{
	const struct jail_result *result = &round->told.outcome.last.result;
	char text[TESTIMONY_TEXT_MAX];

	snprintf(text, sizeof(text), "%s %d%s", names_text(ending_names, (int) result->ending),
		 result->code, round->testimony->spoke ? "" : ", without a word");
	testimony_say(round->testimony, seen, text);
}

static void judge_ending(struct round *round)
{
	const struct drill_attack *attack = round->order.attack;
	const struct jail_result *result = &round->told.outcome.last.result;
	struct testimony *testimony = round->testimony;
	const bool is_wanted = (int) result->ending == attack->want;

	/* What it says before it is ended does not matter. */
	if (is_wanted && (!testimony->spoke || testimony->seen == DRILL_HELD)) {
		testimony->spoke = false;
		snprintf(testimony->text, sizeof(testimony->text), "ended: %s",
			 names_text(ending_names, (int) result->ending));
		testimony->seen = DRILL_HELD;
		testimony->spoke = true;
	} else if (attack->judge == JUDGE_ENDING || !testimony->spoke) {
		say_ending(round, DRILL_BROKEN);
	}
}

static void judge_code(struct round *round)
{
	const struct jail_result *result = &round->told.outcome.last.result;

	if (result->ending != ENDING_EXITED || result->code != round->order.attack->want)
		say_ending(round, DRILL_GOT);
}

static void judge_terminal(struct round *round)
{
	char bytes[8192];
	ssize_t len = read(round->master_fd, bytes, sizeof(bytes));

	inspect_shown(bytes, len < 0 ? 0 : (size_t) len, round->testimony);
}

static void judge_jail(struct round *round)
{
	const struct drill *drill = round->drill;
	const struct drill_attack *attack = round->order.attack;
	const struct jail_result *result = &round->told.outcome.last.result;

	switch (attack->judge) {
	case JUDGE_ENDING:
	case JUDGE_EITHER:
		judge_ending(round);
		return;
	case JUDGE_CODE:
		judge_code(round);
		return;
	case JUDGE_BAIT:
		inspect_bait(drill, round->testimony);
		break;
	case JUDGE_ARCHIVE:
	case JUDGE_ANY_ARCHIVE:
		inspect_archive(drill, attack, round->archive_fd, round->testimony);
		break;
	case JUDGE_CANDIDATE:
		inspect_candidate(round->archive_fd, round->testimony);
		break;
	case JUDGE_TERMINAL:
		judge_terminal(round);
		break;
	case JUDGE_MEANWHILE:
		if (!round->asked)
			testimony_say(round->testimony, DRILL_BROKEN, "root was never asked");
		break;
	case JUDGE_WORD:
	case JUDGE_REQUEST:
		break;
	}
	if (!round->testimony->spoke ||
	    (result->ending != ENDING_EXITED && round->testimony->seen == DRILL_HELD))
		say_ending(round, DRILL_BROKEN);
}

/* Without walls the attack itself, and whoever has looked at what it left, says all there is. */
static void judge_bare(struct round *round)
{
	if (round->order.attack->judge == JUDGE_TERMINAL)
		judge_terminal(round);
	if (!round->testimony->spoke)
		say_ending(round, DRILL_BROKEN);
}

static void judge(struct round *round)
{
	const struct told *told = &round->told;
	const unsigned int flags = round->order.attack->flags;

	if (!round->has_told)
		return;
	if (told->result < 0) {
		testimony_say(round->testimony, DRILL_BROKEN, told->err.text);
	} else if (round->drill->is_bare) {
		judge_bare(round);
	} else if (told->outcome.last.kind == EVENT_ENDED) {
		judge_jail(round);
	} else {
		/* What the launcher could not build has not been got. */
		testimony_say(round->testimony,
			      flags & DRILL_MAY_FAIL && told->outcome.last.kind != EVENT_LOST
				      ? DRILL_HELD
				      : DRILL_BROKEN,
			      told->outcome.last.err.text);
		if (flags & DRILL_LENDS_ARCHIVE)
			inspect_bait(round->drill, round->testimony);
	}
}

static struct round make_round(const struct drill *drill, const struct drill_attack *attack,
			       int number, struct testimony *testimony)
{
	return (struct round){
		.drill = drill,
		.order = { .attack = attack,
			   .round = number,
			   .word_fd = -1,
			   .archive_fd = -1,
			   .tree_fd = -1,
			   .terminal_fd = -1 },
		.testimony = testimony,
		.runner = PROCESS_INIT,
		.word_fd = -1,
		.told_fd = -1,
		.archive_fd = -1,
		.tree_fd = -1,
		.master_fd = -1,
		.slave_fd = -1,
	};
}

static void try_round(const struct drill *drill, const struct drill_attack *attack, int number,
		      struct testimony *testimony)
{
	cleanup(round_done) struct round round = make_round(drill, attack, number, testimony);
	struct err err = ERR_INIT;

	if (start(&round, &err) < 0) {
		testimony_say(testimony, DRILL_BROKEN, err.text);
		return;
	}
	listen_to(&round);
	judge(&round);
}

void trying_attack(const struct drill *drill, const struct drill_attack *attack,
		   struct drill_result *out)
{
	struct testimony testimony = TESTIMONY_INIT;
	const int64_t begun = clock_now();
	const int rounds = MAX_OF(attack->rounds, 1);

	if (attack->judge == JUDGE_REQUEST)
		forger_try(drill, attack, &testimony);
	for (int round = 1; round <= rounds && attack->judge != JUDGE_REQUEST; round++) {
		/* Of several rounds the last one counts, or the first that is not held. */
		if (testimony.seen == DRILL_HELD)
			testimony = TESTIMONY_INIT;
		try_round(drill, attack, round, &testimony);
		if (testimony.seen != DRILL_HELD)
			break;
	}
	*out = (struct drill_result){ .attack = attack,
				      .seen = testimony.seen,
				      .ns = clock_now() - begun };
	snprintf(out->text, sizeof(out->text), "%s", testimony.text);
}

int trying_neighbour(const struct drill *drill, struct process *out, struct err *err)
{
	static const struct drill_attack neighbour = { .id = "@neighbour" };
	struct testimony testimony = TESTIMONY_INIT;
	cleanup(round_done) struct round round = make_round(drill, &neighbour, 1, &testimony);
	int64_t deadline = clock_after_ms(PATIENCE_MS);

	if (start(&round, err) < 0)
		return -1;
	while (!testimony.ready) {
		struct pollfd ready = { .fd = round.word_fd, .events = POLLIN };

		if (poll(&ready, 1, clock_poll_ms(deadline)) < 0 && errno != EINTR)
			return err_sys(err, "wait for a jail");
		if (!ready.revents || hear(&round) || testimony.spoke)
			return err_set(err, ERR_HOST, "the jail that others keep off: %s",
				       testimony.text[0] ? testimony.text : "it does not start");
	}
	*out = round.runner;
	round.runner = PROCESS_INIT;
	return 0;
}

int trying_bait(const struct drill *drill, uint32_t *without, struct err *err)
{
	static const struct drill_attack bait = { .id = "@bait" };
	struct testimony testimony = TESTIMONY_INIT;
	cleanup(round_done) struct round round = make_round(drill, &bait, 1, &testimony);

	if (start(&round, err) < 0)
		return -1;
	listen_to(&round);
	judge(&round);
	if (!testimony.spoke || testimony.seen != DRILL_HELD)
		return err_set(err, ERR_HOST, "a harmless program %s: %s",
			       drill->is_bare ? "without walls" : "in a jail", testimony.text);
	*without = round.told.outcome.last.result.without;
	return 0;
}
