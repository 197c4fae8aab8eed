/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/compiler.h"

/*
 * A string that grows
 *
 * text is never NULL and always ends in a zero byte; len does not count it. A string never grows
 * over STR_MAX: what would, is dropped with all that comes after it, and `truncated` says so. The
 * text is thus always a beginning of what was added, and nobody outside can make us use memory
 * without end.
 */
struct str {
	char *text;
	size_t len;
	size_t room; /* 0: text is str_empty */
	bool truncated;
};

#define STR_MAX  (64 * MIB)
#define STR_INIT ((struct str){ .text = str_empty })

/* The text of every string that has none yet; never written to. */
extern char str_empty[1];

/**
 * str_done() - free the text; the string is STR_INIT again
 */
void str_done(struct str *str);

/**
 * str_clear() - empty the string and keep its memory
 */
void str_clear(struct str *str);

/**
 * str_add() - append @len bytes
 */
void str_add(struct str *str, const void *bytes, size_t len);

/**
 * str_addf() - append formatted text
 */
void str_addf(struct str *str, const char *format, ...) printf_like(2, 3);

/**
 * str_add_json() - append @len bytes as a JSON string, quotes included
 *
 * Bytes that are not valid UTF-8 become \u00XX of the byte, so that any file name or log line
 * gives valid JSON. Control characters and DEL are escaped as well.
 */
void str_add_json(struct str *str, const void *bytes, size_t len);

/**
 * str_add_shown() - append @len bytes so that a terminal can show them
 *
 * Control bytes, DEL, backslash and what is not valid UTF-8 become \xXX; C1 controls
 * (U+0080..U+009F), line separators and all that turns the direction of writing as well. One line
 * stays one line.
 */
void str_add_shown(struct str *str, const void *bytes, size_t len);
