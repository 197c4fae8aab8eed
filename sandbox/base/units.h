/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/compiler.h"

/*
 * Numbers as people write them in options, policies and site.conf: errors say what is asked for and
 * what is possible in the same words, or nobody finds them again there.
 */
enum units_kind {
	UNITS_COUNT, /* 512 */
	UNITS_BYTES, /* 64MiB: the largest unit that divides them */
	UNITS_MS,    /* 30m, the same */
	UNITS_MILLI, /* thousandths: 1.5 */
};

struct units_text {
	char text[32];
};

/**
 * units_parse() - what the words say: digits, without zeros before them, and for sizes and
 * durations a unit, which 0 can do without; for thousandths at most three decimals
 *
 * Return: 0, or -1 if they say nothing, or more than @out holds, which is as it was then.
 */
int units_parse(enum units_kind kind, const char *text, uint64_t *out) must_check;

/**
 * units_write() - @value in the words of its kind
 */
struct units_text units_write(enum units_kind kind, uint64_t value);
