/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every key of every format at its edges and beyond
 *
 * Documents that are good are taken row by row: the value of one key is replaced by what is just
 * allowed, which has to be read, and by what is not, which has to be refused with file, line, key,
 * value, and the range or the words that are possible. A row that no document has, and one whose
 * type nobody knows here, fails: what can not be tried stands in `exceptions` with its reason.
 */
#include <stdio.h>
#include <string.h>

#include "harness/config/format.h"
#include "harness/config/services.h"
#include "harness/config/types.h"
#include "tests/lib/check.h"
#include "tests/lib/edges.h"

static const struct base {
	const char *format, *text;
} bases[] = {
	{ "policy", "schema: 1\nname: small\naccept: [swap]\nretries: 2\nextends: ./base.yaml\n"
#define ROLE(name, more)                                                                         \
	name ": {wall: 1m, cpu: 1m, idle: 1s, grace: 1s, on_full: report, memory: 16TiB, pids: " \
	     "99, cpus: 2, "                                                                     \
	     "output: 1MiB, nofile: 99, workspace: {size: 64KiB, inodes: 16}, "                  \
	     "tmp: {size: 64KiB, inodes: 16}, shm: {size: 64KiB, inodes: 16}, stack: 1MiB, "     \
	     "image: rocm, changes: {size: 0, inodes: 16}, "                                     \
	     "memlock: 1MiB, file_size: 1MiB, msgqueue: 1MiB, sigpending: 99, " more             \
	     "environment: {A: b}}\n"
	  /* clang-format off */
	  ROLE("agent", "syscalls: [], gpus: 1, ")
	  ROLE("build", "syscalls: [], ")
	  ROLE("worker", "")
	  ROLE("evaluator", "syscalls: [], gpus: 1, ")
	  "services: [{name: api, listen: 80, connect: '127.0.0.1:9000', connections: 9, "
	  "total: 9, sent: 1MiB, received: 1MiB, idle: 1m}]\n" },
	/* clang-format on */
	{ "run-plan", "schema: proctor/run/1\nname: nightly\ntasks: [../tasks/a]\n"
		      "agents: [{name: first, solution: honest}, {name: second, program: ./b.sh}]\n"
		      "repeats: 1\nseats: 1\nretries: 2\npolicy: small.yaml\n"
		      "labels: {machine: m1}\n" },
	{ "run-plan",
	  "schema: proctor/run/1\nset: sets/all.yaml\nagents: [{name: a, solution: b}]\n" },
	{ "set", "schema: proctor/set/1\nname: all\ntasks: [a]\n" },
	{ "task",
	  "schema: 1\nname: scale\nkind: c2c\nsummary: twice as much\neditable: [scale.c]\n"
#define BUILD "build: {argv: [cc, '{out}/a.so'], out: [a.so], wall: 60s}"
	  BUILD "\nbaseline: {" BUILD "}\n"
	  "entry: {symbol: scale, abi: c, args: [x, y, b, c, w, s, n], init: none}\n"
	  "oracle: {" BUILD ", symbol: o}\ncheck: {argv: [proctor-check]}\n"
	  "dims: {m: 2*n}\nwhere: ['n > 0']\n"
	  "args:\n"
	  "  x: {in: f32, shape: [n], values: 'uniform(0, 1)'}\n"
	  "  y: {out: f32, shape: [n], compare: 'close(rel=1e-6, abs=0)'}\n"
	  "  b: {in: i4, storage: u8, shape: [n], strides: [], align: 64, "
	  "values: 'below(2)'}\n"
	  "  c: {inout: f32, shape: [n, 2], values: 'constant(1)', compare: 'close(rel=0, abs=1)', "
	  "writes: 'rows(b)'}\n"
	  "  w: {scratch: u8, shape: [n]}\n"
	  "  s: {scalar: i32, value: 3}\n"
	  "seen: [{n: 1000}]\nhidden: {odd: {cases: 1, n: 'prime(3, 61)'}}\n"
	  "mark: {call_wall: 2s, wall: 60s, cache: cold}\n"
	  "limits: {wall: 1h, memory: 1GiB, pids: 99, workspace: 2MiB, inodes: 100, "
	  "output: 8KiB}\n" },
};

