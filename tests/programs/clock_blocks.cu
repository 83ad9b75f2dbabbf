// How long each block takes, as NVIDIA's clock sample asks: thread 0 reads the clock at both ends.
#include <assert.h>
#include <stdio.h>
#include <cuda_runtime.h>

#define NUM_BLOCKS 8
#define NUM_THREADS 64

__global__ static void timedMinimum(const float *input, float *output, clock_t *timer)
{
    extern __shared__ float shared[];
    const int tid = threadIdx.x;
    const int bid = blockIdx.x;

    if (tid == 0) timer[bid] = clock();

    shared[tid] = input[tid];
    shared[tid + blockDim.x] = input[tid + blockDim.x];

    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d && shared[tid + d] < shared[tid]) shared[tid] = shared[tid + d];
    }

    if (tid == 0) output[bid] = shared[0];
    __syncthreads();
    if (tid == 0) timer[bid + gridDim.x] = clock();
}

int main(int argc, char **argv)
{
    float *dinput = NULL, *doutput = NULL;
    clock_t *dtimer = NULL;
    clock_t timer[NUM_BLOCKS * 2];
    float input[NUM_THREADS * 2];
    for (int i = 0; i < NUM_THREADS * 2; i++) input[i] = (float)i;
    cudaMalloc((void **)&dinput, sizeof(float) * NUM_THREADS * 2);
    cudaMalloc((void **)&doutput, sizeof(float) * NUM_BLOCKS);
    cudaMalloc((void **)&dtimer, sizeof(clock_t) * NUM_BLOCKS * 2);
    cudaMemcpy(dinput, input, sizeof(float) * NUM_THREADS * 2, cudaMemcpyHostToDevice);
    timedMinimum<<<NUM_BLOCKS, NUM_THREADS, sizeof(float) * 2 * NUM_THREADS>>>(dinput, doutput, dtimer);
    cudaMemcpy(timer, dtimer, sizeof(clock_t) * NUM_BLOCKS * 2, cudaMemcpyDeviceToHost);
    long double avgElapsedClocks = 0;
    for (int i = 0; i < NUM_BLOCKS; i++) avgElapsedClocks += timer[i + NUM_BLOCKS] - timer[i];
    printf("Average clocks/block = %Lf\n", avgElapsedClocks / NUM_BLOCKS);
    return 0;
}
