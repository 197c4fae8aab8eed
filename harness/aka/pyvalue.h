/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/str.h"

/*
 * Values as Python's json module makes them
 *
 * The names, shapes and parameters of test cases may be of any kind, and AgentKernelArena compares
 * them as Python does: 1 == 1.0 == True, whole numbers of any size, dictionaries without order.
 * NaN in a list equals itself, since the module has one NaN only and lists look at identity first.
 */
enum pyvalue_kind {
	PYVALUE_NONE,
	PYVALUE_BOOL,
	PYVALUE_INT,
	PYVALUE_FLOAT,
	PYVALUE_TEXT,
	PYVALUE_LIST,
	PYVALUE_DICT,
};

struct pyvalue;

struct pymember {
	const struct pyvalue *key; /* a text; NULL in a list */
	const struct pyvalue *value;
	struct pymember *next;
};

struct pyvalue {
	enum pyvalue_kind kind;
	bool truth;             /* of BOOL */
	double number;          /* of FLOAT */
	const char *text;       /* of TEXT; of INT: its digits, "-" before them, no zero in front */
	size_t len;             /* of text */
	struct pymember *first; /* of LIST and DICT, in the order in which they were given */
	struct pymember *last;
	size_t count;
};

/**
 * pyvalue_new_text() - a text in an arena; it is copied
 */
struct pyvalue *pyvalue_new_text(struct arena *arena, const char *text, size_t len);

/**
 * pyvalue_new() - an empty value of that kind: None, false, 0.0, [] or {}
 */
struct pyvalue *pyvalue_new(struct arena *arena, enum pyvalue_kind kind);

/**
 * pyvalue_new_float() - a number with a point
 */
struct pyvalue *pyvalue_new_float(struct arena *arena, double number);

/**
 * pyvalue_new_int() - a whole number
 */
struct pyvalue *pyvalue_new_int(struct arena *arena, size_t number);

/**
 * pyvalue_new_bool() - True or False
 */
struct pyvalue *pyvalue_new_bool(struct arena *arena, bool truth);

/**
 * pyvalue_append() - add an item to a list
 */
void pyvalue_append(struct arena *arena, struct pyvalue *list, const struct pyvalue *item);

/**
 * pyvalue_set() - add a member to a dictionary, or give a new value to the one of that name, which
 * keeps its place
 *
 * Return: false if it was there already.
 */
bool pyvalue_set(struct arena *arena, struct pyvalue *dict, const struct pyvalue *key,
		 const struct pyvalue *value);

/**
 * pyvalue_put() - pyvalue_set() with a key of ours that is not there yet
 */
void pyvalue_put(struct arena *arena, struct pyvalue *dict, const char *key,
		 const struct pyvalue *value);

/**
 * pyvalue_member() - the member @key of a dictionary; NULL if there is none or it is no dictionary
 */
const struct pyvalue *pyvalue_member(const struct pyvalue *dict, const char *key);

/**
 * pyvalue_is_true() - bool(value); NULL is false
 */
bool pyvalue_is_true(const struct pyvalue *value);

/**
 * pyvalue_is_equal() - a == b
 */
bool pyvalue_is_equal(const struct pyvalue *a, const struct pyvalue *b);

/**
 * pyvalue_is_alike() - freeze_value(a) == freeze_value(b): as a == b, but a dictionary equals the
 * list of its members as pairs, sorted by their names
 */
bool pyvalue_is_alike(const struct pyvalue *a, const struct pyvalue *b);

/**
 * pyvalue_compare_texts() - order of two texts, by code points
 */
int pyvalue_compare_texts(const struct pyvalue *a, const struct pyvalue *b);

/**
 * pyvalue_add_str() - append str(value)
 *
 * Of texts inside of lists and dictionaries all that is not ASCII counts as printable.
 */
void pyvalue_add_str(struct str *out, const struct pyvalue *value);