/* What a row allows, or a document can not show, and why. Each has to be met. */
static const struct exception {
	const char *path, *what, *reason;
} exceptions[] = {
	{ "task.args.values", "least", "no distribution is one byte long" },
	{ "task.args.compare", "least", "no comparison is one byte long" },
	{ "task.args.writes", "least", "nothing that is written is one byte long" },
};

/* How the n-th item of a list or entry of a mapping is written, from 0. */
static const struct maker {
	const char *path, *first, *item; /* first: of item 0, where it differs; item: with %d */
	const char *partner;             /* gets as many, for both to agree */
} makers[] = {
	/* clang-format off */
	{ "policy.services",          NULL,
	  "{name: s%d, listen: 90%d, connect: '127.0.0.1:1', connections: 1}", NULL },
	{ "policy.agent.environment", NULL,    "V%d: x", NULL },
	{ "policy.build.environment", NULL,    "V%d: x", NULL },
	{ "policy.worker.environment", NULL,   "V%d: x", NULL },
	{ "policy.evaluator.environment", NULL, "V%d: x", NULL },
	{ "run-plan.tasks",           NULL,    "t%d", NULL },
	{ "run-plan.agents",          NULL,    "{name: a%d, solution: s}", NULL },
	{ "run-plan.labels",          NULL,    "l%d: x", NULL },
	{ "set.tasks",                NULL,    "t%d", NULL },
	{ "task.editable",            NULL,    "f%d.c", NULL },
	{ "task.build.argv",          NULL,    "'{out}%d'", NULL },
	{ "task.build.out",           NULL,    "f%d.so", NULL },
	{ "task.baseline.build.argv", NULL,    "'{out}%d'", NULL },
	{ "task.baseline.build.out",  NULL,    "f%d.so", NULL },
	{ "task.oracle.build.argv",   NULL,    "'{out}%d'", NULL },
	{ "task.oracle.build.out",    NULL,    "f%d.so", NULL },
	{ "task.check.argv",          NULL,    "a%d", NULL },
	{ "task.entry.args",          "y",     "a%d", "args" },
	{ "task.dims",                NULL,    "d%d: n", NULL },
	{ "task.where",               NULL,    "n > %d", NULL },
	{ "task.args",                "y: {out: f32, shape: [n], compare: 'close(rel=0, abs=0)'}",
	                                       "a%d: {scalar: i32, value: n}", "entry.args" },
	{ "task.args.shape",          NULL,    "1+%d", NULL },
	{ "task.args.strides",        NULL,    "1+%d", "args.b.shape" },
	{ "task.args.b.shape",        NULL,    "1+0*%d", NULL },
	{ "task.seen",                NULL,    "{n: 100%d}", NULL },
	{ "task.hidden",              NULL,    NULL, NULL },
	/* clang-format on */
};
static const char *const categories[] = { "odd",        "up",         "down", "edge",
					  "asymmetric", "production", "more" };

/* Keys of the document that go with some values of a row only, and are left out with the others. */
static const struct companion {
	const char *path, *key, *words[8];
} companions[] = {
	{ "task.args.in", "args.b.storage", { "i4", "u4" } },
	{ "task.args.in", "args.c.writes", { "i64", "i32", "i8", "u8", "i4", "u4" } },
	{ "task.args.shape", "args.c.writes", { NULL } },
};

static bool goes_with(const struct companion *companion, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(companion->words) && companion->words[i]; i++)
		if (strcmp(companion->words[i], word) == 0)
			return true;
	return false;
}

static const struct yaml_node *find_path(const struct yaml_node *node, const char *path)
{
	char key[64];

	for (; node && *path; path += strcspn(path, ".") + (strchr(path, '.') != NULL)) {
		snprintf(key, sizeof(key), "%.*s", (int) strcspn(path, "."), path);
		node = yaml_find(node, key);
	}
	return node;
}

