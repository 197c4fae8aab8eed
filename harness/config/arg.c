/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/arg.h"

#include <math.h>
#include <string.h>

#include "harness/config/types.h"

const struct name arg_role_names[] = {
	{ "in", ARG_IN },           { "out", ARG_OUT },       { "inout", ARG_INOUT },
	{ "scratch", ARG_SCRATCH }, { "scalar", ARG_SCALAR }, { NULL },
};

enum { ROLES = ARG_SCALAR + 1 };

/* What arg_schema fills; arg_read() makes a struct arg of it. */
struct arg_source {
	int in, out, inout, scratch, scalar; /* enum element, or -1 */
	int storage;                         /* enum element, or -1 */
	uint64_t align;
	const char *values, *compare, *writes;
	const struct yaml_node *shape, *strides, *value;
};

/* clang-format off */
static const struct name storages[] = { { "u8", ELEMENT_U8 }, { NULL } };

static const struct collection shape = { "a list of expressions such as [B, 2*L]", NULL };
static const struct collection strides = { "a list of expressions such as [L + 8]", NULL };

static const struct field arg_fields[] = {
	{ "in",       &type_word,  INT_AT(struct arg_source, in),       OPTIONAL, 0, 0,   element_names,
	  "a buffer the judge fills: its element type" },
	{ "out",      &type_word,  INT_AT(struct arg_source, out),      OPTIONAL, 0, 0,   element_names,
	  "a buffer the function fills: its element type" },
	{ "inout",    &type_word,  INT_AT(struct arg_source, inout),    OPTIONAL, 0, 0,   element_names,
	  "a buffer the judge fills and the function changes: its element type" },
	{ "scratch",  &type_word,  INT_AT(struct arg_source, scratch),  OPTIONAL, 0, 0,   element_names,
	  "a work area, contents of no meaning: its element type" },
	{ "scalar",   &type_word,  INT_AT(struct arg_source, scalar),   OPTIONAL, 0, 0,   element_names,
	  "a number passed by value: its type; exactly one of in, out, inout, scratch, scalar is given" },
	{ "shape",    &type_items, NODE_AT(struct arg_source, shape),   OPTIONAL, 0, ARG_RANK_MAX, &shape,
	  "buffers: expressions, outermost first" },
	{ "storage",  &type_word,  INT_AT(struct arg_source, storage),  OPTIONAL, 0, 0,   storages,
	  "i4, u4: the type that holds two of them" },
	{ "strides",  &type_items, NODE_AT(struct arg_source, strides), OPTIONAL, 0, ARG_RANK_MAX, &strides,
	  "buffers: distances in elements, of the first extents; what is left out is dense" },
	{ "align",    &type_count, U64_AT(struct arg_source, align),    OPTIONAL, 1, ARG_ALIGN_MAX, NULL,
	  "buffers: bytes, a power of two; the first element lies at a multiple of it, and of no more" },
	{ "values",   &type_text,  TEXT_AT(struct arg_source, values),  OPTIONAL, 1, VALUES_TEXT_MAX, NULL,
	  "in, inout: the distribution of the values" },
	{ "compare",  &type_text,  TEXT_AT(struct arg_source, compare), OPTIONAL, 1, 100, NULL,
	  "out, inout: how a result is compared with the oracle's" },
	{ "writes",   &type_text,  TEXT_AT(struct arg_source, writes),  OPTIONAL, 1, 100, NULL,
	  "inout: rows(A), the rows that may change" },
	{ "value",    &type_expr,  NODE_AT(struct arg_source, value),   OPTIONAL, 1, EXPR_TEXT_MAX, NULL,
	  "scalar: an expression; of a real type also a number such as 1e-5" },
	{ "list",     &type_later, NOWHERE, LATER, 0, 0, NULL, "a list of buffers" },
	{ "refresh",  &type_later, NOWHERE, LATER, 0, 0, NULL, "when new values are made: call or process" },
	{ "distinct", &type_later, NOWHERE, LATER, 0, 0, NULL, "no value twice" },
	{ "from",     &type_later, NOWHERE, LATER, 0, 0, NULL, "the arguments that generated values depend on" },
};
/* clang-format on */
const struct schema arg_schema = { "an argument", arg_fields, ARRAY_LEN(arg_fields), false };

