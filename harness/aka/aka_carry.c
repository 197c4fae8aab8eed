/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_carry.h"

#include <stdlib.h>
#include <string.h>

#include "harness/aka/pyindex.h"
#include "harness/aka/pynames.h"
#include "harness/aka/pysource.h"
#include "harness/aka/pytoken.h"
#include "sandbox/base/mem.h"

const struct name aka_fate_names[] = {
	{ "same", AKA_FATE_SAME },   { "replaced", AKA_FATE_REPLACED },
	{ "added", AKA_FATE_ADDED }, { "missing", AKA_FATE_MISSING },
	{ "idle", AKA_FATE_IDLE },   { NULL, 0 },
};

/* What pytest calls, collects or reads in a module by its name. */
static const char *const pytest_names[] = {
	"test",  "Test",     "pytest",   "setup", "teardown",
	"setUp", "tearDown", "collect_", "__",    "load_tests",
};

/* How much of a name or statement is told. */
enum { SHOWN_MAX = 60 };

static const char not_the_agents[] = "it is not among what may be edited";
static const char is_statement[] = "imports and other statements stay the task's";
static const char is_overridden[] = "a later definition of its name counts";
static const char is_decorated[] = "a decorator of it is pytest's, or no name";
static const char is_no_kernel[] = "the task's is a function of the device, and this is none";
static const char is_used[] = "the task's file uses its name";
static const char is_pytests[] = "pytest looks for such names";
static const char is_not_ascii[] = "its name is not ASCII";
static const char was_kernel[] = "it was a function of the device, and is none any more";

/* What becomes of a block of the agent's file. */
struct plan {
	bool is_carried, is_new;
	size_t at; /* byte of the task's file: of what it replaces, or before which it is put */
	const char *why;
};

struct carrier {
	const struct aka_edit *edit;
	struct pysource pristine, frozen;
	struct pyindex pristine_index, frozen_index;
	struct pynames used;
	bool has_bare_jit;   /* the task's file imports jit of triton by its name alone */
	size_t *replacement; /* a block of the task's: the agent's in its place, + 1; 0: none */
	struct plan *plans;  /* a block of the agent's */
	struct aka_carried *report;
};

static void carrier_done(struct carrier *carrier)
{
	pyindex_done(&carrier->pristine_index);
	pyindex_done(&carrier->frozen_index);
	pynames_done(&carrier->used);
	pysource_done(&carrier->pristine);
	pysource_done(&carrier->frozen);
	mem_free(&carrier->replacement);
	mem_free(&carrier->plans);
}

void aka_carried_done(struct aka_carried *report)
{
	arena_done(&report->arena);
	*report = AKA_CARRIED_INIT;
}

static const char *decorator(const struct pysource *source, const struct pysource_block *block,
			     size_t index)
{
	return source->decorators[block->first_decorator + index];
}

/* Is it a line `from triton… import …, jit, …`. */
static bool imports_jit(const struct pysource *source, const struct pysource_block *block)
{
	struct pytoken_scan scan;
	struct pytoken token;
	bool is_jit = false;

	pytoken_init(&scan, source->bytes, block->to, block->from, block->line);
	if (pytoken_next(&scan, &token) < 0 || !pytoken_is(&scan, &token, "from") ||
	    pytoken_next(&scan, &token) < 0 || !pytoken_is(&scan, &token, "triton"))
		return false;
	while (pytoken_next(&scan, &token) == 0 && token.kind != PYTOKEN_LINE) {
		if (is_jit && !pytoken_is(&scan, &token, "as"))
			return true;
		is_jit = pytoken_is(&scan, &token, "jit");
	}
	return is_jit;
}

static bool is_kernel(const struct carrier *carrier, const struct pysource *source,
		      const struct pysource_block *block)
{
	if (!pysource_is_function(block))
		return false;
	for (size_t i = 0; i < block->decorators; i++) {
		const char *name = decorator(source, block, i);

		if (name && (strcmp(name, "triton.jit") == 0 ||
			     (carrier->has_bare_jit && strcmp(name, "jit") == 0)))
			return true;
	}
	return false;
}

