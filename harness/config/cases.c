/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/cases.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "harness/config/numbers.h"
#include "harness/config/types.h"

const struct name category_names[] = {
	{ "odd", CATEGORY_ODD },
	{ "up", CATEGORY_UP },
	{ "down", CATEGORY_DOWN },
	{ "edge", CATEGORY_EDGE },
	{ "asymmetric", CATEGORY_ASYMMETRIC },
	{ "production", CATEGORY_PRODUCTION },
	{ NULL },
};

/* clang-format off */
static const struct field hidden_fields[] = {
	{ "cases", &type_count, U64_AT(struct hidden_category, cases), REQUIRED, 1, CASES_OF_CATEGORY_MAX, NULL,
	  "how many cases are drawn" },
	{ "from",  &type_later, NOWHERE, LATER, 0, 0, NULL, "named sets of dimensions to choose from" },
};
/* clang-format on */
const struct schema hidden_schema = { "a hidden category", hidden_fields, ARRAY_LEN(hidden_fields),
				      true };

int cases_resolve(const struct cases *cases, const int64_t *given, struct task_case *out,
		  struct err *err)
{
	const struct dims *dims = &cases->dims;
	struct task_case made = { 0 };

	memcpy(made.dims, given, dims->given * sizeof(*given));
	if (dims_derive(dims, made.dims, err) < 0)
		return -1;
	for (size_t i = 0; i < cases->arg_count; i++) {
		if (case_arg_resolve(&cases->args[i], made.dims, &made.args[i], err) < 0)
			return -1;
		/* Each is at most 1GiB. */
		made.bytes += made.args[i].bytes;
	}
	made.dims[dims->count] = (int64_t) made.bytes;
	if (dims_check(dims, made.dims, err) < 0)
		return -1;
	if (made.bytes > CASES_BYTES_MAX)
		return err_set(err, ERR_INPUT,
			       "the buffers of the case take %" PRIu64 " bytes; 1GiB is the most",
			       made.bytes);
	*out = made;
	return 0;
}

static bool is_seen(const struct cases *cases, const int64_t *given)
{
	for (size_t i = 0; i < cases->seen_count; i++)
		if (memcmp(cases->seen[i].dims, given, cases->dims.given * sizeof(*given)) == 0)
			return true;
	return false;
}

static int draw_once(const struct cases *cases, const struct hidden_category *hidden,
		     const struct expr_draw *draw, struct task_case *out, struct err *err)
{
	int64_t given[DIMS_MAX] = { 0 }, pick = 0;

	/* An interval that holds its own ends is never empty. */
	numbers_draw(0, (int64_t) cases->seen_count - 1, draw->next(draw->user), &pick);
	memcpy(given, cases->seen[pick].dims, sizeof(given));
	for (size_t i = 0; i < hidden->range_count; i++) {
		int64_t *value = &given[hidden->ranges[i].dim];

		if (expr_run(&hidden->ranges[i].value, cases->seen[pick].dims, draw, value, err) <
		    0)
			return -1;
		if (*value < 0 || *value > DIMS_VALUE_MAX)
			return err_set(err, ERR_INPUT,
				       "%s is %" PRId64 ", which is not within 0..2^40",
				       cases->dims.names[hidden->ranges[i].dim], *value);
	}
	if (is_seen(cases, given))
		return err_set(err, ERR_INPUT, "the case drawn is one of the seen cases");
	return cases_resolve(cases, given, out, err);
}

static uint64_t steps_of(const struct expr *exprs, uint64_t count)
{
	uint64_t steps = 0;

	for (uint64_t i = 0; i < count; i++)
		steps += exprs[i].steps;
	return steps;
}

