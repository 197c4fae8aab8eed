/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/arg.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/config/types.h"

const struct name arg_element_names[] = {
	{ "f32", ARG_F32 },       { "f64", ARG_F64 },
	{ "i32", ARG_I32 },       { "i64", ARG_I64 },
	{ "f16", WORD_LATER },    { "bf16", WORD_LATER },
	{ "i8", WORD_LATER },     { "u8", WORD_LATER },
	{ "i16", WORD_LATER },    { "u32", WORD_LATER },
	{ "f8e4m3", WORD_LATER }, { "f8e5m2", WORD_LATER },
	{ "bool", WORD_LATER },   { NULL },
};

/* What arg_schema fills; arg_read() makes a struct arg of it. */
struct arg_source {
	int in, out, scalar; /* enum arg_element, or -1 */
	const char *values, *compare;
	const struct yaml_node *shape, *value;
};

/* clang-format off */
static const struct collection shape = { "a list of expressions such as [B, 2*L]", NULL };

static const struct field arg_fields[] = {
	{ "in",       &type_word,  INT_AT(struct arg_source, in),       OPTIONAL, 0, 0,   arg_element_names,
	  "a buffer the judge fills: its element type" },
	{ "out",      &type_word,  INT_AT(struct arg_source, out),      OPTIONAL, 0, 0,   arg_element_names,
	  "a buffer the function fills: its element type" },
	{ "scalar",   &type_word,  INT_AT(struct arg_source, scalar),   OPTIONAL, 0, 0,   arg_element_names,
	  "a number passed by value: its type; exactly one of in, out, scalar is given" },
	{ "shape",    &type_items, NODE_AT(struct arg_source, shape),   OPTIONAL, 0, ARG_RANK_MAX, &shape,
	  "in, out: expressions, outermost first" },
	{ "values",   &type_text,  TEXT_AT(struct arg_source, values),  OPTIONAL, 1, 100, NULL,
	  "in: the distribution of the values" },
	{ "compare",  &type_text,  TEXT_AT(struct arg_source, compare), OPTIONAL, 1, 100, NULL,
	  "out: how a result is compared with the oracle's" },
	{ "value",    &type_expr,  NODE_AT(struct arg_source, value),   OPTIONAL, 1, EXPR_TEXT_MAX, NULL,
	  "scalar: an expression" },
	{ "inout",    &type_later, NOWHERE, LATER, 0, 0, NULL, "a buffer that is updated in place" },
	{ "scratch",  &type_later, NOWHERE, LATER, 0, 0, NULL, "a work area, contents of no meaning" },
	{ "list",     &type_later, NOWHERE, LATER, 0, 0, NULL, "a list of buffers" },
	{ "storage",  &type_later, NOWHERE, LATER, 0, 0, NULL, "the type that holds packed elements" },
	{ "strides",  &type_later, NOWHERE, LATER, 0, 0, NULL, "distances in elements, for layouts that are not dense" },
	{ "align",    &type_later, NOWHERE, LATER, 0, 0, NULL, "alignment of the first element in bytes" },
	{ "refresh",  &type_later, NOWHERE, LATER, 0, 0, NULL, "when new values are made: call or process" },
	{ "writes",   &type_later, NOWHERE, LATER, 0, 0, NULL, "inout: the rows that may change" },
	{ "distinct", &type_later, NOWHERE, LATER, 0, 0, NULL, "no value twice" },
	{ "from",     &type_later, NOWHERE, LATER, 0, 0, NULL, "the arguments that generated values depend on" },
};
/* clang-format on */
const struct schema arg_schema = { "an argument", arg_fields, ARRAY_LEN(arg_fields), false };

/* Words of the format for which this version has no code. */
static const char *const later_values[] = { "normal", "loguniform", "randint", "generate", NULL };
static const char *const later_compares[] = { "exact", "ulp", "set", "ties", NULL };

int arg_read_expr(const struct yaml_node *node, const struct expr_names *names,
		  enum expr_draws draws, struct arena *arena, struct expr *out, struct err *err)
{
	struct expr_source source = {
		.text = node->text,
		.file = node->file,
		.key = node->key,
		.line = node->line,
		.column = node->column,
	};

