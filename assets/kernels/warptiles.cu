// Warp tiles, tuned: a block's tile is cut into tiles of warps, and those into tiles of threads.
// Improves on the pipelined kernel: a thread's tile of 16 x 8 asks for one 128-bit load for every
// 21 multiply-adds, not 16, and a warp's 4 x 8 threads read few distinct words. The operands of
// the next k are loaded while this one's are multiplied, three tiles are in use or on the way, and
// copies are issued between multiply-adds, so that the multiply-adds rarely wait for either.
// The multiply-adds run through one row of a thread's tile and back through the next: each shares
// an operand with the one before, which is then not read from the registers again. C leaves by
// way of shared memory: written from the sums' registers four at a time, it would force them
// into the register banks of B's operands, and every multiply-add would wait for its reads.
// Still limits it: every load, copy and address takes a turn that a multiply-add could have,
// about one in eleven; and the last wave of blocks does not fill the GPU.
#include <cuda_pipeline.h>
#define WARPS_DOWN 2
#define WARPS_ACROSS 4
#define ROWS 16
#define COLUMNS 8
#define DEPTH 8

#define STAGES 3
#define THREADS (WARPS_DOWN * WARPS_ACROSS * 32)
#define WARP_ROWS (4 * ROWS)
#define WARP_COLUMNS (8 * COLUMNS)
#define TILE_ROWS (WARPS_DOWN * WARP_ROWS)
#define TILE_COLUMNS (WARPS_ACROSS * WARP_COLUMNS)
// Copies a thread makes of each tile: of one value of A, and of four of B.
#define A_COPIES ((TILE_ROWS * DEPTH + THREADS - 1) / THREADS)
#define B_COPIES ((DEPTH * TILE_COLUMNS / 4 + THREADS - 1) / THREADS)
#define A_EVEN (A_COPIES * THREADS == TILE_ROWS * DEPTH) // all threads make as many copies
#define B_EVEN (B_COPIES * THREADS == DEPTH * TILE_COLUMNS / 4)

// A thread's operands of one k, in groups of four neighbours. B's first: the first row of products
// takes all of them, and of A's one.
__device__ void load_operands(float* a, float* b, const float* a_row, const float* b_row)
{
    #pragma unroll
    for (int j = 0; j < COLUMNS; j += 4)
        *reinterpret_cast<float4*>(b + j) = *reinterpret_cast<const float4*>(b_row + j * 8);
    #pragma unroll
    for (int i = 0; i < ROWS; i += 4)
        *reinterpret_cast<float4*>(a + i) = *reinterpret_cast<const float4*>(a_row + i * 4);
}

// Their products, through one row of the thread's tile and back through the next.
__device__ void multiply(float (&acc)[ROWS][COLUMNS], const float* a, const float* b)
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int step = 0; step < COLUMNS; ++step) {
            int j = i % 2 ? COLUMNS - 1 - step : step;
            acc[i][j] += a[i] * b[j];
        }
    }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) // one block on a multiprocessor: registers for it
