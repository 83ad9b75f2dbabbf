// Tensor cores: a warp multiplies whole matrices of 16 x 16. Operands of 16 bits, sums of 32.
// Fixes a weakness of warp tiles: there every product takes a lane's turn at the multiply-add
// units. Here the 32 lanes of a warp hold pieces of A, of B and of the sums together, as fragments,
// and one instruction multiplies them. Which element of a piece lies in which lane is the
// hardware's business: a fragment is filled, multiplied and stored as a whole.
// Everything else is to feed it: blocks of 256 x 128 so that the L2 can keep up, three tiles in use
// or on their way, the pieces of the next k loaded while this one's are multiplied. Rows in shared
// memory are 16 bytes longer than the tile, so that eight of them begin in different banks.
// A and B were rounded to 11 bits before they came here. Products of what they hold are exact, and
// C agrees with the exact product of the rounded values to five digits.
// Still limits it: warp-level instructions reach two thirds of what this GPU's tensor cores can do;
// the rest is for groups of four warps, whose instructions take B directly from shared memory.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#define WARPS_DOWN 4
#define WARPS_ACROSS 2
#define ROWS 4
#define COLUMNS 4
#define DEPTH 64

#define STAGES 3 // tiles in use or on their way
#define STEP 16 // k of a piece; a warp's tile is ROWS x COLUMNS pieces of 16 x 16
#define THREADS (WARPS_DOWN * WARPS_ACROSS * 32)
#define TILE_ROWS (WARPS_DOWN * ROWS * 16)
#define TILE_COLUMNS (WARPS_ACROSS * COLUMNS * 16)
#define A_PITCH (DEPTH + 8) // from one row in shared memory to the next
#define B_PITCH (TILE_COLUMNS + 8)
#define A_SIZE (TILE_ROWS * A_PITCH) // of a tile
#define B_SIZE (DEPTH * B_PITCH)
#define ROW_PITCH (COLUMNS * 16 + 8) // of C's rows on their way out
// Copies that a thread makes of each tile, of eight values each, and the rows from one to the next.
#define A_COPIES (TILE_ROWS * DEPTH / 8 / THREADS)
#define B_COPIES (DEPTH * TILE_COLUMNS / 8 / THREADS)
#define A_STEP (TILE_ROWS / A_COPIES)
#define B_STEP (DEPTH / B_COPIES)
#define PARTS (DEPTH / STEP) // of those copies, begun one after another

using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, STEP, half, wmma::row_major> PieceOfA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, STEP, half, wmma::row_major> PieceOfB;
typedef wmma::fragment<wmma::accumulator, 16, 16, STEP, float> Sums;

// Begin one part of a thread's copies of a tile: what belongs between two steps of products.
__device__ __forceinline__ void copy_part(int part, half* a_to, half* b_to,
                                          const half* const (&a_from)[A_COPIES],
                                          const half* b_from, int N)
{
    int turn = (part + 1) % PARTS; // which of them begin first was found by trial
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        if (i * PARTS / (A_COPIES + B_COPIES) == turn)
            __pipeline_memcpy_async(a_to + i * A_STEP * A_PITCH, a_from[i], 16);
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        if ((A_COPIES + i) * PARTS / (A_COPIES + B_COPIES) == turn)
            __pipeline_memcpy_async(b_to + i * B_STEP * B_PITCH, b_from + i * B_STEP * N, 16);
}

// A warp's pieces of A and B for the next STEP k.
__device__ __forceinline__ void load_pieces(PieceOfA (&a)[ROWS], PieceOfB (&b)[COLUMNS],
                                            const half* a_from, const half* b_from)
{
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
        wmma::load_matrix_sync(b[j], b_from + j * 16, B_PITCH);
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        wmma::load_matrix_sync(a[i], a_from + i * 16 * A_PITCH, A_PITCH);
}

// Their products, through one row of pieces and back through the next.
__device__ __forceinline__ void multiply(Sums (&acc)[ROWS][COLUMNS], const PieceOfA (&a)[ROWS],
                                         const PieceOfB (&b)[COLUMNS])
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int step = 0; step < COLUMNS; ++step) {
            int j = i % 2 ? COLUMNS - 1 - step : step;
            wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
    }
}

