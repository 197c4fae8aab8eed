/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "harness/config/numbers.h"
#include "harness/config/yaml.h"

/*
 * Theory of operation: one descent over the text emits operations in the order in which a stack
 * machine needs them. `height` follows the machine's stack while compiling, so that running needs
 * no check of it. Operands of min, max and in are counted by the operation itself.
 */
enum code {
	OP_NUMBER, /* push value */
	OP_NAME,   /* push the value of name `value` */
	OP_NEGATE,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_MODULO,
	OP_EQUAL,
	OP_UNEQUAL,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_MORE,
	OP_MORE_EQUAL,
	OP_CDIV,
	OP_MIN, /* of `value` operands */
	OP_MAX,
	OP_IN, /* is the first of `value` operands among the others? */
	OP_IS_PRIME,
	OP_IS_POW2,
	OP_DRAW_RANGE,
	OP_DRAW_PRIME,
	OP_DRAW_POW2,
};

struct expr_op {
	int code;   /* enum code */
	int offset; /* in the text, for messages */
	int64_t value;
};

struct compiler {
	const char *text;
	const struct expr_source *source;
	const struct expr_names *names;
	enum expr_draws draws;
	size_t at;
	size_t depth, height;
	size_t count;
	struct expr_op ops[EXPR_OPS_MAX];
};

static int fail_at(const struct expr_source *source, size_t offset, const char *what,
		   const char *name, struct err *err)
{
	char text_room[YAML_SHOWN], name_room[YAML_SHOWN];

	return err_set(err, ERR_INPUT, "%s:%d:%zu: key '%s': '%s': %s%s%s%s", source->file,
		       source->line, (size_t) source->column + offset, source->key,
		       yaml_shown(source->text, text_room), what, name ? " '" : "",
		       name ? yaml_shown(name, name_room) : "", name ? "'" : "");
}

static int fail(const struct compiler *c, const char *what, struct err *err)
{
	return fail_at(c->source, c->at, what, NULL, err);
}

/* Appends an operation that takes `pops` values off the stack and puts one on it. */
static int emit(struct compiler *c, int code, size_t offset, size_t pops, int64_t value,
		struct err *err)
{
	if (c->count == EXPR_OPS_MAX || c->height - pops + 1 > EXPR_STACK_MAX)
		return fail(c, "the expression is too long", err);
	c->height = c->height - pops + 1;
	c->ops[c->count++] = (struct expr_op){ code, (int) offset, value };
	return 0;
}

static void skip_space(struct compiler *c)
{
	while (c->text[c->at] == ' ')
		c->at++;
}

static bool accept(struct compiler *c, const char *token)
{
	size_t len = strlen(token);

	skip_space(c);
	if (strncmp(c->text + c->at, token, len) != 0)
		return false;
	c->at += len;
	return true;
}

static int expect(struct compiler *c, const char *token, struct err *err)
{
	if (accept(c, token))
		return 0;
	return fail_at(c->source, c->at, "here is missing", token, err);
}

static int parse_comparison(struct compiler *c, struct err *err);

/* Every way down passes here, so that no text makes us recurse without end. */
static int deeper(struct compiler *c, int (*parse)(struct compiler *, struct err *),
		  struct err *err)
{
	int result;

	if (++c->depth > EXPR_DEPTH_MAX)
		return fail(c, "the expression is nested too deep", err);
	result = parse(c, err);
	c->depth--;
	return result;
}

struct unit {
	const char *text;
	int64_t factor;
};

static int parse_number(struct compiler *c, struct err *err)
{
	static const struct unit units[] = {
		{ "KiB", KIB },
		{ "MiB", MIB },
		{ "GiB", GIB },
		{ "TiB", TIB },
	};
	size_t start = c->at;
	int64_t value = 0;

	for (; isdigit((unsigned char) c->text[c->at]); c->at++)
		if (__builtin_mul_overflow(value, INT64_C(10), &value) ||
		    __builtin_add_overflow(value, (int64_t) (c->text[c->at] - '0'), &value))
			return fail(c, "the number does not fit in 64 bits", err);
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strncmp(c->text + c->at, units[i].text, 3) == 0) {
			c->at += 3;
			if (__builtin_mul_overflow(value, units[i].factor, &value))
				return fail(c, "the number does not fit in 64 bits", err);
			break;
		}
	if (isalnum((unsigned char) c->text[c->at]) || strchr("._", c->text[c->at] ?: ' '))
		return fail(c, "a number is whole, decimal, and may end in KiB, MiB, GiB or TiB",
			    err);
	return emit(c, OP_NUMBER, start, 0, value, err);
}