void warptiles(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ alignas(16) float As[STAGES][DEPTH][TILE_ROWS + 4];
    __shared__ alignas(16) float Bs[STAGES][DEPTH][TILE_COLUMNS];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * WARP_ROWS;
    int warp_col = warp % WARPS_ACROSS * WARP_COLUMNS;
    int row = warp_row + lane / 8 * 4; // of the thread's first four rows within the tile
    int col = warp_col + lane % 8 * 4;

    if (N % 4 != 0 || K % DEPTH != 0) {
        // Rows that 128-bit copies cannot take, or a last tile that is not whole: plain copies,
        // and zeros past the edges.
        float acc[ROWS][COLUMNS] = {};
        #pragma unroll 1
        for (int start = 0; start < K; start += DEPTH) {
            #pragma unroll
            for (int begin = 0; begin < TILE_ROWS * DEPTH; begin += THREADS) {
                int i = begin + threadIdx.x;
                int r = first_row + i / DEPTH;
                int k = start + i % DEPTH;
                if (A_EVEN || i < TILE_ROWS * DEPTH)
                    As[0][i % DEPTH][i / DEPTH] = r < M && k < K ? A[r * K + k] : 0.0f;
            }
            #pragma unroll
            for (int begin = 0; begin < DEPTH * TILE_COLUMNS; begin += THREADS) {
                int i = begin + threadIdx.x;
                int k = start + i / TILE_COLUMNS;
                int c = first_col + i % TILE_COLUMNS;
                Bs[0][i / TILE_COLUMNS][i % TILE_COLUMNS] = k < K && c < N ? B[k * N + c] : 0.0f;
            }
            __syncthreads();
            #pragma unroll
            for (int k = 0; k < DEPTH; ++k) {
                alignas(16) float a[ROWS];
                alignas(16) float b[COLUMNS];
                load_operands(a, b, &As[0][k][row], &Bs[0][k][col]);
                multiply(acc, a, b);
            }
            __syncthreads();
        }
        for (int i = 0; i < ROWS; ++i) {
            for (int j = 0; j < COLUMNS; ++j) {
                int r = first_row + row + i / 4 * 16 + i % 4;
                int c = first_col + col + j / 4 * 32 + j % 4;
                if (r < M && c < N)
                    C[r * N + c] = acc[i][j];
            }
        }
        return;
    }

    // What this thread copies of each tile: one k of every few rows of A, which transposes it, and
    // four neighbours of every few rows of B. Past the last row or column of a matrix it copies
    // the last one again: what comes of it is not stored.
    int a_k = threadIdx.x % DEPTH;
    int a_row = threadIdx.x / DEPTH;
    int b_k = threadIdx.x / (TILE_COLUMNS / 4);
    int b_col = threadIdx.x % (TILE_COLUMNS / 4) * 4;
    const int a_step = THREADS / DEPTH;
    const int b_step = THREADS / (TILE_COLUMNS / 4);
    int a_from[A_COPIES];
    int b_from[B_COPIES];
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        a_from[i] = min(first_row + a_row + i * a_step, M - 1) * K + a_k;
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        b_from[i] = (b_k + i * b_step) * N + min(first_col + b_col, N - 4);

    float acc[ROWS][COLUMNS] = {};
    alignas(16) float a[2][ROWS]; // operands of this k and of the next
    alignas(16) float b[2][COLUMNS];
    int tiles = K / DEPTH;
    for (int t = 0; t < STAGES - 1; ++t) {
        int start = min(t, tiles - 1) * DEPTH;
        #pragma unroll
        for (int i = 0; i < A_COPIES; ++i)
            if (A_EVEN || a_row + i * a_step < TILE_ROWS)
                __pipeline_memcpy_async(&As[t][a_k][a_row + i * a_step],
                                        A + (a_from[i] + start), 4);
        #pragma unroll
        for (int i = 0; i < B_COPIES; ++i)
            if (B_EVEN || b_k + i * b_step < DEPTH)
                __pipeline_memcpy_async(&Bs[t][b_k + i * b_step][b_col],
                                        B + (b_from[i] + start * N), 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1); // all but the youngest tile
    __syncthreads();
    load_operands(a[0], b[0], &As[0][0][row], &Bs[0][0][col]);

    int coming = (STAGES - 1) * DEPTH; // the first k of the tile to copy next
    int now = 0;
    int free = STAGES - 1;
    #pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
        int next = now + 1 < STAGES ? now + 1 : 0;
        int start = min(coming, K - DEPTH); // past the end, the last tile again
        coming += DEPTH;
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            int other = (k + 1) % 2;
            if (k < DEPTH - 1) {
                load_operands(a[other], b[other], &As[now][k + 1][row], &Bs[now][k + 1][col]);
            } else {
                // The next tile has arrived, and all have read this one.
                __pipeline_commit();
                __pipeline_wait_prior(1); // all but the youngest tile
                __syncthreads();
                load_operands(a[other], b[other], &As[next][0][row], &Bs[next][0][col]);
            }
            if (k == 2) {
                #pragma unroll
                for (int i = 0; i < A_COPIES; ++i)
                    if (A_EVEN || a_row + i * a_step < TILE_ROWS)
                        __pipeline_memcpy_async(&As[free][a_k][a_row + i * a_step],
                                                A + (a_from[i] + start), 4);
            }
            if (k == DEPTH / 2) {
                #pragma unroll
                for (int i = 0; i < B_COPIES; ++i)
                    if (B_EVEN || b_k + i * b_step < DEPTH)
                        __pipeline_memcpy_async(&Bs[free][b_k + i * b_step][b_col],
                                                B + (b_from[i] + start * N), 16);
            }
            multiply(acc, a[k % 2], b[k % 2]);
        }
        free = free + 1 < STAGES ? free + 1 : 0;
        now = next;
    }
    __pipeline_wait_prior(0);
    __syncthreads();

    // Row by row of the threads' tiles, the warp gathers four whole rows and writes them.
    const int pitch = WARP_COLUMNS + 1;
    float* rows = &Bs[0][0][0] + warp * 4 * pitch;
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        __syncwarp();
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            rows[lane / 8 * pitch + j / 4 * 32 + lane % 8 * 4 + j % 4] = acc[i][j];
        __syncwarp();
        #pragma unroll
        for (int p = lane; p < WARP_COLUMNS; p += 32) {
            int r = p / (WARP_COLUMNS / 4);
            int c = p % (WARP_COLUMNS / 4) * 4;
            const float* from = rows + r * pitch + c;
            float4 four = make_float4(from[0], from[1], from[2], from[3]);
            int c_row = first_row + warp_row + i / 4 * 16 + r * 4 + i % 4;
            int c_col = first_col + warp_col + c;
            if (c_row < M && c_col < N)
                *reinterpret_cast<float4*>(C + c_row * N + c_col) = four;
        }
    }
}
