/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"

char str_empty[1];

void str_done(struct str *str)
{
	if (str->room > 0)
		free(str->text);
	*str = STR_INIT;
}

void str_clear(struct str *str)
{
	str->len = 0;
	str->truncated = false;
	if (str->room > 0)
		str->text[0] = '\0';
}

/* Makes room for `more` bytes and the zero; false if the string may not grow so far. */
static bool reserve(struct str *str, size_t more)
{
	size_t need = str->len + more + 1;
	size_t room = MAX_OF(str->room, (size_t) 64);

	if (str->truncated || more > STR_MAX || need > STR_MAX) {
		str->truncated = true;
		return false;
	}
	while (room < need)
		room *= 2;
	if (room != str->room) {
		str->text = mem_resize(str->room ? str->text : NULL, room, 1);
		str->room = room;
	}
	return true;
}

void str_add(struct str *str, const void *bytes, size_t len)
{
	if (len == 0 || !reserve(str, len))
		return;
	memcpy(str->text + str->len, bytes, len);
	str->len += len;
	str->text[str->len] = '\0';
}

void str_addf(struct str *str, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len > 0 && reserve(str, (size_t) len)) {
		vsnprintf(str->text + str->len, (size_t) len + 1, format, again);
		str->len += (size_t) len;
	}
	va_end(again);
}

/*
 * The length of the UTF-8 sequence at the start of bytes (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF), or 0 if there is none; *code receives the code point.
 */
static size_t utf8_sequence(const uint8_t *bytes, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t need;

	if (bytes[0] < 0x80) {
		*code = bytes[0];
		return 1;
	}
	need = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || need > len)
		return 0;
	*code = bytes[0] & (0xffu >> (need + 1));
	for (size_t i = 1; i < need; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (bytes[i] & 0x3f);
	}
	if (*code < least[need] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return need;
}

static bool disturbs_terminals(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

void str_add_json(struct str *str, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	str_add(str, "\"", 1);
	while (len > 0) {
		uint32_t code = 0;
		size_t used = utf8_sequence(at, len, &code);

		if (used == 0)
			str_addf(str, "\\u%04x", at[0]);
		else if (code == '"' || code == '\\')
			str_addf(str, "\\%c", (int) code);
		else if (disturbs_terminals(code))
			str_addf(str, "\\u%04x", code);
		else
			str_add(str, at, used);
		used = MAX_OF(used, (size_t) 1);
		at += used;
		len -= used;
	}
	str_add(str, "\"", 1);
}

void str_add_shown(struct str *str, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len > 0) {
		uint32_t code = 0;
		size_t used = utf8_sequence(at, len, &code);

		if (used == 0 || disturbs_terminals(code) || code == '\\') {
			used = MAX_OF(used, (size_t) 1);
			for (size_t i = 0; i < used; i++)
				str_addf(str, "\\x%02x", at[i]);
		} else {
			str_add(str, at, used);
		}
		at += used;
		len -= used;
	}
}
