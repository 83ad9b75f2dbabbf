#include <iostream>
#include <cuda_runtime.h>

using ull = unsigned long long;

// Steps of 3n + 1 until 1.
__global__ void collatz(const ull *start, int *steps, ull *peak, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ull v = start[i], highest = v;
    int count = 0;
    while (v != 1) {
        v = (v & 1) ? 3 * v + 1 : v >> 1;
        highest = v > highest ? v : highest;
        ++count;
    }
    steps[i] = count;
    peak[i] = highest;
}

// Euclid's algorithm, with a recursion that nvcc takes for what it is.
__device__ long long gcd(long long a, long long b)
{
    while (b) {
        long long t = a % b;
        a = b;
        b = t;
    }
    return a;
}

__global__ void coprime(const long long *a, const long long *b, unsigned char *yes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) yes[i] = gcd(a[i], b[i]) == 1;
}

int main()
{
    const int n = 100;
    ull *start, *peak;
    int *steps;
    cudaMallocManaged(&start, n * sizeof(ull));
    cudaMallocManaged(&peak, n * sizeof(ull));
    cudaMallocManaged(&steps, n * sizeof(int));
    for (int i = 0; i < n; ++i) start[i] = i + 1;
    collatz<<<(n + 31) / 32, 32>>>(start, steps, peak, n);
    long long *a, *b;
    unsigned char *yes;
    cudaMallocManaged(&a, n * sizeof(*a));
    cudaMallocManaged(&b, n * sizeof(*b));
    cudaMallocManaged(&yes, n);
    for (int i = 0; i < n; ++i) { a[i] = i + 1; b[i] = 12; }
    coprime<<<4, 32>>>(a, b, yes, n);
    cudaDeviceSynchronize();
    std::cout << steps[26] << ' ' << peak[26] << ' ' << int(yes[6]) << std::endl;
}
