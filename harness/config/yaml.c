/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/yaml.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "sandbox/base/str.h"

const struct yaml_limits yaml_limits = {
	.bytes = 256 * KIB,
	.nodes = 4096,
	.depth = 12,
};

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the one looked at; the next read replaces it */
	struct arena *arena;
	const char *file; /* as messages name it */
	const char *text;
	size_t len, nodes, depth;
};

static void reader_done(struct reader *reader)
{
	yaml_event_delete(&reader->event);
	yaml_parser_delete(&reader->parser);
}

static int line_of(const struct reader *reader)
{
	return (int) reader->event.start_mark.line + 1;
}

/* What libyaml's words mean to an author, by their beginning. */
/* clang-format off */
static const struct {
	const char *problem, *way_out;
} ways_out[] = {
	{ "mapping values are not allowed",      "quote a text that holds ': ', and see that keys stand in one column" },
	{ "block sequence entries",              "a '-' of a list stands on a line of its own" },
	{ "did not find expected key",           "keys and items of one level stand in one column" },
	{ "did not find expected '-'",           "items of one list stand in one column" },
	{ "did not find expected ',' or",        "a bracket does not close, or a comma is missing" },
	{ "did not find expected node content",  "a bracket does not close, or a value is missing" },
	{ "did not find expected alphabetic",    "quote a text that begins with * or &" },
	{ "could not find expected ':'",         "a key is followed by ': '" },
	{ "found unexpected end of stream",      "a quote does not close" },
	{ "found unexpected document indicator", "a quote does not close" },
	{ "found unknown escape character",      "single quotes take a \\ as it is" },
	{ "found unexpected ':'",                "quote a text that holds ':'" },
	{ "found character that cannot start",   "quote a text that begins with @, ` or %" },
};
/* clang-format on */

/* libyaml counts characters, and tells neither the byte nor what stands there. */
static bool is_indented_by_tab(const struct reader *reader, size_t line)
{
	const char *at = reader->text, *end = at + reader->len;

	for (; line > 0 && at < end; at++)
		line -= *at == '\n';
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '\t';
}

static const char *find_way_out(const struct reader *reader)
{
	if (is_indented_by_tab(reader, reader->parser.problem_mark.line))
		return "indent with blanks: a tab can not";
	for (size_t i = 0; i < ARRAY_LEN(ways_out); i++)
		if (strncmp(reader->parser.problem, ways_out[i].problem,
			    strlen(ways_out[i].problem)) == 0)
			return ways_out[i].way_out;
	return "see proctor-task(5) for what of YAML can be used";
}

/* What can not be decoded: libyaml says at which byte. */
static int encoding_error(const struct reader *reader, struct err *err)
{
	size_t at = reader->parser.problem_offset, line = 1;
	const unsigned char *text = (const unsigned char *) reader->text;

	for (size_t i = 0; i < at && i < reader->len; i++)
		line += text[i] == '\n';
	if (reader->len >= 2 && MIN_OF(text[0], text[1]) == 0xfe &&
	    MAX_OF(text[0], text[1]) == 0xff)
		return err_set(err, ERR_INPUT, "%s: this is UTF-16; save it as UTF-8",
			       reader->file);
	if (at < reader->len && (text[at] < 0x20 || text[at] == 0x7f))
		return err_set(err, ERR_INPUT,
			       "%s:%zu: byte %zu is the control character 0x%02x; remove it",
			       reader->file, line, at, text[at]);
	return err_set(err, ERR_INPUT, "%s:%zu: byte %zu: %s; the file has to be UTF-8 text",
		       reader->file, line, at, reader->parser.problem);
}

static int parser_error(const struct reader *reader, struct err *err)
{
	const yaml_parser_t *parser = &reader->parser;
	size_t line = parser->problem_mark.line, begun = parser->context_mark.line;
	char context[96] = "";

	if (parser->error == YAML_READER_ERROR)
		return encoding_error(reader, err);
	if (!parser->problem)
		return err_set(err, ERR_SYS, "%s: the YAML parser gave up", reader->file);
	if (parser->context && begun != line)
		snprintf(context, sizeof(context), " %s that begins in line %zu", parser->context,
			 begun + 1);
	else if (parser->context)
		snprintf(context, sizeof(context), " %s", parser->context);
	return err_set(err, ERR_INPUT, "%s:%zu: this is not valid YAML: %s%s (%s)", reader->file,
		       line + 1, parser->problem, context, find_way_out(reader));
}

static int next_event(struct reader *reader, struct err *err)
{
	yaml_event_delete(&reader->event);
	if (!yaml_parser_parse(&reader->parser, &reader->event))
		return parser_error(reader, err);
	return 0;
}

