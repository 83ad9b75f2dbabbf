// Tensor cores by groups of four warps. Operands of float32 rounded to 11 bits (TF32).
// Fixes a weakness of the kernel of TF32: there every warp rounds the pieces that it fetches,
// between each load and its product, and shared memory is busy with the pieces. Here four warps, a
// warpgroup, issue one instruction together (wgmma), and every value is rounded once.
// The instruction reads operands of 32 bits from shared memory only if consecutive k are adjacent
// there: A is stored that way, B is not. The other operand it takes from registers. So the block
// computes its tile of C the other way round, C's columns as rows: the transpose of B times the
// transpose of A is the transpose of C. B's values come to registers, each to one lane, which
// rounds it; A's are rounded on their way to shared memory, which is through registers, too.
// In shared memory A's rows are of 128 bytes, whose eight parts of 16 bytes change places from row
// to row: part p of row r lies at p ^ r % 8. So the same part of eight rows lies in all banks.
// CUDA C has no function for this instruction: functions whose names begin with wgmma issue it as
// inline PTX. The simulator does not execute it, and only GPUs of compute
// capability 9.0 have it.
// Still limits it: the way of A to shared memory, through registers, which takes a quarter of the
// speed. A GPU of today has a unit that copies whole tiles and rounds them; this kernel leaves it
// out.
#include <cuda_pipeline.h>
#define DEPTH 32

#define A_STAGES 2 // of A: a tile that is multiplied, and the next
#define B_STAGES 3 // of B: the one after that is on its way as well
#define STEP 8 // k of an instruction
#define STEPS (DEPTH / STEP)
#define GROUPS 2 // of four warps; each has 128 columns of the block's tile of C, on two sides
#define THREADS (GROUPS * 128)
#define TILE_ROWS 128
#define TILE_COLUMNS (GROUPS * 128)
#define BAND 8 // rows of tiles whose blocks come one after another: the L2 still has their B
#define B_PITCH (TILE_COLUMNS + 8) // from one row in shared memory to the next
#define A_SIZE (TILE_ROWS * DEPTH) // of a tile
#define B_SIZE (DEPTH * B_PITCH)
// Copies that a thread makes of each tile, of four values each, and the rows from one to the next.
#define A_COPIES (A_SIZE / 4 / THREADS)
#define B_COPIES (DEPTH * TILE_COLUMNS / 4 / THREADS)
#define A_STEP (TILE_ROWS / A_COPIES)
#define B_STEP (DEPTH / B_COPIES)

#define FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define SUMS SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)

// sums += 64 columns of B, a lane's four values of them, times 128 rows of A, which lie where
// their description says, for 8 k. A lane's sums are of two columns of C, lane / 4 of its warp's
// 16 and eight further, and of two rows in every eight.
__device__ __forceinline__ void wgmma(float (&sums)[64], const float (&b)[4], unsigned long long a)
{
    // One operand says to add; the last two: not to negate B or A.
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, %69, 0;"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12,"
        " %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25,"
        " %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38,"
        " %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51,"
        " %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, add, 1, 1;}"
        : SUMS
        : "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])), "r"(__float_as_uint(b[2])),
          "r"(__float_as_uint(b[3])), "l"(a), "n"(1));
}

// Products that follow see what the group has in its registers now.
__device__ __forceinline__ void wgmma_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// The products since the last call are a batch.
__device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Wait until all but the given number of the latest batches have ended.
template <int YOUNGEST>
__device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(YOUNGEST) : "memory");
}

// What this thread has written to shared memory is there for tensor cores, too, after a barrier.
__device__ __forceinline__ void wgmma_show()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Where A's tile lies, in 16 bytes: its start, from eight rows to the next eight. The last bit
// says that the parts of its rows change places.
__device__ __forceinline__ unsigned long long describe(const float* start)
{
    return __cvta_generic_to_shared(start) / 16 | 8ull * 128 / 16 << 32 | 1ull << 62;
}

// Where four values from a k on lie in A's tile.
__device__ __forceinline__ int place(int row, int k)
{
    return row * DEPTH + (k / 4 ^ row % 8) * 4;
}

// A value rounded to 11 bits: the tensor core does not read those after them, so half of what the
// last one counts is added. That is not for NaN, whose bits may all be ones.
__device__ __forceinline__ float rounded(float value)
{
    return value == value ? __uint_as_float(__float_as_uint(value) + 0x1000u) : value;
}

// A lane's values of B for a tile: on each side for every 8 k two columns of k and of k + 4.
__device__ __forceinline__ void load_columns(float (&b)[2][STEPS][4], const float* from)
{
    #pragma unroll
    for (int side = 0; side < 2; ++side)
        #pragma unroll
        for (int step = 0; step < STEPS; ++step)
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                b[side][step][i] =
                    rounded(from[side * 64 + (step * STEP + i / 2 * 4) * B_PITCH + i % 2 * 8]);
}

// The products of a tile, as a batch.
__device__ __forceinline__ void multiply(float (&sums)[2][64], const float (&b)[2][STEPS][4],
                                         const float* a_tile)
{
    unsigned long long a = describe(a_tile);
    wgmma_begin();
    #pragma unroll
    for (int step = 0; step < STEPS; ++step)
        #pragma unroll
        for (int side = 0; side < 2; ++side)
            wgmma(sums[side], b[side][step], a + step * STEP * sizeof(float) / 16);
    wgmma_commit();
}

// Ask for a thread's part of A's tile, and go on to the next.
__device__ __forceinline__ void load_rows(float4 (&rows)[A_COPIES],
                                          const float* (&a_from)[A_COPIES])
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        rows[i] = *reinterpret_cast<const float4*>(a_from[i]);
        a_from[i] += DEPTH;
    }
}