	if (node->kind != YAML_TEXT)
		return yaml_err(node, err, "an expression has to be a text such as 2*B");
	/* Columns in messages would be wrong, and nobody needs it. */
	if (node->spans_lines)
		return yaml_err(node, err, "an expression has to stand on one line");
	source.column += node->quoted;
	return expr_compile(&source, names, draws, arena, out, err);
}

/*
 * Reads "NAME(a,b)" or "NAME(KEY=a,KEY=b)" into two numbers. keys: NULL where the numbers stand
 * alone. Returns NULL or what should have stood there.
 */
static const char *read_call(const char *text, const char *name, const char *const *keys,
			     double *numbers)
{
	const char *at = text + strlen(name);

	if (strncmp(text, name, strlen(name)) != 0 || *at != '(')
		return "no such word";
	for (size_t i = 0; i < 2; i++) {
		char word[64];
		size_t len;

		at += 1 + strspn(at + 1, " ");
		if (keys) {
			size_t key_len = strlen(keys[i]);

			if (strncmp(at, keys[i], key_len) != 0 || at[key_len] != '=')
				return "a key is missing";
			at += key_len + 1;
		}
		len = strcspn(at, " ,)");
		if (len >= sizeof(word))
			return "a number is too long";
		memcpy(word, at, len);
		word[len] = '\0';
		at += len;
		at += strspn(at, " ");
		if (types_parse_number(word, &numbers[i]) < 0 || *at != (i == 0 ? ',' : ')'))
			return "a number is missing";
	}
	return at[1] == '\0' ? NULL : "something follows";
}

static int wrong_call(const struct yaml_node *node, const char *text, const char *const *later,
		      const char *usage, struct err *err)
{
	char room[YAML_SHOWN];
	size_t len = strcspn(text, "( ");

	for (; *later; later++)
		if (strlen(*later) == len && strncmp(text, *later, len) == 0)
			return yaml_err(node, err,
					"'%s' is not supported yet by this version; write %s",
					*later, usage);
	return yaml_err(node, err, "'%s' is not of the form %s", yaml_shown(text, room), usage);
}

static bool is_real(int element)
{
	return element == ARG_F32 || element == ARG_F64;
}

static int read_values(const struct yaml_node *node, const char *text, int element,
		       struct arg_values *out, struct err *err)
{
	static const double largest[] = {
		[ARG_F32] = (double) FLT_MAX,
		[ARG_F64] = DBL_MAX / 4, /* the width of the interval has to be finite */
		[ARG_I32] = INT32_MAX,
		[ARG_I64] = 9007199254740992.0, /* 2^53: exact in the double it is read as */
	};
	double range[2];
	char room[YAML_SHOWN];

	if (read_call(text, "uniform", NULL, range))
		return wrong_call(node, text, later_values, "uniform(low, high)", err);
	if (!(range[0] <= range[1]))
		return yaml_err(node, err, "'%s': low is above high", yaml_shown(text, room));
	if (fabs(range[0]) > largest[element] || fabs(range[1]) > largest[element])
		return yaml_err(node, err, "'%s' holds values that %s can not",
				yaml_shown(text, room), names_text(arg_element_names, element));
	if (!is_real(element) && (range[0] != floor(range[0]) || range[1] != floor(range[1])))
		return yaml_err(node, err, "'%s': the ends have to be whole numbers for %s",
				yaml_shown(text, room), names_text(arg_element_names, element));
	*out = (struct arg_values){ range[0], range[1] };
	return 0;
}

static int read_compare(const struct yaml_node *node, const char *text, int element,
			struct arg_compare *out, struct err *err)
{
	static const char *const keys[] = { "rel", "abs" };
	double bounds[2] = { 0 };
	char room[YAML_SHOWN];

