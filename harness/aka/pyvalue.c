/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyvalue.h"

#include <math.h>
#include <string.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pytext.h"

struct pyvalue *pyvalue_new(struct arena *arena, enum pyvalue_kind kind)
{
	struct pyvalue *value = arena_alloc(arena, 1, sizeof(*value));

	value->kind = kind;
	return value;
}

struct pyvalue *pyvalue_new_text(struct arena *arena, const char *text, size_t len)
{
	struct pyvalue *value = pyvalue_new(arena, PYVALUE_TEXT);

	value->text = arena_copy(arena, text, len);
	value->len = len;
	return value;
}

struct pyvalue *pyvalue_new_float(struct arena *arena, double number)
{
	struct pyvalue *value = pyvalue_new(arena, PYVALUE_FLOAT);

	value->number = number;
	return value;
}

struct pyvalue *pyvalue_new_int(struct arena *arena, size_t number)
{
	struct pyvalue *value = pyvalue_new(arena, PYVALUE_INT);

	value->text = arena_printf(arena, "%zu", number);
	value->len = strlen(value->text);
	return value;
}

struct pyvalue *pyvalue_new_bool(struct arena *arena, bool truth)
{
	struct pyvalue *value = pyvalue_new(arena, PYVALUE_BOOL);

	value->truth = truth;
	return value;
}

static void append_member(struct arena *arena, struct pyvalue *to, const struct pyvalue *key,
			  const struct pyvalue *value)
{
	struct pymember *member = arena_alloc(arena, 1, sizeof(*member));

	member->key = key;
	member->value = value;
	if (to->last == NULL)
		to->first = member;
	else
		to->last->next = member;
	to->last = member;
	to->count++;
}

void pyvalue_append(struct arena *arena, struct pyvalue *list, const struct pyvalue *item)
{
	append_member(arena, list, NULL, item);
}

static struct pymember *find(const struct pyvalue *dict, const char *key, size_t len)
{
	if (dict == NULL || dict->kind != PYVALUE_DICT)
		return NULL;
	for (struct pymember *member = dict->first; member != NULL; member = member->next)
		if (member->key->len == len && memcmp(member->key->text, key, len) == 0)
			return member;
	return NULL;
}

bool pyvalue_set(struct arena *arena, struct pyvalue *dict, const struct pyvalue *key,
		 const struct pyvalue *value)
{
	struct pymember *member = find(dict, key->text, key->len);

	if (member == NULL) {
		append_member(arena, dict, key, value);
		return true;
	}
	member->value = value;
	return false;
}

void pyvalue_put(struct arena *arena, struct pyvalue *dict, const char *key,
		 const struct pyvalue *value)
{
	append_member(arena, dict, pyvalue_new_text(arena, key, strlen(key)), value);
}

const struct pyvalue *pyvalue_member(const struct pyvalue *dict, const char *key)
{
	const struct pymember *member = find(dict, key, strlen(key));

	return member == NULL ? NULL : member->value;
}

bool pyvalue_is_true(const struct pyvalue *value)
{
	if (value == NULL)
		return false;
	switch (value->kind) {
	case PYVALUE_NONE:
		return false;
	case PYVALUE_BOOL:
		return value->truth;
	case PYVALUE_INT:
		return strcmp(value->text, "0") != 0;
	case PYVALUE_FLOAT:
		return isnan(value->number) || value->number < 0 || value->number > 0;
	case PYVALUE_TEXT:
		return value->len > 0;
	case PYVALUE_LIST:
	case PYVALUE_DICT:
		break;
	}
	return value->count > 0;
}