/* Reads operands up to `close`; their number goes to *count. */
static int parse_operands(struct compiler *c, const char *close, int64_t *count, struct err *err)
{
	*count = 0;
	do {
		if (deeper(c, parse_comparison, err) < 0)
			return -1;
		if (++*count > EXPR_LIST_MAX)
			return fail(c, "there are too many operands", err);
	} while (accept(c, ","));
	return expect(c, close, err);
}

/* One function may be two operations: prime(n) asks, prime(a, b) draws. */
static const struct function {
	const char *name;
	int64_t least, most; /* operands */
	int code;
	bool is_draw;
	const char *usage;
} functions[] = {
	/* clang-format off */
	{ "cdiv",  2, 2,             OP_CDIV,       false, "write cdiv(a, b)" },
	{ "min",   2, EXPR_LIST_MAX, OP_MIN,        false, "write min(a, b, …)" },
	{ "max",   2, EXPR_LIST_MAX, OP_MAX,        false, "write max(a, b, …)" },
	{ "prime", 1, 1,             OP_IS_PRIME,   false, "write prime(n) or prime(least, most)" },
	{ "prime", 2, 2,             OP_DRAW_PRIME, true,  "write prime(n) or prime(least, most)" },
	{ "pow2",  1, 1,             OP_IS_POW2,    false, "write pow2(n) or pow2(least, most)" },
	{ "pow2",  2, 2,             OP_DRAW_POW2,  true,  "write pow2(n) or pow2(least, most)" },
	{ "range", 2, 2,             OP_DRAW_RANGE, true,  "write range(least, most)" },
	/* clang-format on */
};

