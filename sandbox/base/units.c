/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *text;
	uint64_t factor;
};

/* The largest first; the last but one divides everything. */
static const struct unit bytes[] = {
	{ "TiB", TIB }, { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB }, { "B", 1 }, { NULL, 0 },
};
static const struct unit durations[] = {
	{ "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 }, { NULL, 0 },
};

/* Return: what follows the digits, or NULL. */
static const char *parse_digits(const char *text, uint64_t *out)
{
	uint64_t value = 0;
	const char *at = text;

	for (; isdigit((unsigned char) *at); at++)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t) (*at - '0'), &value))
			return NULL;
	/* 010 is ten to people and eight to YAML 1.1 and C. */
	if (at == text || (*text == '0' && at > text + 1))
		return NULL;
	*out = value;
	return at;
}

static int parse_units(const char *text, const struct unit *units, uint64_t *out)
{
	uint64_t value;
	const char *end = parse_digits(text, &value);

	if (end && value == 0 && *end == '\0') {
		*out = 0;
		return 0;
	}
	for (; end && units->text; units++)
		if (strcmp(end, units->text) == 0 &&
		    !__builtin_mul_overflow(value, units->factor, &value)) {
			*out = value;
			return 0;
		}
	return -1;
}

static int parse_milli(const char *text, uint64_t *out)
{
	uint64_t value, thousandths = 0, scale = 100;
	const char *at = parse_digits(text, &value);

	if (!at)
		return -1;
	if (*at == '.') {
		if (!isdigit((unsigned char) *++at))
			return -1;
		for (; isdigit((unsigned char) *at) && scale > 0; at++, scale /= 10)
			thousandths += (uint64_t) (*at - '0') * scale;
	}
	if (*at != '\0' || __builtin_mul_overflow(value, UINT64_C(1000), &value) ||
	    __builtin_add_overflow(value, thousandths, &value))
		return -1;
	*out = value;
	return 0;
}

int units_parse(enum units_kind kind, const char *text, uint64_t *out)
{
	const char *end;
	uint64_t value;

	switch (kind) {
	case UNITS_BYTES:
		return parse_units(text, bytes, out);
	case UNITS_MS:
		return parse_units(text, durations, out);
	case UNITS_MILLI:
		return parse_milli(text, out);
	case UNITS_COUNT:
		break;
	}
	end = parse_digits(text, &value);
	if (!end || *end != '\0')
		return -1;
	*out = value;
	return 0;
}

static void write_units(const struct unit *units, uint64_t value, struct units_text *out)
{
	while (value % units->factor != 0)
		units++;
	snprintf(out->text, sizeof(out->text), "%" PRIu64 "%s", value / units->factor, units->text);
}

static void write_milli(uint64_t value, struct units_text *out)
{
	unsigned rest = (unsigned) (value % 1000);
	int digits = 3;

	for (; digits > 0 && rest % 10 == 0; digits--)
		rest /= 10;
	if (digits == 0)
		snprintf(out->text, sizeof(out->text), "%" PRIu64, value / 1000);
	else
		snprintf(out->text, sizeof(out->text), "%" PRIu64 ".%0*u", value / 1000, digits,
			 rest);
}

struct units_text units_write(enum units_kind kind, uint64_t value)
{
	struct units_text out = { "0" };

	if (value == 0)
		return out;
	switch (kind) {
	case UNITS_COUNT:
		snprintf(out.text, sizeof(out.text), "%" PRIu64, value);
		break;
	case UNITS_BYTES:
		write_units(bytes, value, &out);
		break;
	case UNITS_MS:
		write_units(durations, value, &out);
		break;
	case UNITS_MILLI:
		write_milli(value, &out);
		break;
	}
	return out;
}
