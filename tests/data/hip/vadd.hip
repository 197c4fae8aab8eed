/* SPDX-License-Identifier: Apache-2.0 */
#include <hip/hip_runtime.h>

/* c = a + b, one element a thread. */
__global__ void add(const float *a, const float *b, float *c, size_t count)
{
	const size_t at = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

	if (at < count)
		c[at] = a[at] + b[at];
}

extern "C" int vadd(const float *a, const float *b, float *c, size_t count)
{
	const unsigned int block = 256;

	add<<<dim3((unsigned int) ((count + block - 1) / block)), dim3(block)>>>(a, b, c, count);
	return (int) hipGetLastError();
}
