/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyyaml.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pyyaml_text.h"
#include "sandbox/base/mem.h"

enum { WIDTH = 80, INDENT = 2, SIMPLE_KEY_MAX = 122, SHARED_DEPTH = 3 };

/* A list or dictionary, and how often it was met. */
struct anchor {
	const struct pyvalue *value;
	unsigned int number; /* 0: met once */
	bool is_written;
};

/* The state of PyYAML's emitter: where in the line it is, and what the line has so far. */
struct emitter {
	struct str *out;
	size_t column;
	size_t indent;
	bool whitespace; /* the last that was written is white space */
	bool indention;  /* the line has nothing but white space and '-', '?', ':' */
	struct anchor *anchors;
	size_t anchor_count;
	unsigned int last_anchor;
};

static void put(struct emitter *to, const char *text, size_t len)
{
	str_add(to->out, text, len);
	to->column += len;
}

static void put_codes(struct emitter *to, const uint32_t *codes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char byte = (char) codes[i];

		put(to, &byte, 1);
	}
}

static void put_break(struct emitter *to)
{
	str_add(to->out, "\n", 1);
	to->column = 0;
	to->whitespace = to->indention = true;
}

static void put_indent(struct emitter *to)
{
	if (!to->indention || to->column > to->indent ||
	    (to->column == to->indent && !to->whitespace))
		put_break(to);
	if (to->column < to->indent)
		to->whitespace = true;
	while (to->column < to->indent)
		put(to, " ", 1);
}

static void put_indicator(struct emitter *to, const char *text, bool needs_whitespace,
			  bool is_indention)
{
	if (needs_whitespace && !to->whitespace)
		put(to, " ", 1);
	for (; *text != '\0'; text++)
		put(to, text, 1);
	to->whitespace = false;
	to->indention = to->indention && is_indention;
}

static void put_plain(struct emitter *to, const struct pyyaml_text *text, bool may_fold)
{
	size_t start = 0;
	bool spaces = false;

	if (text->count == 0)
		return;
	if (!to->whitespace)
		put(to, " ", 1);
	to->whitespace = to->indention = false;
	for (size_t end = 0; end <= text->count; end++) {
		bool is_space = end < text->count && text->codes[end] == ' ';

		if (spaces == is_space && end < text->count)
			continue;
		if (spaces && start + 1 == end && to->column > WIDTH && may_fold) {
			put_indent(to);
			to->whitespace = to->indention = false;
		} else {
			put_codes(to, text->codes + start, end - start);
		}
		start = end;
		spaces = is_space;
	}
}

/* Breaks inside of single quotes: one more than there are, since the first of a row is folded. */
static void put_breaks(struct emitter *to, size_t count)
{
	for (size_t i = 0; i <= count; i++)
		put_break(to);
	put_indent(to);
}

enum kind { WORD, SPACES, BREAKS };

/*
 * Only texts of ASCII and "\n" get here. A row of spaces, of breaks or of others is written when it
 * ends; quotes end a row of others and are doubled.
 */
static void put_single(struct emitter *to, const struct pyyaml_text *text, bool may_fold)
{
	size_t start = 0;
	enum kind kind = WORD;

	put_indicator(to, "'", true, false);
	for (size_t end = 0; end <= text->count; end++) {
		uint32_t code = end < text->count ? text->codes[end] : 0;
		enum kind next = code == ' ' ? SPACES : code == '\n' ? BREAKS : WORD;
		bool is_end = end == text->count;

		if (kind == SPACES && (is_end || next != SPACES)) {
			if (start + 1 == end && to->column > WIDTH && may_fold && start != 0 &&
			    !is_end)
				put_indent(to);
			else
				put_codes(to, text->codes + start, end - start);
			start = end;
		} else if (kind == BREAKS && (is_end || next != BREAKS)) {
			put_breaks(to, end - start);
			start = end;
		} else if (kind == WORD && (is_end || next != WORD || code == '\'')) {
			put_codes(to, text->codes + start, end - start);
			start = end;
		}
		if (code == '\'') {
			put(to, "''", 2);
			start = end + 1;
		}
		kind = next;
	}
	put_indicator(to, "'", false, false);
}