static int refuse(const struct reader *reader, const char *what, const yaml_char_t *name,
		  struct err *err)
{
	char room[YAML_SHOWN];

	return err_set(err, ERR_INPUT, "%s:%d: %s '%s' is not allowed; write the value out",
		       reader->file, line_of(reader), what, yaml_shown((const char *) name, room));
}

static int refuse_extras(const struct reader *reader, const yaml_char_t *anchor,
			 const yaml_char_t *tag, struct err *err)
{
	if (anchor)
		return refuse(reader, "the anchor", anchor, err);
	if (tag)
		return refuse(reader, "the tag", tag, err);
	return 0;
}

static int copy_text(struct reader *reader, const char **out, struct err *err)
{
	const char *value = (const char *) reader->event.data.scalar.value;
	size_t len = reader->event.data.scalar.length;

	if (memchr(value, '\0', len))
		return err_set(err, ERR_INPUT, "%s:%d: a text may not hold a zero byte",
			       reader->file, line_of(reader));
	*out = arena_copy(reader->arena, value, len);
	return 0;
}

static struct yaml_node *new_node(struct reader *reader, enum yaml_kind kind, const char *key,
				  struct err *err)
{
	struct yaml_node *node;

	if (++reader->nodes > yaml_limits.nodes) {
		err_set(err, ERR_INPUT, "%s:%d: the file holds more than %zu values", reader->file,
			line_of(reader), yaml_limits.nodes);
		return NULL;
	}
	node = arena_alloc(reader->arena, 1, sizeof(*node));
	node->kind = kind;
	node->file = reader->file;
	node->key = key;
	node->line = line_of(reader);
	node->column = (int) reader->event.start_mark.column + 1;
	node->spans_lines = reader->event.end_mark.line != reader->event.start_mark.line;
	return node;
}

static struct yaml_node *read_node(struct reader *reader, const char *key, struct err *err);

static void append(struct yaml_node *parent, struct yaml_node **last, struct yaml_node *child)
{
	if (*last)
		(*last)->next = child;
	else
		parent->first = child;
	*last = child;
	parent->count++;
}

static int read_key(struct reader *reader, const struct yaml_node *map, const char **out,
		    struct err *err)
{
	const struct yaml_node *before;
	char room[YAML_SHOWN];

	if (reader->event.type != YAML_SCALAR_EVENT)
		return err_set(err, ERR_INPUT, "%s:%d: a key has to be a plain word", reader->file,
			       line_of(reader));
	if (refuse_extras(reader, reader->event.data.scalar.anchor, reader->event.data.scalar.tag,
			  err) < 0 ||
	    copy_text(reader, out, err) < 0)
		return -1;
	before = yaml_find(map, *out);
	if (before)
		return err_set(
			err, ERR_INPUT, "%s:%d: key '%s' is given twice; the first is in line %d",
			reader->file, line_of(reader), yaml_shown(*out, room), before->key_line);
	return 0;
}

static struct yaml_node *read_map(struct reader *reader, const char *key, struct err *err)
{
	struct yaml_node *map = new_node(reader, YAML_MAP, key, err), *last = NULL;

	while (map) {
		struct yaml_node *child;
		const char *name;
		int line;

		if (next_event(reader, err) < 0)
			return NULL;
		if (reader->event.type == YAML_MAPPING_END_EVENT)
			break;
		line = line_of(reader);
		if (read_key(reader, map, &name, err) < 0 || next_event(reader, err) < 0)
			return NULL;
		child = read_node(reader, name, err);
		if (!child)
			return NULL;
		child->key_line = line;
		append(map, &last, child);
	}
	return map;
}

static struct yaml_node *read_list(struct reader *reader, const char *key, struct err *err)
{
	struct yaml_node *list = new_node(reader, YAML_LIST, key, err), *last = NULL;

	while (list) {
		struct yaml_node *child;

		if (next_event(reader, err) < 0)
			return NULL;
		if (reader->event.type == YAML_SEQUENCE_END_EVENT)
			break;
		child = read_node(reader, key, err);
		if (!child)
			return NULL;
		child->key_line = child->line;
		append(list, &last, child);
	}
	return list;
}

static struct yaml_node *read_text(struct reader *reader, const char *key, struct err *err)
{
	struct yaml_node *node = new_node(reader, YAML_TEXT, key, err);

	if (!node || copy_text(reader, &node->text, err) < 0)
		return NULL;
	node->quoted = reader->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return node;
}

