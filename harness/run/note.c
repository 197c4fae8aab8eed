/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/note.h"

#include <stdio.h>
#include <string.h>

#include "harness/judge/stats.h"

static const char keyword[] = "Expected:";
static const char blanks[] = " \t\r\n";

/* The text behind the keyword at the head of a line. */
static const char *find_keyword(const char *text, const char *end)
{
	const size_t len = sizeof(keyword) - 1;

	for (const char *line = text; line && (size_t) (end - line) >= len;) {
		if (memcmp(line, keyword, len) == 0)
			return line + len;
		line = memchr(line, '\n', (size_t) (end - line));
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

static bool is_verdict(const char *word)
{
	int value;

	return names_find(verdict_names, word, &value) == 0;
}

/* One word without what ends it. Return: false if no marks can follow it. */
static bool take_word(const char *word, bool *is_unseen, struct note_marks *out)
{
	int kind;

	if (strcmp(word, "seen") == 0 || strcmp(word, "unseen") == 0) {
		*is_unseen = word[0] == 'u';
		return true;
	}
	if (strcmp(word, "and") == 0 || is_verdict(word))
		return true;
	if (names_find(mark_kind_names, word, &kind) < 0 || kind == MARK_NONE || kind == MARK_INFRA)
		return false;
	*(*is_unseen ? &out->unseen : &out->seen) = (enum mark_kind) kind;
	return true;
}

bool note_parse(const char *text, size_t len, struct note_marks *out)
{
	const char *at = find_keyword(text, text + len), *end = text + len;
	struct note_marks made = { MARK_NONE, MARK_NONE };
	bool is_unseen = false, goes_on = at != NULL;

	while (goes_on && at < end) {
		char word[16];
		size_t size;

		at += strspn(at, blanks);
		size = strcspn(at, blanks);
		if (size == 0 || size >= sizeof(word))
			break;
		snprintf(word, sizeof(word), "%.*s", (int) size, at);
		at += size;
		goes_on = !strchr(".;:", word[size - 1]);
		if (strchr(".,;:", word[size - 1]))
			word[size - 1] = '\0';
		goes_on = take_word(word, &is_unseen, &made) && goes_on;
	}
	if (made.seen == MARK_NONE && made.unseen == MARK_NONE)
		return false;
	*out = made;
	return true;
}

struct note_marks note_default(const char *name)
{
	const enum mark_kind kind = strncmp(name, "honest-", 7) == 0 ? MARK_VALID : MARK_NONE;

	return (struct note_marks){ kind, kind };
}

bool note_holds(const struct note_marks *note, const char *name, enum mark_kind seen,
		enum mark_kind unseen)
{
	if (note->seen != MARK_NONE && note->seen != seen)
		return false;
	if (note->unseen != MARK_NONE && note->unseen != unseen)
		return false;
	if (note->seen != MARK_NONE || strncmp(name, "cheat-", 6) != 0)
		return true;
	return seen != MARK_VALID || unseen != MARK_VALID;
}
