/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_inject.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "harness/aka/pytext.h"

/* A part of a text. */
struct part {
	const char *text;
	size_t len;
};

static struct part from(struct part part, size_t start)
{
	return (struct part){ .text = part.text + start, .len = part.len - start };
}

/* How many bytes of white space it begins with, as \s and lstrip() have it. */
static size_t count_space(struct part part)
{
	size_t at = 0, size;
	uint32_t code;

	while ((size = pytext_next(part.text + at, part.len - at, &code)) > 0 &&
	       pytext_is_space(code))
		at += size;
	return at;
}

static bool is_blank(struct part part)
{
	return count_space(part) == part.len;
}

static struct part strip(struct part part)
{
	struct part left = from(part, count_space(part));
	size_t at = 0, end = 0, size;
	uint32_t code;

	while ((size = pytext_next(left.text + at, left.len - at, &code)) > 0) {
		at += size;
		if (!pytext_is_space(code))
			end = at;
	}
	left.len = end;
	return left;
}

/* Where the line at @at is over, its end included. */
static size_t next_line(struct part text, size_t at)
{
	const char *end = memchr(text.text + at, '\n', text.len - at);

	return end == NULL ? text.len : (size_t) (end - text.text) + 1;
}

/* A line of blanks, @word, and the signs in @signs, with white space in front of each. */
struct pattern {
	const char *word;
	const char *signs;
};

struct found {
	size_t start;  /* of the line */
	size_t indent; /* bytes of blanks */
	size_t last;   /* where the last sign is */
};

static bool fits(struct part text, const struct pattern *pattern, struct found *out)
{
	size_t word_len = strlen(pattern->word), at = out->start;

	while (at < text.len && (text.text[at] == ' ' || text.text[at] == '\t'))
		at++;
	out->indent = at - out->start;
	if (text.len - at < word_len || memcmp(text.text + at, pattern->word, word_len) != 0)
		return false;
	at += word_len;
	for (const char *sign = pattern->signs; *sign != '\0'; sign++) {
		at += count_space(from(text, at));
		if (at >= text.len || text.text[at] != *sign)
			return false;
		out->last = at++;
	}
	return true;
}

static bool find(struct part text, const struct pattern *pattern, struct found *out)
{
	*out = (struct found){ .start = 0 };
	while (!fits(text, pattern, out)) {
		out->start = next_line(text, out->start);
		if (out->start == text.len)
			return false;
	}
	return true;
}

/* The bracket that closes the one at @at; the text's length if none does. */
static size_t find_end_of_list(struct part text, size_t at)
{
	size_t depth = 0;

	for (; at < text.len; at++) {
		if (text.text[at] == '[')
			depth++;
		else if (text.text[at] == ']' && --depth == 0)
			break;
	}
	return at;
}

/* Does a line end a function whose own is indented by @indent characters? */
static bool ends_function(struct part line, size_t indent)
{
	struct part rest = from(line, count_space(line));

	if (rest.len == 0 || rest.text[0] == '#')
		return false;
	return pytext_count(line.text, line.len - rest.len) <= indent;
}

static size_t find_end_of_function(struct part text, const struct found *found)
{
	size_t at = next_line(text, found->start);

	while (at < text.len) {
		size_t next = next_line(text, at);

		if (ends_function((struct part){ text.text + at, next - at }, found->indent))
			break;
		at = next;
	}
	return at;
}

/* Does str.splitlines() end a line here? */
static bool ends_line(uint32_t code)
{
	return (code >= '\n' && code <= '\r') || (code >= 0x1c && code <= 0x1e) || code == 0x85 ||
	       code == 0x2028 || code == 0x2029;
}

/* The next line of @rest, without its end; @rest is what is behind it. */
static struct part take_line(struct part *rest)
{
	struct part line = *rest;
	size_t at = 0, size;
	uint32_t code = 0;

	while ((size = pytext_next(rest->text + at, rest->len - at, &code)) > 0 && !ends_line(code))
		at += size;
	line.len = at;
	at += size;
	if (code == '\r' && at < rest->len && rest->text[at] == '\n')
		at++;
	*rest = from(*rest, at);
	return line;
}

