/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/case_arg.h"

#include <inttypes.h>

/* Extents, or strides: each is at least 1. */
static int run_all(const struct expr *exprs, uint64_t count, const int64_t *dims, const char *what,
		   uint64_t *out, struct err *err)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct expr_source *source = &exprs[i].source;
		char room[YAML_SHOWN];
		int64_t value;

		if (expr_run(&exprs[i], dims, NULL, &value, err) < 0)
			return -1;
		if (value < 1)
			return err_set(err, ERR_INPUT,
				       "%s:%d: key '%s': '%s' is %" PRId64 "; %s is at least 1",
				       source->file, source->line, source->key,
				       yaml_shown(source->text, room), value, what);
		out[i] = (uint64_t) value;
	}
	return 0;
}

static int arg_error(const struct arg *arg, const char *why, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s:%d: argument '%s': %s", arg->file, arg->line, arg->name,
		       why);
}

static int resolve_tensor(const struct arg *arg, const int64_t *dims, struct tensor *out,
			  struct err *err)
{
	struct tensor made = {
		.element = (uint32_t) arg->element,
		.rank = (uint32_t) arg->rank,
		.count = 1,
	};
	const char *fault;

	if (run_all(arg->shape, arg->rank, dims, "an extent", made.extents, err) < 0 ||
	    run_all(arg->strides, arg->stride_count, dims, "a stride", made.strides, err) < 0)
		return -1;
	for (uint64_t i = 0; i < arg->rank; i++)
		if (__builtin_mul_overflow(made.count, made.extents[i], &made.count) ||
		    made.count > 2 * CASES_BYTES_MAX)
			return arg_error(arg, "it is larger than 1GiB", err);
	tensor_set_dense(&made, (uint32_t) arg->stride_count);
	fault = tensor_fault(&made, CASES_BYTES_MAX);
	if (fault)
		return arg_error(arg, fault, err);
	/* The oracle has 8 bytes for each. */
	if (arg->role != ARG_SCRATCH && made.count > CASES_BYTES_MAX / ELEMENT_WIDE)
		return arg_error(arg, "it has more than 134217728 elements", err);
	*out = made;
	return 0;
}

static int resolve_scalar(const struct arg *arg, const int64_t *dims, struct case_arg *out,
			  struct err *err)
{
	uint32_t element = (uint32_t) arg->element;
	int64_t value;

	if (arg->has_number) {
		out->real = arg->number;
		return 0;
	}
	if (expr_run(&arg->value, dims, NULL, &value, err) < 0)
		return -1;
	if (value > element_most_whole(element) || value < element_least_whole(element))
		return err_set(err, ERR_INPUT,
			       "%s:%d: argument '%s': %" PRId64 " does not fit in %s", arg->file,
			       arg->line, arg->name, value,
			       names_text(element_names, arg->element));
	if (element_is_real(element))
		out->real = (double) value;
	else
		out->whole = value;
	return 0;
}

static int resolve_buffer(const struct arg *arg, const int64_t *dims, struct case_arg *out,
			  struct err *err)
{
	if (resolve_tensor(arg, dims, &out->tensor, err) < 0)
		return -1;
	out->bytes = tensor_bytes(&out->tensor);
	if (arg->writes && element_is_packed(out->tensor.element) &&
	    tensor_group(&out->tensor) % 2 != 0)
		return arg_error(arg, "rows that may change one by one are whole bytes", err);
	if (!arg_has_values(arg))
		return 0;
	return values_resolve(&arg->values, dims, &out->tensor, &out->values, err);
}

int case_arg_resolve(const struct arg *arg, const int64_t *dims, struct case_arg *out,
		     struct err *err)
{
	struct case_arg made = { .bytes = 0 };

	if (arg->role == ARG_SCALAR ? resolve_scalar(arg, dims, &made, err) < 0
				    : resolve_buffer(arg, dims, &made, err) < 0)
		return -1;
	*out = made;
	return 0;
}
