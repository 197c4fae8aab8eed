/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pytoken.h"

#include <ctype.h>
#include <string.h>

#include "sandbox/base/compiler.h"

static const char *const prefixes[] = { "r",  "u",  "b",  "f",  "t",  "br",
					"rb", "fr", "rf", "tr", "rt", NULL };

void pytoken_init(struct pytoken_scan *scan, const void *bytes, size_t len, size_t from,
		  size_t line)
{
	*scan = (struct pytoken_scan){
		.bytes = bytes, .len = len, .at = from, .line = line, .is_between = true
	};
	if (from == 0 && len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		scan->at = 3;
}

static int fail(struct pytoken_scan *scan, size_t line, const char *why)
{
	scan->why = why;
	scan->why_line = line;
	return -1;
}

/* The byte so far ahead; 0 at the end, which is no byte of Python's. */
static uint8_t peek(const struct pytoken_scan *scan, size_t ahead)
{
	return ahead < scan->len - scan->at ? scan->bytes[scan->at + ahead] : 0;
}

static bool is_at_end(const struct pytoken_scan *scan)
{
	return scan->at >= scan->len;
}

static bool is_break(uint8_t byte)
{
	return byte == '\n' || byte == '\r';
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\f';
}

static bool is_name(uint8_t byte)
{
	return isalnum(byte) || byte == '_' || byte >= 0x80;
}

/* One byte, or a line break of one or two. */
static void skip_one(struct pytoken_scan *scan)
{
	uint8_t byte = peek(scan, 0);

	scan->at += byte == '\r' && peek(scan, 1) == '\n' ? 2 : 1;
	if (is_break(byte))
		scan->line++;
}

static void skip_comment(struct pytoken_scan *scan)
{
	while (!is_at_end(scan) && !is_break(peek(scan, 0)))
		scan->at++;
}

static const struct pytoken_nest *top(const struct pytoken_scan *scan)
{
	return scan->depth > 0 ? &scan->nests[scan->depth - 1] : NULL;
}

static int push(struct pytoken_scan *scan, struct pytoken_nest nest)
{
	if (scan->depth == PYTOKEN_NESTS_MAX)
		return fail(scan, scan->line, "too much is open at once");
	nest.line = scan->line;
	scan->nests[scan->depth++] = nest;
	return 0;
}

static bool is_quote_closed(const struct pytoken_scan *scan, char quote, bool is_triple)
{
	for (size_t i = 0; i < (is_triple ? 3 : 1); i++)
		if (peek(scan, i) != (uint8_t) quote)
			return false;
	return true;
}

/* Behind the opening quote of a string without fields. */
static int skip_string(struct pytoken_scan *scan, char quote, bool is_triple)
{
	size_t line = scan->line;

	for (; !is_quote_closed(scan, quote, is_triple); skip_one(scan)) {
		if (peek(scan, 0) == '\\')
			scan->at++;
		else if (is_break(peek(scan, 0)) && !is_triple)
			return fail(scan, line, "a string is not closed on its line");
		if (is_at_end(scan))
			return fail(scan, line, "a string is not closed");
	}
	scan->at += is_triple ? 3 : 1;
	return 0;
}

/*
 * A backslash in an f-string: what follows has no meaning, but a brace has, and the name in \N{…}
 * is no field.
 */
static int skip_escape(struct pytoken_scan *scan, bool is_raw)
{
	scan->at++;
	if (is_at_end(scan) || peek(scan, 0) == '{' || peek(scan, 0) == '}')
		return 0;
	if (is_raw || peek(scan, 0) != 'N' || peek(scan, 1) != '{') {
		skip_one(scan);
		return 0;
	}
	scan->at += 2;
	while (isalnum(peek(scan, 0)) || peek(scan, 0) == ' ' || peek(scan, 0) == '-')
		scan->at++;
	if (peek(scan, 0) != '}')
		return fail(scan, scan->line, "a character's name in an f-string is not closed");
	scan->at++;
	return 0;
}

/* A brace in an f-string's text. */
static int skip_brace(struct pytoken_scan *scan, const struct pytoken_nest *nest)
{
	bool is_double = peek(scan, 1) == peek(scan, 0) && nest->open == PYTOKEN_TEXT;

	if (is_double) {
		scan->at += 2;
		return 0;
	}
	if (peek(scan, 0) == '{') {
		scan->at++;
		return push(scan, (struct pytoken_nest){ .open = PYTOKEN_FIELD, .end = '}' });
	}
	if (nest->open == PYTOKEN_TEXT)
		return fail(scan, scan->line, "'}' closes nothing in an f-string");
	scan->at++;
	scan->depth -= 2; /* the format and its field */
	return 0;
}

/* The text of an f-string or of a field's format, up to a field or its end. */
static int skip_text(struct pytoken_scan *scan)
{
	const struct pytoken_nest *nest = top(scan);
	size_t depth = scan->depth;

	while (scan->depth == depth) {
		uint8_t byte = peek(scan, 0);

		if (is_at_end(scan))
			return fail(scan, nest->line, "an f-string is not closed");
		if (is_break(byte) && (!nest->is_triple || nest->open == PYTOKEN_SPEC))
			return fail(scan, nest->line, "an f-string is not closed on its line");
		if (is_quote_closed(scan, nest->end, nest->is_triple)) {
			if (nest->open == PYTOKEN_SPEC)
				return fail(scan, nest->line,
					    "a field of an f-string is not closed");
			scan->at += nest->is_triple ? 3 : 1;
			scan->depth--;
		} else if (byte == '\\') {
			if (skip_escape(scan, nest->is_raw) < 0)
				return -1;
		} else if (byte == '{' || byte == '}') {
			if (skip_brace(scan, nest) < 0)
				return -1;
		} else {
			skip_one(scan);
		}
	}
	return 0;
}

/* What is before a quote, in small letters, is a prefix if it is in the list. */
static bool is_prefix(const uint8_t *bytes, size_t len)
{
	char text[3] = "";

	if (len > 2)
		return false;
	for (size_t i = 0; i < len; i++)
		text[i] = (char) tolower(bytes[i]);
	for (size_t i = 0; prefixes[i]; i++)
		if (strcmp(prefixes[i], text) == 0)
			return true;
	return len == 0;
}

/* At the quote; the prefix from @out->from on. */
static int take_string(struct pytoken_scan *scan, struct pytoken *out)
{
	char quote = (char) peek(scan, 0);
	struct pytoken_nest nest = { .open = PYTOKEN_TEXT, .end = quote };
	bool is_format = false;

	for (size_t i = out->from; i < scan->at; i++) {
		int letter = tolower(scan->bytes[i]);

		is_format = is_format || letter == 'f' || letter == 't';
		nest.is_raw = nest.is_raw || letter == 'r';
	}
	nest.is_triple = is_quote_closed(scan, quote, true);
	scan->at += nest.is_triple ? 3 : 1;
	out->kind = is_format ? PYTOKEN_FORMAT : PYTOKEN_STRING;
	return is_format ? push(scan, nest) : skip_string(scan, quote, nest.is_triple);
}

static int take_word(struct pytoken_scan *scan, struct pytoken *out)
{
	while (is_name(peek(scan, 0)))
		scan->at++;
	if ((peek(scan, 0) == '"' || peek(scan, 0) == '\'') &&
	    is_prefix(scan->bytes + out->from, scan->at - out->from))
		return take_string(scan, out);
	out->kind = PYTOKEN_NAME;
	return 0;
}

static char closing(char sign)
{
	return sign == '(' ? ')' : sign == '[' ? ']' : sign == '{' ? '}' : '\0';
}

/* A colon right in a field: what follows is its format, in the f-string that the field is in. */
static int begin_spec(struct pytoken_scan *scan)
{
	struct pytoken_nest nest = scan->nests[scan->depth - 2];

	nest.open = PYTOKEN_SPEC;
	return push(scan, nest);
}

static int take_sign(struct pytoken_scan *scan, struct pytoken *out)
{
	const struct pytoken_nest *nest = top(scan);
	char sign = (char) peek(scan, 0), end = closing(sign);

	out->kind = PYTOKEN_OTHER;
	out->sign = sign;
	scan->at++;
	if (end)
		return push(scan, (struct pytoken_nest){ .open = PYTOKEN_BRACKET, .end = end });
	if (sign == ')' || sign == ']' || sign == '}') {
		if (!nest || nest->end != sign)
			return fail(scan, scan->line, "a bracket closes what is not open");
		scan->depth--;
	}
	if (sign == ':' && nest && nest->open == PYTOKEN_FIELD)
		return begin_spec(scan);
	return 0;
}

static int take_token(struct pytoken_scan *scan, struct pytoken *out)
{
	uint8_t byte = peek(scan, 0);

	if (byte == 0)
		return fail(scan, scan->line, "there is a zero byte");
	if (isdigit(byte)) {
		while (isalnum(peek(scan, 0)) || peek(scan, 0) == '_' || peek(scan, 0) == '.')
			scan->at++;
		out->sign = '0';
		return 0;
	}
	if (is_name(byte) || byte == '"' || byte == '\'')
		return take_word(scan, out);
	return take_sign(scan, out);
}

/* Between logical lines: past what is blank, to the first token of the next one. */
static int begin_line(struct pytoken_scan *scan)
{
	size_t column = 0;

	for (; !is_at_end(scan); skip_one(scan)) {
		uint8_t byte = peek(scan, 0);

		if (byte == '#')
			skip_comment(scan);
		else if (byte == '\\')
			return fail(scan, scan->line, "a statement begins with a continued line");
		else if (!is_break(byte) && !is_blank(byte))
			break;
		if (is_at_end(scan))
			break;
		column = byte == ' ' || byte == '\t' ? column + 1 : 0;
	}
	scan->is_between = is_at_end(scan);
	scan->is_first = true;
	scan->is_inside = column > 0;
	return 0;
}

/* At a backslash outside of strings. */
static int skip_continued(struct pytoken_scan *scan)
{
	scan->at++;
	if (!is_break(peek(scan, 0)))
		return fail(scan, scan->line, "a backslash continues no line");
	skip_one(scan);
	return is_at_end(scan) ? fail(scan, scan->line - 1, "a backslash continues no line") : 0;
}

/* Within a logical line: past what is between tokens, up to the line break that ends it. */
static int skip_blank(struct pytoken_scan *scan, bool *is_ended)
{
	while (!is_at_end(scan)) {
		uint8_t byte = peek(scan, 0);

		if (byte == '#') {
			skip_comment(scan);
		} else if (byte == '\\') {
			if (skip_continued(scan) < 0)
				return -1;
		} else if (is_blank(byte) || (is_break(byte) && scan->depth > 0)) {
			skip_one(scan);
		} else {
			*is_ended = is_break(byte);
			return 0;
		}
	}
	*is_ended = true;
	return 0;
}

static int end_line(struct pytoken_scan *scan, struct pytoken *out)
{
	if (scan->depth > 0)
		return fail(scan, top(scan)->line, "a bracket is not closed");
	out->kind = PYTOKEN_LINE;
	if (!is_at_end(scan))
		skip_one(scan);
	scan->is_between = true;
	return 0;
}

static int take_next(struct pytoken_scan *scan, struct pytoken *out)
{
	bool is_ended = false;

	while (top(scan) && (top(scan)->open == PYTOKEN_TEXT || top(scan)->open == PYTOKEN_SPEC))
		if (skip_text(scan) < 0)
			return -1;
	if (scan->is_between && begin_line(scan) < 0)
		return -1;
	if (!scan->is_between && skip_blank(scan, &is_ended) < 0)
		return -1;
	*out = (struct pytoken){
		.kind = scan->is_between ? PYTOKEN_END : PYTOKEN_OTHER,
		.from = scan->at,
		.line = scan->line,
		.depth = scan->depth,
		.is_first = scan->is_first,
		.is_inside = scan->is_inside,
	};
	if (out->kind == PYTOKEN_END)
		return 0;
	scan->is_first = false;
	return is_ended ? end_line(scan, out) : take_token(scan, out);
}

int pytoken_next(struct pytoken_scan *scan, struct pytoken *out)
{
	if (scan->why || take_next(scan, out) < 0)
		return -1;
	out->to = scan->at;
	return 0;
}

bool pytoken_is(const struct pytoken_scan *scan, const struct pytoken *token, const char *name)
{
	size_t len = token->to - token->from;

	return token->kind == PYTOKEN_NAME && strlen(name) == len &&
	       memcmp(scan->bytes + token->from, name, len) == 0;
}
