/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_verdict.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "harness/aka/pytext.h"
#include "sandbox/base/err.h"

void aka_said_done(struct aka_said *said)
{
	str_done(&said->out);
	str_done(&said->err);
	*said = AKA_SAID_INIT;
}

void aka_said_read(struct aka_said *out, const struct aka_streams *streams, bool has_succeeded)
{
	struct err err = ERR_INIT;

	out->is_success = has_succeeded;
	if (pytext_decode(&out->out, streams->out, streams->out_len, &err) == 0 &&
	    pytext_decode(&out->err, streams->err, streams->err_len, &err) == 0)
		return;
	str_clear(&out->out);
	str_clear(&out->err);
	str_addf(&out->err, "%s", err.text);
	out->is_success = false;
}

void aka_said_timed_out(struct aka_said *out, unsigned int seconds)
{
	out->is_success = false;
	str_addf(&out->err, "Command timed out after %u seconds", seconds);
}

void aka_said_all(struct str *out, const struct aka_said *said)
{
	str_add(out, said->out.text, said->out.len);
	str_add(out, said->err.text, said->err.len);
}

/* Of each stream, to the byte or to the character before: its file may have to escape each. */
enum { STREAM_MAX = 4 << 20 };

static void add_stream(struct str *out, const struct str *stream)
{
	size_t len = MIN_OF(stream->len, (size_t) STREAM_MAX);

	while (len < stream->len && (stream->text[len] & 0xc0) == 0x80)
		len--;
	str_add(out, stream->text, len);
	if (len < stream->len)
		str_addf(out, "\n... and %zu bytes more", stream->len - len);
}

static const struct pyvalue *message(struct arena *arena, const char *what,
				     const struct aka_said *said)
{
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "%s\nSTDOUT:\n", what);
	add_stream(&text, &said->out);
	str_addf(&text, "\nSTDERR:\n");
	add_stream(&text, &said->err);
	return pyvalue_new_text(arena, text.text, text.len);
}

const struct pyvalue *aka_verdict_compile(struct arena *arena, const struct aka_said *said)
{
	return said->is_success ? NULL : message(arena, "Compilation failed", said);
}

/* In any case of letters; no letter beyond ASCII becomes one of these when made small. */
static const char *find_word(const struct str *text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= text->len; i++)
		if (strncasecmp(text->text + i, word, len) == 0)
			return text->text + i;
	return NULL;
}

const struct pyvalue *aka_verdict_correct(struct arena *arena, const struct aka_said *said)
{
	cleanup(str_done) struct str all = STR_INIT;

	if (!said->is_success)
		return message(arena, "Correctness test failed", said);
	aka_said_all(&all, said);
	if (find_word(&all, "fail") != NULL && find_word(&all, "pass") == NULL)
		return message(arena, "Correctness test reported failure", said);
	return NULL;
}

/* FAIL or FAILED in capitals as a word of its own, and no count of zero behind it. */
static bool says_fail(const struct str *all)
{
	const char *at = all->text, *end = all->text + all->len;

	while (at < end && (at = memmem(at, (size_t) (end - at), "FAIL", 4)) != NULL) {
		bool begins_word = at == all->text || !isalnum((unsigned char) at[-1]);

		at += strncmp(at, "FAILED", 6) == 0 ? 6 : 4;
		if (!begins_word || isalnum((unsigned char) *at) || *at == '_')
			continue;
		if (strspn(at, ":= ") > 0 && at[strspn(at, ":= ")] == '0')
			continue;
		return true;
	}
	return false;
}

const char *aka_verdict_doubt(const struct aka_said *said)
{
	cleanup(str_done) struct str all = STR_INIT;

	aka_said_all(&all, said);
	if (says_fail(&all))
		return "the correctness command says FAIL and ends with status 0";
	if (find_word(&all, "skipped") != NULL && find_word(&all, "pass") == NULL)
		return "the correctness command has skipped tests and none that passed";
	return NULL;
}
