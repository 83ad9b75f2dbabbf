#include <mma.h>
using namespace nvcuda;

// A block of 4 warps computes 32 x 32 of C from tiles of A and B in shared memory; M and N are
// multiples of 32, K of 16.
const int TILE = 32;
const int DEPTH = 16;
const int WIDE_A = DEPTH + 8;  // padded, so that eight rows fall on all banks
const int WIDE_B = TILE + 8;

__global__ void half_tiles(const half* A, const half* B, float* C, int M, int N, int K) {
    __shared__ __align__(32) half As[TILE][WIDE_A];
    __shared__ __align__(32) half Bs[DEPTH][WIDE_B];
    int warp = threadIdx.x / 32;
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int tile_row = warp / 2 * 16, tile_col = warp % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
            As[i / DEPTH][i % DEPTH] = A[(row + i / DEPTH) * K + k + i % DEPTH];
            Bs[i / TILE][i % TILE] = B[(k + i / TILE) * N + col + i % TILE];
        }
        __syncthreads();
        wmma::load_matrix_sync(a, &As[tile_row][0], WIDE_A);
        wmma::load_matrix_sync(b, &Bs[0][tile_col], WIDE_B);
        wmma::mma_sync(c, a, b, c);
        __syncthreads();
    }
    wmma::store_matrix_sync(C + (row + tile_row) * N + col + tile_col, c, N, wmma::mem_row_major);
}

// One warp computes 32 x 16 of C, with an array of fragments, functions, and a scale.
template <typename Fragment>
__device__ void round_to_tf32(Fragment& f) {
    for (int i = 0; i < f.num_elements; i++) f.x[i] = wmma::__float_to_tf32(f.x[i]);
}

__device__ void scale(wmma::fragment<wmma::accumulator, 16, 16, 8, float>& f, float factor) {
    for (int i = 0; i < f.num_elements; i++) f.x[i] *= factor;
}

__global__ void tf32_pair(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * 32, col = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums[2];
    for (int i = 0; i < 2; i++) wmma::fill_fragment(sums[i], 0.0f);
    for (int k = 0; k < K; k += 8) {
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
        wmma::load_matrix_sync(b, B + k * N + col, N);
        round_to_tf32(b);
        for (int i = 0; i < 2; i++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
            wmma::load_matrix_sync(a, A + (row + 16 * i) * K + k, K);
            round_to_tf32(a);
            wmma::mma_sync(sums[i], a, b, sums[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        scale(sums[i], 0.5f);
        wmma::store_matrix_sync(C + (row + 16 * i) * N + col, sums[i], N, wmma::mem_row_major);
    }
}