static void put_escape(struct emitter *to, uint32_t code)
{
	static const struct {
		uint32_t code;
		char letter;
	} letters[] = {
		{ 0, '0' },     { 7, 'a' },    { 8, 'b' },    { 9, 't' },      { 10, 'n' },
		{ 11, 'v' },    { 12, 'f' },   { 13, 'r' },   { 27, 'e' },     { '"', '"' },
		{ '\\', '\\' }, { 0x85, 'N' }, { 0xa0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' },
	};
	size_t before = to->out->len;

	for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
		if (letters[i].code == code) {
			str_addf(to->out, "\\%c", letters[i].letter);
			to->column += 2;
			return;
		}
	}
	if (code <= 0xff)
		str_addf(to->out, "\\x%02X", code);
	else if (code <= 0xffff)
		str_addf(to->out, "\\u%04X", code);
	else
		str_addf(to->out, "\\U%08X", code);
	to->column += to->out->len - before;
}

static bool needs_escape(uint32_t code)
{
	return code < 0x20 || code > 0x7e || code == '"' || code == '\\';
}

/*
 * Is a line in double quotes folded at @end? At a space, or where all before has been written; what
 * is written goes up to @start, which is behind @end if that is an escape.
 */
static bool folds_here(const struct emitter *to, const struct pyyaml_text *text, size_t start,
		       size_t end)
{
	if (end == 0 || end + 1 >= text->count || (text->codes[end] != ' ' && start < end))
		return false;
	return start > end ? to->column > WIDTH + 1 : to->column + end - start > WIDTH;
}

static void put_double(struct emitter *to, const struct pyyaml_text *text, bool may_fold)
{
	size_t start = 0;

	put_indicator(to, "\"", true, false);
	for (size_t end = 0; end <= text->count; end++) {
		bool is_end = end == text->count;

		if (is_end || needs_escape(text->codes[end])) {
			put_codes(to, text->codes + start, end - start);
			start = end;
		}
		if (!is_end && needs_escape(text->codes[end])) {
			put_escape(to, text->codes[end]);
			start = end + 1;
		}
		if (!may_fold || !folds_here(to, text, start, end))
			continue;
		if (start < end) {
			put_codes(to, text->codes + start, end - start);
			start = end;
		}
		put(to, "\\", 1);
		put_indent(to);
		to->whitespace = to->indention = false;
		if (text->codes[start] == ' ')
			put(to, "\\", 1);
	}
	put_indicator(to, "\"", false, false);
}

static void put_text(struct emitter *to, const struct pyvalue *value, bool is_key)
{
	cleanup(pyyaml_text_done) struct pyyaml_text text;

	pyyaml_text_read(&text, value);
	switch (pyyaml_text_style(&text, is_key)) {
	case PYYAML_PLAIN:
		put_plain(to, &text, !is_key);
		break;
	case PYYAML_SINGLE:
		put_single(to, &text, !is_key);
		break;
	case PYYAML_DOUBLE:
		put_double(to, &text, !is_key);
		break;
	}
}

static void put_scalar(struct emitter *to, const struct pyvalue *value)
{
	cleanup(str_done) struct str plain = STR_INIT;

	if (value->kind == PYVALUE_NONE)
		str_add(&plain, "null", 4);
	else if (value->kind == PYVALUE_BOOL)
		str_addf(&plain, "%s", value->truth ? "true" : "false");
	else if (value->kind == PYVALUE_FLOAT)
		pyfloat_add_yaml(&plain, value->number);
	else
		str_add(&plain, value->text, value->len);
	if (!to->whitespace)
		put(to, " ", 1);
	put(to, plain.text, plain.len);
	to->whitespace = to->indention = false;
}

static bool is_collection(const struct pyvalue *value)
{
	return value->kind == PYVALUE_LIST || value->kind == PYVALUE_DICT;
}

