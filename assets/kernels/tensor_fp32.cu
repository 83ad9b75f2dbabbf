// Float32's accuracy from tensor cores: each operand as a large and a small part.
// Fixes a weakness of TF32: the tensor core reads 11 bits of an operand, and a float32 number
// has 24. Its first 11 and what is left are two TF32 numbers; three products of such parts are the
// product of the whole, but for a millionth at most. That is three times the work, and
// still takes less than one product does on the multiply-add units.
// A tensor core also cuts its sums short, always toward zero, and over thousands of k that adds up.
// So the sums of each tile begin at zero, and are added to the others where additions round.
// The large part takes no instruction: the tensor core itself reads no more of a number. The small
// part is taken in registers, by every warp that multiplies it: copies to shared memory move bytes
// as they are. A warp's tile is 64 x 32, so that the sums of a tile fit beside all sums.
// Where K is a few thousand, C is closer to the product in double precision than the result of
// float32 multiply-adds is. Infinities become NaN.
// Still limits it: two instructions for the small part of each operand, and additions at the end of
// each tile, take turns of the instructions that multiply.
#include <cuda_pipeline.h>
#include <mma.h>
#define WARPS_DOWN 2
#define WARPS_ACROSS 4
#define ROWS 4
#define COLUMNS 2
#define DEPTH 32

#define STAGES 3 // tiles in use or on their way
#define STEP 8 // k of a piece; a warp's tile is ROWS x COLUMNS pieces of 16 x 16
#define THREADS (WARPS_DOWN * WARPS_ACROSS * 32)
#define TILE_ROWS (WARPS_DOWN * ROWS * 16)
#define TILE_COLUMNS (WARPS_ACROSS * COLUMNS * 16)
#define A_PITCH (DEPTH + 4) // from one row in shared memory to the next
#define B_PITCH (TILE_COLUMNS + 8)
#define A_SIZE (TILE_ROWS * A_PITCH) // of a tile
#define B_SIZE (DEPTH * B_PITCH)
#define ROW_PITCH (COLUMNS * 16 + 8) // of C's rows on their way out
// Copies that a thread makes of each tile, of four values each, and the rows from one to the next.
#define A_COPIES (TILE_ROWS * DEPTH / 4 / THREADS)
#define B_COPIES (DEPTH * TILE_COLUMNS / 4 / THREADS)
#define A_STEP (TILE_ROWS / A_COPIES)
#define B_STEP (DEPTH / B_COPIES)
#define PARTS (DEPTH / STEP) // of those copies, begun one after another

using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, STEP, wmma::precision::tf32,
                       wmma::row_major> PieceOfA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, STEP, wmma::precision::tf32,
                       wmma::row_major> PieceOfB;
typedef wmma::fragment<wmma::accumulator, 16, 16, STEP, float> Sums;

// Begin one part of a thread's copies of a tile: what belongs between two steps of products.
__device__ __forceinline__ void copy_part(int part, float* a_to, float* b_to,
                                          const float* const (&a_from)[A_COPIES],
                                          const float* b_from, int N)
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        if (i * PARTS / (A_COPIES + B_COPIES) == part)
            __pipeline_memcpy_async(a_to + i * A_STEP * A_PITCH, a_from[i], 16);
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        if ((A_COPIES + i) * PARTS / (A_COPIES + B_COPIES) == part)
            __pipeline_memcpy_async(b_to + i * B_STEP * B_PITCH, b_from + i * B_STEP * N, 16);
}

// A warp's pieces of A and B for the next STEP k.
__device__ __forceinline__ void load_pieces(PieceOfA (&a)[ROWS], PieceOfB (&b)[COLUMNS],
                                            const float* a_from, const float* b_from)
{
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
        wmma::load_matrix_sync(b[j], b_from + j * 16, B_PITCH);
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        wmma::load_matrix_sync(a[i], a_from + i * 16 * A_PITCH, A_PITCH);
}

