/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/note.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "harness/judge/stats.h"
#include "sandbox/base/str.h"

static const char keyword[] = "Expected:";
static const char blanks[] = " \t\r\n";

/* What may stand behind it, beside the verdicts. */
static const char *const others[] = { "seen", "unseen", "and" };
static const enum mark_kind kinds[] = { MARK_VALID, MARK_WRONG, MARK_VIOLATION, MARK_RESOURCE };

enum { KEYWORD = sizeof(keyword) - 1, SHOWN = 24 };

/* A note and where we are in it. */
struct cursor {
	const char *at, *end;
	int line;
};

static int refuse(const struct cursor *cursor, const char *why, struct err *err)
{
	return err_set(err, ERR_INPUT, NOTE_FILE ":%d: %s", cursor->line, why);
}

/* The line without what marks up a list, a quotation or a heading. */
static bool is_meant_as_keyword(const char *line, size_t len)
{
	while (len > 0 && strchr(" \t>*_#`-", *line)) {
		line++;
		len--;
	}
	return len >= KEYWORD && strncasecmp(line, keyword, KEYWORD) == 0;
}

static bool is_blank(const char *line, size_t len)
{
	while (len > 0 && strchr(blanks, line[len - 1]))
		len--;
	return len == 0;
}

/*
 * Moves to the line that begins with the keyword. One that is there for people only, where no
 * program finds it, would be a promise that nobody holds.
 *
 * Return: 1, 0 if there is none, -1 if it is where it must not be.
 */
static int find_keyword(struct cursor *cursor, struct err *err)
{
	bool is_head = true;

	for (; cursor->at < cursor->end; cursor->line++) {
		const char *line = cursor->at;
		const char *newline = memchr(line, '\n', (size_t) (cursor->end - line));
		size_t len = (size_t) ((newline ? newline : cursor->end) - line);

		if (is_head && len >= KEYWORD && memcmp(line, keyword, KEYWORD) == 0)
			return 1;
		if (memmem(line, len, keyword, KEYWORD) || is_meant_as_keyword(line, len))
			return refuse(
				cursor,
				"'Expected:' has to stand at the head of a paragraph of its "
				"own: after an empty line, in this spelling, nothing before it",
				err);
		is_head = is_blank(line, len);
		cursor->at = newline ? newline + 1 : cursor->end;
	}
	return 0;
}

static int refuse_word(const struct cursor *cursor, const char *word, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "'");
	str_add_shown(&text, word, strlen(word));
	str_addf(&text, "' is none of");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		str_addf(&text, " %s,", names_text(mark_kind_names, (int) kinds[i]));
	for (const struct name *name = verdict_names; name->text; name++)
		str_addf(&text, " %s,", name->text);
	str_addf(&text, " seen, unseen, and; prose stands behind a full stop");
	return refuse(cursor, text.text, err);
}

/* One word without what ends it. */
static int take_word(const struct cursor *cursor, const char *word, bool *is_unseen,
		     struct note_marks *out, struct err *err)
{
	enum mark_kind *mark = *is_unseen ? &out->unseen : &out->seen;
	int value;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (strcmp(word, others[i]) != 0)
			continue;
		*is_unseen = i == 1 || (i == 2 && *is_unseen);
		return 0;
	}
	if (names_find(verdict_names, word, &value) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(word, names_text(mark_kind_names, (int) kinds[i])) != 0)
			continue;
		if (*mark != MARK_NONE)
			return refuse(cursor,
				      *is_unseen ? "there are two marks for the unseen cases"
						 : "there are two marks for the seen cases",
				      err);
		*mark = kinds[i];
		return 0;
	}
	return refuse_word(cursor, word, err);
}

/* Past the blanks. Return: does a word of this paragraph follow? */
static bool skip_blanks(struct cursor *cursor)
{
	int lines = 0;

	while (cursor->at < cursor->end && *cursor->at && strchr(blanks, *cursor->at))
		lines += *cursor->at++ == '\n';
	cursor->line += lines;
	return lines < 2 && cursor->at < cursor->end && *cursor->at;
}

/* The words behind the keyword, as far as the full stop or the end of the paragraph. */
static int take_words(struct cursor *cursor, struct note_marks *out, struct err *err)
{
	bool is_unseen = false, goes_on = true;

	cursor->at += KEYWORD;
	while (goes_on && skip_blanks(cursor)) {
		char word[SHOWN];
		size_t size = strcspn(cursor->at, blanks), kept = size;

		goes_on = !strchr(".;:", cursor->at[size - 1]);
		if (strchr(".,;:", cursor->at[size - 1]))
			kept--;
		snprintf(word, sizeof(word), "%.*s", (int) MIN_OF(kept, sizeof(word)), cursor->at);
		cursor->at += size;
		if (kept > 0 && take_word(cursor, word, &is_unseen, out, err) < 0)
			return -1;
	}
	return 0;
}

int note_parse(const char *text, size_t len, struct note_marks *out, struct err *err)
{
	struct cursor cursor = { .at = text, .end = text + len, .line = 1 };
	struct note_marks made = { MARK_NONE, MARK_NONE };
	int found = find_keyword(&cursor, err);

	if (found < 0)
		return -1;
	if (found > 0) {
		const struct cursor began = cursor;

		if (take_words(&cursor, &made, err) < 0)
			return -1;
		if (made.seen == MARK_NONE && made.unseen == MARK_NONE)
			return refuse(&began, "'Expected:' is followed by no mark, such as VALID",
				      err);
		cursor = began;
		cursor.at += KEYWORD;
		found = find_keyword(&cursor, err);
		if (found < 0)
			return -1;
		if (found > 0)
			return refuse(&cursor, "there is an 'Expected:' before this one", err);
	}
	*out = made;
	return 0;
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
