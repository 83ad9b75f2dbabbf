#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define DIM 128

// The last warp in the way of old books: volatile, no barriers. Newer GPUs want a __syncwarp()
// between a lane's read and another's write, so this one is in a race.
__global__ void reduceUnrollWarps(int *g_idata, int *g_odata, unsigned int n)
{
    __shared__ int smem[DIM];
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int sum = 0;
    if (idx < n) sum = g_idata[idx];
    if (idx + blockDim.x < n) sum += g_idata[idx + blockDim.x];
    smem[tid] = sum;
    __syncthreads();

    if (blockDim.x >= 128 && tid < 64) smem[tid] += smem[tid + 64];
    __syncthreads();

    if (tid < 32)
    {
        volatile int *vsmem = smem;
        vsmem[tid] += vsmem[tid + 32];
        vsmem[tid] += vsmem[tid + 16];
        vsmem[tid] += vsmem[tid +  8];
        vsmem[tid] += vsmem[tid +  4];
        vsmem[tid] += vsmem[tid +  2];
        vsmem[tid] += vsmem[tid +  1];
    }
    if (tid == 0) g_odata[blockIdx.x] = smem[0];
}

// The same, mended: each step reads, waits for the warp, writes, waits.
__device__ void warpReduce(volatile int *sdata, int tid)
{
    int v = sdata[tid];
    v += sdata[tid + 32]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid + 16]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid +  8]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid +  4]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid +  2]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid +  1]; __syncwarp(); sdata[tid] = v;
}

__global__ void reduceSyncwarp(int *g_idata, int *g_odata, unsigned int n)
{
    __shared__ int smem[DIM];
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int sum = 0;
    if (idx < n) sum = g_idata[idx];
    if (idx + blockDim.x < n) sum += g_idata[idx + blockDim.x];
    smem[tid] = sum;
    __syncthreads();

    if (blockDim.x >= 128 && tid < 64) smem[tid] += smem[tid + 64];
    __syncthreads();

    if (tid < 32) warpReduce(smem, tid);
    if (tid == 0) g_odata[blockIdx.x] = smem[0];
}

int main(int argc, char **argv)
{
    int size = 1000;
    int grid = (size + 2 * DIM - 1) / (2 * DIM);
    int *in, *out;
    cudaMallocManaged((void **)&in, size * sizeof(int));
    cudaMallocManaged((void **)&out, grid * sizeof(int));
    for (int i = 0; i < size; i++) in[i] = 1;
    reduceUnrollWarps<<<grid, DIM>>>(in, out, size);
    reduceSyncwarp<<<grid, DIM>>>(in, out, size);
    cudaDeviceSynchronize();
    int sum = 0;
    for (int i = 0; i < grid; i++) sum += out[i];
    printf("%d\n", sum);
    return EXIT_SUCCESS;
}