static uint64_t resolve_steps(const struct cases *cases)
{
	const struct dims *dims = &cases->dims;
	uint64_t steps = steps_of(dims->derived + dims->given, dims->count - dims->given) +
			 steps_of(dims->where, dims->where_count);

	for (size_t i = 0; i < cases->arg_count; i++) {
		const struct arg *arg = &cases->args[i];

		steps += steps_of(arg->shape, arg->rank) +
			 steps_of(arg->strides, arg->stride_count) + arg->value.steps;
		if (arg->values.exprs)
			steps += steps_of(arg->values.exprs, arg->values.count);
	}
	return steps;
}

static uint64_t draw_steps(const struct cases *cases, const struct hidden_category *hidden)
{
	uint64_t steps = resolve_steps(cases);

	for (size_t i = 0; i < hidden->range_count; i++)
		steps += hidden->ranges[i].value.steps;
	return steps;
}

static int spend(uint64_t steps, uint64_t *left, const struct yaml_node *node, struct err *err)
{
	if (steps > *left)
		return yaml_err(node, err,
				"to try the cases up to here takes more than %d steps; have fewer "
				"prime(least, most), which is %d of them, or prime(n), which is "
				"%d, or ranges of which more draws are allowed",
				CASES_STEPS_MAX, EXPR_STEPS_DRAW_PRIME, EXPR_STEPS_IS_PRIME);
	*left -= steps;
	return 0;
}

/* @left: of the steps that all draws together may take; NULL: as many as it takes. */
static int draw_within(const struct cases *cases, size_t index, const struct expr_draw *draw,
		       uint64_t *left, struct task_case *out, struct err *err)
{
	const struct hidden_category *hidden = &cases->hidden[index];
	const uint64_t steps = left ? draw_steps(cases, hidden) : 0;
	struct err last = ERR_INIT; /* of a draw that another one may follow */

	for (int i = 0; i < CASES_TRIES; i++) {
		if (left && spend(steps, left, hidden->node, err) < 0)
			return -1;
		if (draw_once(cases, hidden, draw, out, &last) == 0)
			return 0;
	}
	*err = last;
	return err_wrap(err,
			"%s:%d: key '%s': none of %d draws is a case that the task allows; "
			"the last",
			hidden->node->file, hidden->line, hidden->node->key, CASES_TRIES);
}

int cases_draw(const struct cases *cases, size_t index, const struct expr_draw *draw,
	       struct task_case *out, struct err *err)
{
	return draw_within(cases, index, draw, NULL, out, err);
}

static int read_seen_case(const struct yaml_node *node, const struct dims *dims,
			  struct seen_case *out, struct err *err)
{
	if (node->kind != YAML_MAP || node->count != dims->given)
		return yaml_err(node, err,
				"every case has to give the same %zu dimensions, as the "
				"first does",
				dims->given);
	out->line = node->line;
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		int dim = dims_find(dims, dims->given, item->key);
		uint64_t value;

		if (dim < 0)
			return yaml_err(item, err,
					"the first case does not have this dimension; "
					"all cases have the same");
		if (item->kind != YAML_TEXT || types_parse_count(item->text, &value) < 0 ||
		    value > (uint64_t) DIMS_VALUE_MAX)
			return schema_expected(NULL, item, "a whole number within 0..2^40", err);
		out->dims[dim] = (int64_t) value;
	}
	return 0;
}

static int read_seen(const struct yaml_node *node, struct cases *cases, struct err *err)
{
	if (dims_read_given(node->first, &cases->dims, err) < 0)
		return -1;
	if (cases->dims.given == 0)
		return yaml_err(node, err, "a case has to give at least one dimension");
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		struct seen_case *seen = &cases->seen[cases->seen_count];

		if (read_seen_case(item, &cases->dims, seen, err) < 0)
			return -1;
		if (is_seen(cases, seen->dims))
			return yaml_err(item, err, "this case is given twice");
		cases->seen_count++;
	}
	return 0;
}

/* What a file has in `args`, in its own order. */
struct defined {
	struct arg args[CASES_ARGS_MAX];
	size_t count;
};

static const char *arg_name(const void *list, size_t i)
{
	const struct defined *defined = list;

	return defined->args[i].name;
}

