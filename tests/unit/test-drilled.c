/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/drilled.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct drill_report report;
static struct str text;

static const char *const weaker[] = { "agent.syscalls:profiler", "accept:swap" };
static const struct drilled_facts facts = {
	.program = "0123456789abcdef",
	.policy = "mine",
	.policy_sha256 = "fedcba9876543210",
	.weaker = weaker,
	.weaker_count = 2,
	.host = "node-\0337",
	.kernel = "6.12.1",
	.began_ns = NS_PER_S,
	.corpus = 186,
};

static void add(const char *id, enum drill_seen seen, const char *what)
{
	struct drill_result *result = &report.results[report.count++];

	text = STR_INIT;
	*result = (struct drill_result){ .attack = corpus_find(id), .seen = seen, .ns = 20000000 };
	CHECK(result->attack);
	snprintf(result->text, sizeof(result->text), "%s", what);
}

static void print(void)
{
	const struct table_style style = { .has_color = false };

	str_clear(&text);
	drilled_print(&report, &facts, &style, &text);
}

TEST(all_held_is_a_table_and_a_sum)
{
	add("id-become-root", DRILL_HELD, "setuid(0): Operation not permitted");
	print();
	CHECK(strncmp(text.text, "ATTACK ", 7) == 0);
	CHECK(strstr(text.text,
		     "id-become-root  ids, capabilities  refused   held  0.02 s  setuid(0)"));
	CHECK(strstr(text.text, "\n1 held, 0 got through, 0 broken, 0 n/a\n"));
}

TEST(what_was_tried_and_where_stands_below)
{
	add("id-become-root", DRILL_HELD, "x");
	print();
	CHECK(strstr(text.text, "\n1 of the 186 attacks of proctor "));
	CHECK(strstr(text.text, " (0123456789ab, launcher ?),\nunder policy 'mine' (fedcba987654; "
				"weaker than the shipped default: agent.syscalls:profiler, "
				"accept:swap), on node-\\x1b7, Linux 6.12.1, "
				"1970-01-01T00:00:01Z\n"));
}

TEST(what_got_through_stands_first_with_its_wall)
{
	add("id-become-root", DRILL_HELD, "x");
	add("kernel-bpf", DRILL_GOT, "a map of BPF");
	add("tty-type", DRILL_BROKEN, "without a word");
	print();
	CHECK(strncmp(text.text, "got through:\n  kernel-bpf: a map of BPF (wall: ", 47) == 0);
	CHECK(strstr(text.text, "nothing can be said of:\n  tty-type: without a word"));
	CHECK_INT(drilled_count(&report, DRILL_GOT), 1);
	CHECK_INT(drilled_count(&report, DRILL_BROKEN), 1);
}

TEST(what_is_known_to_get_through_is_counted_apart)
{
	add("known-lock", DRILL_GOT, "a lock");
	print();
	CHECK(strncmp(text.text, "ATTACK ", 7) == 0);
	CHECK(strstr(text.text,
		     "0 got through, 0 broken, 0 n/a; 1 known to get through everywhere"));
	CHECK_INT(drilled_count(&report, DRILL_GOT), 0);
}

TEST(what_was_not_tried_is_never_counted_as_held)
{
	add("dev-gpus", DRILL_NOT_HERE, "the host has no GPU");
	report.stopped = true;
	report.without = 1U << SPEC_LIMIT_LANDLOCK;
	print();
	CHECK(strstr(text.text, "0 held, 0 got through, 0 broken, 1 n/a"));
	CHECK(strstr(text.text, "stopped before the end"));
	CHECK(strstr(text.text, "the policy does without landlock"));
}

TEST(what_an_attack_says_is_escaped)
{
	add("tty-type", DRILL_GOT, "\033[2J");
	print();
	CHECK(!strchr(text.text, '\033'));
	CHECK(strstr(text.text, "\\x1b[2J"));
}

TEST(the_object_says_the_same)
{
	struct json_writer json;

	add("kernel-bpf", DRILL_GOT, "a map");
	add("known-lock", DRILL_GOT, "a lock");
	json_writer_init(&json, &text);
	drilled_put(&report, &facts, &json);
	CHECK(json_writer_is_whole(&json));
	CHECK(strstr(text.text,
		     "\"corpus\":186,\"held\":0,\"got_through\":1,\"broken\":0,\"not_tried\":0,"
		     "\"known\":1,\"stopped\":false,\"without\":[],\"attacks\":[{"
		     "\"attack\":\"kernel-bpf\","));
	CHECK(strstr(text.text,
		     "{\"schema\":\"proctor/drill/1\",\"began\":\"1970-01-01T00:00:01Z\","
		     "\"host\":\"node-\\u001b7\",\"kernel\":\"6.12.1\",") == text.text);
	CHECK(strstr(text.text, "\"program_sha256\":\"0123456789abcdef\",\"launcher_sha256\":null,"
				"\"policy\":\"mine\",\"policy_sha256\":\"fedcba9876543210\","
				"\"weaker\":[\"agent.syscalls:profiler\",\"accept:swap\"],"));
	CHECK(strstr(text.text, "\"seen\":\"got through\",\"what\":\"a map\",\"us\":20000}"));
	CHECK(strstr(text.text, "\"seen\":\"known\""));
}

TEST(the_corpus_is_listed_with_its_controls)
{
	const struct drill_attack *attacks[] = { corpus_find("kernel-bpf"),
						 corpus_find("kernel-reboot"),
						 corpus_find("dev-gpus") };
	const struct table_style style = { .has_color = false };
	struct json_writer json;

	text = STR_INIT;
	drilled_list(attacks, 3, &style, &text);
	CHECK(strstr(text.text, "refused   yes "));
	CHECK(strstr(text.text, "refused   in a virtual machine "));
	CHECK(strstr(text.text, "refused   none "));
	str_clear(&text);
	json_writer_init(&json, &text);
	drilled_list_put(attacks, 3, &json);
	CHECK(strstr(text.text, "\"control\":\"yes\",\"no_control\":null}"));
}
