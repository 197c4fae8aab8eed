/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/trial.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/message.h"
#include "tests/lib/check.h"

static int ends[2];
static struct err err;

static void connect(void)
{
	CHECK_OK(message_pair(ends, &err));
}

static struct trial sample(void)
{
	struct trial trial = { .kind = TRIAL_SWAP, .result = TRIAL_PARTLY };

	snprintf(trial.found, sizeof(trial.found), "memory.swap.max");
	best_effort(err_set(&trial.err, ERR_HOST, "because"));
	return trial;
}

TEST(a_record_arrives_as_it_was_sent)
{
	struct trial sent = sample(), got;

	connect();
	CHECK_OK(trial_send(ends[0], &sent, &err));
	CHECK_INT(trial_receive(ends[1], &got, &err), 1);
	CHECK_INT(got.kind, TRIAL_SWAP);
	CHECK_INT(got.result, TRIAL_PARTLY);
	CHECK_STR(got.found, "memory.swap.max");
	CHECK_STR(got.err.text, "because");
	CHECK_INT(got.err.kind, ERR_HOST);
	close(ends[0]);
	CHECK_INT(trial_receive(ends[1], &got, &err), 0);
}

static void check_refused(const void *bytes, size_t len)
{
	struct trial got = { .kind = TRIAL_KILL };

	err = (struct err) ERR_INIT;
	CHECK_OK(message_send(ends[0], bytes, len, NULL, &err));
	CHECK_INT(trial_receive(ends[1], &got, &err), -1);
	CHECK(strstr(err.text, len > sizeof(got) ? "message" : "malformed"));
	CHECK_INT(got.kind, TRIAL_KILL);
}

TEST(a_malformed_record_is_refused)
{
	struct trial bad;
	char longer[sizeof(bad) + 1] = "";

	connect();
	bad = sample();
	check_refused(&bad, sizeof(bad) - 1);
	check_refused(longer, sizeof(longer));
	bad.kind = TRIAL_KINDS;
	check_refused(&bad, sizeof(bad));
	bad = sample();
	bad.result = TRIAL_UNTRIED + 1;
	check_refused(&bad, sizeof(bad));
	bad = sample();
	memset(&bad.err.kind, 0x7f, sizeof(bad.err.kind));
	check_refused(&bad, sizeof(bad));
}

TEST(texts_that_do_not_end_are_ended)
{
	struct trial sent = sample(), got;

	connect();
	memset(sent.found, 'x', sizeof(sent.found));
	memset(sent.err.text, 'y', sizeof(sent.err.text));
	CHECK_OK(trial_send(ends[0], &sent, &err));
	CHECK_INT(trial_receive(ends[1], &got, &err), 1);
	CHECK_INT(strlen(got.found), sizeof(got.found) - 1);
	CHECK_INT(strlen(got.err.text), sizeof(got.err.text) - 1);
}

TEST(every_kind_has_a_name)
{
	for (int kind = 0; kind < TRIAL_KINDS; kind++)
		CHECK(strcmp(names_text(trial_names, kind), "?") != 0);
}
