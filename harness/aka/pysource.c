/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pysource.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "harness/aka/pytoken.h"
#include "sandbox/base/mem.h"

/* What can only go on with what the statement before it began. */
static const char *const continuing[] = { "else", "elif", "except", "finally" };

/* Of those that Python knows: what a file of ours may say, as it is compared. */
static const char *const encodings[] = { "utf-8",     "utf8",        "utf-8-sig", "ascii",
					 "us-ascii",  "latin-1",     "latin1",    "iso-8859-1",
					 "iso8859-1", "iso-8859-15", "cp1252",    "windows-1252" };

struct splitter {
	struct pytoken_scan scan;
	struct pysource made;
	struct pysource_block block; /* that is being read */
	bool is_begun;               /* its decorators are there, and no more */
	const char *path;
	struct err *err;
};

void pysource_done(struct pysource *source)
{
	arena_done(&source->arena);
	mem_free(&source->blocks);
	mem_free(&source->decorators);
	*source = PYSOURCE_INIT;
}

bool pysource_is_function(const struct pysource_block *block)
{
	return block->kind == PYSOURCE_DEF || block->kind == PYSOURCE_ASYNC_DEF;
}

static int fail(struct splitter *splitter, size_t line, const char *why)
{
	return err_set(splitter->err, ERR_INPUT, "%s:%zu: %s", splitter->path, line, why);
}

static int next(struct splitter *splitter, struct pytoken *out)
{
	if (pytoken_next(&splitter->scan, out) == 0)
		return 0;
	return fail(splitter, splitter->scan.why_line, splitter->scan.why);
}

static int skip_line(struct splitter *splitter, struct pytoken *token)
{
	while (token->kind != PYTOKEN_LINE)
		if (next(splitter, token) < 0)
			return -1;
	splitter->block.to = token->to;
	splitter->block.last_line = token->line;
	return 0;
}

/* Room for one more: 16 at first, twice as many where they are full. */
static void *room_for(void *items, size_t count, size_t size)
{
	if (count == 0)
		return mem_alloc(16, size);
	return count >= 16 && (count & (count - 1)) == 0 ? mem_resize(items, 2 * count, size)
							 : items;
}

/* Where the line of a token begins: nothing but blanks is before it. */
static size_t line_start(const struct splitter *splitter, size_t at)
{
	while (at > 0 && strchr(" \t\f", splitter->made.bytes[at - 1]))
		at--;
	return at;
}

static void begin_block(struct splitter *splitter, const struct pytoken *token)
{
	splitter->block = (struct pysource_block){
		.from = line_start(splitter, token->from),
		.line = token->line,
		.first_decorator = splitter->made.decorator_count,
	};
}

static int end_block(struct splitter *splitter)
{
	struct pysource *made = &splitter->made;

	if (made->count == PYSOURCE_BLOCKS_MAX)
		return fail(splitter, splitter->block.line, "there are more than 65536 statements");
	made->blocks = room_for(made->blocks, made->count, sizeof(*made->blocks));
	made->blocks[made->count++] = splitter->block;
	return 0;
}

/* The words of an expression NAME(.NAME)*, called or not; false for any other. */
struct dotted {
	char text[PYSOURCE_DOTTED_MAX + 1];
	size_t len;
	bool is_dot_next; /* or the end, or arguments */
	bool is_called;
	bool is_other;
};

/* Python takes some such letters for others. */
static bool has_beyond_ascii(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char) bytes[i] >= 0x80)
			return true;
	return false;
}

static void dotted_add(struct dotted *dotted, const char *bytes, const struct pytoken *token)
{
	size_t len = token->to - token->from;
	bool is_name = token->kind == PYTOKEN_NAME && !has_beyond_ascii(bytes + token->from, len);
	bool is_dot = token->kind == PYTOKEN_OTHER && token->sign == '.';

	if (token->depth > 0) /* arguments */
		return;
	if (dotted->is_dot_next && token->sign == '(' && !dotted->is_called) {
		dotted->is_called = true;
		return;
	}
	if (dotted->is_called || (dotted->is_dot_next ? !is_dot : !is_name) ||
	    len > PYSOURCE_DOTTED_MAX - dotted->len) {
		dotted->is_other = true;
		return;
	}
	memcpy(dotted->text + dotted->len, bytes + token->from, len);
	dotted->len += len;
	dotted->is_dot_next = is_name;
}

/* At the '@'. */
static int take_decorator(struct splitter *splitter, struct pytoken *token)
{
	struct pysource *made = &splitter->made;
	struct dotted dotted = { .len = 0 };

	if (!splitter->is_begun)
		begin_block(splitter, token);
	splitter->is_begun = true;
	if (next(splitter, token) < 0)
		return -1;
	while (token->kind != PYTOKEN_LINE) {
		dotted_add(&dotted, made->bytes, token);
		if (next(splitter, token) < 0)
			return -1;
	}
	if (made->decorator_count == PYSOURCE_BLOCKS_MAX)
		return fail(splitter, splitter->block.line, "there are more than 65536 decorators");
	made->decorators =
		room_for(made->decorators, made->decorator_count, sizeof(*made->decorators));
	made->decorators[made->decorator_count++] =
		dotted.is_other || !dotted.is_dot_next
			? NULL
			: arena_copy(&made->arena, dotted.text, dotted.len);
	splitter->block.decorators++;
	return 0;
}