/* Which keys go with which role, beside the role's own. */
enum { NEVER, MAY, MUST };

static const struct key {
	const char *name, *roles; /* in messages */
	int need[ROLES];          /* by enum arg_role */
} keys[] = {
	/* clang-format off */
	{ "shape",   "in', 'out', 'inout' or 'scratch", { MUST,  MUST,  MUST,  MUST,  NEVER } },
	{ "storage", "in', 'out', 'inout' or 'scratch", { MAY,   MAY,   MAY,   MAY,   NEVER } },
	{ "strides", "in', 'out' or 'inout",            { MAY,   MAY,   MAY,   NEVER, NEVER } },
	{ "align",   "in', 'out', 'inout' or 'scratch", { MAY,   MAY,   MAY,   MAY,   NEVER } },
	{ "values",  "in' or 'inout",                   { MUST,  NEVER, MUST,  NEVER, NEVER } },
	{ "compare", "out' or 'inout",                  { NEVER, MUST,  MUST,  NEVER, NEVER } },
	{ "writes",  "inout",                           { NEVER, NEVER, MAY,   NEVER, NEVER } },
	{ "value",   "scalar",                          { NEVER, NEVER, NEVER, NEVER, MUST } },
	/* clang-format on */
};

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

static int read_role(const struct yaml_node *node, const struct arg_source *source, struct arg *arg,
		     struct err *err)
{
	const int elements[ROLES] = {
		[ARG_IN] = source->in,         [ARG_OUT] = source->out,
		[ARG_INOUT] = source->inout,   [ARG_SCRATCH] = source->scratch,
		[ARG_SCALAR] = source->scalar,
	};
	int given = 0;

	for (int role = 0; role < ROLES; role++) {
		if (elements[role] < 0)
			continue;
		arg->role = role;
		arg->element = elements[role];
		given++;
	}
	if (given != 1)
		return yaml_err(node, err,
				"an argument has exactly one of the keys in, out, inout, scratch, "
				"scalar");
	return 0;
}

static int check_keys(const struct yaml_node *node, int role, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct yaml_node *found = yaml_find(node, keys[i].name);

		if (found && keys[i].need[role] == NEVER)
			return yaml_err(found, err, "only an argument with the key '%s' has '%s'",
					keys[i].roles, keys[i].name);
		if (!found && keys[i].need[role] == MUST)
			return yaml_err(node, err, "the argument lacks the key '%s'", keys[i].name);
	}
	return 0;
}

static int read_exprs(const struct yaml_node *list, const struct expr_names *names,
		      struct arena *arena, struct expr *out, uint64_t *count, struct err *err)
{
	for (const struct yaml_node *item = list ? list->first : NULL; item; item = item->next)
		if (arg_read_expr(item, names, EXPR_NO_DRAWS, arena, &out[(*count)++], err) < 0)
			return -1;
	return 0;
}

static int read_align(const struct yaml_node *node, const struct arg_source *source,
		      struct arg *arg, struct err *err)
{
	uint64_t size = element_size((uint32_t) arg->element);

	arg->align = source->align;
	if (source->align == 0)
		return 0;
	if ((source->align & (source->align - 1)) != 0)
		return yaml_err(yaml_find(node, "align"), err, "'%llu' is not a power of two",
				(unsigned long long) source->align);
	if (source->align < size)
		return yaml_err(yaml_find(node, "align"), err,
				"an element of %s has %llu bytes and is aligned to them",
				names_text(element_names, arg->element), (unsigned long long) size);
	return 0;
}

/* "rows(NAME)", with blanks inside of the parentheses. */
static int read_writes(const struct yaml_node *node, struct arena *arena, struct arg *arg,
		       struct err *err)
{
	const char *from, *to, *end;
	char room[YAML_SHOWN];