	if (!is_real(element) && strcmp(text, "exact") != 0)
		return yaml_err(node, err, "'%s': whole numbers are compared with 'exact'",
				yaml_shown(text, room));
	if (is_real(element) && read_call(text, "close", keys, bounds))
		return wrong_call(node, text, later_compares, "close(rel=1e-5, abs=1e-6)", err);
	if (bounds[0] < 0 || bounds[1] < 0 || bounds[0] >= 1)
		return yaml_err(node, err, "'%s': rel has to be within 0..1, abs not below 0",
				yaml_shown(text, room));
	*out = (struct arg_compare){ bounds[0], bounds[1] };
	return 0;
}

static int read_shape(const struct yaml_node *node, const struct yaml_node *extents,
		      const struct expr_names *names, struct arena *arena, struct arg *out,
		      struct err *err)
{
	if (!extents)
		return yaml_err(node, err, "the argument lacks the key 'shape'");
	for (const struct yaml_node *item = extents->first; item; item = item->next)
		if (arg_read_expr(item, names, EXPR_NO_DRAWS, arena, &out->shape[out->rank++],
				  err) < 0)
			return -1;
	return 0;
}

static int only_for(const struct yaml_node *node, const char *key, const char *role,
		    struct err *err)
{
	const struct yaml_node *misplaced = yaml_find(node, key);

	if (!misplaced)
		return 0;
	return yaml_err(misplaced, err, "only an argument with the key '%s' has '%s'", role, key);
}

static int read_buffer(const struct yaml_node *node, const struct arg_source *source,
		       const struct expr_names *names, struct arena *arena, struct arg *arg,
		       struct err *err)
{
	bool is_in = arg->role == ARG_IN;
	const char *wanted = is_in ? "values" : "compare";
	const struct yaml_node *how = yaml_find(node, wanted);

	if (read_shape(node, source->shape, names, arena, arg, err) < 0 ||
	    only_for(node, is_in ? "compare" : "values", is_in ? "out" : "in", err) < 0 ||
	    only_for(node, "value", "scalar", err) < 0)
		return -1;
	if (!how)
		return yaml_err(node, err, "the argument lacks the key '%s'", wanted);
	if (is_in)
		return read_values(how, source->values, arg->element, &arg->values, err);
	return read_compare(how, source->compare, arg->element, &arg->compare, err);
}

static int read_scalar(const struct yaml_node *node, const struct arg_source *source,
		       const struct expr_names *names, struct arena *arena, struct arg *arg,
		       struct err *err)
{
	if (only_for(node, "shape", "in' or 'out", err) < 0 ||
	    only_for(node, "values", "in", err) < 0 || only_for(node, "compare", "out", err) < 0)
		return -1;
	if (!source->value)
		return yaml_err(node, err, "the argument lacks the key 'value'");
	return arg_read_expr(source->value, names, EXPR_NO_DRAWS, arena, &arg->value, err);
}

int arg_read(const struct yaml_node *node, const struct expr_names *names, struct arena *arena,
	     struct arg *out, struct err *err)
{
	struct arg_source source = { .in = -1, .out = -1, .scalar = -1 };
	struct arg arg = { .name = node->key, .line = node->key_line };
	int result;

	if (schema_bind(&arg_schema, node, arena, &source, err) < 0)
		return -1;
	if ((source.in >= 0) + (source.out >= 0) + (source.scalar >= 0) != 1)
		return yaml_err(node, err,
				"an argument has exactly one of the keys in, out, scalar");
	arg.role = source.in >= 0 ? ARG_IN : source.out >= 0 ? ARG_OUT : ARG_SCALAR;
	arg.element = MAX_OF(source.in, MAX_OF(source.out, source.scalar));
	if (arg.role == ARG_SCALAR)
		result = read_scalar(node, &source, names, arena, &arg, err);
	else
		result = read_buffer(node, &source, names, arena, &arg, err);
	if (result == 0)
		*out = arg;
	return result;
}

uint64_t arg_element_size(int element)
{
	return element == ARG_F32 || element == ARG_I32 ? 4 : 8;
}

int arg_oracle_element(const struct arg *arg)
{
	return arg->element == ARG_F32 ? ARG_F64 : arg->element;
}
