/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/evidence/digest.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * JSON, out and in
 *
 * Out: a writer that appends compact text to a string, keys in the order in which they were
 * given, so that the same facts always make the same bytes. Texts may be any bytes: they are
 * escaped as str_add_json() does (the library would refuse what is not UTF-8, and would print
 * the controls that rearrange a terminal). A writer that is used out of order is a bug of ours
 * and ends the program. (Names: json_put_… writes and json_get_… reads; plain json_… names are
 * taken by the library.)
 *
 * In: a strict reader with limits, for text that we wrote ourselves and that others may have
 * changed since. A key given twice, trailing text, a number out of range or of the wrong kind is
 * an ERR_INPUT error; nothing is guessed or converted.
 */

enum { JSON_DEPTH_MAX = 16 };

struct json_writer {
	struct str *out; /* borrowed */
	unsigned int depth;
	char closers[JSON_DEPTH_MAX]; /* what ends each open level: '}' or ']' */
	bool has_member[JSON_DEPTH_MAX];
};

/**
 * json_writer_init() - a writer of one JSON value that is appended to @out
 */
void json_writer_init(struct json_writer *json, struct str *out);

/**
 * json_writer_is_whole() - has every object and array been ended, and the text not been cut off?
 */
bool json_writer_is_whole(const struct json_writer *json);

/**
 * json_put_object() - begin an object
 * @key: of the member in the object around it; NULL in an array and at the outermost level. The
 *       same for all functions below. A key is a plain name of ours that needs no escape.
 */
void json_put_object(struct json_writer *json, const char *key);

/**
 * json_put_array() - begin an array
 */
void json_put_array(struct json_writer *json, const char *key);

/**
 * json_put_end() - end the innermost object or array
 */
void json_put_end(struct json_writer *json);

/**
 * json_put_text() - a text that ends in a zero byte; NULL gives null
 */
void json_put_text(struct json_writer *json, const char *key, const char *text);

/**
 * json_put_bytes() - a text of any @len bytes
 */
void json_put_bytes(struct json_writer *json, const char *key, const void *bytes, size_t len);

/**
 * json_put_digest() - the digits of a digest; NULL gives null
 */
void json_put_digest(struct json_writer *json, const char *key, const struct digest *digest);

/**
 * json_put_int() - an integer
 */
void json_put_int(struct json_writer *json, const char *key, int64_t value);

/**
 * json_put_bool() - true or false
 */
void json_put_bool(struct json_writer *json, const char *key, bool value);

/**
 * json_put_null() - null: known to be absent
 */
void json_put_null(struct json_writer *json, const char *key);

/**
 * json_put_double() - the shortest decimal that reads back as the same double, always with a point
 * or an exponent; what is not finite gives null
 */
void json_put_double(struct json_writer *json, const char *key, double value);

struct json_value;

/**
 * json_put_members() - write the members of an object that was read into the one that is open
 *
 * Return: 0, or -1 with ERR_INPUT if a key is no plain name (letters, digits, '_'): something has
 * been written then.
 */
int json_put_members(struct json_writer *json, const struct json_value *object,
		     struct err *err) must_check;

/* A value that was read; it belongs to the struct json that it was read into. */
struct json_value;

struct json {
	void *root; /* owned: the library's tree */
};

#define JSON_INIT ((struct json){ .root = NULL })

/**
 * json_parse() - read one JSON object that is all of @text
 * @max: a text longer than this many bytes is refused
 * @out: JSON_INIT or an earlier result, which is released; untouched on failure
 *
 * More than JSON_DEPTH_MAX levels are refused before the library sees the text.
 */
int json_parse(struct json *out, const char *text, size_t len, size_t max,
	       struct err *err) must_check;

/**
 * json_done() - release what was read; the struct is JSON_INIT again
 */
void json_done(struct json *json);

/**
 * json_root() - the outermost object
 */
const struct json_value *json_root(const struct json *json);

/**
 * json_member() - the member @key of @object, or NULL if it has none or is no object
 */
const struct json_value *json_member(const struct json_value *object, const char *key);

/**
 * json_count() - the number of items of an array or members of an object; 0 for all else
 */
size_t json_count(const struct json_value *value);

/**
 * json_item() - the item @index of @array, or NULL
 */
const struct json_value *json_item(const struct json_value *array, size_t index);

/**
 * json_is_absent() - is it null, or not there at all?
 */
bool json_is_absent(const struct json_value *value);

/**
 * json_as_text() - a text without a zero byte; NULL if it is something else
 */
const char *json_as_text(const struct json_value *value);

/**
 * json_get_int() - the integer member @key of @object
 */
int json_get_int(const struct json_value *object, const char *key, int64_t min, int64_t max,
		 int64_t *out, struct err *err) must_check;

/**
 * json_get_bool() - the member @key of @object, true or false
 */
int json_get_bool(const struct json_value *object, const char *key, bool *out,
		  struct err *err) must_check;

/**
 * json_get_double() - the member @key of @object, a number with a point or an exponent
 */
int json_get_double(const struct json_value *object, const char *key, double *out,
		    struct err *err) must_check;

/**
 * json_get_text() - the text member @key of @object, of at most @max bytes and without a zero
 * byte; @out lives as long as what was read
 */
int json_get_text(const struct json_value *object, const char *key, size_t max, const char **out,
		  struct err *err) must_check;

/**
 * json_get_digest() - the member @key of @object, a text as json_put_digest() writes it
 */
int json_get_digest(const struct json_value *object, const char *key, struct digest *out,
		    struct err *err) must_check;

/**
 * json_get_bytes() - as json_get_text(), zero bytes allowed
 */
int json_get_bytes(const struct json_value *object, const char *key, size_t max, const char **out,
		   size_t *len_out, struct err *err) must_check;
