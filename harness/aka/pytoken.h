/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"

/*
 * The tokens of a text of Python
 *
 * As Python 3.12 and later see them: what is in the braces of an f-string are tokens of their own.
 * A text that older ones cut otherwise is no Python to them, so whoever trusts these tokens trusts
 * the same ones as the interpreter that runs the text. Bytes count and not characters; what is no
 * ASCII is part of a name. What Pythons do not agree about (a statement that begins with a
 * continued line, a line that ends within a format) ends the scan, as what none can read does.
 *
 * A scanner is a value, borrows the text, takes no memory, and needs a time in its length.
 */
enum pytoken_kind {
	PYTOKEN_END,    /* of the text */
	PYTOKEN_LINE,   /* the end of a logical line, its line break; behind it nothing is open */
	PYTOKEN_NAME,   /* keywords too */
	PYTOKEN_STRING, /* from prefix to quote */
	PYTOKEN_FORMAT, /* prefix and quote that begin an f-string; its fields' tokens follow */
	PYTOKEN_OTHER,  /* a number, or one character */
};

struct pytoken {
	enum pytoken_kind kind;
	size_t from, to; /* bytes of the text */
	size_t line;     /* where it begins, from 1 */
	size_t depth;    /* brackets, f-strings and their fields that are open before it */
	bool is_first;   /* of a logical line */
	bool is_inside;  /* the logical line is indented */
	char sign;       /* the character of a PYTOKEN_OTHER; '0' for a number */
};

/* What is open: a bracket, the text of an f-string, a field of it, the format of a field. */
enum pytoken_open { PYTOKEN_BRACKET, PYTOKEN_TEXT, PYTOKEN_FIELD, PYTOKEN_SPEC };

struct pytoken_nest {
	enum pytoken_open open;
	char end; /* the bracket or quote that closes it */
	bool is_triple, is_raw;
	size_t line;
};

/* As in CPython. */
enum { PYTOKEN_NESTS_MAX = 200 };

struct pytoken_scan {
	const uint8_t *bytes;
	size_t len;
	size_t at;
	size_t line;
	bool is_between; /* logical lines */
	bool is_first, is_inside;
	size_t depth;
	struct pytoken_nest nests[PYTOKEN_NESTS_MAX];
	const char *why; /* why it can not go on; NULL: it can */
	size_t why_line;
};

/**
 * pytoken_init() - begin at the start of a logical line
 * @from: of the text; a mark of the byte order there is passed over where it is 0
 * @line: of @from
 */
void pytoken_init(struct pytoken_scan *scan, const void *bytes, size_t len, size_t from,
		  size_t line);

/**
 * pytoken_next() - the next token
 *
 * Return: 0, or -1 where the text can not be cut; @scan then says why, and each later call fails.
 */
int pytoken_next(struct pytoken_scan *scan, struct pytoken *out) must_check;

/**
 * pytoken_is() - is it this name
 */
bool pytoken_is(const struct pytoken_scan *scan, const struct pytoken *token,
		const char *name) must_check;
