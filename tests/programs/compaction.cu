#include <iostream>
#include <vector>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Stream compaction in order, one block: ballot within a warp, a scan over the warps.
__global__ void compactBallot(const int *in, int *out, int *count, int n)
{
    __shared__ int warpTotals[32];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    int base = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        const int i = start + tid;
        const int value = i < n ? in[i] : 0;
        const bool keep = i < n && value > 0;
        const unsigned mask = __ballot_sync(0xffffffffu, keep);
        const int before = __popc(mask & ((1u << lane) - 1));
        if (lane == 0) warpTotals[warp] = __popc(mask);
        __syncthreads();
        int offset = base;
        for (int w = 0; w < warp; ++w) offset += warpTotals[w];
        for (int w = 0; w < blockDim.x / 32; ++w) base += warpTotals[w];
        if (keep) out[offset + before] = value;
        __syncthreads();
    }
    if (tid == 0) *count = base;
}

__device__ int atomicAggInc(int *ctr)
{
    auto g = cg::coalesced_threads();
    int warp_res;
    if (g.thread_rank() == 0)
        warp_res = atomicAdd(ctr, g.size());
    return g.shfl(warp_res, 0) + g.thread_rank();
}

// Warp-aggregated atomics: the order is not that of the input.
__global__ void filter_k(int *dst, int *nres, const int *src, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n)
        return;
    if (src[id] > 0)
        dst[atomicAggInc(nres)] = src[id];
}

// The same by hand: active mask, leader, popc of the lanes below.
__global__ void filterActiveMask(int *dst, int *nres, const int *src, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n && src[i] > 0) {
        unsigned int active = __activemask();
        int leader = __ffs(active) - 1;
        int lane = threadIdx.x % 32;
        int res = 0;
        if (lane == leader) res = atomicAdd(nres, __popc(active));
        res = __shfl_sync(active, res, leader);
        dst[res + __popc(active & ((1u << lane) - 1))] = src[i];
    }
}

int main()
{
    std::vector<int> host(300);
    for (size_t i = 0; i < host.size(); ++i) host[i] = int(i * 31 % 17) - 8;
    int *in, *out, *count;
    cudaMalloc(&in, host.size() * sizeof(int));
    cudaMalloc(&out, host.size() * sizeof(int));
    cudaMallocManaged(&count, sizeof(int));
    cudaMemcpy(in, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    compactBallot<<<1, 128>>>(in, out, count, host.size());
    cudaDeviceSynchronize();
    std::cout << *count << " kept\n";
    *count = 0;
    filter_k<<<3, 128>>>(out, count, in, host.size());
    cudaDeviceSynchronize();
    std::cout << *count << " kept\n";
    *count = 0;
    filterActiveMask<<<3, 128>>>(out, count, in, host.size());
    cudaDeviceSynchronize();
    std::cout << *count << " kept\n";
}
