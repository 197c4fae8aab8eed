/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/dims.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "harness/config/arg.h"
#include "harness/config/types.h"
#include "sandbox/base/str.h"

/* Words of expressions and of hidden categories, which would hide a dimension. */
static const char *const reserved[] = {
	"bytes", "cases", "cdiv", "from", "in", "max", "min", "pow2", "prime", "range",
};

static int add_name(const struct yaml_node *node, struct dims *dims, struct err *err)
{
	if (!types_is_identifier(node->key))
		return yaml_err(node, err, "a dimension has a name of letters, digits and _");
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcmp(node->key, reserved[i]) == 0)
			return yaml_err(node, err,
					"this word has a meaning of its own; call the "
					"dimension something else");
	if (dims_find(dims, dims->count, node->key) >= 0)
		return yaml_err(node, err,
				"the seen cases give this dimension; it can not be "
				"derived as well");
	if (dims->count == DIMS_MAX)
		return yaml_err(node, err, "a task has at most %d dimensions", DIMS_MAX);
	dims->names[dims->count++] = node->key;
	dims->names[dims->count] = "bytes";
	return 0;
}

int dims_read_given(const struct yaml_node *seen_case, struct dims *dims, struct err *err)
{
	dims->names[0] = "bytes";
	if (seen_case->kind != YAML_MAP)
		return yaml_err(seen_case, err, "a case has to be a mapping such as {B: 1, H: 32}");
	for (const struct yaml_node *node = seen_case->first; node; node = node->next)
		if (add_name(node, dims, err) < 0)
			return -1;
	dims->given = dims->count;
	return 0;
}

int dims_read_derived(const struct yaml_node *node, struct arena *arena, struct dims *dims,
		      struct err *err)
{
	if (!node)
		return 0;
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		/* Only what stands before can be used, so that nothing goes round in circles. */
		struct expr_names names = dims_names(dims);
		size_t i = dims->count;

		if (add_name(item, dims, err) < 0 ||
		    arg_read_expr(item, &names, EXPR_NO_DRAWS, arena, &dims->derived[i], err) < 0)
			return -1;
	}
	return 0;
}

int dims_read_where(const struct yaml_node *node, struct arena *arena, struct dims *dims,
		    struct err *err)
{
	struct expr_names names = dims_names(dims);

	names.count++; /* and "bytes" */
	if (!node)
		return 0;
	assert(node->count <= DIMS_WHERE_MAX);
	for (const struct yaml_node *item = node->first; item; item = item->next)
		if (arg_read_expr(item, &names, EXPR_NO_DRAWS, arena,
				  &dims->where[dims->where_count++], err) < 0)
			return -1;
	return 0;
}

int dims_find(const struct dims *dims, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(dims->names[i], name) == 0)
			return (int) i;
	return -1;
}

struct expr_names dims_names(const struct dims *dims)
{
	return (struct expr_names){ dims->names, dims->count };
}

int dims_derive(const struct dims *dims, int64_t *values, struct err *err)
{
	for (size_t i = dims->given; i < dims->count; i++)
		if (expr_run(&dims->derived[i], values, NULL, &values[i], err) < 0)
			return -1;
	return 0;
}

static void done(struct str *str)
{
	str_done(str);
}

int dims_check(const struct dims *dims, const int64_t *values, struct err *err)
{
	cleanup(done) struct str shown = STR_INIT;

	for (size_t i = 0; i < dims->where_count; i++) {
		const struct expr *where = &dims->where[i];
		char room[YAML_SHOWN];
		int64_t holds;

		if (expr_run(where, values, NULL, &holds, err) < 0)
			return -1;
		if (holds)
			continue;
		for (size_t k = 0; k <= dims->count; k++)
			str_addf(&shown, "%s%s=%" PRId64, k == 0 ? "" : ", ", dims->names[k],
				 values[k]);
		return err_set(err, ERR_INPUT, "%s:%d: key '%s': '%s' is not true with %.200s",
			       where->source.file, where->source.line, where->source.key,
			       yaml_shown(where->source.text, room), shown.text);
	}
	return 0;
}