/* Adds to @edits, which has room, what has to be left out; returns how many there are then. */
static size_t leave_out(const struct edge *edge, const char *word, struct edit *edits, size_t count)
{
	for (size_t i = 0; i < ARRAY_LEN(companions); i++)
		if (strcmp(companions[i].path, edge->path) == 0 && !goes_with(&companions[i], word))
			edits[count++] = (struct edit){
				.at = find_path(edge->root, companions[i].key),
				.is_left_out = true,
			};
	return count;
}

static void text_done(struct str *text)
{
	str_done(text);
}

static bool is_excepted(const struct edge *edge, const char *what, bool *met)
{
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		if (strcmp(exceptions[i].path, edge->path) == 0 &&
		    strcmp(exceptions[i].what, what) == 0)
			return met[i] = true;
	return false;
}

/* --- by type --- */

static void try_word(const struct edge *edge)
{
	cleanup(text_done) struct str words = STR_INIT;

	schema_add_words(edge->field->details, &words);
	for (const struct name *name = edge->field->details; name->text; name++) {
		struct edit edits[1 + ARRAY_LEN(companions)] = {
			{ .at = edge->node, .value = name->text },
		};
		size_t count = 1;

		if (name->value == WORD_LATER) {
			edges_refuse_text(edge, name->text, "is not supported yet");
			edges_refuse_text(edge, name->text, words.text);
			continue;
		}
		count = leave_out(edge, name->text, edits, count);
		edges_accept_edits(edge, edits, count);
	}
	edges_refuse_text(edge, "", words.text);
	edges_refuse_text(edge, "unheard-of", words.text);
	edges_refuse(edge, "[a]", "a list", words.text);
	edges_refuse(edge, "{a: b}", "a mapping", words.text);
}

static void try_words(const struct edge *edge)
{
	cleanup(text_done) struct str words = STR_INIT;

	schema_add_words(edge->field->details, &words);
	edges_accept(edge, "[]");
	edges_accept(edge, arena_printf(edge->arena, "[%s]", words.text));
	for (const struct name *name = edge->field->details; name->text; name++) {
		const char *one = arena_printf(edge->arena, "[%s]", name->text);
		const char *shown = arena_printf(edge->arena, "'%s'", name->text);

		if (name->value == WORD_LATER) {
			edges_refuse(edge, one, shown, "is not supported yet");
			continue;
		}
		edges_accept(edge, one);
		edges_refuse(edge, arena_printf(edge->arena, "[%s, %s]", name->text, name->text),
			     shown, "is listed twice");
	}
	edges_refuse(edge, "[unheard-of]", "'unheard-of'", words.text);
	edges_refuse(edge, "['']", "''", words.text);
	edges_refuse(edge, "[[a]]", "a list", words.text);
	edges_refuse_text(edge, "", words.text);
	edges_refuse_text(edge, "unheard-of", words.text);
	edges_refuse(edge, "{a: b}", "a mapping", words.text);
}

/* --- lists and mappings --- */

static const struct maker *find_maker(const struct edge *edge)
{
	for (size_t i = 0; i < ARRAY_LEN(makers); i++)
		if (strcmp(makers[i].path, edge->path) == 0)
			return &makers[i];
	check_fail(__FILE__, __LINE__, "%s: nobody knows how its items are written", edge->path);
}

/* The number in the place of each %d. */
static void add_item(struct str *out, const char *item, size_t number)
{
	for (const char *at; (at = strstr(item, "%d")); item = at + 2)
		str_addf(out, "%.*s%zu", (int) (at - item), item, number);
	str_addf(out, "%s", item);
}

