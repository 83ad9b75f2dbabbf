// Tensor cores, TF32: a warp multiplies whole matrices, of float32 numbers that are cut short.
// Fixes in the kernel of warp tiles: there every product takes a lane's turn at the multiply-add
// units. Here the 32 lanes of a warp hold pieces of A, of B and of the sums together, as fragments,
// and one instruction multiplies them. Which element of a piece lies in which lane is the
// hardware's business; what a lane has of it is x[0], x[1] and so on.
// Everything else is to feed it: blocks of 128 x 256 so that the L2 can keep up, three tiles in use
// or on their way, the pieces of the next k loaded while this one's are multiplied. Rows of A in
// shared memory are four words longer than the tile, and rows of B eight, so that a warp's reads
// fall into different banks.
// The tensor core reads 11 bits of a number's fraction and no more. Without rounding it would cut
// the others off, and C be three times as far off; with it, C is right to three digits.
// Still limits it: an operand takes as much room as in float32, twice that of half precision, and
// rounding takes two instructions for every four that the tensor cores have.
#include <cuda_pipeline.h>
#include <mma.h>
#define WARPS_DOWN 2
#define WARPS_ACROSS 4
#define ROWS 4 // pieces of 16 rows of a warp's tile
#define COLUMNS 4
#define DEPTH 32

#define STAGES 3
#define STEP 8 // k of a piece
#define THREADS (WARPS_DOWN * WARPS_ACROSS * 32)
#define TILE_ROWS (WARPS_DOWN * ROWS * 16)
#define TILE_COLUMNS (WARPS_ACROSS * COLUMNS * 16)
#define A_PITCH (DEPTH + 4) // from one row in shared memory to the next
#define B_PITCH (TILE_COLUMNS + 8)
#define A_SIZE (TILE_ROWS * A_PITCH) // of a tile
#define B_SIZE (DEPTH * B_PITCH)
#define A_STEP (THREADS * 4 / DEPTH) // rows from one of a thread's copies to its next
#define B_STEP (THREADS * 4 / TILE_COLUMNS)

using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, STEP, wmma::precision::tf32,
                       wmma::row_major> PieceOfA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, STEP, wmma::precision::tf32,
                       wmma::row_major> PieceOfB;
typedef wmma::fragment<wmma::accumulator, 16, 16, STEP, float> Sums;

// A warp's pieces of A and B for the next STEP k.
__device__ __forceinline__ void load_pieces(PieceOfA (&a)[ROWS], PieceOfB (&b)[COLUMNS],
                                            const float* a_from, const float* b_from)
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        wmma::load_matrix_sync(a[i], a_from + i * 16 * A_PITCH, A_PITCH);
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
        wmma::load_matrix_sync(b[j], b_from + j * 16, B_PITCH);
}

// Their products, of elements rounded to the nearest TF32 number, through one row of pieces and
// back through the next.
__device__ __forceinline__ void multiply(Sums (&acc)[ROWS][COLUMNS], PieceOfA (&a)[ROWS],
                                         PieceOfB (&b)[COLUMNS])
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int e = 0; e < a[i].num_elements; ++e)
            a[i].x[e] = wmma::__float_to_tf32(a[i].x[e]);
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
        #pragma unroll
        for (int e = 0; e < b[j].num_elements; ++e)
            b[j].x[e] = wmma::__float_to_tf32(b[j].x[e]);
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int step = 0; step < COLUMNS; ++step) {
            int j = i % 2 ? COLUMNS - 1 - step : step;
            wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
    }
}

// Write 16 x 16 sums to C; across an edge by way of shared memory, as far as C goes.
__device__ __forceinline__ void store_sums(float* C, int M, int N, int row, int col,
                                           const Sums& sums, float* edge)
{
    if (row + 16 <= M && col + 16 <= N && N % 4 == 0) {
        wmma::store_matrix_sync(C + row * N + col, sums, N, wmma::mem_row_major);
        return;
    }
    wmma::store_matrix_sync(edge, sums, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < 16 * 16; i += 32)
        if (row + i / 16 < M && col + i % 16 < N)
            C[(row + i / 16) * N + col + i % 16] = edge[i];
    __syncwarp();
}

