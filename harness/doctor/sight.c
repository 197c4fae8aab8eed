/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/sight.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/config/types.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

enum { SENTENCE_MAX = 1024 };

void sight_done(struct doctor_sight *sight)
{
	str_done(&sight->found);
}

printf_like(2, 0) static void add(struct doctor_sight *sight, const char *format, va_list args)
{
	char sentence[SENTENCE_MAX];

	vsnprintf(sentence, sizeof(sentence), format, args);
	str_addf(&sight->found, "%s%s", sight->found.len > 0 ? "; " : "", sentence);
}

void sight_say(struct doctor_sight *sight, enum doctor_verdict verdict, const char *format, ...)
{
	va_list args;

	sight->verdict = verdict;
	va_start(args, format);
	add(sight, format, args);
	va_end(args);
}

void sight_add(struct doctor_sight *sight, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(sight, format, args);
	va_end(args);
}

void sight_worsen(struct doctor_sight *sight, enum doctor_verdict verdict)
{
	if (sight->verdict == DOCTOR_UNKNOWN || verdict > sight->verdict)
		sight->verdict = verdict;
}

bool sight_read(int dir_fd, const char *path, struct str *out)
{
	auto_fd fd = dir_fd < 0 ? -1 : openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct err err = ERR_INIT;

	str_clear(out);
	if (fd < 0)
		return false;
	if (io_read_fd(fd, SIGHT_FILE_MAX, path, out, &err) < 0) {
		str_clear(out);
		return false;
	}
	while (out->len > 0 && isspace((unsigned char) out->text[out->len - 1]))
		out->text[--out->len] = '\0';
	return true;
}

bool sight_number(int dir_fd, const char *path, uint64_t *out)
{
	cleanup(str_done) struct str text = STR_INIT;

	return sight_read(dir_fd, path, &text) && types_parse_count(text.text, out) == 0;
}

char *sight_line(char **rest)
{
	char *line = *rest, *end;

	if (!line || *line == '\0')
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*rest = end ? end + 1 : NULL;
	return line;
}

bool sight_has_word(const char *text, const char *word)
{
	static const char between[] = " \t,\n";
	size_t len;

	for (; *text != '\0'; text += len) {
		text += strspn(text, between);
		len = strcspn(text, between);
		if (len == strlen(word) && memcmp(text, word, len) == 0)
			return true;
	}
	return false;
}