static int parse_call(struct compiler *c, const char *name, size_t start, struct err *err)
{
	const struct function *found = NULL;
	int64_t count;

	if (parse_operands(c, ")", &count, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		const struct function *f = &functions[i];

		if (strcmp(f->name, name) != 0)
			continue;
		found = f;
		if (count < f->least || count > f->most)
			continue;
		if (f->is_draw && c->draws == EXPR_NO_DRAWS)
			return fail_at(c->source, start,
				       "only a hidden range can draw a value with", name, err);
		return emit(c, f->code, start, (size_t) count, count, err);
	}
	if (found)
		return fail_at(c->source, start, found->usage, NULL, err);
	return fail_at(c->source, start,
		       "the functions are cdiv, min, max, prime, pow2 and range; there is no", name,
		       err);
}

static int parse_word(struct compiler *c, struct err *err)
{
	char name[64];
	size_t start = c->at, len = 0;

	while (isalnum((unsigned char) c->text[start + len]) || c->text[start + len] == '_')
		len++;
	if (len >= sizeof(name))
		return fail(c, "a name is at most 63 bytes long", err);
	memcpy(name, c->text + start, len);
	name[len] = '\0';
	c->at += len;
	if (accept(c, "("))
		return parse_call(c, name, start, err);
	for (size_t i = 0; i < c->names->count; i++)
		if (strcmp(c->names->texts[i], name) == 0)
			return emit(c, OP_NAME, start, 0, (int64_t) i, err);
	return fail_at(c->source, start, "no dimension defined up to here is called", name, err);
}

static int parse_unary(struct compiler *c, struct err *err)
{
	size_t start;

	skip_space(c);
	start = c->at;
	if (accept(c, "-"))
		return deeper(c, parse_unary, err) < 0 ? -1 : emit(c, OP_NEGATE, start, 1, 0, err);
	if (accept(c, "("))
		return deeper(c, parse_comparison, err) < 0 ? -1 : expect(c, ")", err);
	if (isdigit((unsigned char) c->text[c->at]))
		return parse_number(c, err);
	if (isalpha((unsigned char) c->text[c->at]) || c->text[c->at] == '_')
		return parse_word(c, err);
	return fail(c, "here a number, a name or '(' is missing", err);
}

struct infix {
	const char *text;
	int code;
};

/* Operators of one strength, applied from left to right; the table ends with a NULL text. */
static int parse_chain(struct compiler *c, int (*parse)(struct compiler *, struct err *),
		       const struct infix *infixes, struct err *err)
{
	const struct infix *found;

	if (parse(c, err) < 0)
		return -1;
	do {
		size_t start;

		skip_space(c);
		start = c->at;
		for (found = infixes; found->text; found++)
			if (accept(c, found->text))
				break;
		if (found->text &&
		    (parse(c, err) < 0 || emit(c, found->code, start, 2, 0, err) < 0))
			return -1;
	} while (found->text);
	return 0;
}

static int parse_product(struct compiler *c, struct err *err)
{
	static const struct infix infixes[] = {
		{ "*", OP_MULTIPLY },
		{ "/", OP_DIVIDE },
		{ "%", OP_MODULO },
		{ NULL },
	};

	return parse_chain(c, parse_unary, infixes, err);
}

static int parse_sum(struct compiler *c, struct err *err)
{
	static const struct infix infixes[] = {
		{ "+", OP_ADD },
		{ "-", OP_SUBTRACT },
		{ NULL },
	};

	return parse_chain(c, parse_product, infixes, err);
}

/* "in" is a word and must end as one: "inner" is a name in the wrong place. */
static bool accept_in(struct compiler *c)
{
	skip_space(c);
	if (strncmp(c->text + c->at, "in", 2) != 0 || isalnum((unsigned char) c->text[c->at + 2]) ||
	    c->text[c->at + 2] == '_')
		return false;
	c->at += 2;
	return true;
}

static const struct infix *accept_relation(struct compiler *c)
{
	/* The longer of two that start alike comes first. */
	static const struct infix relations[] = {
		{ "==", OP_EQUAL },      { "!=", OP_UNEQUAL }, { "<=", OP_LESS_EQUAL },
		{ ">=", OP_MORE_EQUAL }, { "<", OP_LESS },     { ">", OP_MORE },
	};

	for (size_t i = 0; i < ARRAY_LEN(relations); i++)
		if (accept(c, relations[i].text))
			return &relations[i];
	return NULL;
}

static int parse_comparison(struct compiler *c, struct err *err)
{
	const struct infix *relation;
	size_t start;
	int64_t count;

	if (parse_sum(c, err) < 0)
		return -1;
	skip_space(c);
	start = c->at;
	if (accept_in(c)) {
		if (expect(c, "[", err) < 0 || parse_operands(c, "]", &count, err) < 0)
			return -1;
		return emit(c, OP_IN, start, (size_t) count + 1, count + 1, err);
	}
	relation = accept_relation(c);
	if (!relation)
		return 0;
	if (parse_sum(c, err) < 0)
		return -1;
	skip_space(c);
	if (accept_in(c) || accept_relation(c))
		return fail(c, "comparisons do not chain; write two of them", err);
	return emit(c, relation->code, start, 2, 0, err);
}

/* There are no loops: each operation is run once. */
static uint64_t count_steps(const struct compiler *c)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->ops[i].code == OP_IS_PRIME)
			steps += EXPR_STEPS_IS_PRIME;
		else if (c->ops[i].code == OP_DRAW_PRIME)
			steps += EXPR_STEPS_DRAW_PRIME;
		else
			steps++;
	}
	return steps;
}

int expr_compile(const struct expr_source *source, const struct expr_names *names,
		 enum expr_draws draws, struct arena *arena, struct expr *out, struct err *err)
{
	struct compiler c = {
		.text = source->text,
		.source = source,
		.names = names,
		.draws = draws,
	};
	struct expr_op *ops;

	if (strlen(source->text) > EXPR_TEXT_MAX)
		return fail(&c, "an expression is at most 256 bytes long", err);
	if (parse_comparison(&c, err) < 0)
		return -1;
	skip_space(&c);
	if (source->text[c.at] != '\0')
		return fail(&c, "the expression should have ended here", err);
	ops = arena_alloc(arena, c.count, sizeof(*ops));
	memcpy(ops, c.ops, c.count * sizeof(*ops));
	*out = (struct expr){ *source, ops, c.count, count_steps(&c) };
	return 0;
}