/* Finds an entry name among the arguments that the file defines, and the dimensions. */
static int place_arg(const struct yaml_node *item, const struct defined *defined,
		     const struct dims *dims, struct arena *arena, struct arg *out, struct err *err)
{
	struct expr_names names = dims_names(dims);
	char room[YAML_SHOWN];

	for (size_t i = 0; i < defined->count; i++)
		if (strcmp(defined->args[i].name, item->text) == 0) {
			*out = defined->args[i];
			return 0;
		}
	if (dims_find(dims, dims->count, item->text) < 0)
		return yaml_err(item, err,
				"'%s' is neither in args nor a dimension; the nearest "
				"argument is '%s'",
				yaml_shown(item->text, room),
				schema_nearest(item->text, defined->count, arg_name, defined));
	*out = (struct arg){
		.name = item->text,
		.file = item->file,
		.line = item->line,
		.role = ARG_SCALAR,
		.element = ELEMENT_I64,
	};
	return arg_read_expr(item, &names, EXPR_NO_DRAWS, arena, &out->value, err);
}

static int read_entry_args(const struct yaml_node *node, const struct defined *defined,
			   struct arena *arena, struct cases *cases, struct err *err)
{
	char room[YAML_SHOWN];

	for (const struct yaml_node *item = node->first; item; item = item->next) {
		if (item->kind != YAML_TEXT)
			return yaml_err(item, err, "it has to be a list of names of arguments");
		if (cases_find_arg(cases, item->text) >= 0)
			return yaml_err(item, err, "'%s' is listed twice",
					yaml_shown(item->text, room));
		if (place_arg(item, defined, &cases->dims, arena, &cases->args[cases->arg_count],
			      err) < 0)
			return -1;
		cases->arg_count++;
	}
	return 0;
}

const char *cases_arg_name(const struct cases *cases, size_t index)
{
	return index < cases->arg_count ? cases->args[index].name : NULL;
}

int cases_find_arg(const struct cases *cases, const char *name)
{
	for (size_t i = 0; i < cases->arg_count; i++)
		if (strcmp(cases->args[i].name, name) == 0)
			return (int) i;
	return -1;
}

/* The indices that name the rows are an input of a whole type. */
static int check_writes(const struct cases *cases, struct err *err)
{
	for (size_t i = 0; i < cases->arg_count; i++) {
		const struct arg *arg = &cases->args[i];
		int rows = arg->rows ? cases_find_arg(cases, arg->rows) : -1;
		char room[YAML_SHOWN];

		if (!arg->rows)
			continue;
		if (rows < 0 || cases->args[rows].role != ARG_IN ||
		    element_is_real((uint32_t) cases->args[rows].element))
			return yaml_err(arg->writes, err,
					"'%s' is not an argument with the key 'in' and a whole "
					"type, which could say the rows",
					yaml_shown(arg->rows, room));
	}
	return 0;
}

static int read_args(const struct cases_nodes *nodes, struct arena *arena, struct cases *cases,
		     struct err *err)
{
	struct expr_names names = dims_names(&cases->dims);
	struct defined *defined = arena_alloc(arena, 1, sizeof(*defined));
	size_t outs = 0;

	for (const struct yaml_node *item = nodes->args->first; item; item = item->next) {
		if (!types_is_identifier(item->key))
			return yaml_err(item, err,
					"an argument has a name of letters, digits and _");
		if (dims_find(&cases->dims, cases->dims.count, item->key) >= 0)
			return yaml_err(item, err, "a dimension has this name already");
		if (arg_read(item, &names, arena, &defined->args[defined->count], err) < 0)
			return -1;
		outs += arg_has_result(&defined->args[defined->count++]);
	}
	if (outs == 0)
		return yaml_err(nodes->args, err,
				"no argument has the key 'out' or 'inout', so there is nothing "
				"to mark");
	if (read_entry_args(nodes->entry_args, defined, arena, cases, err) < 0)
		return -1;
	for (const struct yaml_node *item = nodes->args->first; item; item = item->next)
		if (cases_find_arg(cases, item->key) < 0)
			return yaml_err(item, err, "the entry's args do not list this argument");
	return check_writes(cases, err);
}

