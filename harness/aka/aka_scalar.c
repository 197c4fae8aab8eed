/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_scalar.h"

#include <string.h>

#define DIGITS "0123456789"

const struct name aka_scalar_names[] = {
	{ "text", AKA_SCALAR_TEXT },
	{ "null", AKA_SCALAR_NULL },
	{ "bool", AKA_SCALAR_BOOL },
	{ "int", AKA_SCALAR_INT },
	{ "float", AKA_SCALAR_FLOAT },
	{ "date", AKA_SCALAR_DATE },
	{ NULL, 0 },
};

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

static const char *after_sign(const char *at)
{
	return *at == '-' || *at == '+' ? at + 1 : at;
}

/* Are there characters of @set up to the end, at least one? */
static bool is_all(const char *at, const char *set)
{
	return *at && at[strspn(at, set)] == '\0';
}

/* Past the groups of a number to the base of sixty, "1:30:59"; @at itself if there is none. */
static const char *after_sixties(const char *at)
{
	while (*at == ':') {
		size_t len = strspn(at + 1, DIGITS);

		if (len < 1 || len > 2 || (len == 2 && at[1] > '5'))
			break;
		at += 1 + len;
	}
	return at;
}

static bool is_int(const char *text)
{
	const char *at = after_sign(text);

	if (at[0] == '0' && at[1] == 'b')
		return is_all(at + 2, "01_");
	if (at[0] == '0' && at[1] == 'x')
		return is_all(at + 2, DIGITS "abcdefABCDEF_");
	if (at[0] == '0')
		return at[1] == '\0' || is_all(at + 1, "01234567_");
	if (*at < '1' || *at > '9')
		return false;
	at += strspn(at, DIGITS "_");
	return *after_sixties(at) == '\0';
}

/* Nothing, or an exponent with its sign, up to the end. */
static bool is_exponent(const char *at)
{
	if (*at == '\0')
		return true;
	return (*at == 'e' || *at == 'E') && (at[1] == '-' || at[1] == '+') &&
	       is_all(at + 2, DIGITS);
}

static bool is_float(const char *text)
{
	static const char *const infinite[] = { ".inf", ".Inf", ".INF", NULL };
	static const char *const none[] = { ".nan", ".NaN", ".NAN", NULL };
	const char *at = after_sign(text), *sixties;

	if (is_one_of(at, infinite) || is_one_of(text, none))
		return true;
	if (*text == '.' && text[1] >= '0' && text[1] <= '9')
		return is_exponent(text + 1 + strspn(text + 1, DIGITS "_"));
	if (*at < '0' || *at > '9')
		return false;
	at += strspn(at, DIGITS "_");
	sixties = after_sixties(at);
	if (*sixties != '.')
		return false;
	sixties++;
	sixties += strspn(sixties, DIGITS "_");
	return *at == ':' ? *sixties == '\0' : is_exponent(sixties);
}

/* Past @least to @most digits, or NULL. */
static const char *after_digits(const char *at, size_t least, size_t most)
{
	size_t len = at ? strspn(at, DIGITS) : 0;

	return len >= least && len <= most ? at + len : NULL;
}

static const char *after_char(const char *at, char wanted)
{
	return at && *at == wanted ? at + 1 : NULL;
}

static bool is_zone(const char *at)
{
	at += strspn(at, " \t");
	if (*at == '\0' || strcmp(at, "Z") == 0)
		return true;
	if (*at != '-' && *at != '+')
		return false;
	at = after_digits(at + 1, 1, 2);
	if (!at || *at == '\0')
		return at;
	at = after_digits(after_char(at, ':'), 2, 2);
	return at && *at == '\0';
}

static bool is_time(const char *at)
{
	at = after_digits(at, 1, 2);
	at = after_digits(after_char(at, ':'), 2, 2);
	at = after_digits(after_char(at, ':'), 2, 2);
	if (at && *at == '.')
		at += 1 + strspn(at + 1, DIGITS);
	return at && is_zone(at);
}

static bool is_date(const char *text)
{
	const char *month = after_char(after_digits(text, 4, 4), '-');
	const char *day = after_char(after_digits(month, 1, 2), '-');
	const char *end = after_digits(day, 1, 2);

	if (!end)
		return false;
	if (*end == '\0')
		return day - month == 3 && end - day == 2;
	if (*end == 'T' || *end == 't')
		return is_time(end + 1);
	return (*end == ' ' || *end == '\t') && is_time(end + strspn(end, " \t"));
}

enum aka_scalar aka_scalar_kind(const struct yaml_node *node)
{
	static const char *const nothing[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const truths[] = { "yes",   "Yes",   "YES",  "no",   "No",
					      "NO",    "true",  "True", "TRUE", "false",
					      "False", "FALSE", "on",   "On",   "ON",
					      "off",   "Off",   "OFF",  NULL };

	if (node->quoted)
		return AKA_SCALAR_TEXT;
	if (is_one_of(node->text, nothing))
		return AKA_SCALAR_NULL;
	if (is_one_of(node->text, truths))
		return AKA_SCALAR_BOOL;
	if (is_int(node->text))
		return AKA_SCALAR_INT;
	if (is_float(node->text))
		return AKA_SCALAR_FLOAT;
	return is_date(node->text) ? AKA_SCALAR_DATE : AKA_SCALAR_TEXT;
}

bool aka_scalar_is_null(const struct yaml_node *node)
{
	return !node || (node->kind == YAML_TEXT && aka_scalar_kind(node) == AKA_SCALAR_NULL);
}
