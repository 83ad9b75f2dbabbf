/* Homework with the faults that every class makes; the expected findings are in the table. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define N 128
#define TILE 8

// no barrier between the loads and the reads
__global__ void reverseNoBarrier(int *d)
{
    __shared__ int s[N];
    s[threadIdx.x] = d[threadIdx.x];
    d[threadIdx.x] = s[N - 1 - threadIdx.x];
}

// the barrier within the loop is forgotten
__global__ void reduceNoBarrier(const int *in, int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int stride = N / 2; stride > 0; stride /= 2)
        if (threadIdx.x < stride)
            s[threadIdx.x] += s[threadIdx.x + stride];
    if (threadIdx.x == 0) *out = s[0];
}

// ++ on a bin that others count in
__global__ void histogramPlain(const int *in, int *bins)
{
    bins[in[threadIdx.x] & 7]++;
}

// the last thread reads one past the end
__global__ void differences(const float *x, float *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = x[i + 1] - x[i];
}

// <= where < is meant
__global__ void fill(int *a, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) a[i] = v;
}

// half of each warp waits at one barrier, the other half at another
__global__ void barrierInBranch(int *a)
{
    __shared__ int s[64];
    if (threadIdx.x % 32 < 16) {
        s[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
    } else {
        s[threadIdx.x] = 0;
    }
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}

// scan in place without the second barrier
__global__ void scanInPlace(int *x)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        if (t >= d) s[t] += s[t - d];
    }
    x[t] = s[t];
}

// the second barrier of the tiled product is missing
__global__ void tiledOneBarrier(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; ++t) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    }
    C[row * n + col] = sum;
}

// a sum that was never set to zero
__global__ void unsetSum(const float *x, float *y, int n)
{
    float sum;
    for (int i = 0; i < n; ++i) sum += x[i];
    if (threadIdx.x == 0) *y = sum;
}

// all blocks write where one should
__global__ void everyBlockWrites(int *out)
{
    out[threadIdx.x] = blockIdx.x;
}

// the last-block pattern without its fence
__device__ unsigned int drawn;
__global__ void lastBlockNoFence(const int *in, int *partial, int *total)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < 16; i++) sum += in[blockIdx.x * 16 + i];
        partial[blockIdx.x] = sum;
        last = atomicAdd(&drawn, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned int b = 0; b < gridDim.x; b++) sum += partial[b];
        *total = sum;
    }
}

// float4 from an odd place
__global__ void copyMisaligned(const float *in, float *out)
{
    float4 v = *(const float4 *)(in + 1 + 4 * threadIdx.x);
    *(float4 *)(out + 4 * threadIdx.x) = v;
}

int main(void)
{
    int *a, *b;
    float *x, *y;
    cudaMallocManaged(&a, 1024 * sizeof(int));
    cudaMallocManaged(&b, 1024 * sizeof(int));
    cudaMallocManaged(&x, 1024 * sizeof(float));
    cudaMallocManaged(&y, 1024 * sizeof(float));
    reverseNoBarrier<<<1, N>>>(a);
    reduceNoBarrier<<<1, N>>>(a, b);
    histogramPlain<<<1, N>>>(a, b);
    differences<<<2, N>>>(x, y, 200);
    fill<<<2, N>>>(a, 200, 7);
    barrierInBranch<<<1, 64>>>(a);
    scanInPlace<<<1, N>>>(a);
    tiledOneBarrier<<<dim3(2, 2), dim3(TILE, TILE)>>>(x, x, y, 16);
    unsetSum<<<1, 32>>>(x, y, 20);
    everyBlockWrites<<<3, 32>>>(a);
    lastBlockNoFence<<<4, 32>>>(a, b, b + 32);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
