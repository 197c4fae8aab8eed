/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Python 3.11's statistics module, as far as the reports need it. Its standard deviation is exact
 * arithmetic that is rounded once, so this is as well. Values are finite and above zero, unless
 * said otherwise.
 */

/**
 * pystats_sort() - ascending; a NaN has no place here
 */
void pystats_sort(double *values, size_t count);

/**
 * pystats_sum() - sum(): one after the other, as Python does up to 3.11
 */
double pystats_sum(const double *values, size_t count);

/**
 * pystats_median() - of at least one sorted value; they may be infinite
 */
double pystats_median(const double *sorted, size_t count);

/**
 * pystats_percentile() - cut point @percent of quantiles(n=100), of at least two sorted values
 */
double pystats_percentile(const double *sorted, size_t count, size_t percent);

/**
 * pystats_stdev() - of a sample of at least two, at most 2^20 values
 *
 * Return: the double next to the exact value; infinity if one of the values is (Python raises
 * AttributeError there, and the report is not written).
 */
double pystats_stdev(const double *values, size_t count);
