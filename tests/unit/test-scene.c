/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/scene.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static const struct drill_attack *attack_at(const char *id)
{
	const struct drill_attack *attack = corpus_find(id);

	CHECK(attack);
	return attack;
}

TEST(an_attack_has_the_limits_of_an_agent)
{
	const struct policy policy = policy_default();
	const struct policy_role role = scene_limits(&policy, attack_at("id-become-root"));

	CHECK_INT(role.memory, policy.agent.memory);
	CHECK_INT(role.pids, policy.agent.pids);
	CHECK_INT(role.workspace.size, policy.agent.workspace.size);
	CHECK(role.wall_ms < policy.agent.wall_ms);
}

TEST(one_that_is_to_meet_a_limit_soon_has_small_ones)
{
	const struct policy policy = policy_default();

	CHECK_INT(scene_limits(&policy, attack_at("res-processes")).pids, 64);
	CHECK_INT(scene_limits(&policy, attack_at("end-deaf")).wall_ms, 500);
	CHECK_INT(scene_limits(&policy, attack_at("end-deaf-at-work")).cpu_ms, 300);
	CHECK_INT(scene_limits(&policy, attack_at("end-idle")).idle_ms, 500);
}

TEST(no_limit_is_above_the_policys)
{
	struct policy policy = policy_default();
	struct policy_role role;

	policy.agent.pids = 20;
	policy.agent.memory = 100 * MIB;
	policy.agent.output = 4 * KIB;
	role = scene_limits(&policy, attack_at("res-processes"));
	CHECK_INT(role.pids, 20);
	CHECK_INT(role.memory, 100 * MIB);
	CHECK_INT(role.output, 4 * KIB);
}

static bool is_told(const struct scene_words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->text[i], word) == 0)
			return true;
	return false;
}

TEST(an_attack_is_told_where_things_are_and_no_secret)
{
	const struct policy policy = policy_default();
	struct bait bait = BAIT_INIT;
	struct scene_words words;

	snprintf(bait.tag, sizeof(bait.tag), "drill-1");
	snprintf(bait.secret, sizeof(bait.secret), "drill-secret:0123");
	bait.folder = "/bait";
	bait.outside = "/outside";
	bait.port = 77;
	scene_words(&bait, attack_at("res-processes"), &policy.agent, 2, true, &words);
	CHECK(is_told(&words, "bait=/bait"));
	CHECK(is_told(&words, "outside=/outside"));
	CHECK(is_told(&words, "tag=drill-1"));
	CHECK(is_told(&words, "port=77"));
	CHECK(is_told(&words, "pids=512"));
	CHECK(is_told(&words, "round=2"));
	CHECK(is_told(&words, "bare=1"));
	for (size_t i = 0; i < words.count; i++)
		CHECK(!strstr(words.text[i], "secret"));
}

TEST(what_few_need_is_told_to_them_alone)
{
	const struct policy policy = policy_default();
	struct bait bait = BAIT_INIT;
	struct scene_words words, more;

	bait.folder = bait.outside = "/";
	scene_words(&bait, attack_at("id-become-root"), &policy.agent, 1, false, &words);
	scene_words(&bait, attack_at("dev-gpus"), &policy.agent, 1, false, &more);
	CHECK_INT(more.count, words.count + 1);
	CHECK(strncmp(more.text[more.count - 1], "gpus=", 5) == 0);
}
