#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t status = (call);                                             \
        if (status != cudaSuccess) {                                             \
            fprintf(stderr, "%s\n", cudaGetErrorString(status));                 \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

const int WMMA_M = 16;
const int WMMA_N = 16;
const int WMMA_K = 16;

// D = alpha * A * B + beta * C. A is row major, B column major; a warp makes one 16 x 16 tile of D.
// Launch with blocks of (64, 2): 2 warps along m, 2 along n.
__global__ void wmmaGemm(const half *a, const half *b, const float *c, float *d, int m, int n,
                         int k, float alpha, float beta)
{
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int warpN = blockIdx.y * blockDim.y + threadIdx.y;
    int row = warpM * WMMA_M, col = warpN * WMMA_N;

    wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, WMMA_K, half, wmma::row_major> aFrag;
    wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, WMMA_K, half, wmma::col_major> bFrag;
    wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> acc, cFrag;
    wmma::fill_fragment(acc, 0.0f);

    if (row >= m || col >= n) return;

    for (int i = 0; i < k; i += WMMA_K) {
        wmma::load_matrix_sync(aFrag, a + row * k + i, k);
        wmma::load_matrix_sync(bFrag, b + col * k + i, k);
        wmma::mma_sync(acc, aFrag, bFrag, acc);
    }

    wmma::load_matrix_sync(cFrag, c + row * n + col, n, wmma::mem_row_major);
    for (int i = 0; i < cFrag.num_elements; i++) {
        cFrag.x[i] = alpha * acc.x[i] + beta * cFrag.x[i];
    }
    wmma::store_matrix_sync(d + row * n + col, cFrag, n, wmma::mem_row_major);
}

// The same of floats, rounded to TF32 in the fragments; C is column major.
__global__ void tf32Gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int row = tile % (M / 16) * 16, col = tile / (M / 16) * 16;
    if (col >= N) return;
    nvcuda::wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 8) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
        wmma::load_matrix_sync(a, &A[row * K + k], K);
        wmma::load_matrix_sync(b, &B[k * N + col], N);
#pragma unroll
        for (int t = 0; t < a.num_elements; t++) a.x[t] = wmma::__float_to_tf32(a.x[t]);
#pragma unroll
        for (int t = 0; t < b.num_elements; t++) b.x[t] = wmma::__float_to_tf32(b.x[t]);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(&C[col * M + row], sum, M, wmma::mem_col_major);
}

// One block of 128 threads: floats become bfloat16 in shared memory, each warp takes 16 rows.
template <int K>
__global__ void bf16Rows(const float *A, const float *B, float *C)
{
    __shared__ __align__(32) __nv_bfloat16 as[64][K + 8];
    __shared__ __align__(32) __nv_bfloat16 bs[K][16 + 8];
    for (int i = threadIdx.x; i < 64 * K; i += blockDim.x)
        as[i / K][i % K] = __float2bfloat16(A[i]);
    for (int i = threadIdx.x; i < K * 16; i += blockDim.x)
        bs[i / 16][i % 16] = __float2bfloat16(B[i]);
    __syncthreads();
    int first = threadIdx.x / 32 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, &as[first][k], K + 8);
        wmma::load_matrix_sync(b, bs[k], 16 + 8);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + first * 16, c, 16, wmma::mem_row_major);
}

int main()
{
    const int m = 64, n = 48, k = 80;
    std::vector<half> h(m * k, __float2half(0.5f));
    half *a, *b;
    float *c, *d;
    CHECK(cudaMalloc(&a, m * k * sizeof(half)));
    CHECK(cudaMalloc(&b, k * n * sizeof(half)));
    CHECK(cudaMalloc(&c, m * n * sizeof(float)));
    CHECK(cudaMalloc(&d, m * n * sizeof(float)));
    CHECK(cudaMemcpy(a, h.data(), m * k * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, h.data(), k * n * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(c, 0, m * n * sizeof(float)));
    wmmaGemm<<<dim3(2, 2), dim3(64, 2)>>>(a, b, c, d, m, n, k, 2.0f, 1.0f);
    CHECK(cudaDeviceSynchronize());
    bf16Rows<32><<<1, 128>>>(c, c, d);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