int pyvalue_compare_texts(const struct pyvalue *a, const struct pyvalue *b)
{
	int order = memcmp(a->text, b->text, MIN_OF(a->len, b->len));

	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static bool is_number(const struct pyvalue *value)
{
	return value->kind == PYVALUE_BOOL || value->kind == PYVALUE_INT ||
	       value->kind == PYVALUE_FLOAT;
}

/* The digits of a number that is whole; false for one that is not. */
static bool whole_digits(const struct pyvalue *value, struct str *out)
{
	double number = value->kind == PYVALUE_BOOL ? value->truth : value->number;

	if (value->kind == PYVALUE_INT) {
		str_add(out, value->text, value->len);
		return true;
	}
	if (isinf(number) || isnan(number) || trunc(number) < number || trunc(number) > number)
		return false;
	str_addf(out, "%.0f", fabs(number));
	if (number < 0) {
		str_clear(out);
		str_addf(out, "%.0f", number);
	}
	return true;
}

static bool equal_numbers(const struct pyvalue *a, const struct pyvalue *b, bool is_nested)
{
	cleanup(str_done) struct str digits_a = STR_INIT, digits_b = STR_INIT;

	if (a->kind == PYVALUE_FLOAT && b->kind == PYVALUE_FLOAT) {
		if (isnan(a->number) || isnan(b->number))
			return is_nested && isnan(a->number) && isnan(b->number);
		return a->number <= b->number && a->number >= b->number;
	}
	return whole_digits(a, &digits_a) && whole_digits(b, &digits_b) &&
	       strcmp(digits_a.text, digits_b.text) == 0;
}

struct comparison {
	bool is_frozen; /* dictionaries have become sequences of pairs */
	bool is_nested; /* in a sequence identity comes before equality */
};

static bool equal(const struct comparison *how, const struct pyvalue *a, const struct pyvalue *b);

static bool equal_dicts(const struct comparison *how, const struct pyvalue *a,
			const struct pyvalue *b)
{
	for (const struct pymember *member = a->first; member != NULL; member = member->next) {
		const struct pymember *other = find(b, member->key->text, member->key->len);

		if (other == NULL || !equal(how, member->value, other->value))
			return false;
	}
	return true;
}

/* Is a list of pairs what a dictionary is when frozen? Its names have to come sorted. */
static bool equal_pairs(const struct comparison *how, const struct pyvalue *dict,
			const struct pyvalue *list)
{
	const struct pyvalue *before = NULL;

	for (const struct pymember *item = list->first; item != NULL; item = item->next) {
		const struct pyvalue *pair = item->value, *key;
		const struct pymember *member;

		if (pair->kind != PYVALUE_LIST || pair->count != 2)
			return false;
		key = pair->first->value;
		if (key->kind != PYVALUE_TEXT ||
		    (before != NULL && pyvalue_compare_texts(before, key) >= 0))
			return false;
		member = find(dict, key->text, key->len);
		if (member == NULL || !equal(how, member->value, pair->last->value))
			return false;
		before = key;
	}
	return true;
}

static bool equal_lists(const struct comparison *how, const struct pyvalue *a,
			const struct pyvalue *b)
{
	const struct pymember *other = b->first;

	for (const struct pymember *item = a->first; item != NULL; item = item->next) {
		if (!equal(how, item->value, other->value))
			return false;
		other = other->next;
	}
	return true;
}

static bool equal(const struct comparison *how, const struct pyvalue *a, const struct pyvalue *b)
{
	struct comparison inside = { .is_frozen = how->is_frozen, .is_nested = true };

	if (is_number(a) && is_number(b))
		return equal_numbers(a, b, how->is_nested);
	if (a->count != b->count)
		return false;
	if (how->is_frozen && a->kind == PYVALUE_DICT && b->kind == PYVALUE_LIST)
		return equal_pairs(&inside, a, b);
	if (how->is_frozen && a->kind == PYVALUE_LIST && b->kind == PYVALUE_DICT)
		return equal_pairs(&inside, b, a);
	if (a->kind != b->kind)
		return false;
	if (a->kind == PYVALUE_TEXT)
		return pyvalue_compare_texts(a, b) == 0;
	if (a->kind == PYVALUE_DICT)
		return equal_dicts(&inside, a, b);
	return a->kind != PYVALUE_LIST || equal_lists(&inside, a, b);
}

bool pyvalue_is_equal(const struct pyvalue *a, const struct pyvalue *b)
{
	return equal(&(struct comparison){ .is_frozen = false }, a, b);
}

bool pyvalue_is_alike(const struct pyvalue *a, const struct pyvalue *b)
{
	return equal(&(struct comparison){ .is_frozen = true }, a, b);
}

/* repr() of a text: in single quotes, or in double ones where that spares a backslash. */
static void add_quoted(struct str *out, const struct pyvalue *text)
{
	bool has_single = memchr(text->text, '\'', text->len) != NULL;
	bool has_double = memchr(text->text, '"', text->len) != NULL;
	char quote = has_single && !has_double ? '"' : '\'';

	str_add(out, &quote, 1);
	for (size_t i = 0; i < text->len; i++) {
		unsigned char byte = (unsigned char) text->text[i];

		if (byte == (unsigned char) quote || byte == '\\')
			str_addf(out, "\\%c", byte);
		else if (byte == '\n' || byte == '\r' || byte == '\t')
			str_add(out, byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t", 2);
		else if (byte < 0x20 || byte == 0x7f)
			str_addf(out, "\\x%02x", byte);
		else
			str_add(out, &text->text[i], 1);
	}
	str_add(out, &quote, 1);
}

static void add_repr(struct str *out, const struct pyvalue *value)
{
	bool is_dict = value->kind == PYVALUE_DICT;

	if (value->kind == PYVALUE_TEXT) {
		add_quoted(out, value);
		return;
	}
	if (!is_dict && value->kind != PYVALUE_LIST) {
		pyvalue_add_str(out, value);
		return;
	}
	str_add(out, is_dict ? "{" : "[", 1);
	for (const struct pymember *member = value->first; member != NULL; member = member->next) {
		if (member != value->first)
			str_add(out, ", ", 2);
		if (is_dict) {
			add_quoted(out, member->key);
			str_add(out, ": ", 2);
		}
		add_repr(out, member->value);
	}
	str_add(out, is_dict ? "}" : "]", 1);
}

void pyvalue_add_str(struct str *out, const struct pyvalue *value)
{
	switch (value->kind) {
	case PYVALUE_NONE:
		str_add(out, "None", 4);
		break;
	case PYVALUE_BOOL:
		str_addf(out, "%s", value->truth ? "True" : "False");
		break;
	case PYVALUE_FLOAT:
		pyfloat_add_repr(out, value->number);
		break;
	case PYVALUE_INT:
	case PYVALUE_TEXT:
		str_add(out, value->text, value->len);
		break;
	case PYVALUE_LIST:
	case PYVALUE_DICT:
		add_repr(out, value);
		break;
	}
}
