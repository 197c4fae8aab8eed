/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Kernels for tests of the judge: what a candidate's library exports. A softmax over rows, a chain
 * whose work is exactly proportional to a number, and a curve that is as fast as memory.
 */

/**
 * softmax() - honest: of each of @rows rows of @cols floats
 */
void softmax(const float *in, float *out, int32_t rows, int32_t cols);

/**
 * softmax_rows() - the rows from @from to @to - 1
 */
void softmax_rows(const float *in, float *out, int32_t from, int32_t to, int32_t cols);

/**
 * softmax_oracle() - in double
 */
void softmax_oracle(const double *in, double *out, int64_t rows, int64_t cols);

/**
 * chain() - @steps multiply-adds on each of @count floats
 */
void chain(const float *in, float *out, int32_t count, int32_t steps);

/**
 * chain_twice() - the same result, all work done twice
 */
void chain_twice(const float *in, float *out, int32_t count, int32_t steps);

/**
 * chain_slower() - the same result with 5 % more work
 */
void chain_slower(const float *in, float *out, int32_t count, int32_t steps);

/**
 * chain_oracle() - in double
 */
void chain_oracle(const double *in, double *out, int64_t count, int64_t steps);

/**
 * curve() - 1 + 2 x + x² / 2 of each of @rows rows of @cols floats
 */
void curve(const float *in, float *out, int32_t rows, int32_t cols);

/**
 * curve_rows() - the rows from @from to @to - 1
 */
void curve_rows(const float *in, float *out, int32_t from, int32_t to, int32_t cols);

/**
 * curve_oracle() - in double
 */
void curve_oracle(const double *in, double *out, int64_t rows, int64_t cols);
