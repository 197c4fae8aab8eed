/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#define SELF   0.5
#define SIDE   0.1
#define CORNER 0.025

enum { CELLS = 210000 };

static double grids[2][CELLS];

static void sweep(const double *from, double *to, int64_t rows, int64_t cols)
{
	int64_t line = cols + 2;

	for (int64_t r = 1; r <= rows; r++) {
		for (int64_t c = 1; c <= cols; c++) {
			const double *at = from + r * line + c;
			double sides = at[-line] + at[-1] + at[1] + at[line];
			double corners =
				at[-line - 1] + at[-line + 1] + at[line - 1] + at[line + 1];

			to[r * line + c] = SELF * at[0] + SIDE * sides + CORNER * corners;
		}
	}
}

/* The same in double precision: what a right answer is. */
void heat_oracle(const double *u, double *v, int64_t rows, int64_t cols, int64_t steps)
{
	int64_t line = cols + 2;

	memset(grids[0], 0, (size_t) ((rows + 2) * line) * sizeof(double));
	memset(grids[1], 0, (size_t) ((rows + 2) * line) * sizeof(double));
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < cols; c++)
			grids[0][(r + 1) * line + c + 1] = u[r * cols + c];
	for (int64_t s = 0; s < steps; s++)
		sweep(grids[s % 2], grids[(s + 1) % 2], rows, cols);
	for (int64_t r = 0; r < rows; r++)
		memcpy(v + r * cols, grids[steps % 2] + (r + 1) * line + 1,
		       (size_t) cols * sizeof(double));
}
