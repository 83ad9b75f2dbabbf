// What cub_on_a_gpu.json holds the results of, for blocks of BLOCK_OF_K threads.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
struct Largest { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
extern "C" __global__ void k(const float* x, float* y, float* z) {
    const int i = threadIdx.x;
    using R = cub::BlockReduce<float, BLOCK_OF_K>; using S = cub::BlockScan<float, BLOCK_OF_K>;
    using P = cub::BlockReduce<float, BLOCK_OF_K>;
    __shared__ union { typename R::TempStorage r; typename S::TempStorage s; } t;
    float a = R(t.r).Sum(x[i]); if (i == 0) y[BLOCK_OF_K] = a; __syncthreads();
    float m = R(t.r).Reduce(x[i], Largest()); if (i == 0) y[BLOCK_OF_K + 1] = m; __syncthreads();
    S(t.s).InclusiveSum(x[i], y[i]); __syncthreads();
    float b, total; S(t.s).ExclusiveSum(x[i], b, total); z[i] = b; z[i + BLOCK_OF_K] = total; __syncthreads();
    float v[3]; for (int k = 0; k < 3; k++) v[k] = x[3 * i + k];
    a = R(t.r).Sum(v); if (i == 0) y[BLOCK_OF_K + 2] = a; __syncthreads();
    a = R(t.r).Sum(x[i] * x[i + BLOCK_OF_K]); if (i == 0) y[BLOCK_OF_K + 3] = a; __syncthreads();
    S(t.s).InclusiveSum(v, v); for (int k = 0; k < 3; k++) y[BLOCK_OF_K + 4 + 3 * i + k] = v[k];
}
