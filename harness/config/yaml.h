/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * A YAML file as a bounded tree
 *
 * Mappings, lists and texts, nothing else: no anchors, aliases, tags or second documents, no key
 * twice, no zero byte in a text. Every value is text; what it means is for a schema to say. Each
 * node knows its file, line and column, so that whoever finds it wrong can say where. The tree
 * lives in the caller's arena.
 */
enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	int line, column; /* of the value, from 1 */
	int key_line;     /* of the key, where there is one */
	const char *file; /* as messages name it */
	const char *key;  /* in a mapping its own, in a list that of the list; NULL: the root */
	const char *text; /* YAML_TEXT; never NULL there */
	bool spans_lines; /* YAML_TEXT: written over several lines */
	bool quoted;      /* YAML_TEXT */
	size_t count;     /* of children */
	struct yaml_node *first, *next;
};

/* The most that a file may hold; more is an error that names the limit. */
struct yaml_limits {
	size_t bytes, nodes, depth;
};
extern const struct yaml_limits yaml_limits;

/**
 * yaml_parse() - make a tree of @text
 * @file:  the file's name in messages
 * @arena: holds the tree and copies of all text; it may hold more after a failure as well
 *
 * Return: the root, or NULL with an ERR_INPUT error that names file and line.
 */
const struct yaml_node *yaml_parse(struct arena *arena, const char *file, const char *text,
				   size_t len, struct err *err) must_check;

/**
 * yaml_find() - the value of @key in a mapping, or NULL
 */
const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/**
 * yaml_err() - raise ERR_INPUT as "FILE:LINE: key 'KEY': text"
 *
 * Return: -1.
 */
int yaml_err(const struct yaml_node *node, struct err *err, const char *format, ...)
	printf_like(3, 4);

/* Room for any text that yaml_shown() makes. */
enum { YAML_SHOWN = 96 };

/**
 * yaml_shown() - @text so that it can stand in a message: control characters escaped, and cut
 * where it is long
 *
 * Return: @room, which has YAML_SHOWN bytes.
 */
const char *yaml_shown(const char *text, char *room);
