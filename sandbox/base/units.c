/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/units.h"

#include <inttypes.h>
#include <stdio.h>

#include "sandbox/base/compiler.h"

struct unit {
	const char *text;
	uint64_t factor;
};

/* The largest first; the last divides everything. */
static const struct unit bytes[] = {
	{ "TiB", TIB }, { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB }, { "B", 1 },
};
static const struct unit durations[] = {
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

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