static const char *make_items(const struct edge *edge, const struct maker *maker, bool is_map,
			      size_t count)
{
	cleanup(text_done) struct str text = STR_INIT;

	str_addf(&text, is_map ? "{" : "[");
	for (size_t i = 0; i < count; i++) {
		str_addf(&text, i > 0 ? ", " : "");
		if (!maker->item)
			str_addf(&text, "%s: {cases: 1, n: 'prime(3, 61)'}", categories[i]);
		else if (i == 0 && maker->first)
			str_addf(&text, "%s", maker->first);
		else
			add_item(&text, maker->item, i);
	}
	str_addf(&text, is_map ? "}" : "]");
	return arena_copy(edge->arena, text.text, text.len);
}

static void accept_count(const struct edge *edge, const struct maker *maker, bool is_map,
			 size_t count)
{
	struct edit edits[2 + ARRAY_LEN(companions)] = {
		{ .at = edge->node, .value = make_items(edge, maker, is_map, count) },
	};
	struct edge partner = *edge;
	size_t edit_count = 1;

	if (maker->partner) {
		partner.path =
			arena_printf(edge->arena, "%s.%s", edge->format->name, maker->partner);
		edits[1].at = find_path(edge->root, maker->partner);
		CHECK(edits[1].at);
		edits[1].value = make_items(&partner, find_maker(&partner),
					    edits[1].at->kind == YAML_MAP, count);
		edit_count = 2;
	}
	edges_accept_edits(edge, edits, leave_out(edge, "", edits, edit_count));
}

static void try_count(const struct edge *edge, bool is_map)
{
	const struct field *field = edge->field;
	const struct maker *maker = find_maker(edge);
	const char *unit = is_map ? "entries" : "items";
	const char *range = arena_printf(edge->arena, "%llu..%llu", (unsigned long long) field->min,
					 (unsigned long long) field->max);

	CHECK(field->max > 0);
	accept_count(edge, maker, is_map, field->min);
	accept_count(edge, maker, is_map, field->max);
	edges_refuse(
		edge, make_items(edge, maker, is_map, field->max + 1),
		arena_printf(edge->arena, "%llu %s", (unsigned long long) field->max + 1, unit),
		range);
	if (field->min > 0)
		edges_refuse(edge, make_items(edge, maker, is_map, field->min - 1),
			     arena_printf(edge->arena, "%llu %s",
					  (unsigned long long) field->min - 1, unit),
			     range);
	edges_refuse(edge, "''", "''", range);
	edges_refuse_text(edge, "some text", range);
	edges_refuse(edge, is_map ? "[a]" : "{a: b}", is_map ? "a list" : "a mapping", range);
}

/* --- rows --- */

static void try_value(const struct edge *edge, bool *met)
{
	const struct schema_type *type = edge->field->type;

	if (edges_try_form(edge))
		return;
	if (type == &type_words) {
		try_words(edge);
	} else if (type->holds == HOLDS_U64) {
		edges_try_number(edge);
	} else if (type->holds == HOLDS_INT) {
		try_word(edge);
	} else if (type == &type_text || type == &type_expr) {
		edges_try_length(edge, !is_excepted(edge, "least", met));
	} else if (type == &type_map) {
		edges_try_map(edge);
	} else if (type == &type_items || type == &type_entries || type->holds == HOLDS_STRUCT) {
		try_count(edge, type != &type_items && type != &type_services);
	} else if (type->holds == HOLDS_ARGV) {
		try_count(edge, false);
		edges_try_texts(edge);
	} else {
		check_fail(__FILE__, __LINE__, "%s: nobody tries values of type '%s'", edge->path,
			   type->name);
	}
}

enum { ROWS_MAX = 256 };

struct walk {
	const struct format *format;
	const struct yaml_node *root;
	struct arena arena;
	const struct field *tried[ROWS_MAX];
	size_t tried_count;
	bool met[ARRAY_LEN(exceptions)];
};

static bool is_tried(const struct walk *walk, const struct field *field)
{
	for (size_t i = 0; i < walk->tried_count; i++)
		if (walk->tried[i] == field)
			return true;
	return false;
}

