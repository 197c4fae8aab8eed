/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pytext.h"

#include <stdlib.h>
#include <string.h>

#include "harness/aka/pytext_table.h"

size_t pytext_next(const char *text, size_t len, uint32_t *out)
{
	static const uint32_t first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned char first;
	size_t size;

	if (len == 0)
		return 0;
	first = (unsigned char) text[0];
	size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	size = MIN_OF(size, len);
	*out = first & first_bits[size];
	for (size_t i = 1; i < size; i++)
		*out = *out << 6 | ((unsigned char) text[i] & 0x3f);
	return size;
}

void pytext_add_code(struct str *out, uint32_t code)
{
	char bytes[4];
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len; i-- > 1; code >>= 6)
		bytes[i] = (char) (0x80 | (code & 0x3f));
	bytes[0] = (char) (marks[len] | code);
	str_add(out, bytes, len);
}

size_t pytext_count(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char) text[i] & 0xc0) != 0x80;
	return count;
}

bool pytext_is_space(uint32_t code)
{
	return (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x20) || code == 0x85 ||
	       code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
	       code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
	       code == 0x3000;
}

static int compare_run(const void *key, const void *element)
{
	const uint32_t *code = key, *run = element;

	return *code < run[0] ? -1 : *code > run[1];
}

bool pytext_is_word(uint32_t code)
{
	if (code < 0x80)
		return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
		       (code >= 'A' && code <= 'Z') || code == '_';
	return bsearch(&code, pytext_words, pytext_words_count, sizeof(pytext_words[0]),
		       compare_run) != NULL;
}

int pytext_digit(uint32_t code)
{
	for (size_t i = 0; i < pytext_zeros_count; i++)
		if (code >= pytext_zeros[i] && code - pytext_zeros[i] < 10)
			return (int) (code - pytext_zeros[i]);
	return -1;
}

void pytext_add_json(struct str *out, const char *text, size_t len)
{
	static const char letters[] = "\"\\\n\r\t\f\b", names[] = "\"\\nrtfb";
	uint32_t code;

	str_add(out, "\"", 1);
	for (size_t size; (size = pytext_next(text, len, &code)) > 0; text += size, len -= size) {
		const char *letter = code > 0 && code < 0x80 ? strchr(letters, (int) code) : NULL;

		if (letter != NULL)
			str_addf(out, "\\%c", names[letter - letters]);
		else if (code >= 0x20 && code < 0x7f)
			str_add(out, text, 1);
		else if (code < 0x10000)
			str_addf(out, "\\u%04x", code);
		else
			str_addf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
				 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
	str_add(out, "\"", 1);
}

void pytext_add_padded(struct str *out, const char *text, size_t len, size_t width)
{
	str_add(out, text, len);
	for (size_t count = pytext_count(text, len); count < width; count++)
		str_add(out, " ", 1);
}

/* How many bytes follow @first in a sequence, and between which bounds the next of them is. */
static int sequence_of(unsigned char first, unsigned char *low, unsigned char *high)
{
	*low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first < 0x80)
		return 0;
	if (first < 0xc2 || first > 0xf4)
		return -1;
	return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

static int refuse(const unsigned char *bytes, size_t at, size_t count, const char *why,
		  struct err *err)
{
	if (count > 1)
		return err_set(err, ERR_INPUT,
			       "'utf-8' codec can't decode bytes in position %zu-%zu: %s", at,
			       at + count - 1, why);
	return err_set(err, ERR_INPUT, "'utf-8' codec can't decode byte 0x%02x in position %zu: %s",
		       bytes[at], at, why);
}

static int check_utf8(const unsigned char *bytes, size_t len, struct err *err)
{
	for (size_t at = 0; at < len; at++) {
		unsigned char low, high;
		int rest = sequence_of(bytes[at], &low, &high);

		if (rest < 0)
			return refuse(bytes, at, 1, "invalid start byte", err);
		for (size_t got = 1; got <= (size_t) rest; got++, low = 0x80, high = 0xbf) {
			if (at + got == len)
				return refuse(bytes, at, got, "unexpected end of data", err);
			if (bytes[at + got] < low || bytes[at + got] > high)
				return refuse(bytes, at, got, "invalid continuation byte", err);
		}
		at += (size_t) rest;
	}
	return 0;
}

int pytext_decode(struct str *out, const void *bytes, size_t len, struct err *err)
{
	const char *text = bytes;
	size_t begin = 0;

	if (check_utf8(bytes, len, err) < 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\r')
			continue;
		str_add(out, text + begin, i - begin);
		str_add(out, "\n", 1);
		if (i + 1 < len && text[i + 1] == '\n')
			i++;
		begin = i + 1;
	}
	str_add(out, text + begin, len - begin);
	return 0;
}
