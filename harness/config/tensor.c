/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/tensor.h"

#include <string.h>

#include "sandbox/base/compiler.h"

struct tensor tensor_of_row(uint32_t element, uint64_t count)
{
	return (struct tensor){ .element = element, .count = count };
}

void tensor_set_dense(struct tensor *tensor, uint32_t first)
{
	uint64_t stride = 1;

	/* A product that overflows belongs to a tensor that tensor_fault() refuses. */
	for (uint32_t i = tensor->rank; i-- > first; stride *= tensor->extents[i])
		tensor->strides[i] = stride;
}

/* The last element's index in the buffer; false if it is out of all bounds. */
static bool reach(const struct tensor *tensor, uint64_t *out)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		uint64_t step;

		if (__builtin_mul_overflow(tensor->extents[i] - 1, tensor->strides[i], &step) ||
		    __builtin_add_overflow(last, step, &last))
			return false;
	}
	*out = tensor->rank == 0 ? tensor->count - 1 : last;
	return true;
}

/*
 * No two elements are in one place if, with the extents in the order of their strides, each stride
 * steps over all that the ones before it reach.
 */
static bool is_disjoint(const struct tensor *tensor)
{
	bool taken[TENSOR_RANK_MAX] = { false };
	uint64_t reached = 0;

	for (uint32_t n = 0; n < tensor->rank; n++) {
		uint32_t next = tensor->rank;

		for (uint32_t i = 0; i < tensor->rank; i++)
			if (!taken[i] &&
			    (next == tensor->rank || tensor->strides[i] < tensor->strides[next]))
				next = i;
		taken[next] = true;
		if (tensor->extents[next] == 1)
			continue;
		if (tensor->strides[next] <= reached)
			return false;
		reached += (tensor->extents[next] - 1) * tensor->strides[next];
	}
	return true;
}

static bool is_in_whole_bytes(const struct tensor *tensor)
{
	if (!element_is_packed(tensor->element) || tensor_is_dense(tensor))
		return true;
	for (uint32_t i = 0; i + 1 < tensor->rank; i++)
		if (tensor->extents[i] > 1 && tensor->strides[i] % 2 != 0)
			return false;
	return tensor->extents[tensor->rank - 1] % 2 == 0 && tensor->strides[tensor->rank - 1] == 1;
}

const char *tensor_fault(const struct tensor *tensor, uint64_t bytes_max)
{
	uint64_t count = tensor->rank == 0 ? tensor->count : 1, last;

	if (tensor->element >= ELEMENT_COUNT)
		return "its type is unknown";
	if (tensor->rank > TENSOR_RANK_MAX)
		return "it has more than 8 extents";
	for (uint32_t i = 0; i < tensor->rank; i++)
		if (__builtin_mul_overflow(count, tensor->extents[i], &count))
			return "it is too large";
	if (count == 0)
		return "it is empty";
	if (count != tensor->count)
		return "its extents are not those of its elements";
	for (uint32_t i = 0; i < tensor->rank; i++)
		if (tensor->strides[i] == 0)
			return "a stride is 0";
	if (!reach(tensor, &last) || last >= bytes_max ||
	    element_bytes(tensor->element, last + 1) > bytes_max)
		return "it is too large";
	if (!is_disjoint(tensor))
		return "its strides make elements overlap";
	if (!is_in_whole_bytes(tensor))
		return "its rows are not whole bytes: packed elements need an even last extent, 1 "
		       "as its stride and even strides before it";
	return NULL;
}

bool tensor_is_dense(const struct tensor *tensor)
{
	uint64_t stride = 1;

	for (uint32_t i = tensor->rank; i-- > 0; stride *= tensor->extents[i])
		if (tensor->extents[i] > 1 && tensor->strides[i] != stride)
			return false;
	return true;
}

uint64_t tensor_bytes(const struct tensor *tensor)
{
	uint64_t last = 0;

	best_effort(reach(tensor, &last)); /* tensor_fault() has seen that it can be reached */
	return element_bytes(tensor->element, last + 1);
}

uint64_t tensor_plain_bytes(const struct tensor *tensor)
{
	return element_bytes(tensor->element, tensor->count);
}

uint64_t tensor_row(const struct tensor *tensor)
{
	return tensor->rank == 0 ? tensor->count : tensor->extents[tensor->rank - 1];
}

uint64_t tensor_group(const struct tensor *tensor)
{
	return tensor->rank == 0 ? tensor->count : tensor->count / tensor->extents[0];
}

static uint64_t element_offset(const struct tensor *tensor, uint64_t index)
{
	uint64_t offset = 0;

	if (tensor->rank == 0)
		return index;
	for (uint32_t i = tensor->rank; i-- > 0; index /= tensor->extents[i])
		offset += index % tensor->extents[i] * tensor->strides[i];
	return offset;
}

static uint64_t bytes_before(const struct tensor *tensor, uint64_t offset)
{
	return element_is_packed(tensor->element) ? offset / 2
						  : offset * element_size(tensor->element);
}

uint64_t tensor_offset(const struct tensor *tensor, uint64_t index)
{
	return bytes_before(tensor, element_offset(tensor, index));
}

/* What can be copied at once: a row where its elements are neighbours, else one of them. */
static uint64_t run_length(const struct tensor *tensor)
{
	return tensor->rank == 0 || tensor->strides[tensor->rank - 1] == 1 ? tensor_row(tensor) : 1;
}

/* A run that spans groups is cut where a group ends: with one extent each element is one. */
void tensor_scatter(const struct tensor *tensor, const void *plain, const bool *groups,
		    void *buffer)
{
	uint64_t run = run_length(tensor), group = tensor_group(tensor);

	if (!groups && tensor_is_dense(tensor)) {
		memcpy(buffer, plain, tensor_plain_bytes(tensor));
		return;
	}
	run = groups ? MIN_OF(run, group) : run;
	for (uint64_t i = 0; i < tensor->count; i += run)
		if (!groups || groups[i / group])
			memcpy((uint8_t *) buffer + tensor_offset(tensor, i),
			       (const uint8_t *) plain + bytes_before(tensor, i),
			       element_bytes(tensor->element, run));
}

void tensor_gather(const struct tensor *tensor, const void *buffer, void *plain)
{
	uint64_t run = run_length(tensor);

	if (tensor_is_dense(tensor)) {
		memcpy(plain, buffer, tensor_plain_bytes(tensor));
		return;
	}
	for (uint64_t i = 0; i < tensor->count; i += run)
		memcpy((uint8_t *) plain + bytes_before(tensor, i),
		       (const uint8_t *) buffer + tensor_offset(tensor, i),
		       element_bytes(tensor->element, run));
}
