/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_stub.h"

#include <stdlib.h>
#include <string.h>

#include "harness/aka/pysource.h"
#include "harness/aka/pytext.h"
#include "harness/aka/pytoken.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/str.h"

/* How far a statement is `raise NotImplementedError`, in parentheses, called, with a cause. */
enum raise_at {
	RAISE_WORD, /* before it */
	RAISE_WHAT,
	RAISE_BUILTINS, /* behind builtins */
	RAISE_DOT,      /* behind the dot after it */
	RAISE_DONE,     /* behind the name */
	RAISE_ARGUMENTS,
	RAISE_CAUSE,
	RAISE_OTHER, /* something else */
};

/* What the tokens of a statement, so far, leave possible. */
struct statement {
	size_t tokens;
	bool is_pass;
	bool is_text, is_no_text; /* a string in it; something that makes it no constant */
	size_t text_open;         /* parentheses around the text */
	enum raise_at raise;
	size_t raise_open, call_depth;
	bool is_called;
};

static bool is_bytes(const struct pytoken_scan *scan, const struct pytoken *token)
{
	for (size_t i = token->from; scan->bytes[i] != '"' && scan->bytes[i] != '\''; i++)
		if (scan->bytes[i] == 'b' || scan->bytes[i] == 'B')
			return true;
	return false;
}

static void feed_text(struct statement *statement, const struct pytoken_scan *scan,
		      const struct pytoken *token)
{
	if (token->kind == PYTOKEN_STRING && !is_bytes(scan, token))
		statement->is_text = true;
	else if (token->sign == '(' && !statement->is_text)
		statement->text_open++;
	else if (token->sign == ')' && statement->is_text && statement->text_open > 0)
		statement->text_open--;
	else
		statement->is_no_text = true;
}

/* Behind the name, maybe in parentheses, maybe called. */
static enum raise_at feed_done(struct statement *statement, const struct pytoken_scan *scan,
			       const struct pytoken *token)
{
	if (token->sign == ')' && statement->raise_open > 0) {
		statement->raise_open--;
		return RAISE_DONE;
	}
	if (token->sign == '(' && !statement->is_called) {
		statement->is_called = true;
		statement->call_depth = token->depth;
		return RAISE_ARGUMENTS;
	}
	return pytoken_is(scan, token, "from") && statement->raise_open == 0 ? RAISE_CAUSE
									     : RAISE_OTHER;
}

static enum raise_at feed_what(struct statement *statement, const struct pytoken_scan *scan,
			       const struct pytoken *token)
{
	if (pytoken_is(scan, token, "NotImplementedError"))
		return RAISE_DONE;
	if (statement->raise == RAISE_DOT)
		return RAISE_OTHER;
	if (pytoken_is(scan, token, "builtins"))
		return RAISE_BUILTINS;
	statement->raise_open += token->sign == '(';
	return token->sign == '(' ? RAISE_WHAT : RAISE_OTHER;
}

static enum raise_at feed_builtins(struct statement *statement, const struct pytoken *token)
{
	if (token->sign == '.')
		return RAISE_DOT;
	if (token->sign != ')' || statement->raise_open == 0)
		return RAISE_OTHER;
	statement->raise_open--;
	return RAISE_BUILTINS;
}

static enum raise_at feed_raise(struct statement *statement, const struct pytoken_scan *scan,
				const struct pytoken *token)
{
	switch (statement->raise) {
	case RAISE_WORD:
		return pytoken_is(scan, token, "raise") ? RAISE_WHAT : RAISE_OTHER;
	case RAISE_WHAT:
	case RAISE_DOT:
		return feed_what(statement, scan, token);
	case RAISE_BUILTINS:
		return feed_builtins(statement, token);
	case RAISE_DONE:
		return feed_done(statement, scan, token);
	case RAISE_ARGUMENTS:
		return token->sign == ')' && token->depth == statement->call_depth + 1
			     ? RAISE_DONE
			     : RAISE_ARGUMENTS;
	case RAISE_CAUSE:
	case RAISE_OTHER:
		break;
	}
	return statement->raise;
}

static void feed(struct statement *statement, const struct pytoken_scan *scan,
		 const struct pytoken *token)
{
	statement->is_pass = statement->tokens++ == 0 && pytoken_is(scan, token, "pass");
	feed_text(statement, scan, token);
	statement->raise = feed_raise(statement, scan, token);
}

static bool is_docstring(const struct statement *statement)
{
	return statement->is_text && !statement->is_no_text;
}

static bool is_raise(const struct statement *statement)
{
	return statement->raise == RAISE_CAUSE ||
	       (statement->raise == RAISE_DONE && statement->raise_open == 0);
}

