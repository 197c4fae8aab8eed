/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/config/expr.h"
#include "sandbox/base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next(void *user)
{
	return *(uint64_t *) user += UINT64_C(0x9e3779b97f4a7c15);
}

/* A text is wrong, or has a value, or what it computes is wrong: the same each time. */
static int run(const struct expr *expr, int64_t *value)
{
	static const int64_t values[] = { 0, 1, -7, INT64_MAX, INT64_MIN };
	struct err err = ERR_INIT;
	uint64_t state = 1;
	struct expr_draw draw = { next, &state };
	int result = expr_run(expr, values, &draw, value, &err);

	if (result < 0 && err.kind != ERR_INPUT)
		__builtin_trap();
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const texts[] = { "a", "B", "c_1", "most", "least" };
	const struct expr_names names = { texts, ARRAY_LEN(texts) };
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct expr_source source = { .file = "f", .key = "k", .line = 1, .column = 1 };
	struct err err = ERR_INIT;
	int64_t first = 0, second = 0;
	struct expr expr;

	source.text = arena_copy(&arena, data, size);
	if (expr_compile(&source, &names, EXPR_DRAWS, &arena, &expr, &err) < 0) {
		if (err.kind != ERR_INPUT)
			__builtin_trap();
		return 0;
	}
	if (run(&expr, &first) != run(&expr, &second) || first != second)
		__builtin_trap();
	return 0;
}
