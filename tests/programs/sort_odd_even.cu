#include <cuda_runtime.h>
#include <iostream>
#include <vector>
#include <algorithm>

template <typename T>
__device__ __forceinline__ bool swapIfGreater(T& a, T& b) {
    if (a > b) {
        T t = a;
        a = b;
        b = t;
        return true;
    }
    return false;
}

// Sorts up to 2 * blockDim.x numbers in one block; stops once a round changes nothing.
__global__ void oddEvenSort(int* data, int n, int* rounds) {
    __shared__ int changed;
    const int left = 2 * threadIdx.x;
    int round = 0;
    do {
        __syncthreads();
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        bool swapped = false;
        if (left + 1 < n) swapped |= swapIfGreater(data[left], data[left + 1]);
        __syncthreads();
        if (left + 2 < n) swapped |= swapIfGreater(data[left + 1], data[left + 2]);
        if (swapped) atomicOr(&changed, 1);
        ++round;
        __syncthreads();
    } while (changed);
    if (threadIdx.x == 0) *rounds = round;
}

// Each element counts those before it.
__global__ void rankSort(const int* __restrict__ in, int* __restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int mine = in[i];
    int rank = 0;
    for (int j = 0; j < n; ++j)
        rank += in[j] < mine || (in[j] == mine && j < i);
    out[rank] = mine;
}

int main() {
    std::vector<int> v(100);
    std::generate(v.begin(), v.end(), [n = 37]() mutable { return n = (n * 57 + 13) % 101; });
    int *d, *out, *rounds;
    cudaMallocManaged(&d, v.size() * sizeof(int));
    cudaMallocManaged(&out, v.size() * sizeof(int));
    cudaMallocManaged(&rounds, sizeof(int));
    std::copy(v.begin(), v.end(), d);
    rankSort<<<(v.size() + 63) / 64, 64>>>(d, out, static_cast<int>(v.size()));
    oddEvenSort<<<1, 64>>>(d, static_cast<int>(v.size()), rounds);
    if (auto e = cudaDeviceSynchronize(); e != cudaSuccess) {
        std::cerr << cudaGetErrorString(e) << '\n';
        return 1;
    }
    std::cout << std::boolalpha << std::is_sorted(d, d + v.size()) << " after " << *rounds << "\n";
}
