/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/config/yaml.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"
#include "sandbox/base/names.h"
#include "sandbox/base/str.h"

/*
 * Schemas: a table of keys says which mapping fills which struct
 *
 * A row names a key, the type of its value, the member that receives it and the range it must
 * lie in. The same rows print the key tables of the documents and drive a test that tries every
 * key at its edges. A key that the format knows and this version does not is a row too (LATER):
 * it is refused by name and not taken for a typing mistake.
 *
 * What a key that is left out means is in the struct before it is bound: defaults stand in one
 * place, the struct's initial value.
 */
enum holds {
	HOLDS_NOTHING,
	HOLDS_U64, /* a number, or bits: type_words */
	HOLDS_INT, /* an enumerator; the row's details are its struct name table */
	HOLDS_BOOL,
	HOLDS_TEXT, /* const char * */
	HOLDS_ARGV, /* struct argv */
	HOLDS_NODE, /* const struct yaml_node *: the owner reads it later */
	HOLDS_STRUCT,
};

enum need { OPTIONAL, REQUIRED, LATER };

struct schema;
struct field;

struct schema_type {
	const char *name; /* in key tables: "size", "duration" */
	enum holds holds;
	/* Reads @node into @member; range and need are checked by the caller. */
	int (*parse)(const struct field *field, const struct yaml_node *node, struct arena *arena,
		     void *member, struct err *err);
	/* Appends a value as it would be written; NULL: it can not be shown. */
	void (*print)(const struct field *field, const void *member, struct str *out);
	const char *unit; /* what a row's range counts: "bytes", "items"; NULL: the value itself */
};

struct field {
	const char *key;
	const struct schema_type *type;
	struct {
		size_t offset;
		enum holds holds;
	} at;
	enum need need;
	uint64_t min, max;   /* the range, see the type's unit; max 0: any */
	const void *details; /* type_map: the struct schema; type_word, type_words: the table of
				struct name;
				type_items, type_entries: the struct collection */
	const char *doc;     /* one sentence for the key tables */
};

struct schema {
	const char *name; /* in messages: "limits", "an argument" */
	const struct field *fields;
	size_t count;
	bool open; /* other keys are names that the owner reads: neither refused nor bound */
	/* Has all of these rows and more, which belong there alone; NULL: none. For messages. */
	const struct schema *wider;
};

/* In a table of words (struct name): a word of the format that this version refuses by name. */
enum { WORD_LATER = -1 };

/* clang-format off */
/* Where a row's value goes; a member of any other type does not compile. */
#define MEMBER_AT(type, member, wanted, holds_) \
	{ offsetof(type, member) + 0 * sizeof((wanted *[]){ &((type *) NULL)->member }), holds_ }
#define U64_AT(type, member)  MEMBER_AT(type, member, uint64_t, HOLDS_U64)
#define INT_AT(type, member)  MEMBER_AT(type, member, int, HOLDS_INT)
#define BOOL_AT(type, member) MEMBER_AT(type, member, bool, HOLDS_BOOL)
#define TEXT_AT(type, member) MEMBER_AT(type, member, const char *, HOLDS_TEXT)
#define ARGV_AT(type, member) MEMBER_AT(type, member, struct argv, HOLDS_ARGV)
#define NODE_AT(type, member) MEMBER_AT(type, member, const struct yaml_node *, HOLDS_NODE)
#define STRUCT_AT(type, member, wanted) MEMBER_AT(type, member, wanted, HOLDS_STRUCT)
#define NOWHERE { 0, HOLDS_NOTHING }
/* clang-format on */

/* A mapping with a schema of its own (details). */
extern const struct schema_type type_map;

/*
 * A list, and a mapping whose keys the author chooses. Kind and count are checked, the node is kept
 * (NODE_AT), and the owner of the struct reads what is in it.
 */
struct collection {
	const char *example;       /* of the whole value, for messages */
	const struct schema *each; /* what is in it; NULL: its owner knows */
};
extern const struct schema_type type_items, type_entries;

/* What a LATER row has. */
extern const struct schema_type type_later;

/**
 * schema_bind() - fill @object from a mapping
 * @object: holds the defaults before; keys that are absent leave it alone. After a failure some
 *          of it is filled
 *
 * Errors name file, line, key and value: "task.yaml:7: key 'pids': '9' is not within 16..32768".
 */
int schema_bind(const struct schema *schema, const struct yaml_node *map, struct arena *arena,
		void *object, struct err *err) must_check;

/**
 * schema_expected() - raise "'9' is not WHAT, within 16..32768": what a value has to be, and its
 * range where it has one
 * @field: NULL: no range, @node is only a part of the value
 *
 * Return: -1.
 */
int schema_expected(const struct field *field, const struct yaml_node *node, const char *what,
		    struct err *err);

/**
 * schema_add_words() - append the words of a table that this version has, with commas between them
 */
void schema_add_words(const struct name *table, struct str *out);

/**
 * schema_find() - the row of @key, or NULL
 */
const struct field *schema_find(const struct schema *schema, const char *key);

/**
 * schema_nearest() - the text among @count candidates that differs least from @text
 * @candidate: gives the i-th; NULL results are passed over
 *
 * Return: it, or NULL if there is none.
 */
const char *schema_nearest(const char *text, size_t count,
			   const char *(*candidate)(const void *list, size_t i), const void *list);

/* A table of keys in the documents. */
struct key_table {
	const char *title;
	const struct schema *schema;
	const void *defaults; /* the object that holds them; NULL: the table shows none */
};

/* All tables of one format, in the order in which they are shown. */
struct key_tables {
	const struct key_table *items;
	size_t count;
};

/**
 * schema_print_markdown() - key tables as Markdown
 */
void schema_print_markdown(const struct key_tables *tables, struct str *out);

/**
 * schema_print_manual() - the same as a list of paragraphs for a manual page, in scdoc's markup
 */
void schema_print_manual(const struct key_tables *tables, struct str *out);
