// Any shape: the tuned kernel's plan, for matrices that do not suit it.
// Fixes a weakness of warp tiles, which fall to a fiftieth of cuBLAS: a small C has too few tiles
// for all multiprocessors. So a tile may be smaller, and PIECES blocks may share one: each adds up
// a piece of K and adds its sums to C, which must hold zeros before. Which of them adds first is
// not known, so that with three or more the last bits of C may differ from run to run.
// Edges cost no second kernel: a copy from past an edge of A or B reads nothing and writes zeros,
// and where rows of B do not begin on 16 bytes it takes one value at a time. None of that is a
// branch in the loop.
// Still limits it: one value at a time is four times the copies; and a wave of blocks that fills
// half of the GPU takes as long as one that fills it.
#include <cuda_pipeline.h>
#define WARPS_DOWN 2
#define WARPS_ACROSS 2
#define ROWS 8
#define COLUMNS 8
#define DEPTH 16
#define STAGES 3
#define PIECES 1
#define PADDED 0 // 1: a row of B takes (N + 3) / 4 * 4 values, as pad_rows writes it

#define THREADS (WARPS_DOWN * WARPS_ACROSS * 32)
#define WARP_ROWS (4 * ROWS)
#define WARP_COLUMNS (8 * COLUMNS)
#define TILE_ROWS (WARPS_DOWN * WARP_ROWS)
#define TILE_COLUMNS (WARPS_ACROSS * WARP_COLUMNS)

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

