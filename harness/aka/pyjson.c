/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyjson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pytext.h"
#include "sandbox/base/str.h"

/* The most digits that Python turns into a whole number. */
enum { INT_DIGITS_MAX = 4300, HEX_DIGITS = 4 };

struct parser {
	struct arena *arena;
	const char *begin;
	const char *at; /* ends in a zero byte, which no rule accepts */
	const char *end;
	size_t values;
	struct pyjson *out;
	struct err *err;
};

static int fail(struct parser *in, const char *what)
{
	return err_set(in->err, ERR_INPUT, "%s at byte %zu", what, (size_t) (in->at - in->begin));
}

static int too_large(struct parser *in, const char *what)
{
	in->out->is_too_large = true;
	return fail(in, what);
}

static void skip_space(struct parser *in)
{
	in->at += strspn(in->at, " \t\n\r");
}

static bool accept(struct parser *in, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(in->at, word, len) != 0)
		return false;
	in->at += len;
	return true;
}

static int parse_value(struct parser *in, unsigned int depth, const struct pyvalue **out);

static bool read_hex(const char *at, uint32_t *out)
{
	static const char digits[] = "0123456789abcdefABCDEF";

	*out = 0;
	for (int i = 0; i < HEX_DIGITS; i++) {
		const char *digit = at[i] == '\0' ? NULL : strchr(digits, at[i]);

		if (digit == NULL)
			return false;
		*out = *out << 4 | (uint32_t) (digit - digits - (digit - digits > 15 ? 6 : 0));
	}
	return true;
}

/* What follows "\u"; two halves of a pair are one character. */
static int parse_unicode(struct parser *in, struct str *text)
{
	uint32_t code, low;

	if (!read_hex(in->at, &code))
		return fail(in, "no four digits of a \\u escape");
	in->at += HEX_DIGITS;
	if (code >= 0xd800 && code < 0xdc00 && in->at[0] == '\\' && in->at[1] == 'u' &&
	    read_hex(in->at + 2, &low) && low >= 0xdc00 && low < 0xe000) {
		in->at += 2 + HEX_DIGITS;
		code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
	}
	pytext_add_code(text, code);
	return 0;
}

static int parse_escape(struct parser *in, struct str *text)
{
	static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *letter = *in->at == '\0' ? NULL : strchr(letters, *in->at);

	if (*in->at == 'u') {
		in->at++;
		return parse_unicode(in, text);
	}
	if (letter == NULL)
		return fail(in, "no escape of JSON");
	str_add(text, &values[letter - letters], 1);
	in->at++;
	return 0;
}

static int parse_text(struct parser *in, const struct pyvalue **out)
{
	cleanup(str_done) struct str text = STR_INIT;

	in->at++;
	while (*in->at != '"') {
		const char *begin = in->at;

		if ((unsigned char) *in->at < 0x20)
			return fail(in, in->at == in->end ? "a text without its end"
							  : "a control character in a text");
		if (*in->at == '\\') {
			in->at++;
			if (parse_escape(in, &text) < 0)
				return -1;
			continue;
		}
		while ((unsigned char) *in->at >= 0x20 && *in->at != '"' && *in->at != '\\')
			in->at++;
		str_add(&text, begin, (size_t) (in->at - begin));
	}
	in->at++;
	*out = pyvalue_new_text(in->arena, text.text, text.len);
	return 0;
}

static int parse_number(struct parser *in, const struct pyvalue **out)
{
	const char *begin = in->at, *digits = in->at + (*in->at == '-');
	size_t whole = *digits == '0' ? 1 : strspn(digits, "0123456789"), part, power = 0;
	const char *after = digits + whole;
	struct pyvalue *value;

	if (whole == 0)
		return fail(in, "no value");
	part = *after == '.' ? strspn(after + 1, "0123456789") : 0;
	if (part > 0)
		after += 1 + part;
	if (*after == 'e' || *after == 'E') {
		size_t sign = after[1] == '-' || after[1] == '+';

		power = strspn(after + 1 + sign, "0123456789");
		after += power > 0 ? 1 + sign + power : 0;
	}
	if (part == 0 && power == 0 && whole > INT_DIGITS_MAX)
		return fail(in, "a whole number of more than 4300 digits");
	in->at = after;
	if (part > 0 || power > 0) {
		*out = pyvalue_new_float(in->arena, strtod(begin, NULL));
		return 0;
	}
	if (*digits == '0')
		begin = digits;
	value = pyvalue_new_text(in->arena, begin, (size_t) (after - begin));
	value->kind = PYVALUE_INT;
	*out = value;
	return 0;
}

