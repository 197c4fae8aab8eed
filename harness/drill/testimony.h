/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/names.h"

/*
 * What an attack says of itself, in lines: see tests/attacks/attack.h
 *
 * Several of its processes may speak. GOT outweighs all else, then BROKEN, NA and HELD; of each the
 * first line is kept. What is no such line is BROKEN: nobody else writes here.
 */
enum drill_seen {
	DRILL_HELD,
	DRILL_GOT,
	DRILL_NOT_HERE, /* it can not be tried on this host */
	DRILL_BROKEN,   /* nothing can be said */
	DRILL_SEEN_KINDS,
};

extern const struct name drill_seen_names[];

enum { TESTIMONY_TEXT_MAX = 240, TESTIMONY_LINE_MAX = 512 };

struct testimony {
	bool spoke; /* there was a word on how it went */
	bool ready; /* READY was said */
	enum drill_seen seen;
	char text[TESTIMONY_TEXT_MAX];
	char line[TESTIMONY_LINE_MAX]; /* the one that is not whole yet */
	size_t len;
};

#define TESTIMONY_INIT ((struct testimony){ .spoke = false })

/**
 * testimony_hear() - the next @len bytes
 */
void testimony_hear(struct testimony *testimony, const char *bytes, size_t len);

/**
 * testimony_say() - a word of the drill's own, which counts like one of the attack's
 */
void testimony_say(struct testimony *testimony, enum drill_seen seen, const char *text);