static bool is_named(const struct carrier *carrier, const char *name)
{
	for (size_t i = 0; i < carrier->edit->symbols.count; i++)
		if (strcmp(carrier->edit->symbols.items[i], name) == 0)
			return true;
	return false;
}

/* Does one of its decorators change how pytest sees the module, or can that not be told? */
static bool is_oddly_decorated(const struct pysource *source, const struct pysource_block *block)
{
	for (size_t i = 0; i < block->decorators; i++) {
		const char *name = decorator(source, block, i);
		const char *dot = name ? strrchr(name, '.') : NULL;
		const char *last = dot ? dot + 1 : name;

		if (!name || strncmp(name, "pytest", 6) == 0 || strcmp(last, "fixture") == 0)
			return true;
	}
	return false;
}

static const char *why_no_name(const struct carrier *carrier, const char *name)
{
	for (const char *at = name; *at; at++)
		if ((unsigned char) *at >= 0x80)
			return is_not_ascii;
	for (size_t i = 0; i < ARRAY_LEN(pytest_names); i++)
		if (strncmp(name, pytest_names[i], strlen(pytest_names[i])) == 0)
			return is_pytests;
	return pynames_has(&carrier->used, name) ? is_used : NULL;
}

/* NULL: the agent's block may stand in the place of the task's. */
static const char *why_not_instead(const struct carrier *carrier,
				   const struct pysource_block *given,
				   const struct pysource_block *left)
{
	bool is_named_one = is_named(carrier, given->name);

	if (!is_named_one && !is_kernel(carrier, &carrier->pristine, given))
		return not_the_agents;
	if (!is_named_one && !is_kernel(carrier, &carrier->frozen, left))
		return is_no_kernel;
	return is_oddly_decorated(&carrier->frozen, left) &&
			       !is_oddly_decorated(&carrier->pristine, given)
		     ? is_decorated
		     : NULL;
}

/* NULL: the agent's block may be added. */
static const char *why_not_new(const struct carrier *carrier, const struct pysource_block *block)
{
	if (is_oddly_decorated(&carrier->frozen, block))
		return is_decorated;
	if (is_named(carrier, block->name))
		return NULL;
	if (!carrier->edit->allow_new_helpers && !is_kernel(carrier, &carrier->frozen, block))
		return not_the_agents;
	return why_no_name(carrier, block->name);
}

/* What becomes of each block of the agent's, and what takes the place of which of the task's. */
static void decide(struct carrier *carrier)
{
	for (size_t i = 0; i < carrier->frozen.count; i++) {
		const struct pysource_block *block = &carrier->frozen.blocks[i], *given;
		struct plan *plan = &carrier->plans[i];

		if (!block->name || !pyindex_is_last(&carrier->frozen_index, block)) {
			plan->why = block->name ? is_overridden : is_statement;
			continue;
		}
		given = pyindex_find(&carrier->pristine_index, block->name);
		plan->why = given ? why_not_instead(carrier, given, block)
				  : why_not_new(carrier, block);
		plan->is_carried = !plan->why;
		plan->is_new = !given;
		if (plan->is_carried && given) {
			plan->at = given->from;
			carrier->replacement[given - carrier->pristine.blocks] = i + 1;
		}
	}
}

/*
 * What is new is put before what it stands before in the agent's file, as that may need it to be
 * there; what stands before nothing, behind the last one that is carried over; and where nothing
 * else is, at the end.
 */
static void place(struct carrier *carrier)
{
	size_t at = carrier->pristine.len;

	for (size_t p = 0; p < carrier->frozen.count; p++)
		if (carrier->plans[p].is_carried && !carrier->plans[p].is_new)
			at = pyindex_find(&carrier->pristine_index, carrier->frozen.blocks[p].name)
				     ->to;
	for (size_t p = carrier->frozen.count; p-- > 0;) {
		struct plan *plan = &carrier->plans[p];

		if (plan->is_carried && plan->is_new)
			plan->at = at;
		else if (plan->is_carried)
			at = plan->at;
	}
}

static bool ends_a_line(const struct str *out, size_t from)
{
	char last = out->len > from ? out->text[out->len - 1] : '\n';

	return last == '\n' || last == '\r';
}

