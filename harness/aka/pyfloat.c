/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyfloat.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/aka/pytext.h"

/* "d.ddd…e±x" of any double at 17 digits. */
enum { SCIENTIFIC_ROOM = 32, DIGITS_MAX = 17 };

/* The text without white space around it, digits of all scripts as ASCII. */
static bool to_ascii(const char *text, size_t len, struct str *out)
{
	size_t end = 0;
	uint32_t code;

	for (size_t size; (size = pytext_next(text, len, &code)) > 0; text += size, len -= size) {
		int digit = pytext_digit(code);
		char byte = (char) (digit >= 0 ? '0' + digit : (int) code);

		if (pytext_is_space(code)) {
			byte = ' ';
			if (out->len == 0)
				continue;
		} else if (digit < 0 && (code == 0 || code > 0x7e)) {
			return false;
		}
		str_add(out, &byte, 1);
		if (byte != ' ')
			end = out->len;
	}
	out->text[end] = '\0';
	out->len = end;
	return end > 0 && !out->truncated;
}

/* Takes out each '_' that stands between two digits; all others are wrong. */
static bool drop_underscores(struct str *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->len; i++) {
		if (text->text[i] != '_') {
			text->text[kept++] = text->text[i];
			continue;
		}
		if (i == 0 || !isdigit((unsigned char) text->text[i - 1]) ||
		    !isdigit((unsigned char) text->text[i + 1]))
			return false;
	}
	text->text[kept] = '\0';
	text->len = kept;
	return true;
}

static const char *skip_digits(const char *at, size_t *count)
{
	size_t digits = strspn(at, "0123456789");

	*count += digits;
	return at + digits;
}

static bool is_decimal(const char *at)
{
	size_t mantissa = 0, exponent = 0;

	at = skip_digits(at, &mantissa);
	if (*at == '.')
		at = skip_digits(at + 1, &mantissa);
	if (mantissa == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		at = skip_digits(at, &exponent);
		if (exponent == 0)
			return false;
	}
	return *at == '\0';
}

bool pyfloat_from_text(const char *text, size_t len, double *out)
{
	cleanup(str_done) struct str ascii = STR_INIT;
	const char *body;

	if (!to_ascii(text, len, &ascii) || !drop_underscores(&ascii))
		return false;
	body = ascii.text + (ascii.text[0] == '+' || ascii.text[0] == '-');
	if (strcasecmp(body, "inf") == 0 || strcasecmp(body, "infinity") == 0)
		*out = ascii.text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
	else if (strcasecmp(body, "nan") == 0)
		*out = (double) NAN;
	else if (is_decimal(body))
		*out = strtod(ascii.text, NULL);
	else
		return false;
	return true;
}

/* The next decimal of the same length, away from zero. Never asked of a row of nines. */
static void next_decimal(char *scientific)
{
	char *last = strchr(scientific, 'e');

	while (last-- > scientific) {
		if (*last == '.')
			continue;
		if (*last != '9') {
			++*last;
			return;
		}
		*last = '0';
	}
}

/*
 * The shortest digits that read back. The nearest decimal of a length is not always the one: below
 * a power of two the doubles lie closer, so the nearest can be out of reach where the next one up
 * is not.
 */
static void shortest(double value, char scientific[SCIENTIFIC_ROOM])
{
	for (int digits = 1; digits <= DIGITS_MAX; digits++) {
		snprintf(scientific, SCIENTIFIC_ROOM, "%.*e", digits - 1, value);
		if (strtod(scientific, NULL) == value)
			return;
		if (strtod(scientific, NULL) < value) {
			char up[SCIENTIFIC_ROOM];

			memcpy(up, scientific, sizeof(up));
			next_decimal(up);
			if (strtod(up, NULL) == value) {
				memcpy(scientific, up, sizeof(up));
				return;
			}
		}
	}
}

/* Digits with their point moved to where it belongs, for exponents that Python writes so. */
static void add_positional(struct str *out, const char *digits, size_t count, int exponent)
{
	if (exponent < 0) {
		str_add(out, "0.", 2);
		for (int i = -1; i > exponent; i--)
			str_add(out, "0", 1);
		str_add(out, digits, count);
		return;
	}
	for (size_t i = 0; i <= (size_t) exponent; i++)
		str_add(out, i < count ? &digits[i] : "0", 1);
	str_add(out, ".", 1);
	if (count > (size_t) exponent + 1)
		str_add(out, digits + exponent + 1, count - (size_t) exponent - 1);
	else
		str_add(out, "0", 1);
}

void pyfloat_add_repr(struct str *out, double value)
{
	char scientific[SCIENTIFIC_ROOM] = "", digits[SCIENTIFIC_ROOM];
	size_t count = 0;
	int exponent;

	if (isnan(value) || isinf(value)) {
		str_addf(out, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	if (signbit(value))
		str_add(out, "-", 1);
	shortest(fabs(value), scientific);
	for (const char *at = scientific; *at != 'e'; at++)
		if (*at != '.')
			digits[count++] = *at;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	exponent = (int) strtol(strchr(scientific, 'e') + 1, NULL, 10);
	if (exponent >= -4 && exponent < 16) {
		add_positional(out, digits, count, exponent);
		return;
	}
	str_add(out, digits, 1);
	if (count > 1)
		str_addf(out, ".%.*s", (int) count - 1, digits + 1);
	str_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

void pyfloat_add_yaml(struct str *out, double value)
{
	cleanup(str_done) struct str repr = STR_INIT;
	const char *e;

	if (isnan(value) || isinf(value)) {
		str_addf(out, "%s", isnan(value) ? ".nan" : value < 0 ? "-.inf" : ".inf");
		return;
	}
	pyfloat_add_repr(&repr, value);
	e = strchr(repr.text, 'e');
	if (e == NULL || strchr(repr.text, '.') != NULL)
		str_add(out, repr.text, repr.len);
	else
		str_addf(out, "%.*s.0%s", (int) (e - repr.text), repr.text, e);
}

void pyfloat_add_json(struct str *out, double value)
{
	if (isnan(value) || isinf(value))
		str_addf(out, "%s", isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
	else
		pyfloat_add_repr(out, value);
}

void pyfloat_add_fixed(struct str *out, double value, int digits, bool has_plus)
{
	if (isnan(value))
		str_addf(out, "%s", has_plus ? "+nan" : "nan");
	else if (has_plus)
		str_addf(out, "%+.*f", digits, value);
	else
		str_addf(out, "%.*f", digits, value);
}
