#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// A tile of eight lanes for each row of eight: largest to all, sums up to each, votes.
__global__ void rows(const int *in, int *largest, int *scans, unsigned *odd, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    const int i = block.group_index().x * block.size() + block.thread_rank();
    if (i >= n) return;   // n is a multiple of eight: whole tiles leave
    const int value = in[i];
    int most = value;
    for (int d = tile.size() / 2; d > 0; d /= 2) most = max(most, tile.shfl_xor(most, d));
    int scan = value;
    for (int d = 1; d < tile.num_threads(); d *= 2) {
        const int left = tile.shfl_up(scan, d);
        if (tile.thread_rank() >= d) scan += left;
    }
    const unsigned votes = tile.ballot(value & 1);
    const bool negative = tile.any(value < 0), small = tile.all(value < 90);
    scans[i] = scan;
    if (tile.thread_rank() == 0) {
        largest[i / 8] = most;
        odd[i / 8] = votes | (negative ? 256u : 0u) | (small ? 512u : 0u);
    }
}

// The same value is rotated through a warp.
template <int SIZE>
__global__ void rotate(float *x)
{
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    float v = x[threadIdx.x];
    v = tile.shfl(v, (tile.thread_rank() + 1) % SIZE);
    tile.sync();
    x[threadIdx.x] = v;
}

int main()
{
    const int n = 120;
    int *in, *largest, *scans;
    unsigned *odd;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&largest, n / 8 * sizeof(int));
    cudaMallocManaged(&scans, n * sizeof(int));
    cudaMallocManaged(&odd, n / 8 * sizeof(unsigned));
    for (int i = 0; i < n; i++) in[i] = i * 7 % 31 - 9;
    rows<<<2, 64>>>(in, largest, scans, odd, n);
    float *x;
    cudaMallocManaged(&x, 64 * sizeof(float));
    rotate<16><<<1, 64>>>(x);
    cudaDeviceSynchronize();
    std::printf("%d %d %x\n", largest[0], scans[7], odd[0]);
}
