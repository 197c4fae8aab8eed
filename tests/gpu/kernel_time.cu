/* SPDX-License-Identifier: Apache-2.0 */

/*
 * kernel-time [time|list|use]: a CUDA program for tests/gpu/nvidia.sh
 *
 *	time	runs two kernels, one bound by memory and one by arithmetic, checks what they made, and
 *		prints the median of many launches of each by events: "copy 123.456", microseconds
 *	list	prints the GPUs that the driver lets this process use: "1 of 1: 00000000:19:00.0"
 *	use	runs one kernel on each of them; exit code 0 if there is one and its result is right
 *
 * Exit code: 0, or 1 with why on standard error.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

static const int launches = 600, warm_up = 200, floats = 64 << 20;

static void check(cudaError_t result, const char *what)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
	exit(1);
}

__global__ void copy(const float *in, float *out, int count)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		out[i] = 2.0f * in[i] + 1.0f;
}

__global__ void arithmetic(float *out, int count, int steps)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 1.0f + (float) i / (float) count;

	for (int step = 0; step < steps; step++)
		x = fmaf(x, 0.999f, 0.001f);
	if (i < count)
		out[i] = x;
}

static void launch(int which, const float *in, float *out)
{
	if (which == 0)
		copy<<<2048, 256>>>(in, out, floats);
	else
		arithmetic<<<2048, 256>>>(out, 2048 * 256, 8192);
}

/*
 * All are queued before the first is waited for: what stands between two events is the kernel's
 * time, and not how long this process takes to start one.
 */
static float median_us(int which, const float *in, float *out)
{
	std::vector<cudaEvent_t> events(2 * (warm_up + launches));
	std::vector<float> times;

	for (cudaEvent_t &event : events)
		check(cudaEventCreate(&event), "make an event");
	for (int i = 0; i < warm_up + launches; i++) {
		check(cudaEventRecord(events[2 * i]), "record");
		launch(which, in, out);
		check(cudaEventRecord(events[2 * i + 1]), "record");
	}
	check(cudaDeviceSynchronize(), "run the kernels");
	for (int i = warm_up; i < warm_up + launches; i++) {
		float ms = 0;

		check(cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]), "read the time");
		times.push_back(ms * 1000);
	}
	std::nth_element(times.begin(), times.begin() + launches / 2, times.end());
	return times[launches / 2];
}

static void make_buffers(float **in, float **out)
{
	std::vector<float> values(floats, 3.0f);

	check(cudaMalloc(in, floats * sizeof(float)), "take memory of the GPU");
	check(cudaMalloc(out, floats * sizeof(float)), "take memory of the GPU");
	check(cudaMemcpy(*in, values.data(), floats * sizeof(float), cudaMemcpyHostToDevice),
	      "copy to the GPU");
}

static void check_copy(const float *in, float *out)
{
	float got[2] = { 0, 0 };

	launch(0, in, out);
	check(cudaMemcpy(&got[0], out, sizeof(float), cudaMemcpyDeviceToHost), "copy back");
	check(cudaMemcpy(&got[1], out + floats - 1, sizeof(float), cudaMemcpyDeviceToHost),
	      "copy back");
	if (got[0] == 7.0f && got[1] == 7.0f)
		return;
	fprintf(stderr, "a kernel made %f and %f and not 7\n", got[0], got[1]);
	exit(1);
}

static void time_kernels(void)
{
	float *in, *out;

	make_buffers(&in, &out);
	check_copy(in, out);
	printf("copy %.3f\n", median_us(0, in, out));
	printf("arithmetic %.3f\n", median_us(1, in, out));
}

static int count_gpus(void)
{
	int count = 0;

	check(cudaGetDeviceCount(&count), "count the GPUs");
	return count;
}

static void list(void)
{
	int count = count_gpus();

	for (int i = 0; i < count; i++) {
		char address[32] = "";

		check(cudaDeviceGetPCIBusId(address, sizeof(address), i), "ask for its address");
		printf("%d of %d: %s\n", i + 1, count, address);
	}
}

static void use(void)
{
	int count = count_gpus();

	for (int i = 0; i < count; i++) {
		float *in, *out;

		check(cudaSetDevice(i), "take the GPU");
		make_buffers(&in, &out);
		check_copy(in, out);
		printf("used %d\n", i);
	}
	if (count == 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "time";

	if (strcmp(what, "list") == 0)
		list();
	else if (strcmp(what, "use") == 0)
		use();
	else
		time_kernels();
	return 0;
}