/* def NAME, async def NAME, class NAME: what the first tokens of a statement make of it. */
static int classify(struct splitter *splitter, struct pytoken *token)
{
	struct pysource_block *block = &splitter->block;
	const struct pytoken_scan *scan = &splitter->scan;
	bool is_async = pytoken_is(scan, token, "async");
	enum pysource_kind kind;

	if (is_async && next(splitter, token) < 0)
		return -1;
	if (pytoken_is(scan, token, "def"))
		kind = is_async ? PYSOURCE_ASYNC_DEF : PYSOURCE_DEF;
	else if (!is_async && pytoken_is(scan, token, "class"))
		kind = PYSOURCE_CLASS;
	else
		return 0;
	if (next(splitter, token) < 0)
		return -1;
	if (token->kind != PYTOKEN_NAME)
		return 0;
	block->kind = kind;
	block->name = arena_copy(&splitter->made.arena, scan->bytes + token->from,
				 token->to - token->from);
	return 0;
}

static bool is_continuing(const struct splitter *splitter, const struct pytoken *token)
{
	for (size_t i = 0; i < ARRAY_LEN(continuing); i++)
		if (pytoken_is(&splitter->scan, token, continuing[i]))
			return true;
	return false;
}

/* A line that belongs to the statement before it: of its body, or of a further branch. */
static int extend(struct splitter *splitter, struct pytoken *token)
{
	struct pysource *made = &splitter->made;
	struct pysource_block *last = made->count > 0 ? &made->blocks[made->count - 1] : NULL;
	size_t line = token->line;

	if (splitter->is_begun || !last || (!token->is_inside && last->kind != PYSOURCE_OTHER))
		return fail(splitter, line, "the line belongs to no statement");
	if (skip_line(splitter, token) < 0)
		return -1;
	last->to = splitter->block.to;
	last->last_line = splitter->block.last_line;
	return 0;
}

/* A logical line, from its first token on. */
static int take_line(struct splitter *splitter, struct pytoken *token)
{
	size_t line = token->line;

	if (token->is_inside || is_continuing(splitter, token))
		return extend(splitter, token);
	if (token->sign == '@')
		return take_decorator(splitter, token);
	if (!splitter->is_begun)
		begin_block(splitter, token);
	if (classify(splitter, token) < 0)
		return -1;
	if (splitter->is_begun && splitter->block.kind == PYSOURCE_OTHER)
		return fail(splitter, line, "a decorator is in front of no function or class");
	splitter->is_begun = false;
	return skip_line(splitter, token) < 0 || end_block(splitter) < 0 ? -1 : 0;
}

/* What Python reads no file with, also in its strings. */
static int check_bytes(struct splitter *splitter)
{
	const char *bytes = splitter->made.bytes;
	const char *zero = splitter->made.len > 0 ? memchr(bytes, 0, splitter->made.len) : NULL;
	size_t line = 1;

	if (splitter->made.len > PYSOURCE_BYTES_MAX)
		return fail(splitter, 1, "the file has more than 4 MiB");
	if (!zero)
		return 0;
	for (const char *at = bytes; at < zero; at++)
		line += *at == '\n' || (*at == '\r' && at[1] != '\n');
	return fail(splitter, line, "there is a zero byte");
}

static int split(struct splitter *splitter)
{
	struct pytoken token;

	if (check_bytes(splitter) < 0)
		return -1;
	while (true) {
		if (next(splitter, &token) < 0)
			return -1;
		if (token.kind == PYTOKEN_END)
			break;
		if (take_line(splitter, &token) < 0)
			return -1;
	}
	return splitter->is_begun ? fail(splitter, splitter->block.line,
					 "a decorator is in front of no function or class")
				  : 0;
}

int pysource_split(const char *path, const void *bytes, size_t len, struct pysource *out,
		   struct err *err)
{
	struct splitter splitter = { .made = { .bytes = bytes, .len = len },
				     .path = path,
				     .err = err };

	pytoken_init(&splitter.scan, bytes, len, 0, 1);
	if (split(&splitter) < 0) {
		pysource_done(&splitter.made);
		return -1;
	}
	*out = splitter.made;
	return 0;
}

/* The encoding that a comment names, as Python looks for it: coding[:=]\s*NAME. */
static size_t find_coding(const char *line, size_t len, const char **name)
{
	static const char word[] = "coding";
	const char *end = line + len, *at = line;

	while ((at = memmem(at, (size_t) (end - at), word, strlen(word)))) {
		size_t count = 0;

		at += strlen(word);
		if (at == end || (*at != ':' && *at != '='))
			continue;
		for (at++; at < end && (*at == ' ' || *at == '\t'); at++)
			;
		while (at + count < end &&
		       (isalnum((unsigned char) at[count]) || strchr("-_.", at[count])))
			count++;
		*name = at;
		if (count > 0)
			return count;
	}
	return 0;
}

static bool is_known(const char *name, size_t len)
{
	char text[16] = "";

	if (len >= sizeof(text))
		return false;
	for (size_t i = 0; i < len; i++)
		text[i] = name[i] == '_' ? '-' : name[i];
	for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
		if (strcasecmp(encodings[i], text) == 0)
			return true;
	return false;
}

static bool is_break(char byte)
{
	return byte == '\n' || byte == '\r';
}

bool pysource_is_ascii(const void *bytes, size_t len)
{
	const char *at = bytes, *end = at + len, *name;

	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	for (int line = 0; line < 2; line++) {
		size_t size = 0, found;

		while (at < end && (*at == ' ' || *at == '\t' || *at == '\f'))
			at++;
		while (at + size < end && !is_break(at[size]))
			size++;
		if (size > 0 && *at != '#') /* the next line is none to look at any more */
			return true;
		found = size > 0 ? find_coding(at, size, &name) : 0;
		if (found > 0)
			return is_known(name, found);
		at += size;
		if (at < end)
			at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1;
	}
	return true;
}
