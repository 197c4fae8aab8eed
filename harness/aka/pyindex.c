/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyindex.h"

#include <stdint.h>
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
	const struct pysource_block *blocks = ((const struct pysource *) source)->blocks;
	struct slice one = text_of(source, &blocks[*(const size_t *) left]);
	struct slice other = text_of(source, &blocks[*(const size_t *) right]);

	return compare_slices(&one, &other);
}

/* By name, and the last one of a name first. */
static int compare_names(const void *left, const void *right, void *source)
{
	const struct pysource_block *blocks = ((const struct pysource *) source)->blocks;
	size_t one = *(const size_t *) left, other = *(const size_t *) right;
	int order = strcmp(blocks[one].name, blocks[other].name);

	return order != 0 ? order : one > other ? -1 : one < other;
}

static const char *name_at(const struct pyindex *index, size_t position)
{
	return index->source->blocks[index->by_name[position]].name;
}

static void keep_the_last(struct pyindex *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->names; i++)
		if (kept == 0 || strcmp(name_at(index, kept - 1), name_at(index, i)) != 0)
			index->by_name[kept++] = index->by_name[i];
	index->names = kept;
}

void pyindex_make(const struct pysource *source, struct pyindex *out)
{
	void *borrowed = (void *) (uintptr_t) source; /* qsort_r() takes no const */

	*out = (struct pyindex){
		.source = source,
		.by_name = mem_alloc(source->count + 1, sizeof(*out->by_name)),
		.by_text = mem_alloc(source->count + 1, sizeof(*out->by_text)),
	};
	for (size_t i = 0; i < source->count; i++) {
		out->by_text[i] = i;
		if (source->blocks[i].name)
			out->by_name[out->names++] = i;
	}
	qsort_r(out->by_name, out->names, sizeof(*out->by_name), compare_names, borrowed);
	keep_the_last(out);
	qsort_r(out->by_text, source->count, sizeof(*out->by_text), compare_texts, borrowed);
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
		int order = strcmp(name, name_at(index, middle));

		if (order == 0)
			return &index->source->blocks[index->by_name[middle]];
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
		struct slice slice =
			text_of(index->source, &index->source->blocks[index->by_text[middle]]);
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