/* The event at hand starts the node; afterwards it is the one that ends it. */
static struct yaml_node *read_node(struct reader *reader, const char *key, struct err *err)
{
	const yaml_event_t *event = &reader->event;
	const yaml_char_t *anchor = NULL, *tag = NULL;
	struct yaml_node *node;

	if (event->type == YAML_ALIAS_EVENT) {
		refuse(reader, "the alias", event->data.alias.anchor, err);
		return NULL;
	}
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (refuse_extras(reader, anchor, tag, err) < 0)
		return NULL;
	if (event->type == YAML_SCALAR_EVENT)
		return read_text(reader, key, err);
	if (++reader->depth > yaml_limits.depth) {
		err_set(err, ERR_INPUT, "%s:%d: values are nested more than %zu deep", reader->file,
			line_of(reader), yaml_limits.depth);
		return NULL;
	}
	node = event->type == YAML_MAPPING_START_EVENT ? read_map(reader, key, err)
						       : read_list(reader, key, err);
	reader->depth--;
	return node;
}

static struct yaml_node *read_document(struct reader *reader, struct err *err)
{
	struct yaml_node *root;

	if (next_event(reader, err) < 0 || next_event(reader, err) < 0)
		return NULL;
	if (reader->event.type == YAML_STREAM_END_EVENT) {
		err_set(err, ERR_INPUT, "%s: the file is empty", reader->file);
		return NULL;
	}
	if (next_event(reader, err) < 0)
		return NULL;
	root = read_node(reader, NULL, err);
	if (!root || next_event(reader, err) < 0 || next_event(reader, err) < 0)
		return NULL;
	if (reader->event.type != YAML_STREAM_END_EVENT) {
		err_set(err, ERR_INPUT, "%s:%d: a second document starts here; a file holds one",
			reader->file, line_of(reader));
		return NULL;
	}
	return root;
}

static void done(struct str *str)
{
	str_done(str);
}

/* The end of a long path tells more than its beginning, and a message has to have room for both. */
static const char *name_file(struct arena *arena, const char *path)
{
	enum { KEPT = 120 };
	cleanup(done) struct str shown = STR_INIT;
	size_t len = strlen(path), from = len > KEPT ? len - KEPT : 0;

	while (from > 0 && from < len && ((unsigned char) path[from] & 0xc0) == 0x80)
		from++;
	if (from > 0)
		str_addf(&shown, "…");
	str_add_shown(&shown, path + from, len - from);
	return arena_copy(arena, shown.text, shown.len);
}

const struct yaml_node *yaml_parse(struct arena *arena, const char *file, const char *text,
				   size_t len, struct err *err)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	size_t mark = strlen(byte_order_mark);
	cleanup(reader_done) struct reader reader = { .arena = arena, .text = text, .len = len };

	if (len >= mark && memcmp(text, byte_order_mark, mark) == 0) {
		reader.text += mark;
		reader.len -= mark;
	}
	reader.file = name_file(arena, file);
	if (len > yaml_limits.bytes) {
		err_set(err, ERR_INPUT, "%s: the file is larger than %zu bytes", reader.file,
			yaml_limits.bytes);
		return NULL;
	}
	if (!yaml_parser_initialize(&reader.parser)) {
		err_set(err, ERR_SYS, "start the YAML parser");
		return NULL;
	}
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *) reader.text,
				     reader.len);
	return read_document(&reader, err);
}

const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
	if (map->kind != YAML_MAP)
		return NULL;
	for (const struct yaml_node *child = map->first; child; child = child->next)
		if (strcmp(child->key, key) == 0)
			return child;
	return NULL;
}

int yaml_err(const struct yaml_node *node, struct err *err, const char *format, ...)
{
	char text[sizeof(err->text)], room[YAML_SHOWN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!node->key)
		return err_set(err, ERR_INPUT, "%s:%d: %s", node->file, node->line, text);
	return err_set(err, ERR_INPUT, "%s:%d: key '%s': %s", node->file, node->line,
		       yaml_shown(node->key, room), text);
}

const char *yaml_shown(const char *text, char *room)
{
	enum { KEPT = 60 };
	cleanup(done) struct str shown = STR_INIT;
	size_t len = strlen(text), kept = len;

	if (len > KEPT) {
		/* Not in the middle of a UTF-8 sequence, which would be shown as bytes. */
		for (kept = KEPT; kept > KEPT - 4 && ((unsigned char) text[kept] & 0xc0) == 0x80;)
			kept--;
	}
	str_add_shown(&shown, text, kept);
	snprintf(room, YAML_SHOWN, "%.*s%s", YAML_SHOWN - 4, shown.text,
		 kept < len || shown.len > YAML_SHOWN - 4 ? "…" : "");
	return room;
}