// Round it and write it to shared memory.
__device__ __forceinline__ void store_rows(float* a_to, const float4 (&rows)[A_COPIES])
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i)
        *reinterpret_cast<float4*>(a_to + i * A_STEP * DEPTH) =
            make_float4(rounded(rows[i].x), rounded(rows[i].y), rounded(rows[i].z),
                        rounded(rows[i].w));
}

// Begin a thread's copies of B's tile, and go on to the next.
__device__ __forceinline__ void copy_tile(float* b_to, const float*& b_from, int N)
{
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        __pipeline_memcpy_async(b_to + i * B_STEP * B_PITCH, b_from + i * B_STEP * N, 16);
    b_from += DEPTH * N;
}

// Write a lane's sums to C, as far as C goes.
__device__ __forceinline__ void store_sums(float* C, int M, int N, int row, int col,
                                           const float (&sums)[2][64])
{
    #pragma unroll
    for (int side = 0; side < 2; ++side)
        #pragma unroll
        for (int i = 0; i < 64; ++i) {
            int r = row + i / 4 * 8 + i % 2;
            int c = col + side * 64 + i / 2 % 2 * 8;
            if (r < M && c < N)
                C[r * N + c] = sums[side][i];
        }
}

// A block's products, where 128-bit copies fit rows and tiles.
__device__ __forceinline__ void multiply_aligned(float (&sums)[2][64], const float* A,
                                                 const float* B, int M, int N, int K,
                                                 int first_row, int first_col, float* As,
                                                 float* Bs, const float* b_lane)
{
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
    float* a_to = As + place(a_row, a_k);
    float* b_to = Bs + b_k * B_PITCH + b_col;
    float4 rows[A_COPIES]; // of the next tile of A
    float b[2][STEPS][4];
    int count = K / DEPTH;
    load_rows(rows, a_from);
    store_rows(a_to, rows);
    if (count > 1)
        load_rows(rows, a_from);
    for (int t = 0; t < B_STAGES - 1; ++t) {
        if (t < count)
            copy_tile(b_to + t * B_SIZE, b_from, N);
        __pipeline_commit();
    }
    int now = 0;
    int coming = B_STAGES - 1; // where the tile of B goes that is copied next
    #pragma unroll 1
    for (int t = 0; t < count; ++t) {
        __pipeline_wait_prior(B_STAGES - 2); // all but the youngest
        wgmma_show();
        __syncthreads();
        load_columns(b, b_lane + now * B_SIZE);
        multiply(sums, b, As + t % A_STAGES * A_SIZE);
        // Meanwhile the next tiles come where the last one was: both groups have waited for it.
        if (t + 1 < count)
            store_rows(a_to + (t + 1) % A_STAGES * A_SIZE, rows);
        if (t + 2 < count)
            load_rows(rows, a_from);
        if (t + B_STAGES - 1 < count)
            copy_tile(b_to + coming * B_SIZE, b_from, N);
        __pipeline_commit();
        wgmma_wait<0>();
        now = now + 1 < B_STAGES ? now + 1 : 0;
        coming = coming + 1 < B_STAGES ? coming + 1 : 0;
    }
}

// A block's products where they do not: plain copies, and zeros past the edges.
__device__ __forceinline__ void multiply_ragged(float (&sums)[2][64], const float* A,
                                                const float* B, int M, int N, int K, int first_row,
                                                int first_col, float* As, float* Bs,
                                                const float* b_lane)
{
    float b[2][STEPS][4];
    #pragma unroll 1
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = threadIdx.x; i < A_SIZE; i += THREADS) {
            int r = i / DEPTH;
            int k = i % DEPTH;
            bool inside = first_row + r < M && start + k < K;
            As[place(r, k) + k % 4] =
                inside ? rounded(A[(first_row + r) * K + start + k]) : 0.0f;
        }
        for (int i = threadIdx.x; i < DEPTH * TILE_COLUMNS; i += THREADS) {
            int k = i / TILE_COLUMNS;
            int c = i % TILE_COLUMNS;
            bool inside = start + k < K && first_col + c < N;
            Bs[k * B_PITCH + c] = inside ? B[(start + k) * N + first_col + c] : 0.0f;
        }
        wgmma_show();
        __syncthreads();
        load_columns(b, b_lane);
        multiply(sums, b, As);
        wgmma_wait<0>();
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void warpgroup_tf32(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(1024) float tiles[]; // A_STAGES of A, then B_STAGES of B
    float* As = tiles;
    float* Bs = tiles + A_STAGES * A_SIZE;
    int lane = threadIdx.x % 32;
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    int in_band = BAND * gridDim.x;
    int band = block / in_band * BAND;
    int rows = min(BAND, static_cast<int>(gridDim.y) - band);
    int first_row = (band + block % in_band % rows) * TILE_ROWS;
    int first_col = block % in_band / rows * TILE_COLUMNS;
    int group = threadIdx.x / 128;
    int column = group * 128 + threadIdx.x % 128 / 32 * 16 + lane / 4; // the first of a lane
    const float* b_lane = Bs + lane % 4 * B_PITCH + column;
    float sums[2][64] = {};
    if (N % 4 == 0 && K % DEPTH == 0)
        multiply_aligned(sums, A, B, M, N, K, first_row, first_col, As, Bs, b_lane);
    else
        multiply_ragged(sums, A, B, M, N, K, first_row, first_col, As, Bs, b_lane);
    store_sums(C, M, N, first_row + lane % 4 * 2, first_col + column, sums);
}
