/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pynames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pytoken.h"
#include "sandbox/base/mem.h"

void pynames_done(struct pynames *names)
{
	mem_free(&names->items);
	arena_done(&names->arena);
	*names = PYNAMES_INIT;
}

static bool is_name(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char) bytes[i]) && bytes[i] != '_' &&
		    (unsigned char) bytes[i] < 0x80)
			return false;
	return len > 0 && !isdigit((unsigned char) *bytes);
}

/* What is between prefix and quotes. */
static void strip(const char **bytes, size_t *len)
{
	size_t quotes = 1;

	while (**bytes != '"' && **bytes != '\'') {
		(*bytes)++;
		(*len)--;
	}
	if (*len >= 6 && (*bytes)[1] == **bytes && (*bytes)[2] == **bytes)
		quotes = 3;
	*bytes += quotes;
	*len -= 2 * quotes;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *) left, *(const char *const *) right);
}

static void keep_each_once(struct pynames *names)
{
	size_t count = 0;

	qsort(names->items, names->count, sizeof(*names->items), compare);
	for (size_t i = 0; i < names->count; i++)
		if (count == 0 || strcmp(names->items[count - 1], names->items[i]) != 0)
			names->items[count++] = names->items[i];
	names->count = count;
}

static void add(struct pynames *names, size_t *room, const char *bytes, size_t len)
{
	if (!is_name(bytes, len))
		return;
	if (names->count == *room) {
		*room = *room > 0 ? 2 * *room : 256;
		names->items = mem_resize(names->items, *room, sizeof(*names->items));
	}
	names->items[names->count++] = arena_copy(&names->arena, bytes, len);
}

void pynames_read(const struct pysource *source, struct pynames *out)
{
	struct pytoken_scan scan;
	struct pytoken token;
	bool is_attribute = false;
	size_t room = 0;

	*out = PYNAMES_INIT;
	pytoken_init(&scan, source->bytes, source->len, 0, 1);
	while (pytoken_next(&scan, &token) == 0 && token.kind != PYTOKEN_END) {
		const char *bytes = source->bytes + token.from;
		size_t len = token.to - token.from;

		if (token.kind == PYTOKEN_STRING)
			strip(&bytes, &len);
		if (token.kind == PYTOKEN_STRING || (token.kind == PYTOKEN_NAME && !is_attribute))
			add(out, &room, bytes, len);
		is_attribute = token.sign == '.';
	}
	if (out->count > 0)
		keep_each_once(out);
}

bool pynames_has(const struct pynames *names, const char *name)
{
	return names->count > 0 &&
	       bsearch(&name, names->items, names->count, sizeof(*names->items), compare);
}
