// Pipelined: asynchronous copies into a second pair of tiles while the first is computed on.
// Improves on the kernel of vectors: the copy goes from global to shared memory by itself, past
// the registers, and the block computes meanwhile. Two pairs of tiles take turns, so that one
// barrier an iteration is enough: it says both that a tile has arrived and that the other,
// which the next copy overwrites, has been read by all.
// A copy moves bytes as they are, so A's tile stays row by row, and a thread reads four
// neighbouring k of a row at once.
// Still limits it: a thread's 8 x 8 tile asks for one 128-bit load for every 16 multiply-adds.
#include <cuda_pipeline.h>
#define TILE 128
#define DEPTH 8
#define EACH 8

// Begin to copy elements first .. first + 3 of a row that has `count`; zeros past its end.
__device__ void copy_four(float* to, const float* row, int first, int count)
{
    if (count % 4 == 0 && first < count) {
        __pipeline_memcpy_async(to, row + first, 16);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        if (first + i < count)
            __pipeline_memcpy_async(to + i, row + first + i, 4);
        else
            to[i] = 0.0f;
    }
}

// Write the same elements of a row of C, as far as it goes.
__device__ void store_four(float* row, int first, int count, float4 value)
{
    if (count % 4 == 0) {
        if (first < count)
            *reinterpret_cast<float4*>(row + first) = value;
        return;
    }
    if (first < count)
        row[first] = value.x;
    if (first + 1 < count)
        row[first + 1] = value.y;
    if (first + 2 < count)
        row[first + 2] = value.z;
    if (first + 3 < count)
        row[first + 3] = value.w;
}

extern "C" __global__ __launch_bounds__(TILE / EACH * (TILE / EACH))
void pipelined(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ alignas(16) float As[2][TILE][DEPTH];
    __shared__ alignas(16) float Bs[2][DEPTH][TILE];
    const int side = TILE / EACH;
    const int threads = side * side;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * side + tx;
    int first_row = blockIdx.y * TILE;
    int first_col = blockIdx.x * TILE;
    int tiles = (K + DEPTH - 1) / DEPTH;
    float acc[EACH][EACH] = {};

    for (int t = -1; t < tiles; ++t) {
        // Tile t + 1 sets out before tile t is computed on; t = -1 only sends the first one.
        int next = (t + 1) % 2;
        int start = (t + 1) * DEPTH;
        if (t + 1 < tiles) {
            for (int begin = 0; begin < TILE * DEPTH / 4; begin += threads) {
                int i = begin + thread;
                if (TILE * DEPTH / 4 % threads != 0 && i >= TILE * DEPTH / 4)
                    break;
                int row = i / (DEPTH / 4);
                int k = i % (DEPTH / 4) * 4;
                int a_row = min(first_row + row, M - 1); // rows past the last are not stored
                copy_four(&As[next][row][k], A + a_row * K, start + k, K);
            }
            for (int begin = 0; begin < DEPTH * TILE / 4; begin += threads) {
                int i = begin + thread;
                if (DEPTH * TILE / 4 % threads != 0 && i >= DEPTH * TILE / 4)
                    break;
                int k = i / (TILE / 4);
                int col = i % (TILE / 4) * 4;
                int b_row = min(start + k, K - 1);
                copy_four(&Bs[next][k][col], B + b_row * N, first_col + col, start + k < K ? N : 0);
            }
        }
        __pipeline_commit();

        if (t >= 0) {
            #pragma unroll
            for (int k = 0; k < DEPTH; k += 4) {
                float a[EACH][4];
                for (int i = 0; i < EACH; ++i)
                    *reinterpret_cast<float4*>(a[i]) =
                        *reinterpret_cast<float4*>(&As[t % 2][i * side + ty][k]);
                for (int kk = 0; kk < 4; ++kk) {
                    float b[EACH];
                    for (int j = 0; j < EACH; j += 4)
                        *reinterpret_cast<float4*>(&b[j]) =
                            *reinterpret_cast<float4*>(&Bs[t % 2][k + kk][j * side + tx * 4]);
                    for (int i = 0; i < EACH; ++i)
                        for (int j = 0; j < EACH; ++j)
                            acc[i][j] += a[i][kk] * b[j];
                }
            }
        }
        __pipeline_wait_prior(0);
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        int row = first_row + i * side + ty;
        for (int j = 0; j < EACH; j += 4) {
            float4 four = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            if (row < M)
                store_four(C + row * N, first_col + j * side + tx * 4, N, four);
        }
    }
}
