/* SPDX-License-Identifier: Apache-2.0 */
#include <hip/hip_runtime.h>

/* Of each row; one block a row, whose threads share its maximum and its sum. */
constexpr unsigned int threads = 256;

__device__ float block_max(float value, float *shared)
{
	shared[threadIdx.x] = value;
	__syncthreads();
	for (unsigned int half = threads / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
		__syncthreads();
	}
	value = shared[0];
	__syncthreads();
	return value;
}

__device__ float block_sum(float value, float *shared)
{
	shared[threadIdx.x] = value;
	__syncthreads();
	for (unsigned int half = threads / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			shared[threadIdx.x] += shared[threadIdx.x + half];
		__syncthreads();
	}
	value = shared[0];
	__syncthreads();
	return value;
}

__global__ void softmax_rows(const float *x, float *y, unsigned int columns)
{
	__shared__ float shared[threads];
	const float *in = x + (size_t) blockIdx.x * columns;
	float *out = y + (size_t) blockIdx.x * columns;
	float most = -INFINITY, sum = 0;

	for (unsigned int i = threadIdx.x; i < columns; i += threads)
		most = fmaxf(most, in[i]);
	most = block_max(most, shared);
	for (unsigned int i = threadIdx.x; i < columns; i += threads)
		sum += expf(in[i] - most);
	sum = block_sum(sum, shared);
	for (unsigned int i = threadIdx.x; i < columns; i += threads)
		out[i] = expf(in[i] - most) / sum;
}

extern "C" int softmax(const float *x, float *y, unsigned int rows, unsigned int columns)
{
	softmax_rows<<<dim3(rows), dim3(threads)>>>(x, y, columns);
	return (int) hipGetLastError();
}
