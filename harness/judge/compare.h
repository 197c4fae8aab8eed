/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Is an output what the oracle says? All functions are pure and look at every element.
 *
 * close(rel, abs) accepts |got - want| <= abs + rel * |want|, with want in double. What is not
 * finite is never a matter of tolerance:
 *   want NaN        got must be NaN, and not the poison that stood there
 *   want infinite   got must be the same infinity; so must it where want does not fit got's type
 *   want finite     got must be finite
 * +0 and -0 are the same number. Nothing to compare is wrong: no outputs never pass.
 */
struct comparison {
	bool wrong;
	bool unwritten; /* the first wrong element is the poison that stood there */
	uint64_t index; /* of the first wrong element */
	double got;
	double want;
	double max_error; /* largest |got - want| of the elements up to and with that one */
};

/* What stood in the outputs before the call. */
struct compare_poison {
	uint64_t seed;
	uint64_t word; /* index of the first element's word in the span that was poisoned */
};

/**
 * compare_close_f32() - f32 outputs against the oracle's doubles
 */
struct comparison compare_close_f32(const float *got, const double *want, uint64_t count,
				    double rel, double abs, struct compare_poison poison);

/**
 * compare_close_f64() - f64 outputs against the oracle's doubles
 */
struct comparison compare_close_f64(const double *got, const double *want, uint64_t count,
				    double rel, double abs, struct compare_poison poison);

/**
 * compare_exact_i32() - integers have to be equal
 */
struct comparison compare_exact_i32(const int32_t *got, const int32_t *want, uint64_t count,
				    struct compare_poison poison);

/**
 * compare_exact_i64() - integers have to be equal
 */
struct comparison compare_exact_i64(const int64_t *got, const int64_t *want, uint64_t count,
				    struct compare_poison poison);
