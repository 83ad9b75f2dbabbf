// Single-pass scan: blocks take numbers in order of arrival, and each waits for the sum of those
// before it ("StreamScan" / decoupled look-back with one flag a block).
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define BLOCK 64

__device__ int blockCounter;

struct BlockState {
    int aggregate;
    int prefix;
};

enum Status { EMPTY = 0, AGGREGATE = 1, PREFIX = 2 };

__global__ void chainedScan(const int *in, int *out, int n, volatile int *flags,
                            volatile int *scan_value, int *block_counter)
{
    __shared__ int bid_s;
    __shared__ int data[BLOCK];
    __shared__ int previous_sum;

    if (threadIdx.x == 0) bid_s = atomicAdd(block_counter, 1);
    __syncthreads();
    const int bid = bid_s;
    const int i = bid * BLOCK + threadIdx.x;

    data[threadIdx.x] = i < n ? in[i] : 0;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        int t = threadIdx.x >= stride ? data[threadIdx.x - stride] : 0;
        __syncthreads();
        data[threadIdx.x] += t;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        // Wait for the previous flag
        while (atomicAdd((int *)&flags[bid], 0) == 0) { }
        // Read previous partial sum
        previous_sum = scan_value[bid];
        // Propagate partial sum
        scan_value[bid + 1] = previous_sum + data[BLOCK - 1];
        // Memory fence
        __threadfence();
        // Set flag
        atomicAdd((int *)&flags[bid + 1], 1);
    }
    __syncthreads();
    if (i < n) out[i] = data[threadIdx.x] + previous_sum;
}

__global__ void lookbackScan(const int *in, int *out, int n, volatile int *status,
                             volatile int *aggregates, volatile int *prefixes)
{
    __shared__ int data[BLOCK];
    __shared__ int exclusive;
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    data[threadIdx.x] = i < n ? in[i] : 0;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        int t = threadIdx.x >= stride ? data[threadIdx.x - stride] : 0;
        __syncthreads();
        data[threadIdx.x] += t;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        const int total = data[BLOCK - 1];
        aggregates[blockIdx.x] = total;
        __threadfence();
        atomicExch((int *)&status[blockIdx.x], blockIdx.x == 0 ? EMPTY : AGGREGATE);
        int sum = 0;
        for (int back = (int)blockIdx.x - 1; back >= 0; --back) {
            int s;
            do {
                s = atomicAdd((int *)&status[back], 0);
            } while (s == EMPTY);
            __threadfence();
            if (s == PREFIX) {
                sum += prefixes[back];
                break;
            }
            sum += aggregates[back];
        }
        prefixes[blockIdx.x] = sum + total;
        __threadfence();
        atomicExch((int *)&status[blockIdx.x], PREFIX);
        exclusive = sum;
    }
    __syncthreads();
    if (i < n) out[i] = data[threadIdx.x] + exclusive;
}

int main()
{
    const int n = 300, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<int> host(n, 1), flags(blocks + 1, 0);
    flags[0] = 1;
    int *in, *out, *f, *v, *counter;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&f, (blocks + 1) * sizeof(int));
    cudaMalloc(&v, (blocks + 1) * sizeof(int));
    cudaGetSymbolAddress((void **)&counter, blockCounter);
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(f, flags.data(), (blocks + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(v, 0, (blocks + 1) * sizeof(int));
    chainedScan<<<blocks, BLOCK>>>(in, out, n, f, v, counter);
    cudaMemset(f, 0, (blocks + 1) * sizeof(int));
    int *p;
    cudaMalloc(&p, blocks * sizeof(int));
    lookbackScan<<<blocks, BLOCK>>>(in, out, n, f, v, p);
    cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", host.back());
    return host.back() != n;
}