static void walk_map(struct walk *walk, const struct schema *schema, const struct yaml_node *map,
		     const char *path);

/* The rows of what stands in a list or mapping, in each of its items. */
static void walk_collection(struct walk *walk, const struct field *field,
			    const struct yaml_node *node, const char *path)
{
	const struct collection *collection = field->details;

	for (const struct yaml_node *item = node->first; collection->each && item;
	     item = item->next)
		walk_map(walk, collection->each, item, path);
}

static void walk_row(struct walk *walk, const struct field *field, const struct yaml_node *map,
		     const char *path)
{
	const struct edge edge = {
		.format = walk->format,
		.root = walk->root,
		.map = map,
		.node = yaml_find(map, field->key),
		.field = field,
		.path = arena_printf(&walk->arena, "%s.%s", path, field->key),
		.arena = &walk->arena,
	};

	if (field->need == LATER)
		edges_try_later(&edge);
	if (field->need != LATER && !edge.node)
		return;
	CHECK(walk->tried_count < ROWS_MAX);
	if (!is_tried(walk, field))
		walk->tried[walk->tried_count++] = field;
	if (field->need == LATER)
		return;
	try_value(&edge, walk->met);
	edges_try_twice(&edge);
	if (field->need == REQUIRED)
		edges_try_absent(&edge);
	if (field->type == &type_map)
		walk_map(walk, field->details, edge.node, edge.path);
	if (field->type == &type_items || field->type == &type_entries ||
	    field->type == &type_services)
		walk_collection(walk, field, edge.node, edge.path);
}

static void walk_map(struct walk *walk, const struct schema *schema, const struct yaml_node *map,
		     const char *path)
{
	const struct edge edge = { walk->format,   walk->root, map,         map->first,
				   schema->fields, path,       &walk->arena };
	const struct edit edit = { .at = map->first, .more = "unheard_of: 1" };
	const char *const wants[] = { "key 'unheard_of'", schema->open ? NULL : "; there are ",
				      NULL };

	edges_refuse_edit(&edge, &edit, wants);
	for (size_t i = 0; i < schema->count; i++)
		walk_row(walk, &schema->fields[i], map, path);
}

/* Every row that can be reached from the format's own schema was tried in some document. */
static void check_all_tried(const struct walk *walk, const struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		const struct collection *collection = field->details;

		if (!is_tried(walk, field))
			check_fail(__FILE__, __LINE__,
				   "no document of format '%s' has the key '%s' of %s",
				   walk->format->name, field->key, schema->name);
		if (field->type == &type_map)
			check_all_tried(walk, field->details);
		if ((field->type == &type_items || field->type == &type_entries ||
		     field->type == &type_services) &&
		    collection->each)
			check_all_tried(walk, collection->each);
	}
}

TEST(every_key_of_every_format_holds_at_its_edges_and_says_so_beyond)
{
	static struct walk walk;
	struct err err = ERR_INIT;
	int line;

	for (size_t i = 0; i < format_count; i++) {
		walk.format = &formats[i];
		walk.tried_count = 0;
		for (size_t k = 0; k < ARRAY_LEN(bases); k++) {
			cleanup(text_done) struct str text = STR_INIT;
			const struct edge all = { .format = walk.format };

			if (strcmp(bases[k].format, walk.format->name) != 0)
				continue;
			walk.root = yaml_parse(&walk.arena, EDGES_FILE, bases[k].text,
					       strlen(bases[k].text), &err);
			CHECK(walk.root);
			line = documents_write(walk.root, NULL, 0, &text);
			CHECK_INT(line, 0);
			CHECK_OK(all.format->check(EDGES_FILE, text.text, text.len, &err));
			walk_map(&walk, walk.format->schema, walk.root, walk.format->name);
		}
		check_all_tried(&walk, walk.format->schema);
		check_note("%s: %zu rows", walk.format->name, walk.tried_count);
	}
	for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
		CHECK(walk.met[i]);
	arena_done(&walk.arena);
}
