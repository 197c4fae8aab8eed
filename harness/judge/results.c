/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/results.h"

#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/mem.h"

/* One argument with a result. */
struct result {
	const struct marking_arg *arg;
	uint64_t offset;       /* of its buffer in the outputs */
	uint64_t bytes;        /* with padding */
	const uint8_t *after;  /* its buffer after the call */
	const uint8_t *before; /* an inout's before the call, else NULL */
};

static void free_rows(bool **rows)
{
	mem_free(rows);
}

/* Which rows of an inout the indices in its input name; others than its own name none. */
static bool *find_rows(const struct results *results, const struct result *result)
{
	uint32_t from = result->arg->rows - 1;
	const struct tensor *tensor = &results->item->args[from].tensor;
	uint64_t count = result->arg->tensor.count / tensor_group(&result->arg->tensor);
	const uint8_t *buffer = results->inputs + results->shape->call.args[from].offset;
	cleanup(mem_free) uint8_t *plain = mem_alloc(tensor_plain_bytes(tensor), 1);
	bool *rows = mem_alloc(count, sizeof(*rows));

	tensor_gather(tensor, buffer, plain);
	for (uint64_t i = 0; i < tensor->count; i++) {
		int64_t row;

		element_widen(tensor->element, plain, i, 1, &row);
		if (row >= 0 && (uint64_t) row < count)
			rows[row] = true;
	}
	return rows;
}

/*
 * What the buffer would be, had nothing been written but the elements that may be: anything else
 * was written where nothing was to be written.
 */
static bool find_outside(const struct results *results, const struct result *result,
			 const uint8_t *plain, uint64_t *offset)
{
	cleanup(mem_free) uint8_t *image = mem_alloc(result->bytes, 1);
	cleanup(free_rows) bool *rows = NULL;

	if (result->arg->use == MARKING_INOUT && result->arg->rows > 0)
		rows = find_rows(results, result);
	if (!rows && tensor_is_dense(&result->arg->tensor))
		return false;
	for (uint64_t i = 0; i < result->bytes; i++)
		image[i] = result->before ? result->before[i]
					  : poison_byte(results->poison_seed, result->offset + i);
	tensor_scatter(&result->arg->tensor, plain, rows, image);
	for (uint64_t i = 0; i < result->bytes; i++) {
		if (image[i] == result->after[i])
			continue;
		*offset = result->offset + i;
		return true;
	}
	return false;
}

static struct comparison compare_result(const struct results *results, const struct result *result,
					const void *want)
{
	const struct tensor *tensor = &result->arg->tensor;
	cleanup(mem_free) uint8_t *gathered = NULL;
	const uint8_t *plain = result->after;
	struct compare_poison poison = {
		.seed = results->poison_seed,
		.offset = result->offset,
		.tensor = result->before ? NULL : tensor,
	};
	struct comparison found;

	if (!tensor_is_dense(tensor)) {
		gathered = mem_alloc(tensor_plain_bytes(tensor), 1);
		tensor_gather(tensor, result->after, gathered);
		plain = gathered;
	}
	found = compare_outputs(&result->arg->compare, tensor, plain, want, &poison);
	if (!found.wrong && find_outside(results, result, plain, &found.index))
		found.wrong = found.outside = true;
	return found;
}

struct comparison results_compare(const struct results *results, uint32_t *arg)
{
	const struct marking_shape *shape = results->shape;
	const uint8_t *fill = results->fill;
	struct comparison found = { .wrong = true };

	for (uint32_t i = 0; i < results->item->arg_count; i++) {
		struct result result = {
			.arg = &results->item->args[i],
			.offset = shape->call.args[i].offset,
			.bytes = shape->call.args[i].bytes,
		};

		if (!marking_has_result(result.arg))
			continue;
		result.after = results->snapshot + result.offset;
		if (result.arg->use == MARKING_INOUT) {
			result.before = fill;
			fill += protocol_fill_bytes(result.bytes);
		}
		found = compare_result(results, &result,
				       results->expected +
					       results->oracle_shape->call.args[i].offset);
		*arg = i;
		if (found.wrong)
			break;
	}
	return found;
}
