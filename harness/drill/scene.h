/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "harness/config/policy.h"
#include "harness/drill/bait.h"
#include "harness/drill/corpus.h"

/*
 * What one attack runs with: the limits of its jail, and what it is told
 *
 * The limits are those of the policy's agent; where an attack is to meet one soon, smaller ones.
 */
/**
 * scene_limits() - the limits of an attack's jail; none is above the policy's
 */
struct policy_role scene_limits(const struct policy *policy, const struct drill_attack *attack);

/* The port of an attack's service. */
enum { SCENE_SERVICE = 4711 };

enum { SCENE_WORDS_MAX = 32, SCENE_WORD_MAX = 1024 };

struct scene_words {
	size_t count;
	char text[SCENE_WORDS_MAX][SCENE_WORD_MAX]; /* NAME=VALUE, behind the attack's name */
};

/**
 * scene_words() - what the attack is told on its command line; no secret is among it
 * @round:   from 1 on
 * @is_bare: there will be no walls
 */
void scene_words(const struct bait *bait, const struct drill_attack *attack,
		 const struct policy_role *role, int round, bool is_bare, struct scene_words *out);