static void add_block(struct carrier *carrier, const struct pysource_block *block, struct str *out)
{
	str_add(out, carrier->frozen.bytes + block->from, block->to - block->from);
}

/* What is put before byte @at of the task's file, in the order of the agent's. */
struct insertion {
	size_t at, block;
};

static int compare_insertions(const void *left, const void *right)
{
	const struct insertion *one = left, *other = right;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return one->block < other->block ? -1 : one->block > other->block;
}

static struct insertion *find_insertions(const struct carrier *carrier, size_t *count_out)
{
	struct insertion *made = mem_alloc(carrier->frozen.count + 1, sizeof(*made));
	size_t count = 0;

	for (size_t i = 0; i < carrier->frozen.count; i++)
		if (carrier->plans[i].is_carried && carrier->plans[i].is_new)
			made[count++] = (struct insertion){ carrier->plans[i].at, i };
	qsort(made, count, sizeof(*made), compare_insertions);
	*count_out = count;
	return made;
}

/* The text being made, and how far the task's file is in it. */
struct writing {
	struct str *out;
	size_t start; /* of the file in it */
	size_t done;
};

static void copy_to(struct carrier *carrier, struct writing *writing, size_t to)
{
	str_add(writing->out, carrier->pristine.bytes + writing->done, to - writing->done);
	writing->done = to;
}

static void insert(struct carrier *carrier, struct writing *writing, const struct insertion *item)
{
	copy_to(carrier, writing, item->at);
	if (!ends_a_line(writing->out, writing->start))
		str_addf(writing->out, "\n");
	add_block(carrier, &carrier->frozen.blocks[item->block], writing->out);
	str_addf(writing->out, ends_a_line(writing->out, writing->start) ? "\n\n" : "\n\n\n");
}

static void replace(struct carrier *carrier, struct writing *writing, size_t index)
{
	const struct pysource_block *given = &carrier->pristine.blocks[index];

	copy_to(carrier, writing, given->from);
	add_block(carrier, &carrier->frozen.blocks[carrier->replacement[index] - 1], writing->out);
	writing->done = given->to;
	if (given->to < carrier->pristine.len && !ends_a_line(writing->out, writing->start))
		str_addf(writing->out, "\n");
}

static void write_text(struct carrier *carrier, struct str *out)
{
	struct writing writing = { .out = out, .start = out->len };
	size_t count, next = 0;
	cleanup(mem_free) struct insertion *items = find_insertions(carrier, &count);

	for (size_t i = 0; i < carrier->pristine.count; i++) {
		for (; next < count && items[next].at <= carrier->pristine.blocks[i].from; next++)
			insert(carrier, &writing, &items[next]);
		if (carrier->replacement[i] > 0)
			replace(carrier, &writing, i);
	}
	for (; next < count; next++)
		insert(carrier, &writing, &items[next]);
	copy_to(carrier, &writing, carrier->pristine.len);
}

static const char *shown(struct carrier *carrier, const struct pysource_block *block)
{
	cleanup(str_done) struct str text = STR_INIT;
	const char *bytes = block->name ? block->name : carrier->frozen.bytes + block->from;
	size_t len = block->name ? strlen(block->name) : block->to - block->from, size = 0;

	while (size < len && size < SHOWN_MAX && bytes[size] != '\n' && bytes[size] != '\r')
		size++;
	str_add_shown(&text, bytes, size);
	return arena_copy(&carrier->report->arena, text.text, text.len);
}

static void tell(struct carrier *carrier, enum aka_fate fate, const struct pysource_block *block,
		 const char *why)
{
	struct aka_carried *report = carrier->report;

	report->counts[fate]++;
	if (fate == AKA_FATE_SAME || report->item_count == AKA_FATED_MAX)
		return;
	report->items[report->item_count++] = (struct aka_fated){
		.fate = fate,
		.name = shown(carrier, block),
		.line = fate == AKA_FATE_MISSING ? 0 : block->line,
		.why = why,
	};
}