__device__ __forceinline__ void clear(Sums (&sums)[ROWS][COLUMNS])
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::fill_fragment(sums[i][j], 0.0f);
}

// Write a warp's sums to C, by way of shared memory: in registers a lane has no more than two
// neighbours of a row, and from there it takes WIDE at once.
template <int WIDE>
__device__ __forceinline__ void store_sums(float* C, int M, int N, int row, int col,
                                           const Sums (&acc)[ROWS][COLUMNS], float* rows)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        __syncwarp();
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::store_matrix_sync(rows + j * 16, acc[i][j], ROW_PITCH, wmma::mem_row_major);
        __syncwarp();
        #pragma unroll
        for (int p = lane; p < 16 * COLUMNS * 16 / WIDE; p += 32) {
            int r = p / (COLUMNS * 16 / WIDE);
            int c = p % (COLUMNS * 16 / WIDE) * WIDE;
            if (row + i * 16 + r >= M || col + c >= N)
                continue;
            float* to = C + (row + i * 16 + r) * N + col + c;
            if (WIDE == 4)
                *reinterpret_cast<float4*>(to) =
                    *reinterpret_cast<const float4*>(rows + r * ROW_PITCH + c);
            else
                *to = rows[r * ROW_PITCH + c];
        }
    }
}

// A block's tile of C, where 128-bit copies fit rows and tiles. A function of its own, not inlined,
// so that the compiler gives it all registers, whatever the other way needs.
__device__ __noinline__ void multiply_aligned(const half* A, const half* B, float* C,
                                              int M, int N, int K, half* As, half* Bs, float* rows)
{
    static_assert(A_COPIES >= 1, "Take more ROWS or fewer WARPS_ACROSS");
    static_assert(B_COPIES >= 1, "Take more COLUMNS or fewer WARPS_DOWN");
    int warp = threadIdx.x / 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * (ROWS * 16);
    int warp_col = warp % WARPS_ACROSS * (COLUMNS * 16);
    const half* a_warp = As + warp_row * A_PITCH;
    const half* b_warp = Bs + warp_col;
    // What this thread copies of each tile: eight neighbours of every few rows. Past the last
    // row or column of a matrix it copies the last ones again: what comes of it is not stored.
    int a_row = threadIdx.x / (DEPTH / 8);
    int a_k = threadIdx.x % (DEPTH / 8) * 8;
    int b_k = threadIdx.x / (TILE_COLUMNS / 8);
    int b_col = threadIdx.x % (TILE_COLUMNS / 8) * 8;
    const half* a_from[A_COPIES];
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        a_from[i] = A + (min(first_row + a_row + i * A_STEP, M - 1) * K + a_k);
    const half* b_from = B + (b_k * N + min(first_col + b_col, N - 8));
    half* a_to = As + a_row * A_PITCH + a_k;
    half* b_to = Bs + b_k * B_PITCH + b_col;
    PieceOfA a[2][ROWS]; // of these STEP k and of the next
    PieceOfB b[2][COLUMNS];
    Sums acc[ROWS][COLUMNS];
    clear(acc);
    int count = K / DEPTH;
    for (int t = 0; t < STAGES - 1; ++t) {
        if (t < count)
            for (int part = 0; part < PARTS; ++part)
                copy_part(part, a_to + t * A_SIZE, b_to + t * B_SIZE, a_from, b_from, N);
        __pipeline_commit();
        #pragma unroll
        for (int i = 0; i < A_COPIES; ++i)
            a_from[i] += DEPTH;
        b_from += DEPTH * N;
    }
    if (STAGES - 1 < count)
        copy_part(0, a_to + (STAGES - 1) * A_SIZE, b_to + (STAGES - 1) * B_SIZE, a_from, b_from, N);
    __pipeline_wait_prior(STAGES - 2); // all but the youngest
    __syncthreads();
    load_pieces(a[0], b[0], a_warp, b_warp);

    int now = 0;
    int coming = STAGES - 1; // where the tile goes that is on its way in parts
    #pragma unroll 1
    for (int t = 0; t < count; ++t) {
        int next = now + 1 < STAGES ? now + 1 : 0;
        if (t == count - 1)
            next = now; // there is none: what is loaded is not used
        const half* a_tile = a_warp + now * A_SIZE;
        const half* b_tile = b_warp + now * B_SIZE;
        #pragma unroll
        for (int step = 0; step < PARTS; ++step) {
            int turn = step % 2;
            if (step < PARTS - 1) {
                load_pieces(a[1 - turn], b[1 - turn], a_tile + (step + 1) * STEP,
                            b_tile + (step + 1) * STEP * B_PITCH);
                if (t + STAGES - 1 < count)
                    copy_part(step + 1, a_to + coming * A_SIZE, b_to + coming * B_SIZE, a_from,
                              b_from, N);
            } else {
                // The next tile has arrived, and all have read this one: another may come.
                __pipeline_commit();
                __pipeline_wait_prior(STAGES - 2); // all but the youngest
                __syncthreads();
                load_pieces(a[1 - turn], b[1 - turn], a_warp + next * A_SIZE,
                            b_warp + next * B_SIZE);
                #pragma unroll
                for (int i = 0; i < A_COPIES; ++i)
                    a_from[i] += DEPTH;
                b_from += DEPTH * N;
                if (t + STAGES < count)
                    copy_part(0, a_to + now * A_SIZE, b_to + now * B_SIZE, a_from, b_from, N);
            }
            multiply(acc, a[turn], b[turn]);
        }
        coming = now;
        now = next;
    }
    store_sums<4>(C, M, N, first_row + warp_row, first_col + warp_col, acc, rows);
}