static int parse_list(struct parser *in, unsigned int depth, const struct pyvalue **out)
{
	struct pyvalue *list = pyvalue_new(in->arena, PYVALUE_LIST);

	in->at++;
	skip_space(in);
	*out = list;
	if (accept(in, "]"))
		return 0;
	do {
		const struct pyvalue *item;

		skip_space(in);
		if (parse_value(in, depth, &item) < 0)
			return -1;
		pyvalue_append(in->arena, list, item);
		skip_space(in);
	} while (accept(in, ","));
	return accept(in, "]") ? 0 : fail(in, "neither ',' nor ']'");
}

static int parse_dict(struct parser *in, unsigned int depth, const struct pyvalue **out)
{
	struct pyvalue *dict = pyvalue_new(in->arena, PYVALUE_DICT);

	in->at++;
	skip_space(in);
	*out = dict;
	if (accept(in, "}"))
		return 0;
	do {
		const struct pyvalue *key, *value;

		skip_space(in);
		if (*in->at != '"')
			return fail(in, "no name of a member");
		if (parse_text(in, &key) < 0)
			return -1;
		skip_space(in);
		if (!accept(in, ":"))
			return fail(in, "no ':'");
		skip_space(in);
		if (parse_value(in, depth, &value) < 0)
			return -1;
		if (!pyvalue_set(in->arena, dict, key, value))
			in->out->has_repeated_key = true;
		if (dict->count > PYJSON_MEMBERS_MAX)
			return too_large(in, "an object of too many members");
		skip_space(in);
	} while (accept(in, ","));
	return accept(in, "}") ? 0 : fail(in, "neither ',' nor '}'");
}

static const struct pyvalue *parse_word(struct parser *in)
{
	static const struct {
		const char *word;
		enum pyvalue_kind kind;
		bool truth;
		double number;
	} words[] = {
		{ "null", PYVALUE_NONE, false, 0 },
		{ "true", PYVALUE_BOOL, true, 0 },
		{ "false", PYVALUE_BOOL, false, 0 },
		{ "NaN", PYVALUE_FLOAT, false, (double) NAN },
		{ "Infinity", PYVALUE_FLOAT, false, HUGE_VAL },
		{ "-Infinity", PYVALUE_FLOAT, false, -HUGE_VAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct pyvalue *value;

		if (!accept(in, words[i].word))
			continue;
		value = pyvalue_new(in->arena, words[i].kind);
		value->truth = words[i].truth;
		value->number = words[i].number;
		in->out->has_non_finite |= words[i].kind == PYVALUE_FLOAT;
		return value;
	}
	return NULL;
}

static int parse_value(struct parser *in, unsigned int depth, const struct pyvalue **out)
{
	const struct pyvalue *word;

	if (++in->values > PYJSON_VALUES_MAX)
		return too_large(in, "too many values");
	if (depth == PYJSON_DEPTH_MAX)
		return too_large(in, "too many levels");
	if (*in->at == '"')
		return parse_text(in, out);
	if (*in->at == '[')
		return parse_list(in, depth + 1, out);
	if (*in->at == '{')
		return parse_dict(in, depth + 1, out);
	word = parse_word(in);
	if (word == NULL)
		return parse_number(in, out);
	*out = word;
	return 0;
}

int pyjson_parse(struct pyjson *out, struct arena *arena, const void *bytes, size_t len,
		 struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct pyjson made = { .root = NULL };
	struct parser in = { .arena = arena, .out = &made, .err = err };

	out->is_too_large = len > PYJSON_BYTES_MAX;
	if (out->is_too_large)
		return err_set(err, ERR_INPUT, "more than %d MiB", PYJSON_BYTES_MAX >> 20);
	if (pytext_decode(&text, bytes, len, err) < 0)
		return -1;
	in.begin = in.at = text.text;
	in.end = text.text + text.len;
	skip_space(&in);
	if (parse_value(&in, 0, &made.root) < 0) {
		out->is_too_large = made.is_too_large;
		return -1;
	}
	skip_space(&in);
	if (in.at != in.end)
		return fail(&in, "more after the value");
	*out = made;
	return 0;
}