extern "C" __global__ __launch_bounds__(THREADS)
void tensor_tf32(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(32) float tiles[]; // STAGES of A, then STAGES of B
    __shared__ alignas(32) float edges[WARPS_DOWN * WARPS_ACROSS][16 * 16];
    float* As = tiles;
    float* Bs = tiles + STAGES * A_SIZE;
    int warp = threadIdx.x / 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * (ROWS * 16);
    int warp_col = warp % WARPS_ACROSS * (COLUMNS * 16);
    const float* a_warp = As + warp_row * A_PITCH;
    const float* b_warp = Bs + warp_col;
    PieceOfA a[2][ROWS]; // of these STEP k and of the next
    PieceOfB b[2][COLUMNS];
    Sums acc[ROWS][COLUMNS];
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::fill_fragment(acc[i][j], 0.0f);

    if (N % 4 != 0 || K % DEPTH != 0) {
        // Rows that 128-bit copies cannot take, or a last tile that is not whole: plain copies,
        // and zeros past the edges.
        #pragma unroll 1
        for (int start = 0; start < K; start += DEPTH) {
            for (int i = threadIdx.x; i < TILE_ROWS * DEPTH; i += THREADS) {
                int r = first_row + i / DEPTH;
                int k = start + i % DEPTH;
                As[i / DEPTH * A_PITCH + i % DEPTH] = r < M && k < K ? A[r * K + k] : 0.0f;
            }
            for (int i = threadIdx.x; i < DEPTH * TILE_COLUMNS; i += THREADS) {
                int k = start + i / TILE_COLUMNS;
                int c = first_col + i % TILE_COLUMNS;
                Bs[i / TILE_COLUMNS * B_PITCH + i % TILE_COLUMNS] =
                    k < K && c < N ? B[k * N + c] : 0.0f;
            }
            __syncthreads();
            #pragma unroll 1
            for (int k = 0; k < DEPTH; k += STEP) {
                load_pieces(a[0], b[0], a_warp + k, b_warp + k * B_PITCH);
                multiply(acc, a[0], b[0]);
            }
            __syncthreads();
        }
    } else {
        // What this thread copies of each tile: four neighbours of every few rows. Past the last
        // row or column of a matrix it copies the last ones again: what comes of it is not stored.
        int a_row = threadIdx.x / (DEPTH / 4);
        int a_k = threadIdx.x % (DEPTH / 4) * 4;
        int b_k = threadIdx.x / (TILE_COLUMNS / 4);
        int b_col = threadIdx.x % (TILE_COLUMNS / 4) * 4;
        int b_from = b_k * N + min(first_col + b_col, N - 4);
        float* a_to = As + a_row * A_PITCH + a_k;
        float* b_to = Bs + b_k * B_PITCH + b_col;
        int count = K / DEPTH;
        for (int t = 0; t < STAGES - 1; ++t) {
            int start = min(t, count - 1) * DEPTH;
            #pragma unroll
            for (int i = 0; i < TILE_ROWS; i += A_STEP)
                __pipeline_memcpy_async(a_to + t * A_SIZE + i * A_PITCH,
                    A + (min(first_row + a_row + i, M - 1) * K + a_k + start), 16);
            #pragma unroll
            for (int i = 0; i < DEPTH; i += B_STEP)
                __pipeline_memcpy_async(b_to + t * B_SIZE + i * B_PITCH,
                                        B + (b_from + (i + start) * N), 16);
            __pipeline_commit();
        }
        __pipeline_wait_prior(STAGES - 2); // all but the youngest tiles
        __syncthreads();
        load_pieces(a[0], b[0], a_warp, b_warp);

        int now = 0;
        int free = STAGES - 1;
        #pragma unroll 1
        for (int t = 0; t < count; ++t) {
            int next = now + 1 < STAGES ? now + 1 : 0;
            const float* a_tile = a_warp + now * A_SIZE;
            const float* b_tile = b_warp + now * B_SIZE;
            #pragma unroll
            for (int k = 0; k < DEPTH; k += STEP) {
                int turn = k / STEP % 2;
                if (k + STEP < DEPTH) {
                    load_pieces(a[1 - turn], b[1 - turn], a_tile + (k + STEP),
                                b_tile + (k + STEP) * B_PITCH);
                } else {
                    // The next tile has arrived, and all have read this one.
                    __pipeline_commit();
                    __pipeline_wait_prior(STAGES - 2);
                    __syncthreads();
                    load_pieces(a[1 - turn], b[1 - turn], a_warp + next * A_SIZE,
                                b_warp + next * B_SIZE);
                }
                if (k == 0 && t + STAGES - 1 < count) {
                    int start = (t + STAGES - 1) * DEPTH;
                    #pragma unroll
                    for (int i = 0; i < TILE_ROWS; i += A_STEP)
                        __pipeline_memcpy_async(a_to + free * A_SIZE + i * A_PITCH,
                            A + (min(first_row + a_row + i, M - 1) * K + a_k + start), 16);
                    #pragma unroll
                    for (int i = 0; i < DEPTH; i += B_STEP)
                        __pipeline_memcpy_async(b_to + free * B_SIZE + i * B_PITCH,
                                                B + (b_from + (i + start) * N), 16);
                }
                multiply(acc, a[turn], b[turn]);
            }
            free = free + 1 < STAGES ? free + 1 : 0;
            now = next;
        }
    }

    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            store_sums(C, M, N, first_row + warp_row + i * 16, first_col + warp_col + j * 16,
                       acc[i][j], edges[warp]);
}
