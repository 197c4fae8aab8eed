/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/compiler.h"

/*
 * Names of enumerators: a table ends with a NULL text. The same table prints and parses, so that
 * the two can not drift apart.
 */
struct name {
	const char *text;
	int value;
};

/**
 * names_text() - the name of @value, or "?" if the table has none
 */
const char *names_text(const struct name *table, int value);

/**
 * names_find() - the value that @text names
 *
 * Return: 0, or -1 if the table has no such name; @out is then untouched. Not an error yet:
 * only the caller knows what the text was meant to be.
 */
int names_find(const struct name *table, const char *text, int *out) must_check;