// What the tensor core does not read of x: all that is after its first 11 digits.
__device__ __forceinline__ float small(float x)
{
    return x - __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

// Their products. Each element stands for its large part. Small times small is left out: it is less
// than a millionth of a product.
__device__ __forceinline__ void multiply(Sums (&sums)[ROWS][COLUMNS], const PieceOfA (&a)[ROWS],
                                         const PieceOfB (&b)[COLUMNS])
{
    PieceOfA a_small[ROWS];
    PieceOfB b_small[COLUMNS];
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
        #pragma unroll
        for (int e = 0; e < b[j].num_elements; ++e)
            b_small[j].x[e] = small(b[j].x[e]);
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int e = 0; e < a[i].num_elements; ++e)
            a_small[i].x[e] = small(a[i].x[e]);
    // Row by row, so that the compiler may take the next rows' small parts between these products.
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::mma_sync(sums[i][j], a_small[i], b[j], sums[i][j]);
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::mma_sync(sums[i][j], a[i], b_small[j], sums[i][j]);
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
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

// Take a tile's sums out of the tensor core: float32 additions, which round.
__device__ __forceinline__ void add(Sums (&acc)[ROWS][COLUMNS], const Sums (&sums)[ROWS][COLUMNS])
{
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            #pragma unroll
            for (int e = 0; e < acc[i][j].num_elements; ++e)
                acc[i][j].x[e] += sums[i][j].x[e];
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
__device__ __noinline__ void multiply_aligned(const float* A, const float* B, float* C, int M,
                                              int N, int K, float* As, float* Bs, float* rows)
{
    static_assert(A_COPIES >= 1 && B_COPIES >= 1, "Take more ROWS or fewer WARPS_ACROSS");
    int warp = threadIdx.x / 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * (ROWS * 16);
    int warp_col = warp % WARPS_ACROSS * (COLUMNS * 16);
    const float* a_warp = As + warp_row * A_PITCH;
    const float* b_warp = Bs + warp_col;
    // What this thread copies of each tile: four neighbours of every few rows. Past the last
    // row or column of a matrix it copies the last ones again: what comes of it is not stored.
    int a_row = threadIdx.x / (DEPTH / 4);
    int a_k = threadIdx.x % (DEPTH / 4) * 4;
    int b_k = threadIdx.x / (TILE_COLUMNS / 4);
    int b_col = threadIdx.x % (TILE_COLUMNS / 4) * 4;
    const float* a_from[A_COPIES];
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        a_from[i] = A + (min(first_row + a_row + i * A_STEP, M - 1) * K + a_k);
    const float* b_from = B + (b_k * N + min(first_col + b_col, N - 4));
    float* a_to = As + a_row * A_PITCH + a_k;
    float* b_to = Bs + b_k * B_PITCH + b_col;
    PieceOfA a[2][ROWS]; // of these STEP k and of the next
    PieceOfB b[2][COLUMNS];
    Sums acc[ROWS][COLUMNS];
    Sums of_tile[ROWS][COLUMNS];
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
        const float* a_tile = a_warp + now * A_SIZE;
        const float* b_tile = b_warp + now * B_SIZE;
        clear(of_tile);
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
            multiply(of_tile, a[turn], b[turn]);
        }
        add(acc, of_tile);
        coming = now;
        now = next;
    }
    store_sums<4>(C, M, N, first_row + warp_row, first_col + warp_col, acc, rows);
}

// A block's tile of C where they do not: plain copies, and zeros past the edges.
__device__ __noinline__ void multiply_ragged(const float* A, const float* B, float* C,
                                             int M, int N, int K, float* As, float* Bs, float* rows)
{
    int warp = threadIdx.x / 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int warp_row = warp / WARPS_ACROSS * (ROWS * 16);
    int warp_col = warp % WARPS_ACROSS * (COLUMNS * 16);
    const float* a_warp = As + warp_row * A_PITCH;
    const float* b_warp = Bs + warp_col;
    PieceOfA a[ROWS];
    PieceOfB b[COLUMNS];
    Sums acc[ROWS][COLUMNS];
    Sums of_tile[ROWS][COLUMNS];
    clear(acc);
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
        clear(of_tile);
        #pragma unroll 1
        for (int k = 0; k < DEPTH; k += STEP) {
            load_pieces(a, b, a_warp + k, b_warp + k * B_PITCH);
            multiply(of_tile, a, b);
        }
        add(acc, of_tile);
        __syncthreads();
    }
    store_sums<1>(C, M, N, first_row + warp_row, first_col + warp_col, acc, rows);
}

extern "C" __global__ __launch_bounds__(THREADS)
void tensor_fp32(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(32) float tiles[]; // STAGES of A, then STAGES of B
    __shared__ alignas(32) float rows[WARPS_DOWN * WARPS_ACROSS][16 * ROW_PITCH]; // of C
    float* As = tiles;
    float* Bs = tiles + STAGES * A_SIZE;
    if (N % 4 == 0 && K % DEPTH == 0)
        multiply_aligned(A, B, C, M, N, K, As, Bs, rows[threadIdx.x / 32]);
    else
        multiply_ragged(A, B, C, M, N, K, As, Bs, rows[threadIdx.x / 32]);
}
