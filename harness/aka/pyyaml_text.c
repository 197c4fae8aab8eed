/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyyaml_text.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pytext.h"
#include "sandbox/base/mem.h"

bool pyyaml_is_break(uint32_t code)
{
	return code == '\n' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

static bool is_blank(uint32_t code)
{
	return code == 0 || code == ' ' || code == '\t' || code == '\r' || pyyaml_is_break(code);
}

static bool is_one_of(uint32_t code, const char *set)
{
	return code > 0 && code < 0x80 && strchr(set, (int) code) != NULL;
}

/* Words and numbers that mean something where they stand plain. */
static bool has_meaning(const char *text)
{
	static const char *const words[] = {
		"yes",   "Yes",   "YES", "no", "No", "NO",   "true", "True", "TRUE", "false",
		"False", "FALSE", "on",  "On", "ON", "off",  "Off",  "OFF",  "null", "Null",
		"NULL",  "~",     "",    "<<", "=",  ".nan", ".NaN", ".NAN",
	};
	static const char timestamp[] =
		"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}(:[0-9]{2}){2}"
		"(\\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?$";
	static const char *const numbers[] = {
		"^[-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+][0-9]+)?$",
		"^\\.[0-9][0-9_]*([eE][-+][0-9]+)?$",
		"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*$",
		"^[-+]?\\.(inf|Inf|INF)$",
		"^[-+]?0b[0-1_]+$",
		"^[-+]?0[0-7_]+$",
		"^[-+]?(0|[1-9][0-9_]*)$",
		"^[-+]?0x[0-9a-fA-F_]+$",
		"^[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+$",
		"^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$",
		timestamp,
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	if (strchr("-+.0123456789", text[0]) == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		regex_t regex;
		bool is_number;

		if (regcomp(&regex, numbers[i], REG_EXTENDED | REG_NOSUB) != 0)
			abort(); /* only for lack of memory */
		is_number = regexec(&regex, text, 0, NULL, 0) == 0;
		regfree(&regex);
		if (is_number)
			return true;
	}
	return false;
}

/* Does a character at that place forbid the text to stand plain, since it means something? */
static bool is_indicator(const struct pyyaml_text *text, size_t i)
{
	uint32_t code = text->codes[i];
	bool before_blank = i + 1 >= text->count || is_blank(text->codes[i + 1]);

	if (i == 0)
		return is_one_of(code, "#,[]{}&*!|>'\"%@`") ||
		       (is_one_of(code, "?:-") && before_blank);
	return (code == ':' && before_blank) || (code == '#' && is_blank(text->codes[i - 1]));
}

static bool has_document_mark(const struct pyyaml_text *text)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= text->count || text->codes[i] != text->codes[0])
			return false;
	return text->codes[0] == '-' || text->codes[0] == '.';
}

/* Sets what its characters allow. */
static void analyse(struct pyyaml_text *text)
{
	bool has_indicator = has_document_mark(text), break_space = false, space_break = false,
	     is_special = false, at_edge = false;

	for (size_t i = 0; i < text->count; i++) {
		uint32_t code = text->codes[i], before = i > 0 ? text->codes[i - 1] : 'x';

		has_indicator |= is_indicator(text, i);
		text->is_multiline |= pyyaml_is_break(code);
		is_special |= code != '\n' && (code < 0x20 || code > 0x7e);
		break_space |= code == ' ' && pyyaml_is_break(before);
		space_break |= pyyaml_is_break(code) && before == ' ';
		if (i == 0 || i + 1 == text->count)
			at_edge |= code == ' ' || pyyaml_is_break(code);
	}
	text->may_be_single = !break_space && !space_break && !is_special;
	text->may_be_plain =
		text->may_be_single && !at_edge && !text->is_multiline && !has_indicator;
}

void pyyaml_text_read(struct pyyaml_text *out, const struct pyvalue *value)
{
	const char *at = value->text, *end = value->text + value->len;

	*out = (struct pyyaml_text){
		.codes = mem_alloc(value->len + 1, sizeof(*out->codes)),
		.may_be_plain = true,
		.may_be_single = true,
	};
	while (at < end)
		at += pytext_next(at, (size_t) (end - at), &out->codes[out->count++]);
	if (out->count > 0)
		analyse(out);
	out->means_something = out->may_be_plain && has_meaning(value->text);
}

void pyyaml_text_done(struct pyyaml_text *text)
{
	free(text->codes);
	*text = (struct pyyaml_text){ .codes = NULL };
}

enum pyyaml_style pyyaml_text_style(const struct pyyaml_text *text, bool is_key)
{
	if (text->may_be_plain && !text->means_something && !(is_key && text->count == 0))
		return PYYAML_PLAIN;
	if (text->may_be_single && !(is_key && text->is_multiline))
		return PYYAML_SINGLE;
	return PYYAML_DOUBLE;
}
