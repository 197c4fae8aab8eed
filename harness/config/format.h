/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/schema.h"

/*
 * Every file format that is read with a schema
 *
 * Documents and tests go by this list, so that no key of no format is left out: each format stands
 * in a manual page with all of its keys, and each key is tried at its edges and beyond.
 */
struct format {
	const char *name; /* in the documents' markers */
	const struct schema *schema;
	const struct key_tables *tables;
	/* Reads a file's text as proctor does and drops it; what else it names is not looked at. */
	int (*check)(const char *file, const char *text, size_t len, struct err *err);
};

extern const struct format formats[];
extern const size_t format_count;

/**
 * format_find() - the format with these @len bytes as its name, or NULL
 */
const struct format *format_find(const char *name, size_t len);