	if (!node)
		return 0;
	from = node->text + strlen("rows(");
	if (strncmp(node->text, "rows(", strlen("rows(")) == 0) {
		from += strspn(from, " ");
		to = from + strcspn(from, " )");
		end = to + strspn(to, " ");
		arg->writes = node;
		arg->rows = arena_copy(arena, from, (size_t) (to - from));
		if (end[0] == ')' && end[1] == '\0' && types_is_identifier(arg->rows))
			return 0;
	}
	return yaml_err(node, err, "'%s' is not of the form rows(A), A being an argument",
			yaml_shown(node->text, room));
}

static int read_buffer(const struct yaml_node *node, const struct arg_source *source,
		       const struct expr_names *names, struct arena *arena, struct arg *arg,
		       struct err *err)
{
	if (source->storage >= 0 && !element_is_packed((uint32_t) arg->element))
		return yaml_err(yaml_find(node, "storage"), err,
				"only i4 and u4 are held by another type; %s is its own",
				names_text(element_names, arg->element));
	if (read_exprs(source->shape, names, arena, arg->shape, &arg->rank, err) < 0 ||
	    read_exprs(source->strides, names, arena, arg->strides, &arg->stride_count, err) < 0 ||
	    read_align(node, source, arg, err) < 0 ||
	    read_writes(yaml_find(node, "writes"), arena, arg, err) < 0)
		return -1;
	if (arg->stride_count > arg->rank)
		return yaml_err(yaml_find(node, "strides"), err,
				"there are %llu strides and %llu extents in the shape",
				(unsigned long long) arg->stride_count,
				(unsigned long long) arg->rank);
	if (arg->writes && arg->rank == 0)
		return yaml_err(arg->writes, err, "a single element has no rows");
	if (source->values && values_read(yaml_find(node, "values"), (uint32_t) arg->element, names,
					  arena, &arg->values, err) < 0)
		return -1;
	arg->compare_text = source->compare;
	if (!source->compare)
		return 0;
	return comparer_read(yaml_find(node, "compare"), (uint32_t) arg->element, &arg->compare,
			     err);
}

/* A real scalar may be a number that no expression can be: 0.5, 1e-5. */
static int read_scalar(const struct arg_source *source, const struct expr_names *names,
		       struct arena *arena, struct arg *arg, struct err *err)
{
	const struct yaml_node *node = source->value;
	char room[YAML_SHOWN];

	if (!element_is_real((uint32_t) arg->element) ||
	    types_parse_number(node->text, &arg->number) < 0)
		return arg_read_expr(node, names, EXPR_NO_DRAWS, arena, &arg->value, err);
	arg->has_number = true;
	arg->value.source.text = node->text;
	if (fabs(arg->number) > element_largest((uint32_t) arg->element))
		return yaml_err(node, err, "'%s' does not fit in %s", yaml_shown(node->text, room),
				names_text(element_names, arg->element));
	arg->number = element_round((uint32_t) arg->element, arg->number);
	return 0;
}

int arg_read(const struct yaml_node *node, const struct expr_names *names, struct arena *arena,
	     struct arg *out, struct err *err)
{
	struct arg_source source = { -1, -1, -1, -1, -1, .storage = -1 };
	struct arg arg = { .name = node->key, .file = node->file, .line = node->key_line };
	int result;

	if (schema_bind(&arg_schema, node, arena, &source, err) < 0 ||
	    read_role(node, &source, &arg, err) < 0 || check_keys(node, arg.role, err) < 0)
		return -1;
	if (arg.role == ARG_SCALAR)
		result = read_scalar(&source, names, arena, &arg, err);
	else
		result = read_buffer(node, &source, names, arena, &arg, err);
	if (result == 0)
		*out = arg;
	return result;
}

bool arg_has_values(const struct arg *arg)
{
	return arg->role == ARG_IN || arg->role == ARG_INOUT;
}

bool arg_has_result(const struct arg *arg)
{
	return arg->role == ARG_OUT || arg->role == ARG_INOUT;
}