/* The replacement's lines, indented as what they replace. */
static void add_indented(struct str *out, struct part indent, const char *code)
{
	struct part rest = strip((struct part){ .text = code, .len = strlen(code) });

	do {
		struct part line = take_line(&rest);

		if (!is_blank(line))
			str_add(out, indent.text, indent.len);
		str_add(out, line.text, line.len);
		str_add(out, "\n", 1);
	} while (rest.len > 0);
}

static enum aka_injected replace_shapes(struct str *out, const struct aka_injection *injection,
					struct part text)
{
	static const struct pattern pattern = { .word = "TEST_SHAPES", .signs = "=[" };
	struct found found;
	size_t end;

	if (!find(text, &pattern, &found))
		return AKA_INJECT_NO_SHAPES;
	end = find_end_of_list(text, found.last);
	if (end == text.len)
		return AKA_INJECT_OPEN_BRACKET;
	end++;
	if (end < text.len && text.text[end] == '\n')
		end++;
	str_add(out, text.text, found.start);
	add_indented(out, (struct part){ text.text + found.start, found.indent },
		     injection->replacement);
	str_add(out, text.text + end, text.len - end);
	return AKA_INJECTED;
}

static enum aka_injected replace_inputs(struct str *out, const struct aka_injection *injection,
					struct part text)
{
	static const struct pattern pattern = { .word = "def get_inputs", .signs = "(" };
	struct found found;
	size_t end;

	if (!find(text, &pattern, &found))
		return AKA_INJECT_NO_INPUTS;
	end = find_end_of_function(text, &found);
	str_add(out, text.text, found.start);
	add_indented(out, (struct part){ text.text + found.start, found.indent },
		     injection->replacement);
	str_add(out, text.text + end, text.len - end);
	return AKA_INJECTED;
}

static enum aka_injected replace_raw(struct str *out, const struct aka_injection *injection,
				     struct part text)
{
	size_t len = strlen(injection->old_code), start;
	const char *place = memmem(text.text, text.len, injection->old_code, len);

	if (place == NULL)
		return AKA_INJECT_NO_OLD_CODE;
	start = (size_t) (place - text.text);
	str_add(out, text.text, start);
	str_add(out, injection->replacement, strlen(injection->replacement));
	str_add(out, place + len, text.len - start - len);
	return AKA_INJECTED;
}

enum aka_injected aka_inject(struct str *out, const struct aka_injection *injection,
			     const void *bytes, size_t len)
{
	static enum aka_injected (*const replace[])(struct str *, const struct aka_injection *,
						    struct part) = {
		[AKA_MARKER_SHAPES] = replace_shapes,
		[AKA_MARKER_INPUTS] = replace_inputs,
		[AKA_MARKER_RAW] = replace_raw,
	};
	cleanup(str_done) struct str text = STR_INIT, made = STR_INIT;
	struct err none = ERR_INIT;
	enum aka_injected outcome;

	if (len > AKA_INJECT_FILE_MAX)
		return AKA_INJECT_TOO_LARGE;
	if (pytext_decode(&text, bytes, len, &none) < 0)
		return AKA_INJECT_NOT_TEXT;
	outcome =
		replace[injection->marker](&made, injection, (struct part){ text.text, text.len });
	if (outcome != AKA_INJECTED)
		return outcome;
	if (made.len > AKA_INJECT_FILE_MAX)
		return AKA_INJECT_TOO_LARGE;
	if (made.len == text.len && memcmp(made.text, text.text, made.len) == 0)
		return AKA_INJECT_NO_CHANGE;
	str_add(out, made.text, made.len);
	return AKA_INJECTED;
}

const char *aka_inject_text(enum aka_injected outcome)
{
	static const char *const texts[] = {
		[AKA_INJECTED] = "it was injected",
		[AKA_INJECT_NOT_TEXT] = "the file is not UTF-8",
		[AKA_INJECT_NO_SHAPES] = "the file has no line that begins with 'TEST_SHAPES = ['",
		[AKA_INJECT_OPEN_BRACKET] = "the brackets of TEST_SHAPES do not close",
		[AKA_INJECT_NO_INPUTS] = "the file has no line that begins with 'def get_inputs('",
		[AKA_INJECT_NO_OLD_CODE] = "old_code is not in the file",
		[AKA_INJECT_NO_CHANGE] = "the file has these shapes already",
		[AKA_INJECT_TOO_LARGE] = "the file would have more than 4 MiB",
	};

	return texts[outcome];
}
