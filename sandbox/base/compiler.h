/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * All our macros. Whoever reads proctor learns these and no more; a macro anywhere else serves a
 * table within twenty lines of its definition.
 */

/* The caller has to look at the result. */
#define must_check __attribute__((warn_unused_result))

/* Calls fn(&variable) when the variable goes out of scope. */
#define cleanup(fn) __attribute__((cleanup(fn)))

#define printf_like(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define no_return                        __attribute__((noreturn))

/* Hands the value of a variable over and leaves `empty` behind, so that its cleanup does nothing.
 */
#define take(variable, empty)                             \
	({                                                \
		__typeof__(variable) taken_ = (variable); \
		(variable) = (empty);                     \
		taken_;                                   \
	})

/* For a must_check call whose failure changes nothing; the reason stands above it. */
#define best_effort(call)                           \
	do {                                        \
		__typeof__(call) ignored_ = (call); \
		(void) ignored_;                    \
	} while (0)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