// The block's tile of C. A copy of B takes WIDE values: 4, or 1 where its rows do not begin on 16
// bytes.
template <int WIDE>
__device__ void compute_tile(const float* A, const float* B, float* C, int M, int N, int K,
                             float (&As)[STAGES][DEPTH][TILE_ROWS + 4],
                             float (&Bs)[STAGES][DEPTH][TILE_COLUMNS])
{
    static_assert(THREADS * WIDE >= TILE_COLUMNS, "Take more WARPS_DOWN or fewer COLUMNS");
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * WARP_ROWS;
    int warp_col = warp % WARPS_ACROSS * WARP_COLUMNS;
    int row = warp_row + lane / 8 * 4; // of the thread's first four rows within the tile
    int col = warp_col + lane % 8 * 4;
    int b_pitch = PADDED ? (N + 3) / 4 * 4 : N; // of B's rows
    int piece = (K + DEPTH * PIECES - 1) / (DEPTH * PIECES) * DEPTH; // whole tiles of K
    int k_begin = blockIdx.z * piece;
    int k_end = min(K, k_begin + piece);

    // What this thread copies of each tile: one k of every few rows of A, which transposes it, and
    // WIDE neighbours of every few rows of B.
    const int a_step = THREADS / DEPTH;
    const int b_step = THREADS / (TILE_COLUMNS / WIDE);
    const int a_copies = (TILE_ROWS + a_step - 1) / a_step;
    const int b_copies = (DEPTH + b_step - 1) / b_step;
    const bool a_even = TILE_ROWS % a_step == 0; // all threads make as many copies
    const bool b_even = DEPTH % b_step == 0;
    int a_k = threadIdx.x % DEPTH;
    int a_row = threadIdx.x / DEPTH;
    int b_k = threadIdx.x / (TILE_COLUMNS / WIDE);
    int b_col = threadIdx.x % (TILE_COLUMNS / WIDE) * WIDE;
    int a_left = M - first_row - a_row; // rows from here on
    int b_end = first_col + b_col < N ? k_end : 0; // no k for a column past the last
    int a_from[a_copies];
    int b_from[b_copies];
    #pragma unroll
    for (int i = 0; i < a_copies; ++i)
        a_from[i] = (first_row + a_row + i * a_step) * K + a_k;
    #pragma unroll
    for (int i = 0; i < b_copies; ++i)
        b_from[i] = (b_k + i * b_step) * b_pitch + first_col + b_col;

    float acc[ROWS][COLUMNS] = {};
    alignas(16) float a[2][ROWS]; // operands of this k and of the next
    alignas(16) float b[2][COLUMNS];
    int tiles = (k_end - k_begin + DEPTH - 1) / DEPTH;
    for (int t = 0; t < STAGES - 1; ++t) {
        int start = k_begin + t * DEPTH;
        #pragma unroll
        for (int i = 0; i < a_copies; ++i)
            if (a_even || a_row + i * a_step < TILE_ROWS)
                __pipeline_memcpy_async(&As[t][a_k][a_row + i * a_step], A + (a_from[i] + start),
                                        4, start + a_k < k_end && i * a_step < a_left ? 0 : 4);
        #pragma unroll
        for (int i = 0; i < b_copies; ++i)
            if (b_even || b_k + i * b_step < DEPTH)
                __pipeline_memcpy_async(&Bs[t][b_k + i * b_step][b_col],
                                        B + (b_from[i] + start * b_pitch), 4 * WIDE,
                                        start + b_k + i * b_step < b_end ? 0 : 4 * WIDE);
        __pipeline_commit();
    }
    __pipeline_wait_prior(STAGES - 2); // all but the youngest tiles
    __syncthreads();
    load_operands(a[0], b[0], &As[0][0][row], &Bs[0][0][col]);

    int start = k_begin + (STAGES - 1) * DEPTH; // the first k of the tile to copy next
    int now = 0;
    int free = STAGES - 1;
    #pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
        int next = now + 1 < STAGES ? now + 1 : 0;
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            int other = (k + 1) % 2;
            if (k < DEPTH - 1) {
                load_operands(a[other], b[other], &As[now][k + 1][row], &Bs[now][k + 1][col]);
            } else {
                // The next tile has arrived, and all have read this one.
                __pipeline_commit();
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();
                load_operands(a[other], b[other], &As[next][0][row], &Bs[next][0][col]);
            }
            if (k == 2) {
                #pragma unroll
                for (int i = 0; i < a_copies; ++i)
                    if (a_even || a_row + i * a_step < TILE_ROWS)
                        __pipeline_memcpy_async(&As[free][a_k][a_row + i * a_step],
                                                A + (a_from[i] + start), 4,
                                                start + a_k < k_end && i * a_step < a_left ? 0 : 4);
            }
            if (k == DEPTH / 2) {
                #pragma unroll
                for (int i = 0; i < b_copies; ++i)
                    if (b_even || b_k + i * b_step < DEPTH)
                        __pipeline_memcpy_async(&Bs[free][b_k + i * b_step][b_col],
                                                B + (b_from[i] + start * b_pitch), 4 * WIDE,
                                                start + b_k + i * b_step < b_end ? 0 : 4 * WIDE);
            }
            multiply(acc, a[k % 2], b[k % 2]);
        }
        start += DEPTH;
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
        if (PIECES > 1 || PADDED || WIDE == 1) {
            #pragma unroll
            for (int p = lane; p < 4 * WARP_COLUMNS; p += 32) {
                int r = p / WARP_COLUMNS;
                int c = p % WARP_COLUMNS;
                int c_row = first_row + warp_row + i / 4 * 16 + r * 4 + i % 4;
                int c_col = first_col + warp_col + c;
                if (c_row < M && c_col < N) {
                    if (PIECES > 1)
                        atomicAdd(C + c_row * N + c_col, rows[r * pitch + c]);
                    else
                        C[c_row * N + c_col] = rows[r * pitch + c];
                }
            }
        } else {
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
}

extern "C" __global__ __launch_bounds__(THREADS)
void anyshape(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ alignas(16) float As[STAGES][DEPTH][TILE_ROWS + 4];
    __shared__ alignas(16) float Bs[STAGES][DEPTH][TILE_COLUMNS];
    if (PADDED || N % 4 == 0)
        compute_tile<4>(A, B, C, M, N, K, As, Bs);
    else
        compute_tile<1>(A, B, C, M, N, K, As, Bs);
}

// Copies B to rows that begin on 16 bytes. A block's threads take neighbours of every few rows.
extern "C" __global__ void pad_rows(const float* B, float* padded, int K, int N)
{
    int pitch = (N + 3) / 4 * 4;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = blockIdx.y; k < K; k += gridDim.y)
        if (col < pitch)
            padded[k * pitch + col] = col < N ? B[k * N + col] : 0.0f;
}
