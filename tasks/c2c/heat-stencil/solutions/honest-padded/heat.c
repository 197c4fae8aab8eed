/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SELF   0.5f
#define SIDE   0.1f
#define CORNER 0.025f

/*
 * Lines of a whole number of vectors with zeros after each row, of which at least one: they are the
 * border of this row on the right and of the next on the left. A sweep runs over whole vectors,
 * then the zeros are put back.
 */
enum { LANES = 8, CELLS = 640000 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

#define ALWAYS static inline __attribute__((always_inline))

static _Alignas(64) float grids[2][CELLS];

/* By address: a vector as a result would be passed in another way for each machine. */
ALWAYS void add(vec *sum, const float *at)
{
	vec value;

	memcpy(&value, at, sizeof(value));
	*sum += value;
}

ALWAYS void sweep_rows(const float *from, float *to, int64_t rows, int64_t cols, int64_t line)
{
	for (int64_t r = 0; r < rows; r++) {
		const float *mid = from + r * line, *up = mid - line, *down = mid + line;
		float *out = to + r * line;

		for (int64_t c = 0; c < cols; c += LANES) {
			vec self = {}, sides = {}, corners = {};

			add(&self, mid + c);
			add(&sides, up + c);
			add(&sides, down + c);
			add(&sides, mid + c - 1);
			add(&sides, mid + c + 1);
			add(&corners, up + c - 1);
			add(&corners, up + c + 1);
			add(&corners, down + c - 1);
			add(&corners, down + c + 1);
			self = self * SELF + sides * SIDE + corners * CORNER;
			memcpy(out + c, &self, sizeof(self));
		}
		memset(out + cols, 0, (size_t) (line - cols) * sizeof(float));
	}
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void sweep_avx2(const float *from, float *to,
							   int64_t rows, int64_t cols, int64_t line)
{
	sweep_rows(from, to, rows, cols, line);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define sweep_avx2 sweep_rows
static bool has_avx2(void)
{
	return false;
}
#endif

static void sweep(const float *from, float *to, int64_t rows, int64_t cols, int64_t line)
{
	if (has_avx2())
		sweep_avx2(from, to, rows, cols, line);
	else
		sweep_rows(from, to, rows, cols, line);
}

static void copy(const float *from, int64_t from_line, float *to, int64_t to_line, int64_t rows,
		 int64_t cols)
{
	for (int64_t r = 0; r < rows; r++)
		memcpy(to + r * to_line, from + r * from_line, (size_t) cols * sizeof(float));
}

static void turn(const float *from, int64_t from_line, float *to, int64_t to_line, int64_t rows,
		 int64_t cols)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < cols; c++)
			to[c * to_line + r] = from[r * from_line + c];
}

/* The stencil is the same in both directions: a narrow grid is turned, so that its rows are long.
 */
void heat(const float *u, float *v, int64_t rows, int64_t cols, int64_t steps)
{
	bool is_turned = cols < 2 * LANES && rows > cols;
	int64_t high = is_turned ? cols : rows, wide = is_turned ? rows : cols;
	int64_t line = (wide + LANES) / LANES * LANES;
	float *starts[2];

	for (int i = 0; i < 2; i++) {
		starts[i] = grids[i] + LANES + line;
		memset(grids[i], 0, (size_t) (LANES + line) * sizeof(float));
		memset(starts[i] + high * line, 0, (size_t) (line + LANES) * sizeof(float));
	}
	for (int64_t r = 0; r < high; r++)
		memset(starts[0] + r * line + wide, 0, (size_t) (line - wide) * sizeof(float));
	if (is_turned)
		turn(u, cols, starts[0], line, rows, cols);
	else
		copy(u, cols, starts[0], line, rows, cols);
	for (int64_t s = 0; s < steps; s++)
		sweep(starts[s % 2], starts[(s + 1) % 2], high, wide, line);
	if (is_turned)
		turn(starts[steps % 2], line, v, cols, high, wide);
	else
		copy(starts[steps % 2], line, v, cols, rows, cols);
}
