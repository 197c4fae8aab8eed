/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * Text as Python 3.11 sees it
 *
 * AgentKernelArena is written in Python, and its results hang on what Python calls a space, a digit
 * or a letter. A text here is UTF-8 that has been checked; a surrogate that stands alone, which
 * JSON can name and UTF-8 can not, is three bytes of the same form. Bytes of such texts sort as
 * Python sorts them, by code point.
 */

/**
 * pytext_decode() - append bytes as a text: strict UTF-8, every "\r\n" and "\r" becomes "\n"
 *
 * What subprocess.run(text=True) does. Return: -1 with ERR_INPUT and Python's own words if the
 * bytes are not UTF-8; nothing has been appended then.
 */
int pytext_decode(struct str *out, const void *bytes, size_t len, struct err *err) must_check;

/**
 * pytext_next() - the code point that a text begins with
 *
 * Return: how many bytes it has; 0 at the end of the text.
 */
size_t pytext_next(const char *text, size_t len, uint32_t *out);

/**
 * pytext_add_code() - append a code point, also one of a surrogate
 */
void pytext_add_code(struct str *out, uint32_t code);

/**
 * pytext_count() - how many code points a text has: Python's len()
 */
size_t pytext_count(const char *text, size_t len);

/**
 * pytext_is_space() - str.isspace(), and \s of regular expressions
 */
bool pytext_is_space(uint32_t code);

/**
 * pytext_is_word() - \w of regular expressions: letters, digits of all kinds, and '_'
 */
bool pytext_is_word(uint32_t code);

/**
 * pytext_digit() - the value of a decimal digit of any script (\d), or -1
 */
int pytext_digit(uint32_t code);

/**
 * pytext_add_json() - append a text as json.dump() writes it: in quotes, ASCII alone
 */
void pytext_add_json(struct str *out, const char *text, size_t len);

/**
 * pytext_add_padded() - append a text, and spaces until it has @width code points
 */
void pytext_add_padded(struct str *out, const char *text, size_t len, size_t width);
