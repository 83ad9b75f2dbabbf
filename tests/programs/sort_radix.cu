#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define BLOCK_SIZE 128

// One bit: what is 0 goes to the front, what is 1 behind it, each in order (one block).
__global__ void radix_sort_iter(unsigned int* input, unsigned int* output, unsigned int* bits,
                                unsigned int N, unsigned int iter) {
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    unsigned int key = 0, bit = 0;
    if (i < N) {
        key = input[i];
        bit = (key >> iter) & 1;
        bits[i] = bit;
    }
    // exclusive scan of the bits
    __shared__ unsigned int s[BLOCK_SIZE];
    s[threadIdx.x] = i < N ? bits[i] : 0;
    __syncthreads();
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned int v = threadIdx.x >= stride ? s[threadIdx.x - stride] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
        __syncthreads();
    }
    if (i < N) {
        unsigned int numOnesBefore = s[threadIdx.x] - bit;
        unsigned int numOnesTotal = s[blockDim.x - 1];
        unsigned int dst = (bit == 0) ? (i - numOnesBefore) : (N - numOnesTotal + numOnesBefore);
        output[dst] = key;
    }
}

/* Counts of a 4-bit digit for each block; the table is column-major for the scan that follows. */
__global__ void countDigits(const uint32_t *__restrict__ keys, uint32_t *counts, int n, int shift) {
    __shared__ uint32_t local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint32_t digit = (keys[i] >> shift) & 0xFu;
        atomicAdd(local + digit, 1u);
    }
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

int main() {
    const unsigned int N = 100;
    std::vector<unsigned int> host(N);
    unsigned int seed = 1;
    for (auto& h : host) h = seed = seed * 1664525u + 1013904223u;
    unsigned int *a, *b, *bits, *counts;
    cudaMalloc(&a, N * sizeof(unsigned int));
    cudaMalloc(&b, N * sizeof(unsigned int));
    cudaMalloc(&bits, N * sizeof(unsigned int));
    cudaMalloc(&counts, 16 * 3 * sizeof(unsigned int));
    cudaMemcpy(a, host.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    for (unsigned int iter = 0; iter < 32; ++iter) {
        radix_sort_iter<<<1, BLOCK_SIZE>>>(a, b, bits, N, iter);
        std::swap(a, b);
    }
    countDigits<<<3, 64>>>(a, counts, N, 8);
    cudaMemcpy(host.data(), a, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    for (unsigned int i = 1; i < N; ++i)
        if (host[i - 1] > host[i]) { printf("not sorted at %u\n", i); return 1; }
    printf("sorted\n");
    return 0;
}