static int read_ranges(const struct yaml_node *node, const struct dims *dims, struct arena *arena,
		       struct hidden_category *hidden, struct err *err)
{
	struct expr_names names = { dims->names, dims->given };

	for (const struct yaml_node *item = node->first; item; item = item->next) {
		int dim = dims_find(dims, dims->given, item->key);

		if (schema_find(&hidden_schema, item->key))
			continue;
		if (dim < 0)
			return yaml_err(item, err, "the seen cases do not give this dimension");
		hidden->ranges[hidden->range_count].dim = (size_t) dim;
		if (arg_read_expr(item, &names, EXPR_DRAWS, arena,
				  &hidden->ranges[hidden->range_count++].value, err) < 0)
			return -1;
	}
	if (hidden->range_count == 0)
		return yaml_err(node, err, "it has to give the range of at least one dimension");
	return 0;
}

static int read_hidden(const struct yaml_node *node, struct arena *arena, struct cases *cases,
		       struct err *err)
{
	uint64_t total = cases->seen_count;

	for (const struct yaml_node *item = node->first; item; item = item->next) {
		struct hidden_category *hidden = &cases->hidden[cases->hidden_count];

		if (names_find(category_names, item->key, &hidden->category) < 0)
			return yaml_err(item, err,
					"a category is one of: odd, up, down, edge, "
					"asymmetric, production");
		hidden->line = item->key_line;
		hidden->node = item;
		if (schema_bind(&hidden_schema, item, arena, hidden, err) < 0 ||
		    read_ranges(item, &cases->dims, arena, hidden, err) < 0)
			return -1;
		total += hidden->cases;
		cases->hidden_count++;
	}
	if (total > CASES_MAX)
		return yaml_err(node, err,
				"seen and hidden cases together are %" PRIu64 "; %d are the most",
				total, CASES_MAX);
	return 0;
}

/* SplitMix64: good enough to try a category, and the same in every check of a task. */
static uint64_t next_trial(void *user)
{
	uint64_t z = *(uint64_t *) user += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int try_cases(const struct cases *cases, const struct yaml_node *seen, struct err *err)
{
	struct task_case made;
	uint64_t state = 1, left = CASES_STEPS_MAX;
	struct expr_draw draw = { next_trial, &state };

	if (spend(cases->seen_count * resolve_steps(cases), &left, seen, err) < 0)
		return -1;
	for (size_t i = 0; i < cases->seen_count; i++)
		if (cases_resolve(cases, cases->seen[i].dims, &made, err) < 0)
			return err_wrap(err, "seen case %zu (line %d)", i + 1, cases->seen[i].line);
	for (size_t i = 0; i < cases->hidden_count; i++)
		for (uint64_t k = 0; k < cases->hidden[i].cases; k++)
			if (draw_within(cases, i, &draw, &left, &made, err) < 0)
				return -1;
	return 0;
}

int cases_read(const struct cases_nodes *nodes, struct arena *arena, struct cases *out,
	       struct err *err)
{
	assert(nodes->seen->count <= CASES_SEEN_MAX && nodes->args->count <= CASES_ARGS_MAX);
	assert(nodes->entry_args->count <= CASES_ARGS_MAX);
	if (read_seen(nodes->seen, out, err) < 0 ||
	    dims_read_derived(nodes->dims, arena, &out->dims, err) < 0 ||
	    dims_read_where(nodes->where, arena, &out->dims, err) < 0 ||
	    read_args(nodes, arena, out, err) < 0 ||
	    (nodes->hidden && read_hidden(nodes->hidden, arena, out, err) < 0))
		return -1;
	return try_cases(out, nodes->seen, err);
}
