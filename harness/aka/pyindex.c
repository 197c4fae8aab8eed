/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyindex.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/mem.h"

/* A text to look for: qsort_r and bsearch have the same order of it. */
struct slice {
	const char *bytes;
	size_t len;
};

static struct slice text_of(const struct pysource *source, const struct pysource_block *block)
{
	struct slice slice = { source->bytes + block->from, block->to - block->from };

	while (slice.len > 0 &&
	       (slice.bytes[slice.len - 1] == '\n' || slice.bytes[slice.len - 1] == '\r'))
		slice.len--;
	return slice;
}

/* Short ones first, so that long ones are seldom compared byte by byte. */
static int compare_slices(const struct slice *left, const struct slice *right)
{
	if (left->len != right->len)
		return left->len < right->len ? -1 : 1;
	return memcmp(left->bytes, right->bytes, left->len);
}

static int compare_texts(const void *left, const void *right, void *source)
{
	struct slice one = text_of(source, *(const struct pysource_block *const *) left);
	struct slice other = text_of(source, *(const struct pysource_block *const *) right);

	return compare_slices(&one, &other);
}

/* By name, and the last one of a name first. */
static int compare_names(const void *left, const void *right)
{
	const struct pysource_block *one = *(const struct pysource_block *const *) left;
	const struct pysource_block *other = *(const struct pysource_block *const *) right;
	int order = strcmp(one->name, other->name);

	return order != 0 ? order : one->from > other->from ? -1 : one->from < other->from;
}

static void keep_the_last(struct pyindex *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->names; i++)
		if (kept == 0 ||
		    strcmp(index->by_name[kept - 1]->name, index->by_name[i]->name) != 0)
			index->by_name[kept++] = index->by_name[i];
	index->names = kept;
}

void pyindex_make(const struct pysource *source, struct pyindex *out)
{
	*out = (struct pyindex){
		.source = source,
		.by_name = mem_alloc(source->count + 1, sizeof(*out->by_name)),
		.by_text = mem_alloc(source->count + 1, sizeof(*out->by_text)),
	};
	for (size_t i = 0; i < source->count; i++) {
		out->by_text[i] = &source->blocks[i];
		if (source->blocks[i].name)
			out->by_name[out->names++] = &source->blocks[i];
	}
	qsort(out->by_name, out->names, sizeof(*out->by_name), compare_names);
	keep_the_last(out);
	qsort_r(out->by_text, source->count, sizeof(*out->by_text), compare_texts,
		(void *) (uintptr_t) source);
}

void pyindex_done(struct pyindex *index)
{
	mem_free(&index->by_name);
	mem_free(&index->by_text);
	*index = PYINDEX_INIT;
}

const struct pysource_block *pyindex_find(const struct pyindex *index, const char *name)
{
	size_t from = 0, to = index->names;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = strcmp(name, index->by_name[middle]->name);

		if (order == 0)
			return index->by_name[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

bool pyindex_is_last(const struct pyindex *index, const struct pysource_block *block)
{
	return block->name && pyindex_find(index, block->name) == block;
}

bool pyindex_has_text(const struct pyindex *index, const struct pysource *other,
		      const struct pysource_block *block)
{
	struct slice wanted = text_of(other, block);
	size_t from = 0, to = index->source->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		struct slice slice = text_of(index->source, index->by_text[middle]);
		int order = compare_slices(&wanted, &slice);

		if (order == 0)
			return true;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return false;
}