static void tell_carried(struct carrier *carrier, const struct pysource_block *block)
{
	const struct pysource_block *given = pyindex_find(&carrier->pristine_index, block->name);
	bool is_same = given && given->to - given->from == block->to - block->from &&
		       memcmp(carrier->pristine.bytes + given->from,
			      carrier->frozen.bytes + block->from, block->to - block->from) == 0;
	bool is_hosted = given && is_kernel(carrier, &carrier->pristine, given) &&
			 !is_kernel(carrier, &carrier->frozen, block);

	carrier->report->hosted += is_hosted;
	tell(carrier,
	     is_same ? AKA_FATE_SAME
	     : given ? AKA_FATE_REPLACED
		     : AKA_FATE_ADDED,
	     block, is_hosted ? was_kernel : NULL);
}

static void tell_missing(struct carrier *carrier)
{
	for (size_t i = 0; i < carrier->edit->symbols.count; i++) {
		const struct pysource_block none = { .name = carrier->edit->symbols.items[i] };

		if (!pyindex_find(&carrier->frozen_index, none.name))
			tell(carrier, AKA_FATE_MISSING, &none, NULL);
	}
	for (size_t i = 0; i < carrier->pristine.count; i++) {
		const struct pysource_block *block = &carrier->pristine.blocks[i];

		if (block->name && !is_named(carrier, block->name) &&
		    is_kernel(carrier, &carrier->pristine, block) &&
		    pyindex_is_last(&carrier->pristine_index, block) &&
		    !pyindex_find(&carrier->frozen_index, block->name))
			tell(carrier, AKA_FATE_MISSING, block, NULL);
	}
}

/* First what is in the candidate, so that what is not can not crowd it out. */
static void tell_all(struct carrier *carrier)
{
	tell_missing(carrier);
	for (size_t i = 0; i < carrier->frozen.count; i++)
		if (carrier->plans[i].is_carried)
			tell_carried(carrier, &carrier->frozen.blocks[i]);
	for (size_t i = 0; i < carrier->frozen.count; i++) {
		const struct pysource_block *block = &carrier->frozen.blocks[i];

		if (!carrier->plans[i].is_carried &&
		    !pyindex_has_text(&carrier->pristine_index, &carrier->frozen, block))
			tell(carrier, AKA_FATE_IDLE, block, carrier->plans[i].why);
	}
}

static int split(const char *path, const struct aka_bytes *file, struct pysource *out,
		 struct err *err)
{
	if (!file->bytes)
		return err_set(err, ERR_INPUT, "%s: it is not there", path);
	if (!pysource_is_ascii(file->bytes, file->len))
		return err_set(err, ERR_INPUT, "%s:1: the encoding that it names is not read",
			       path);
	return pysource_split(path, file->bytes, file->len, out, err);
}

static void prepare(struct carrier *carrier)
{
	const struct pysource *pristine = &carrier->pristine;

	for (size_t i = 0; i < pristine->count && !carrier->has_bare_jit; i++)
		carrier->has_bare_jit = imports_jit(pristine, &pristine->blocks[i]);
	pyindex_make(pristine, &carrier->pristine_index);
	pyindex_make(&carrier->frozen, &carrier->frozen_index);
	pynames_read(pristine, &carrier->used);
	carrier->replacement = mem_alloc(pristine->count + 1, sizeof(*carrier->replacement));
	carrier->plans = mem_alloc(carrier->frozen.count + 1, sizeof(*carrier->plans));
}

int aka_carry(const struct aka_edit *edit, const struct aka_bytes *pristine,
	      const struct aka_bytes *frozen, struct str *out, struct aka_carried *report,
	      struct err *err)
{
	cleanup(carrier_done) struct carrier carrier = { .edit = edit, .report = report };
	struct err why = ERR_INIT;

	if (split(edit->path, pristine, &carrier.pristine, err) < 0)
		return err_wrap(err, "the task's file");
	if (split(edit->path, frozen, &carrier.frozen, &why) < 0) {
		report->why = arena_printf(&report->arena, "%s", why.text);
		str_add(out, pristine->bytes, pristine->len);
		return 0;
	}
	prepare(&carrier);
	decide(&carrier);
	place(&carrier);
	write_text(&carrier, out);
	tell_all(&carrier);
	return 0;
}
