/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/aka/pyvalue.h"

/*
 * How PyYAML writes a text: what kinds of characters it has decides whether it can stand plain or
 * in single quotes; double quotes do for all.
 */
enum pyyaml_style {
	PYYAML_PLAIN,
	PYYAML_SINGLE,
	PYYAML_DOUBLE,
};

struct pyyaml_text {
	uint32_t *codes; /* owned */
	size_t count;
	bool is_multiline;
	bool may_be_plain; /* the characters allow it */
	bool may_be_single;
	bool means_something; /* plain, it would be read as a number, null, a date… */
};

/**
 * pyyaml_text_read() - look at a text
 * @out: the caller's to release with pyyaml_text_done()
 */
void pyyaml_text_read(struct pyyaml_text *out, const struct pyvalue *value);

/**
 * pyyaml_text_done() - release it
 */
void pyyaml_text_done(struct pyyaml_text *text);

/**
 * pyyaml_text_style() - how it is written
 * @is_key: as a key on one line
 */
enum pyyaml_style pyyaml_text_style(const struct pyyaml_text *text, bool is_key);

/**
 * pyyaml_is_break() - does it end a line in YAML 1.1?
 */
bool pyyaml_is_break(uint32_t code);
