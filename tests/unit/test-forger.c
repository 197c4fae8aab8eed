/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/forger.h"

#include <string.h>
#include <unistd.h>

#include "harness/run/launcher.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct err err;
static struct testimony testimony;

static void try(int launcher_fd, const char *id)
{
	const struct policy policy = policy_default();
	const struct drill drill = { .policy = &policy, .launcher_fd = launcher_fd };
	const struct drill_attack *attack = corpus_find(id);

	CHECK(attack && attack->judge == JUDGE_REQUEST);
	testimony = TESTIMONY_INIT;
	forger_try(&drill, attack, &testimony);
}

TEST(the_launcher_refuses_each_request_and_goes_on)
{
	const struct drill_attack *attack;
	struct launcher launcher;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(launcher_start(PROGRAMS, &launcher, &err));
	for (size_t i = 0; (attack = corpus_at(i)); i++) {
		if (attack->judge != JUDGE_REQUEST)
			continue;
		try(launcher.socket_fd, attack->id);
		if (testimony.seen != DRILL_HELD)
			check_fail(__FILE__, __LINE__, "%s: %s", attack->id, testimony.text);
	}
	launcher_done(&launcher);
}

/* A launcher that takes whatever it is asked for, or says nothing. */
static int easy_launcher(enum event_kind kind)
{
	int pair[2];

	CHECK_OK(message_pair(pair, &err));
	if (fork() == 0) {
		static unsigned char request[256 * 1024];
		struct message_fds fds = MESSAGE_FDS_INIT;
		const struct event event = { .kind = kind };

		if (message_receive(pair[1], request, sizeof(request), &fds, &err) > 0 &&
		    kind != EVENT_LOST)
			best_effort(message_send(fds.fd[0], &event, sizeof(event), NULL, &err));
		_exit(0);
	}
	close(pair[1]);
	return pair[0];
}

TEST(a_launcher_that_makes_a_jail_of_it_is_found_out)
{
	auto_fd fd = easy_launcher(EVENT_STARTED);

	try(fd, "client-masks");
	CHECK_INT(testimony.seen, DRILL_GOT);
	CHECK_STR(testimony.text, "the launcher has made a jail of it");
}

TEST(a_launcher_that_has_gone_says_nothing)
{
	auto_fd fd = easy_launcher(EVENT_LOST);

	try(fd, "client-root");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}

TEST(what_is_no_request_is_told)
{
	const struct drill drill = { .launcher_fd = -1 };
	const struct drill_attack other = { .id = "other", .judge = JUDGE_REQUEST };

	forger_try(&drill, &other, &testimony);
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}