/* Each returns NULL, or what is wrong; `a` holds the operands and receives the result. */
static const char *run_arithmetic(const struct expr_op *op, int64_t *a)
{
	switch (op->code) {
	case OP_NEGATE:
		return numbers_subtract(0, a[0], a);
	case OP_ADD:
		return numbers_add(a[0], a[1], a);
	case OP_SUBTRACT:
		return numbers_subtract(a[0], a[1], a);
	case OP_MULTIPLY:
		return numbers_multiply(a[0], a[1], a);
	case OP_DIVIDE:
		return numbers_divide(a[0], a[1], a);
	case OP_MODULO:
		return numbers_modulo(a[0], a[1], a);
	case OP_CDIV:
		return numbers_cdiv(a[0], a[1], a);
	default:
		return "this operation is not known";
	}
}

static const char *run_question(const struct expr_op *op, int64_t *a)
{
	switch (op->code) {
	case OP_EQUAL:
		a[0] = a[0] == a[1];
		return NULL;
	case OP_UNEQUAL:
		a[0] = a[0] != a[1];
		return NULL;
	case OP_LESS:
		a[0] = a[0] < a[1];
		return NULL;
	case OP_LESS_EQUAL:
		a[0] = a[0] <= a[1];
		return NULL;
	case OP_MORE:
		a[0] = a[0] > a[1];
		return NULL;
	case OP_MORE_EQUAL:
		a[0] = a[0] >= a[1];
		return NULL;
	case OP_IS_PRIME:
		return numbers_is_prime(a[0], a);
	case OP_IS_POW2:
		a[0] = a[0] > 0 && (a[0] & (a[0] - 1)) == 0;
		return NULL;
	default:
		return run_arithmetic(op, a);
	}
}

static const char *run_list(const struct expr_op *op, int64_t *a)
{
	int64_t result = op->code == OP_IN ? 0 : a[0];

	for (int64_t i = 1; i < op->value; i++) {
		if (op->code == OP_MIN)
			result = MIN_OF(result, a[i]);
		else if (op->code == OP_MAX)
			result = MAX_OF(result, a[i]);
		else
			result |= a[0] == a[i];
	}
	a[0] = result;
	return NULL;
}

static const char *run_op(const struct expr_op *op, const struct expr_draw *draw, int64_t *a)
{
	switch (op->code) {
	case OP_MIN:
	case OP_MAX:
	case OP_IN:
		return run_list(op, a);
	case OP_DRAW_RANGE:
		return numbers_draw(a[0], a[1], draw->next(draw->user), a);
	case OP_DRAW_PRIME:
		return numbers_draw_prime(a[0], a[1], draw->next(draw->user), a);
	case OP_DRAW_POW2:
		return numbers_draw_pow2(a[0], a[1], draw->next(draw->user), a);
	default:
		return run_question(op, a);
	}
}

static size_t operands(const struct expr_op *op)
{
	switch (op->code) {
	case OP_NEGATE:
	case OP_IS_PRIME:
	case OP_IS_POW2:
		return 1;
	case OP_MIN:
	case OP_MAX:
	case OP_IN:
		return (size_t) op->value;
	default:
		return 2;
	}
}

int expr_run(const struct expr *expr, const int64_t *values, const struct expr_draw *draw,
	     int64_t *out, struct err *err)
{
	int64_t stack[EXPR_STACK_MAX] = { 0 };
	size_t height = 0;

	for (size_t i = 0; i < expr->count; i++) {
		const struct expr_op *op = &expr->ops[i];
		const char *wrong;

		if (op->code == OP_NUMBER || op->code == OP_NAME) {
			stack[height++] = op->code == OP_NUMBER ? op->value : values[op->value];
			continue;
		}
		height -= operands(op);
		wrong = run_op(op, draw, stack + height);
		if (wrong)
			return fail_at(&expr->source, (size_t) op->offset, wrong, NULL, err);
		height++;
	}
	*out = stack[0];
	return 0;
}
