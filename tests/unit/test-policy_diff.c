/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy_diff.h"

#include <string.h>

#include "tests/lib/check.h"

static struct arena arena;
static struct err err;

static struct policy parse(const char *text)
{
	struct policy policy = policy_default();

	CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
	return policy;
}

static void check_change(const struct policy_difference *list, size_t count, const char *key,
			 const char *change)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].key, key) != 0)
			continue;
		CHECK_STR(names_text(policy_change_names, (int) list[i].change), change);
		return;
	}
	check_fail(__FILE__, __LINE__, "%s is no difference", key);
}

#define HEAD "schema: 1\nname: mine\n"

TEST(a_policy_does_not_differ_from_itself)
{
	struct policy shipped = policy_default(), named = parse(HEAD);
	size_t count = 1;

	policy_diff(&shipped, &shipped, &arena, &count);
	CHECK_INT(count, 0);
	policy_diff(&shipped, &named, &arena, &count);
	CHECK_INT(count, 0);
	policy_weaker(&named, &arena, &count);
	CHECK_INT(count, 0);
	policy_done(&named);
	arena_done(&arena);
}

#define API "{name: api, listen: 80, connect: '127.0.0.1:9000'"
#define DB  "{name: db, listen: 81, connect: 'unix:/run/db'"

TEST(what_can_be_reached_is_a_wall_and_how_much_of_it_a_number)
{
	struct policy none = parse(HEAD), one = parse(HEAD "services: [" API "}]\n");
	struct policy two = parse(HEAD "services: [" DB "}, " API ", total: 9, sent: 9GiB}]\n");
	struct policy less = parse(HEAD "services: [" API ", total: 9}]\n");
	struct policy other =
		parse(HEAD "services: [{name: api, listen: 80, connect: '127.0.0.1:9001'}]\n");
	const struct policy_difference *list;
	const char *const *weaker;
	size_t count;

	list = policy_diff(&none, &one, &arena, &count);
	CHECK_INT(count, 1);
	check_change(list, count, "services.api", "weaker");
	CHECK(!list[0].before);
	CHECK_STR(list[0].after,
		  "{name: api, listen: 80, connect: \"127.0.0.1:9000\", connections: 16, total: "
		  "10000, sent: 256MiB, received: 256MiB, idle: 5m}");
	list = policy_diff(&one, &none, &arena, &count);
	check_change(list, count, "services.api", "stronger");
	list = policy_diff(&one, &two, &arena, &count);
	CHECK_INT(count, 2);
	check_change(list, count, "services.api", "larger");
	check_change(list, count, "services.db", "weaker");
	list = policy_diff(&one, &less, &arena, &count);
	check_change(list, count, "services.api", "smaller");
	list = policy_diff(&one, &other, &arena, &count);
	check_change(list, count, "services.api", "weaker");
	weaker = policy_weaker(&two, &arena, &count);
	CHECK_INT(count, 2);
	CHECK_STR(weaker[0], "services:db");
	CHECK_STR(weaker[1], "services:api");
	policy_weaker(&none, &arena, &count);
	CHECK_INT(count, 0);
	policy_done(&none);
	policy_done(&one);
	policy_done(&two);
	policy_done(&less);
	policy_done(&other);
	arena_done(&arena);
}

TEST(walls_become_weaker_or_stronger_and_numbers_larger_or_smaller)
{
	struct policy one = parse(HEAD "accept: [swap]\nagent: {pids: 100, idle: 1m, "
				       "environment: {A: x, B: y}}\n");
	struct policy two = parse(HEAD "agent: {pids: 99, syscalls: [profiler], wall: 40m, "
				       "environment: {B: z, C: y}, workspace: {inodes: 99}}\n"
				       "build: {on_full: end}\n");
	size_t count;
	const struct policy_difference *list = policy_diff(&one, &two, &arena, &count);

	CHECK_INT(count, 10);
	CHECK_STR(list[0].key, "agent.wall");
	CHECK_STR(list[0].before, "30m");
	CHECK_STR(list[0].after, "40m");
	check_change(list, count, "agent.wall", "larger");
	check_change(list, count, "agent.pids", "smaller");
	check_change(list, count, "agent.idle", "other"); /* 0 is no limit */
	check_change(list, count, "agent.workspace.inodes", "smaller");
	check_change(list, count, "agent.syscalls", "weaker");
	check_change(list, count, "agent.environment.A", "other");
	check_change(list, count, "agent.environment.B", "other");
	check_change(list, count, "agent.environment.C", "other");
	check_change(list, count, "build.on_full", "other");
	check_change(list, count, "accept", "stronger");
	/* One word for another gives something up. */
	policy_done(&two);
	two = parse(HEAD "accept: [pids]\n");
	list = policy_diff(&one, &two, &arena, &count);
	check_change(list, count, "accept", "weaker");
	policy_done(&one);
	policy_done(&two);
	arena_done(&arena);
}

TEST(what_weakens_a_wall_is_named)
{
	static const char *const wanted[] = { "agent.syscalls:profiler", "build.syscalls:profiler",
					      "evaluator.syscalls:profiler", "accept:swap",
					      "accept:landlock" };
	struct policy policy = parse(HEAD "accept: [landlock, swap]\nagent: {syscalls: [profiler], "
					  "pids: 32768, memory: 16TiB}\n"
					  "build: {syscalls: [profiler]}\n"
					  "evaluator: {syscalls: [profiler], gpus: 8}\n");
	size_t count;
	const char *const *names = policy_weaker(&policy, &arena, &count);

	CHECK_INT(count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < count; i++)
		CHECK_STR(names[i], wanted[i]);
	policy_done(&policy);
	arena_done(&arena);
}

TEST(the_profilers_policy_weakens_one_wall_and_says_which)
{
	size_t len, count;
	const char *text = policy_shipped("profiler", &len);
	struct policy policy = policy_default(), shipped = policy_default();
	const struct policy_difference *list;

	CHECK_OK(policy_parse("profiler", text, len, &policy, &err));
	CHECK_STR(policy_weaker(&policy, &arena, &count)[0], "agent.syscalls:profiler");
	CHECK_INT(count, 1);
	list = policy_diff(&shipped, &policy, &arena, &count);
	CHECK_INT(count, 1);
	check_change(list, count, "agent.syscalls", "weaker");
	policy_done(&policy);
	arena_done(&arena);
}

TEST(a_gpu_is_a_number_and_no_wall)
{
	size_t len, count;
	const char *text = policy_shipped("agentkernelarena", &len);
	struct policy policy = policy_default(), shipped = policy_default();
	const struct policy_difference *list;

	CHECK_OK(policy_parse("agentkernelarena", text, len, &policy, &err));
	policy_weaker(&policy, &arena, &count);
	CHECK_INT(count, 0);
	list = policy_diff(&shipped, &policy, &arena, &count);
	check_change(list, count, "agent.gpus", "larger");
	check_change(list, count, "evaluator.gpus", "larger");
	check_change(list, count, "evaluator.tmp.size", "larger");
	list = policy_diff(&policy, &shipped, &arena, &count);
	check_change(list, count, "evaluator.gpus", "smaller");
	policy_done(&policy);
	arena_done(&arena);
}

/* Whoever adds a key of words decides whether it is a wall. */
static void check_rows(const struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		if (field->type == &type_map)
			check_rows(field->details);
		else
			CHECK(policy_is_wall(field) == (field->type == &type_words));
	}
}

TEST(each_key_of_words_is_a_wall_and_no_number_is)
{
	check_rows(&policy_schema);
}