/* Past the colon of `def …:`; a lambda, in what it says to return, has one of its own. */
static bool skip_head(struct pytoken_scan *scan)
{
	struct pytoken token;
	size_t lambdas = 0;
	bool is_decorator = false, is_over = false;

	while (!is_over) {
		if (pytoken_next(scan, &token) < 0 || token.kind == PYTOKEN_END)
			return false;
		if (token.is_first)
			is_decorator = token.sign == '@';
		if (token.depth > 0 || is_decorator)
			continue;
		lambdas += pytoken_is(scan, &token, "lambda");
		is_over = token.sign == ':' && lambdas == 0;
		lambdas -= token.sign == ':' && lambdas > 0;
	}
	return true;
}

/* Does the function do nothing but raise NotImplementedError? */
static bool is_stub(const struct pysource *source, const struct pysource_block *block)
{
	struct statement statement = { .tokens = 0 };
	size_t statements = 0, raises = 0;
	struct pytoken_scan scan;
	struct pytoken token;

	pytoken_init(&scan, source->bytes, block->to, block->from, block->line);
	if (!skip_head(&scan))
		return false;
	while (pytoken_next(&scan, &token) == 0 && token.kind != PYTOKEN_END) {
		if (token.kind != PYTOKEN_LINE && (token.sign != ';' || token.depth > 0)) {
			feed(&statement, &scan, &token);
			continue;
		}
		if (statement.tokens == 0)
			continue;
		raises += is_raise(&statement);
		if (!is_raise(&statement) && !statement.is_pass &&
		    !(statements == 0 && is_docstring(&statement)))
			return false;
		statements++;
		statement = (struct statement){ .tokens = 0 };
	}
	return raises == 1;
}

/* What has been seen of a target, over all files. */
struct target {
	const char *name;
	bool is_found, is_stub;
};

static const struct pysource_block *find_function(const struct pysource *source, const char *name)
{
	for (size_t i = source->count; i-- > 0;)
		if (pysource_is_function(&source->blocks[i]) &&
		    strcmp(source->blocks[i].name, name) == 0)
			return &source->blocks[i];
	return NULL;
}

/* Is it a file that the reference reads as well: UTF-8, without a mark of the byte order. */
static bool is_read(const char *path, const struct aka_bytes *file)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	cleanup(str_done) struct str text = STR_INIT;
	struct err why = ERR_INIT;

	return file->bytes && len > 3 && strcmp(name + len - 3, ".py") == 0 &&
	       file->len <= PYSOURCE_BYTES_MAX &&
	       (file->len < 3 || memcmp(file->bytes, "\xef\xbb\xbf", 3) != 0) &&
	       pytext_decode(&text, file->bytes, file->len, &why) == 0;
}

static void look_into(const char *path, const struct aka_bytes *file, struct target *targets,
		      size_t count)
{
	cleanup(pysource_done) struct pysource source = PYSOURCE_INIT;
	struct err why = ERR_INIT;

	if (!is_read(path, file) || pysource_split(path, file->bytes, file->len, &source, &why) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct pysource_block *block = find_function(&source, targets[i].name);

		targets[i].is_found = targets[i].is_found || block;
		targets[i].is_stub = targets[i].is_stub || (block && is_stub(&source, block));
	}
}

static int compare(const void *left, const void *right)
{
	return strcmp(((const struct target *) left)->name, ((const struct target *) right)->name);
}

/* The names of those that are missing, or of those that are stubs; each once, they are sorted. */
static void list(struct str *out, const char *what, const struct target *targets, size_t count,
		 bool is_stub)
{
	const char *last = NULL;

	for (size_t i = 0; i < count; i++) {
		bool is_listed = is_stub ? targets[i].is_stub : !targets[i].is_found;

		if (!is_listed || (last && strcmp(last, targets[i].name) == 0))
			continue;
		if (last)
			str_addf(out, ", %s", targets[i].name);
		else
			str_addf(out, "%s%s%s", out->len > 0 ? "; " : "", what, targets[i].name);
		last = targets[i].name;
	}
}

const struct pyvalue *aka_stub_find(struct arena *arena, const struct aka_task *task,
				    const struct aka_bytes *sources)
{
	static const char before[] = "Invalid torch2flydsl optimization submission: ";
	size_t count = task->functions.count;
	cleanup(mem_free) struct target *targets = NULL;
	cleanup(str_done) struct str text = STR_INIT, whole = STR_INIT;

	if (task->version != 1 || strcmp(task->type, "torch2flydsl") != 0 || count == 0)
		return NULL;
	targets = mem_alloc(count, sizeof(*targets));
	for (size_t i = 0; i < count; i++)
		targets[i].name = task->functions.items[i];
	qsort(targets, count, sizeof(*targets), compare);
	for (size_t i = 0; i < task->sources.count; i++)
		look_into(task->sources.items[i], &sources[i], targets, count);
	list(&text, "missing declared top-level target definition(s): ", targets, count, false);
	list(&text, "unimplemented target stub(s): ", targets, count, true);
	if (text.len == 0)
		return NULL;
	str_addf(&whole, "%s%s", before, text.text);
	return pyvalue_new_text(arena, whole.text, whole.len);
}