// A block's tile of C where they do not: plain copies, and zeros past the edges.
__device__ __noinline__ void multiply_ragged(const half* A, const half* B, float* C,
                                             int M, int N, int K, half* As, half* Bs, float* rows)
{
    int warp = threadIdx.x / 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * (ROWS * 16);
    int warp_col = warp % WARPS_ACROSS * (COLUMNS * 16);
    const half* a_warp = As + warp_row * A_PITCH;
    const half* b_warp = Bs + warp_col;
    PieceOfA a[ROWS];
    PieceOfB b[COLUMNS];
    Sums acc[ROWS][COLUMNS];
    clear(acc);
    half zero = __float2half(0.0f);
    #pragma unroll 1
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = threadIdx.x; i < TILE_ROWS * DEPTH; i += THREADS) {
            int r = first_row + i / DEPTH;
            int k = start + i % DEPTH;
            As[i / DEPTH * A_PITCH + i % DEPTH] = r < M && k < K ? A[r * K + k] : zero;
        }
        for (int i = threadIdx.x; i < DEPTH * TILE_COLUMNS; i += THREADS) {
            int k = start + i / TILE_COLUMNS;
            int c = first_col + i % TILE_COLUMNS;
            Bs[i / TILE_COLUMNS * B_PITCH + i % TILE_COLUMNS] =
                k < K && c < N ? B[k * N + c] : zero;
        }
        __syncthreads();
        #pragma unroll 1
        for (int k = 0; k < DEPTH; k += STEP) {
            load_pieces(a, b, a_warp + k, b_warp + k * B_PITCH);
            multiply(acc, a, b);
        }
        __syncthreads();
    }
    store_sums<1>(C, M, N, first_row + warp_row, first_col + warp_col, acc, rows);
}

extern "C" __global__ __launch_bounds__(THREADS)
void tensor_half(const half* A, const half* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(32) half tiles[]; // STAGES of A, then STAGES of B
    __shared__ alignas(32) float rows[WARPS_DOWN * WARPS_ACROSS][16 * ROW_PITCH]; // of C
    half* As = tiles;
    half* Bs = tiles + STAGES * A_SIZE;
    if (N % 8 == 0 && K % DEPTH == 0)
        multiply_aligned(A, B, C, M, N, K, As, Bs, rows[threadIdx.x / 32]);
    else
        multiply_ragged(A, B, C, M, N, K, As, Bs, rows[threadIdx.x / 32]);
}
