/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/str.h"

/*
 * Numbers as Python 3.11 reads and writes them. All figures of AgentKernelArena are doubles, and
 * its files hold them in these forms; "the same to the last digit" starts here.
 */

/**
 * pyfloat_from_text() - float(text): white space around it, '_' between digits, digits of any
 * script, "inf", "nan"; nothing hexadecimal; too large is infinite
 *
 * Return: false where Python raises ValueError.
 */
bool pyfloat_from_text(const char *text, size_t len, double *out);

/**
 * pyfloat_add_repr() - repr(value): the shortest decimal that reads back as the same double
 */
void pyfloat_add_repr(struct str *out, double value);

/**
 * pyfloat_add_yaml() - as PyYAML writes it: ".inf", ".nan", and a point in every number
 */
void pyfloat_add_yaml(struct str *out, double value);

/**
 * pyfloat_add_json() - as json.dump() writes it: "Infinity", "NaN"
 */
void pyfloat_add_json(struct str *out, double value);

/**
 * pyfloat_add_fixed() - f"{value:.Nf}" of @digits decimals, or f"{value:+.Nf}" where @has_plus
 */
void pyfloat_add_fixed(struct str *out, double value, int digits, bool has_plus);
