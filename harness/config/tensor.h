/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/element.h"

/*
 * How the elements of a buffer lie in it: extents and strides, as plain numbers
 *
 * Everybody but the kernel works on *plain* elements: side by side, the last index running fastest
 * (C order), in the element's own type. A *dense* buffer is that already. Else plain elements are
 * scattered into the buffer and gathered from it, and what lies between is padding. No element
 * overlaps another one, and those of a packed type never share a byte with padding.
 */
enum { TENSOR_RANK_MAX = 8 };

struct tensor {
	uint32_t element; /* enum element */
	uint32_t rank;    /* 0: one row of `count` elements */
	uint64_t count;   /* the product of the extents; at least 1 */
	uint64_t extents[TENSOR_RANK_MAX];
	uint64_t strides[TENSOR_RANK_MAX]; /* distances in elements */
};

/**
 * tensor_of_row() - @count elements side by side
 */
struct tensor tensor_of_row(uint32_t element, uint64_t count);

/**
 * tensor_set_dense() - fill in the strides from @first on for a dense layout of the extents behind
 */
void tensor_set_dense(struct tensor *tensor, uint32_t first);

/**
 * tensor_fault() - what is wrong with it, or NULL; pure
 * @bytes_max: the largest buffer
 *
 * All other functions need a tensor without fault.
 */
const char *tensor_fault(const struct tensor *tensor, uint64_t bytes_max);

/**
 * tensor_is_dense() - is it without padding, in C order
 */
bool tensor_is_dense(const struct tensor *tensor);

/**
 * tensor_bytes() - from the first byte of the first element to the last byte of the last one
 */
uint64_t tensor_bytes(const struct tensor *tensor);

/**
 * tensor_plain_bytes() - bytes of the plain elements
 */
uint64_t tensor_plain_bytes(const struct tensor *tensor);

/**
 * tensor_row() - elements of one row: the last extent
 */
uint64_t tensor_row(const struct tensor *tensor);

/**
 * tensor_group() - elements below one index of the first extent
 */
uint64_t tensor_group(const struct tensor *tensor);

/**
 * tensor_offset() - where an element lies in the buffer, in bytes
 * @index: among the plain elements
 */
uint64_t tensor_offset(const struct tensor *tensor, uint64_t index);

/**
 * tensor_scatter() - put plain elements where they belong; padding stays as it is
 * @groups: for each index of the first extent, whether its elements are put; NULL: all
 */
void tensor_scatter(const struct tensor *tensor, const void *plain, const bool *groups,
		    void *buffer);

/**
 * tensor_gather() - the plain elements of a buffer
 */
void tensor_gather(const struct tensor *tensor, const void *buffer, void *plain);
