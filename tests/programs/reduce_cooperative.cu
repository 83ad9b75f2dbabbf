#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

using namespace cooperative_groups;
namespace cg = cooperative_groups;

__device__ int reduce_sum(thread_group g, int *temp, int val)
{
    int lane = g.thread_rank();

    // Each iteration halves the number of active threads
    // Each thread adds its partial sum[i] to sum[lane+i]
    for (int i = g.size() / 2; i > 0; i /= 2)
    {
        temp[lane] = val;
        g.sync(); // wait for all threads to store
        if (lane < i) val += temp[lane + i];
        g.sync(); // wait for all threads to load
    }
    return val; // note: only thread 0 will return full sum
}

__device__ int thread_sum(int *input, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x)
    {
        int4 in = ((int4 *)input)[i];
        sum += in.x + in.y + in.z + in.w;
    }
    return sum;
}

__global__ void sum_kernel_block(int *sum, int *input, int n)
{
    int my_sum = thread_sum(input, n);

    extern __shared__ int temp[];
    auto g = this_thread_block();
    int block_sum = reduce_sum(g, temp, my_sum);

    if (g.thread_rank() == 0) atomicAdd(sum, block_sum);
}

template <int tile_sz>
__device__ int reduce_sum_tile_shfl(thread_block_tile<tile_sz> g, int val)
{
    // Each iteration halves the number of active threads
    for (int i = g.size() / 2; i > 0; i /= 2) {
        val += g.shfl_down(val, i);
    }
    return val; // note: only thread 0 will return full sum
}

__global__ void sum_kernel_16(int *sum, int *input, int n)
{
    int my_sum = thread_sum(input, n);
    auto tile = tiled_partition<16>(this_thread_block());
    int tile_sum = reduce_sum_tile_shfl<16>(tile, my_sum);
    if (tile.thread_rank() == 0) atomicAdd(sum, tile_sum);
}

__global__ void sum_kernel_cg(int *sum, const int *input, int n)
{
    cg::thread_block cta = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cta);
    int value = 0;
    for (int i = cta.group_index().x * cta.size() + cta.thread_rank(); i < n;
         i += cta.size() * gridDim.x)
        value += input[i];
    value = cg::reduce(warp, value, cg::plus<int>());
    __shared__ int partial[32];
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = value;
    cg::sync(cta);
    if (warp.meta_group_rank() == 0) {
        value = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0;
        value = cg::reduce(warp, value, cg::plus<int>());
        if (warp.thread_rank() == 0) atomicAdd(sum, value);
    }
}

int main()
{
    int n = 1 << 10;
    int blockSize = 128;
    int nBlocks = 2;
    int sharedBytes = blockSize * sizeof(int);
    std::vector<int> host(n);
    std::iota(host.begin(), host.end(), 0);

    int *sum, *data;
    cudaMallocManaged(&sum, sizeof(int));
    cudaMallocManaged(&data, n * sizeof(int));
    std::copy(host.begin(), host.end(), data);
    cudaMemset(sum, 0, sizeof(int));

    sum_kernel_block<<<nBlocks, blockSize, sharedBytes>>>(sum, data, n);
    sum_kernel_16<<<nBlocks, blockSize>>>(sum, data, n);
    sum_kernel_cg<<<nBlocks, blockSize>>>(sum, data, n);
    cudaDeviceSynchronize();
    printf("%d (3 x %d)\n", *sum, std::accumulate(host.begin(), host.end(), 0));
    return 0;
}