static struct anchor *find_anchor(struct emitter *to, const struct pyvalue *value)
{
	for (size_t i = 0; i < to->anchor_count; i++)
		if (to->anchors[i].value == value)
			return &to->anchors[i];
	return NULL;
}

static void put_node(struct emitter *to, const struct pyvalue *value, bool is_member);

static void put_list(struct emitter *to, const struct pyvalue *list, bool is_member)
{
	size_t indent = to->indent;

	if (!is_member || to->indention)
		to->indent += INDENT;
	for (const struct pymember *item = list->first; item != NULL; item = item->next) {
		put_indent(to);
		put_indicator(to, "-", true, true);
		put_node(to, item->value, false);
	}
	to->indent = indent;
}

static bool is_simple_key(const struct pyvalue *key)
{
	cleanup(pyyaml_text_done) struct pyyaml_text text;

	pyyaml_text_read(&text, key);
	return text.count > 0 && text.count <= SIMPLE_KEY_MAX && !text.is_multiline;
}

static void put_members(struct emitter *to, const struct pyvalue *dict)
{
	for (const struct pymember *member = dict->first; member != NULL; member = member->next) {
		bool is_simple = is_simple_key(member->key);
		size_t indent = to->indent;

		put_indent(to);
		if (!is_simple)
			put_indicator(to, "?", true, true);
		to->indent += INDENT;
		put_text(to, member->key, is_simple);
		to->indent = indent;
		if (!is_simple)
			put_indent(to);
		put_indicator(to, ":", !is_simple, !is_simple);
		put_node(to, member->value, true);
	}
}

static void put_node(struct emitter *to, const struct pyvalue *value, bool is_member)
{
	struct anchor *anchor = is_collection(value) ? find_anchor(to, value) : NULL;
	size_t indent = to->indent;
	char name[16];

	if (anchor != NULL && anchor->number > 0) {
		snprintf(name, sizeof(name), "%cid%03u", anchor->is_written ? '*' : '&',
			 anchor->number);
		put_indicator(to, name, true, false);
		if (anchor->is_written)
			return;
		anchor->is_written = true;
	}
	if (value->kind == PYVALUE_LIST && value->count > 0) {
		put_list(to, value, is_member);
		return;
	}
	to->indent += INDENT;
	if (is_collection(value) && value->count == 0)
		put_indicator(to, value->kind == PYVALUE_LIST ? "[]" : "{}", true, false);
	else if (value->kind == PYVALUE_DICT)
		put_members(to, value);
	else if (value->kind == PYVALUE_TEXT)
		put_text(to, value, false);
	else
		put_scalar(to, value);
	to->indent = indent;
}

/*
 * Collections that are there twice get numbers, in the order in which they are met again. Only
 * members of a test case can be: SHARED_DEPTH levels down.
 */
static void find_repeated(struct emitter *to, const struct pyvalue *value, unsigned int depth)
{
	struct anchor *anchor;

	if (!is_collection(value) || depth > SHARED_DEPTH)
		return;
	anchor = find_anchor(to, value);
	if (anchor != NULL) {
		if (anchor->number == 0)
			anchor->number = ++to->last_anchor;
		return;
	}
	to->anchors = mem_resize(to->anchors, to->anchor_count + 1, sizeof(*to->anchors));
	to->anchors[to->anchor_count++] = (struct anchor){ .value = value };
	for (const struct pymember *member = value->first; member != NULL; member = member->next)
		find_repeated(to, member->value, depth + 1);
}

static void drop_those_met_once(struct emitter *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->anchor_count; i++)
		if (to->anchors[i].number > 0)
			to->anchors[kept++] = to->anchors[i];
	to->anchor_count = kept;
}

void pyyaml_dump(struct str *out, const struct pyvalue *root)
{
	struct emitter to = { .out = out, .whitespace = true, .indention = true };

	find_repeated(&to, root, 0);
	drop_those_met_once(&to);
	if (root->count == 0)
		str_add(out, "{}", 2);
	put_members(&to, root);
	put_break(&to);
	free(to.anchors);
}
