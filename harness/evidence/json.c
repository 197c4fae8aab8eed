/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/json.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_writer_init(struct json_writer *json, struct str *out)
{
	*json = (struct json_writer){ .out = out };
}

bool json_writer_is_whole(const struct json_writer *json)
{
	return json->depth == 0 && !json->out->truncated;
}

/* The comma and the key in front of a value. */
static void lead(struct json_writer *json, const char *key)
{
	bool in_object = json->depth > 0 && json->closers[json->depth - 1] == '}';

	assert(in_object == (key != NULL));
	if (json->depth > 0) {
		if (json->has_member[json->depth - 1])
			str_add(json->out, ",", 1);
		json->has_member[json->depth - 1] = true;
	}
	if (key)
		str_addf(json->out, "\"%s\":", key);
}

static void begin(struct json_writer *json, const char *key, char opener, char closer)
{
	lead(json, key);
	assert(json->depth < JSON_DEPTH_MAX);
	str_add(json->out, &opener, 1);
	json->closers[json->depth] = closer;
	json->has_member[json->depth] = false;
	json->depth++;
}

void json_put_object(struct json_writer *json, const char *key)
{
	begin(json, key, '{', '}');
}

void json_put_array(struct json_writer *json, const char *key)
{
	begin(json, key, '[', ']');
}

void json_put_end(struct json_writer *json)
{
	assert(json->depth > 0);
	json->depth--;
	str_add(json->out, &json->closers[json->depth], 1);
}

void json_put_bytes(struct json_writer *json, const char *key, const void *bytes, size_t len)
{
	lead(json, key);
	str_add_json(json->out, bytes, len);
}

void json_put_text(struct json_writer *json, const char *key, const char *text)
{
	if (text)
		json_put_bytes(json, key, text, strlen(text));
	else
		json_put_null(json, key);
}

void json_put_digest(struct json_writer *json, const char *key, const struct digest *digest)
{
	char hex[DIGEST_HEX];

	if (!digest) {
		json_put_null(json, key);
		return;
	}
	digest_hex(digest, hex);
	json_put_text(json, key, hex);
}

void json_put_int(struct json_writer *json, const char *key, int64_t value)
{
	lead(json, key);
	str_addf(json->out, "%lld", (long long) value);
}

void json_put_bool(struct json_writer *json, const char *key, bool value)
{
	lead(json, key);
	str_addf(json->out, "%s", value ? "true" : "false");
}

void json_put_null(struct json_writer *json, const char *key)
{
	lead(json, key);
	str_addf(json->out, "null");
}

void json_put_double(struct json_writer *json, const char *key, double value)
{
	char text[40];

	if (!isfinite(value)) {
		json_put_null(json, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	lead(json, key);
	str_addf(json->out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* ---- the reader ---- */

static const json_t *as_library(const struct json_value *value)
{
	return (const json_t *) (const void *) value;
}

static const struct json_value *as_ours(const json_t *value)
{
	return (const struct json_value *) (const void *) value;
}

/* Brackets in strings do not count; whether they match is left to the library. */
static bool is_too_deep(const char *text, size_t len)
{
	unsigned int depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
		} else if (text[i] == '"') {
			in_string = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > JSON_DEPTH_MAX)
				return true;
		} else if (depth > 0 && (text[i] == '}' || text[i] == ']')) {
			depth--;
		}
	}
	return false;
}

int json_parse(struct json *out, const char *text, size_t len, size_t max, struct err *err)
{
	json_error_t why;
	json_t *root;

	if (len > max)
		return err_set(err, ERR_INPUT, "the JSON text is longer than %zu bytes", max);
	if (is_too_deep(text, len))
		return err_set(err, ERR_INPUT, "the JSON text has more than %d levels",
			       (int) JSON_DEPTH_MAX);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!root) {
		/* The library quotes the text it met, which may hold anything. */
		cleanup(str_done) struct str shown = STR_INIT;

		str_add_shown(&shown, why.text, strnlen(why.text, sizeof(why.text)));
		return err_set(err, ERR_INPUT, "not JSON at byte %d: %s", why.position, shown.text);
	}
	if (!json_is_object(root)) {
		json_decref(root);
		return err_set(err, ERR_INPUT, "the JSON text is no object");
	}
	json_done(out);
	out->root = root;
	return 0;
}

void json_done(struct json *json)
{
	json_decref(json->root);
	*json = JSON_INIT;
}

const struct json_value *json_root(const struct json *json)
{
	return as_ours(json->root);
}

const struct json_value *json_member(const struct json_value *object, const char *key)
{
	return as_ours(json_object_get(as_library(object), key));
}

size_t json_count(const struct json_value *value)
{
	const json_t *library = as_library(value);

	return json_is_array(library) ? json_array_size(library) : json_object_size(library);
}

const struct json_value *json_item(const struct json_value *array, size_t index)
{
	return as_ours(json_array_get(as_library(array), index));
}

