/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/aka/aka_carry.h"
#include "harness/aka/aka_stub.h"
#include "harness/aka/pysource.h"

/* A byte whether new helpers are allowed, the task's file, a zero byte, the agent's file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const symbols[] = { "kernel", "test_k" };

static void require(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_shown(const char *text)
{
	for (; *text; text++)
		require((unsigned char) *text >= ' ' && *text != 0x7f);
}

static bool is_break(char byte)
{
	return byte == '\n' || byte == '\r';
}

/* Between blocks are comments and blanks. */
static void check_gap(const char *bytes, size_t len)
{
	bool is_comment = false;

	for (size_t i = 0; i < len; i++) {
		is_comment = !is_break(bytes[i]) && (is_comment || bytes[i] == '#');
		require(is_comment || is_break(bytes[i]) || strchr(" \t\f", bytes[i]));
	}
}

/* Blocks are whole lines, in order, none over another. */
static void check_blocks(const struct pysource *source)
{
	size_t at = source->len >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	size_t start = at, line = 0;

	for (size_t i = 0; i < source->count; i++) {
		const struct pysource_block *block = &source->blocks[i];

		require(block->from >= at && block->to > block->from && block->to <= source->len);
		require(block->from == start || is_break(source->bytes[block->from - 1]));
		require(block->to == source->len || is_break(source->bytes[block->to - 1]));
		require(block->line > line && block->last_line >= block->line);
		require((block->kind == PYSOURCE_OTHER) == !block->name);
		check_gap(source->bytes + at, block->from - at);
		at = block->to;
		line = block->last_line;
	}
	check_gap(source->bytes + at, source->len - at);
}

struct part {
	const char *bytes;
	size_t len;
};

static struct part block_of(const struct pysource *source, size_t index)
{
	const struct pysource_block *block = &source->blocks[index];
	struct part part = { source->bytes + block->from, block->to - block->from };

	while (part.len > 0 && is_break(part.bytes[part.len - 1]))
		part.len--;
	return part;
}

/* Behind the block before @index, or before the first one, up to the next one. */
static struct part gap_of(const struct pysource *source, size_t index)
{
	size_t from = index > 0 ? source->blocks[index - 1].to : 0;
	size_t to = index < source->count ? source->blocks[index].from : source->len;

	while (from < to && is_break(source->bytes[from]))
		from++;
	return (struct part){ source->bytes + from, to - from };
}

static bool is_equal(struct part left, struct part right)
{
	return left.len == right.len &&
	       (left.len == 0 || !memcmp(left.bytes, right.bytes, left.len));
}

static bool may_change(const struct pysource *source, const struct pysource_block *block)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
		if (block->name && strcmp(block->name, symbols[i]) == 0)
			return true;
	for (size_t i = 0; i < block->decorators; i++) {
		const char *name = source->decorators[block->first_decorator + i];

		if (name && (strcmp(name, "triton.jit") == 0 || strcmp(name, "jit") == 0))
			return true;
	}
	return false;
}

static bool has_name(const struct pysource *source, const char *name)
{
	for (size_t i = 0; i < source->count; i++)
		if (source->blocks[i].name && strcmp(source->blocks[i].name, name) == 0)
			return true;
	return false;
}

/* Each block of the task's is there, or another of its name where it may change; the rest is new.
 */
static void check_made(const struct pysource *given, const struct pysource *made,
		       const struct aka_carried *report)
{
	size_t next = 0, added = 0, replaced = 0;
	bool is_after_new = false;

	for (size_t i = 0; i < made->count; i++) {
		const struct pysource_block *block = &made->blocks[i];
		const struct pysource_block *there =
			next < given->count ? &given->blocks[next] : NULL;
		bool is_same = there && is_equal(block_of(given, next), block_of(made, i));

		if (is_same || (there && there->name && block->name &&
				strcmp(there->name, block->name) == 0)) {
			require(is_same || may_change(given, there));
			require(is_after_new || is_equal(gap_of(given, next), gap_of(made, i)));
			replaced += !is_same;
			is_after_new = false;
			next++;
			continue;
		}
		require(block->name && !has_name(given, block->name));
		is_after_new = true;
		added++;
	}
	require(next == given->count && added == report->counts[AKA_FATE_ADDED]);
	require(replaced <= report->counts[AKA_FATE_REPLACED]);
	require(is_after_new || is_equal(gap_of(given, next), gap_of(made, made->count)));
}

static void check_report(const struct aka_carried *report)
{
	require(report->item_count <= AKA_FATED_MAX);
	for (size_t i = 0; i < report->item_count; i++)
		check_shown(report->items[i].name);
	if (report->why)
		check_shown(report->why);
}

static bool carry(const struct aka_bytes *given, const struct aka_bytes *left, bool may_help,
		  struct str *out, struct aka_carried *report)
{
	struct aka_edit edit = {
		.path = "a.py",
		.scope = AKA_SCOPE_SYMBOLS,
		.symbols = { symbols, ARRAY_LEN(symbols) },
		.allow_new_helpers = may_help,
	};
	struct err err = ERR_INIT;

	if (aka_carry(&edit, given, left, out, report, &err) == 0)
		return true;
	require(err.kind == ERR_INPUT);
	check_shown(err.text);
	return false;
}

static void check_carried(const struct aka_bytes *given, const struct aka_bytes *left,
			  bool may_help)
{
	cleanup(aka_carried_done) struct aka_carried report = AKA_CARRIED_INIT;
	cleanup(aka_carried_done) struct aka_carried own = AKA_CARRIED_INIT;
	cleanup(str_done) struct str out = STR_INIT, same = STR_INIT;
	cleanup(pysource_done) struct pysource source = PYSOURCE_INIT, made = PYSOURCE_INIT;
	struct err err = ERR_INIT;

	if (!carry(given, left, may_help, &out, &report))
		return;
	check_report(&report);
	require(pysource_split("a.py", given->bytes, given->len, &source, &err) == 0);
	require(pysource_split("a.py", out.text, out.len, &made, &err) == 0);
	check_blocks(&made);
	check_made(&source, &made, &report);
	require(carry(given, given, may_help, &same, &own));
	require(same.len == given->len &&
		(same.len == 0 || !memcmp(same.text, given->bytes, same.len)));
	require(own.counts[AKA_FATE_REPLACED] + own.counts[AKA_FATE_ADDED] == 0);
}

static void check_stub(const struct aka_bytes *file)
{
	static const char *const path = "a.py";
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct aka_task task = {
		.version = 1,
		.type = "torch2flydsl",
		.functions = { symbols, ARRAY_LEN(symbols) },
		.sources = { &path, 1 },
	};
	const struct pyvalue *error = aka_stub_find(&arena, &task, file);

	require(!error || strstr(error->text, "submission: "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(pysource_done) struct pysource source = PYSOURCE_INIT;
	struct err err = ERR_INIT;
	const uint8_t *zero;
	struct aka_bytes given, left;

	if (size == 0 || !(zero = memchr(data + 1, 0, size - 1)))
		return 0;
	given = (struct aka_bytes){ data + 1, (size_t) (zero - data) - 1 };
	left = (struct aka_bytes){ zero + 1, size - given.len - 2 };
	if (pysource_split("a.py", left.bytes, left.len, &source, &err) == 0)
		check_blocks(&source);
	else
		check_shown(err.text);
	check_carried(&given, &left, data[0] & 1);
	check_stub(&left);
	return 0;
}
