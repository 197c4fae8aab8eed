/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/evidence/json.h"
#include "sandbox/base/str.h"

/*
 * A table: rows of typed cells, shown as aligned text, as JSON or as CSV
 *
 * All forms come from the same cells, so they can not disagree. Texts may be any bytes: shown,
 * they are escaped. Whether colour is wanted is main's to decide (a terminal, and NO_COLOR not
 * set); how wide a text is on a terminal is estimated from its code points, without a locale.
 */
enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	const char *key;   /* in JSON */
	const char *title; /* on a terminal */
	enum table_align align;
	bool is_interval; /* its cells are intervals: three fields of a line of CSV */
};

enum table_tone { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_DOUBTFUL, TABLE_DIM };

struct table_cell;

struct table {
	const struct table_column *columns; /* borrowed */
	size_t column_count;
	struct table_cell *cells; /* owned, row by row */
	size_t cell_count;
	size_t room;
};

#define TABLE_INIT ((struct table){ .columns = NULL })

/**
 * table_init() - an empty table; at least one column
 */
void table_init(struct table *table, const struct table_column *columns, size_t column_count);

/**
 * table_done() - free the cells; the table is TABLE_INIT again
 */
void table_done(struct table *table);

/*
 * Each of the following adds the next cell, from left to right, row after row. Nothing to say is
 * "-" on a terminal and null in JSON.
 */

/**
 * table_text() - a text; NULL: nothing to say
 */
void table_text(struct table *table, const char *text);

/**
 * table_bytes() - a text of any bytes
 */
void table_bytes(struct table *table, const void *bytes, size_t len);

/**
 * table_int() - an integer
 */
void table_int(struct table *table, int64_t value);

/**
 * table_double() - a number, shown with so many @decimals; not finite: nothing to say
 */
void table_double(struct table *table, double value, int decimals);

/**
 * table_share() - a share from 0 to 1, shown as "75 %"; not finite: nothing to say
 */
void table_share(struct table *table, double value);

/**
 * table_interval() - "1.52 [1.48, 1.57]"; a bound that is not finite is shown as "?"
 */
void table_interval(struct table *table, double center, double low, double high);

/**
 * table_duration() - nanoseconds, shown as by table_add_duration(); below 0: nothing to say
 */
void table_duration(struct table *table, int64_t ns);

/**
 * table_tone() - the tone of the cell that was added last
 */
void table_tone(struct table *table, enum table_tone tone);

struct table_style {
	bool has_color;
	size_t width; /* of the terminal; longer last cells are cut; 0: nothing is cut */
};

/**
 * table_print() - append the table as text: titles, then a line a row
 */
void table_print(const struct table *table, const struct table_style *style, struct str *out);

/**
 * table_print_some() - the same, but only these columns, in this order
 * @keys: of @key_count columns; one that the table does not have is left out
 */
void table_print_some(const struct table *table, const char *const *keys, size_t key_count,
		      const struct table_style *style, struct str *out);

/**
 * table_put() - write the rows as an array of objects, the member @key of what is open
 */
void table_put(const struct table *table, struct json_writer *json, const char *key);

/**
 * table_add_csv() - append the table as comma-separated values (RFC 4180, lines end in \n)
 *
 * The first line has the keys. An interval takes three fields, KEY, KEY_low and KEY_high; nothing
 * to say is an empty field. A text that begins with =, +, - or @ gets a ' before it, or a
 * spreadsheet would evaluate it; control characters are escaped.
 */
void table_add_csv(const struct table *table, struct str *out);

/**
 * table_add_duration() - append a duration for people: "0.35 s", "12 s", "3:07", "2:03:07"
 */
void table_add_duration(struct str *out, int64_t ns);

/**
 * table_add_double() - append a number for people, with so many @decimals; one of 7 digits and
 * more as 1.23e+45: who wrote it may be anybody, and a double has up to 309
 */
void table_add_double(struct str *out, double value, int decimals);

/**
 * table_text_width() - the columns that a text which can be shown takes on a terminal
 */
size_t table_text_width(const char *text, size_t len);

/**
 * table_cut() - cut a text that takes more than @width columns, and mark with … that it was cut
 * @width: at least 1
 */
void table_cut(struct str *text, size_t width);
