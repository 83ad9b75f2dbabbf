#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

// Every thread strikes out the multiples of its own number: many write the same 1.
__global__ void sieve(char *composite, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (p * p > n) return;
    for (int m = p * p; m <= n; m += p)
        composite[m] = 1;
}

__device__ int found;                      // how many primes
__device__ int firstPrimes[10];            // in no order

__global__ void collect(const char *composite, int n, int *list, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 && i <= n && !composite[i]) {
        int at = atomicAdd(count, 1);
        list[at] = i;
        if (at < 10) firstPrimes[at] = i;
        atomicAdd(&found, 1);
    }
}

int main()
{
    const int n = 400;
    char *composite;
    int *list, *count;
    cudaMalloc(&composite, n + 1);
    cudaMemset(composite, 0, n + 1);
    cudaMalloc(&list, n * sizeof(int));
    cudaMalloc(&count, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    sieve<<<1, 32>>>(composite, n);
    collect<<<(n + 64) / 64, 64>>>(composite, n, list, count);
    int total;
    cudaMemcpyFromSymbol(&total, found, sizeof(int));
    printf("%d primes\n", total);
}