static const json_t *find(const struct json_value *object, const char *key, struct err *err)
{
	const json_t *value = json_object_get(as_library(object), key);

	if (!value)
		err_set(err, ERR_INPUT, "key '%s' is missing", key);
	return value;
}

int json_get_int(const struct json_value *object, const char *key, int64_t min, int64_t max,
		 int64_t *out, struct err *err)
{
	const json_t *value = find(object, key, err);
	int64_t number;

	if (!value)
		return -1;
	if (!json_is_integer(value))
		return err_set(err, ERR_INPUT, "key '%s' is not an integer", key);
	number = json_integer_value(value);
	if (number < min || number > max)
		return err_set(err, ERR_INPUT, "key '%s': %lld is not within %lld..%lld", key,
			       (long long) number, (long long) min, (long long) max);
	*out = number;
	return 0;
}

int json_get_bool(const struct json_value *object, const char *key, bool *out, struct err *err)
{
	const json_t *value = find(object, key, err);

	if (!value)
		return -1;
	if (!json_is_boolean(value))
		return err_set(err, ERR_INPUT, "key '%s' is not true or false", key);
	*out = json_is_true(value);
	return 0;
}

int json_get_double(const struct json_value *object, const char *key, double *out, struct err *err)
{
	const json_t *value = find(object, key, err);

	if (!value)
		return -1;
	if (!json_is_real(value))
		return err_set(err, ERR_INPUT, "key '%s' is not a number with a point", key);
	*out = json_real_value(value);
	return 0;
}

int json_get_bytes(const struct json_value *object, const char *key, size_t max, const char **out,
		   size_t *len_out, struct err *err)
{
	const json_t *value = find(object, key, err);

	if (!value)
		return -1;
	if (!json_is_string(value))
		return err_set(err, ERR_INPUT, "key '%s' is not a text", key);
	if (json_string_length(value) > max)
		return err_set(err, ERR_INPUT, "key '%s' is longer than %zu bytes", key, max);
	*out = json_string_value(value);
	*len_out = json_string_length(value);
	return 0;
}

int json_get_text(const struct json_value *object, const char *key, size_t max, const char **out,
		  struct err *err)
{
	const char *text = NULL;
	size_t len = 0;

	if (json_get_bytes(object, key, max, &text, &len, err) < 0)
		return -1;
	if (memchr(text, '\0', len))
		return err_set(err, ERR_INPUT, "key '%s' holds a zero byte", key);
	*out = text;
	return 0;
}

int json_get_digest(const struct json_value *object, const char *key, struct digest *out,
		    struct err *err)
{
	const char *text = NULL;

	if (json_get_text(object, key, DIGEST_HEX, &text, err) < 0)
		return -1;
	if (digest_parse(out, text) < 0)
		return err_set(err, ERR_INPUT, "key '%s' is no SHA-256", key);
	return 0;
}

bool json_is_absent(const struct json_value *value)
{
	return !value || json_typeof(as_library(value)) == JSON_NULL;
}

const char *json_as_text(const struct json_value *value)
{
	const json_t *library = as_library(value);

	if (!json_is_string(library) ||
	    memchr(json_string_value(library), '\0', json_string_length(library)))
		return NULL;
	return json_string_value(library);
}

static bool is_plain(const char *key)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	return key[0] != '\0' && key[strspn(key, allowed)] == '\0';
}

static int put_value(struct json_writer *json, const char *key, const json_t *value,
		     struct err *err);

static int put_items(struct json_writer *json, const json_t *array, struct err *err)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (put_value(json, NULL, json_array_get(array, i), err) < 0)
			return -1;
	return 0;
}

static int put_inner(struct json_writer *json, const char *key, const json_t *value,
		     struct err *err)
{
	int result;

	if (json_is_object(value)) {
		json_put_object(json, key);
		result = json_put_members(json, as_ours(value), err);
	} else {
		json_put_array(json, key);
		result = put_items(json, value, err);
	}
	json_put_end(json);
	return result;
}

/* Its depth is bounded: what was read has at most JSON_DEPTH_MAX levels. */
static int put_value(struct json_writer *json, const char *key, const json_t *value,
		     struct err *err)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return put_inner(json, key, value, err);
	case JSON_STRING:
		json_put_bytes(json, key, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		json_put_int(json, key, json_integer_value(value));
		break;
	case JSON_REAL:
		json_put_double(json, key, json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		json_put_bool(json, key, json_is_true(value));
		break;
	case JSON_NULL:
		json_put_null(json, key);
		break;
	}
	return 0;
}

int json_put_members(struct json_writer *json, const struct json_value *object, struct err *err)
{
	/* The library iterates over what may be changed only. */
	json_t *library = (json_t *) (uintptr_t) as_library(object);

	for (void *at = json_object_iter(library); at; at = json_object_iter_next(library, at)) {
		if (!is_plain(json_object_iter_key(at)))
			return err_set(err, ERR_INPUT, "a key is no plain name");
		if (put_value(json, json_object_iter_key(at), json_object_iter_value(at), err) < 0)
			return -1;
	}
	return 0;
}
