/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/values.h"
#include "harness/judge/inputs.h"

/*
 * Fills buffers with the values that a task asks for, from a stream of random numbers
 *
 * The same stream and the same plan give the same bytes on every machine: nothing but additions,
 * multiplications, divisions and square roots of doubles is used, each of which IEEE 754 defines
 * to the last bit, and never what a C library makes of a logarithm.
 */

/**
 * draw_values() - fill @plain, tensor_plain_bytes() long
 * @plan:  without fault for @tensor
 * @tensor: only its type, its number of elements and its rows matter
 */
void draw_values(struct inputs *stream, const struct values_plan *plan, const struct tensor *tensor,
		 void *plain);

/**
 * draw_log() - the natural logarithm of a normal number above 0, to about 1e-15
 */
double draw_log(double x);

/**
 * draw_exp() - e^x for |x| below 700, to about 1e-15
 */
double draw_exp(double x);

/**
 * draw_normal() - two independent values of the normal distribution with mean 0 and deviation 1
 * @bits: two uniform 64-bit values
 */
void draw_normal(const uint64_t bits[2], double out[2]);
