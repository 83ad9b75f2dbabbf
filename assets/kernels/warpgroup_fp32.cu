// Float32's accuracy from tensor cores by groups of four warps: operands as two parts.
// Fixes a weakness of the kernel of float32 by parts: there every warp takes the small parts of the
// pieces that it fetches, between each load and its product, and shared memory is busy with them.
// Here four warps, a warpgroup, issue one instruction together (wgmma), and the small part of
// every value is taken once.
// As in the kernel of TF32 the block computes its tile of C the other way round: B's values come to
// registers, each to one lane, and A's small parts stand in a tile of their own, beside A's.
// The large part takes no instruction: the tensor core itself reads no more of a number than 11
// bits. It also cuts its sums short, so that those of each tile begin at zero, and are added to the
// others where additions round. Two blocks share a multiprocessor: while one adds, the products of
// the other go on.
// CUDA C has no function for this instruction: functions whose names begin with wgmma issue it as
// inline PTX. The simulator does not execute it, and only GPUs of compute
// capability 9.0 have it. Infinities become NaN.
// Still limits it: shared memory, which A enters twice and leaves three times for each group.
#include <cuda_pipeline.h>
#define DEPTH 32

#define STAGES 3 // tiles in use or on their way
#define STEP 8 // k of an instruction
#define STEPS (DEPTH / STEP)
#define GROUPS 2 // of four warps; each has 64 columns of the block's tile of C
#define THREADS (GROUPS * 128)
#define TILE_ROWS 64
#define TILE_COLUMNS (GROUPS * 64)
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

// 64 columns of B, a lane's four values of them, times 64 rows of A, which lie where their
// description says, for 8 k; added to the sums or put in their place. A lane's sums are of two
// columns of C, lane / 4 of its warp's 16 and eight further, and of two rows in every eight.
__device__ __forceinline__ void wgmma(float (&sums)[32], const float (&b)[4], unsigned long long a,
                                      bool add)
{
    // The last two operands say not to negate B or A.
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, %37, 0;"
        "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12,"
        " %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25,"
        " %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, add, 1, 1;}"
        : SIXTEEN(0), SIXTEEN(16)
        : "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])), "r"(__float_as_uint(b[2])),
          "r"(__float_as_uint(b[3])), "l"(a), "r"(static_cast<int>(add)));
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

// Where a tile of A or of its small parts lies, in 16 bytes: its start, from eight rows to the next
// eight. The last bit says that the parts of its rows change places: part p of row r lies at
// p ^ r % 8.
__device__ __forceinline__ unsigned long long describe(const float* start)
{
    return __cvta_generic_to_shared(start) / 16 | 8ull * 128 / 16 << 32 | 1ull << 62;
}

// Where four values from a k on lie in such a tile.
__device__ __forceinline__ int place(int row, int k)
{
    return row * DEPTH + (k / 4 ^ row % 8) * 4;
}

// What the tensor core does not read of a number: it takes 11 bits, which end 13 bits early.
__device__ __forceinline__ float small_part(float value)
{
    return value - __uint_as_float(__float_as_uint(value) & 0xffffe000u);
}

// The small parts of what this thread has copied of A's tile, `small` after it.
__device__ __forceinline__ void write_small_parts(float* a_copied, int small)
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        float* from = a_copied + i * A_STEP * DEPTH;
        float4 a = *reinterpret_cast<const float4*>(from);
        *reinterpret_cast<float4*>(from + small) =
            make_float4(small_part(a.x), small_part(a.y), small_part(a.z), small_part(a.w));
    }
}

// A lane's values of B for a tile: of every 8 k those of k and k + 4, and of two columns of each.
__device__ __forceinline__ void load_columns(float (&b)[STEPS][4], float (&b_small)[STEPS][4],
                                             const float* from)
{
    #pragma unroll
    for (int step = 0; step < STEPS; ++step)
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            b[step][i] = from[(step * STEP + i / 2 * 4) * B_PITCH + i % 2 * 8];
            b_small[step][i] = small_part(b[step][i]);
        }
}

// The products of a tile, as a batch; its sums alone.
__device__ __forceinline__ void multiply(float (&sums)[32], const float (&b)[STEPS][4],
                                         const float (&b_small)[STEPS][4], const float* a_tile,
                                         const float* a_small_tile)
{
    unsigned long long a = describe(a_tile);
    unsigned long long a_small = describe(a_small_tile);
    wgmma_begin();
    #pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        int further = step * STEP * sizeof(float) / 16;
        wgmma(sums, b[step], a_small + further, step > 0);
        wgmma(sums, b_small[step], a + further, true);
        wgmma(sums, b[step], a + further, true);
    }
    wgmma_commit();
}

__device__ __forceinline__ void add(float (&acc)[32], const float (&sums)[32])
{
    #pragma unroll
    for (int i = 0; i < 32; ++i)
        acc[i] += sums[i];
}

// Begin a thread's copies of a tile, and go on to the next.
__device__ __forceinline__ void copy_tile(float* a_to, float* b_to,
                                          const float* (&a_from)[A_COPIES], const float*& b_from,
                                          int N)
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        __pipeline_memcpy_async(a_to + i * A_STEP * DEPTH, a_from[i], 16);
        a_from[i] += DEPTH;
    }
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        __pipeline_memcpy_async(b_to + i * B_STEP * B_PITCH, b_from + i * B_STEP * N, 16);
    b_from += DEPTH * N;
}

// Write a lane's sums to C, as far as C goes.
__device__ __forceinline__ void store_sums(float* C, int M, int N, int row, int col,
                                           const float (&sums)[32])
{
    #pragma unroll
    for (int i = 0; i < 32; ++i) {
        int r = row + i / 4 * 8 + i % 2;
        int c = col + i / 2 % 2 * 8;
        if (r < M && c < N)
            C[r * N + c] = sums[i];
    }
}

// A block's products, where 128-bit copies fit rows and tiles.
__device__ __forceinline__ void multiply_aligned(float (&acc)[32], const float* A, const float* B,
                                                 int M, int N, int K, int first_row, int first_col,
                                                 float* As, float* Bs, const float* b_lane)
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
    float b[STEPS][4];
    float b_small[STEPS][4];
    float of_tile[32];
    int count = K / DEPTH;
    for (int t = 0; t < STAGES - 1; ++t) {
        if (t < count)
            copy_tile(a_to + t * A_SIZE, b_to + t * B_SIZE, a_from, b_from, N);
        __pipeline_commit();
    }
    int now = 0;
    int coming = STAGES - 1; // where the tile goes that is copied next
    #pragma unroll 1
    for (int t = 0; t < count; ++t) {
        float* a_tile = As + now * A_SIZE;
        __pipeline_wait_prior(STAGES - 2); // all but the youngest
        write_small_parts(a_to + now * A_SIZE, STAGES * A_SIZE);
        wgmma_show();
        __syncthreads();
        load_columns(b, b_small, b_lane + now * B_SIZE);
        multiply(of_tile, b, b_small, a_tile, a_tile + STAGES * A_SIZE);
        // Meanwhile a tile comes where the last one was: both groups have waited for it.
        if (t + STAGES - 1 < count)
            copy_tile(a_to + coming * A_SIZE, b_to + coming * B_SIZE, a_from, b_from, N);
        __pipeline_commit();
        wgmma_wait<0>();
        add(acc, of_tile);
        now = now + 1 < STAGES ? now + 1 : 0;
        coming = coming + 1 < STAGES ? coming + 1 : 0;
    }
}

// A block's products where they do not: plain copies, and zeros past the edges.
__device__ __forceinline__ void multiply_ragged(float (&acc)[32], const float* A, const float* B,
                                                int M, int N, int K, int first_row, int first_col,
                                                float* As, float* Bs, const float* b_lane)
{
    float b[STEPS][4];
    float b_small[STEPS][4];
    float of_tile[32];
    #pragma unroll 1
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = threadIdx.x; i < A_SIZE; i += THREADS) {
            int r = i / DEPTH;
            int k = i % DEPTH;
            bool inside = first_row + r < M && start + k < K;
            float a = inside ? A[(first_row + r) * K + start + k] : 0.0f;
            As[place(r, k) + k % 4] = a;
            As[STAGES * A_SIZE + place(r, k) + k % 4] = small_part(a);
        }
        for (int i = threadIdx.x; i < DEPTH * TILE_COLUMNS; i += THREADS) {
            int k = i / TILE_COLUMNS;
            int c = i % TILE_COLUMNS;
            bool inside = start + k < K && first_col + c < N;
            Bs[k * B_PITCH + c] = inside ? B[(start + k) * N + first_col + c] : 0.0f;
        }
        wgmma_show();
        __syncthreads();
        load_columns(b, b_small, b_lane);
        multiply(of_tile, b, b_small, As, As + STAGES * A_SIZE);
        wgmma_wait<0>();
        add(acc, of_tile);
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(THREADS, 2)
void warpgroup_fp32(const float* A, const float* B, float* C, int M, int N, int K)
{
    // STAGES of A, STAGES of its small parts, STAGES of B
    extern __shared__ __align__(1024) float tiles[];
    float* As = tiles;
    float* Bs = tiles + 2 * STAGES * A_SIZE;
    int lane = threadIdx.x % 32;
    int first_row = blockIdx.y * TILE_ROWS;
    int first_col = blockIdx.x * TILE_COLUMNS;
    int column = threadIdx.x / 32 * 16 + lane / 4; // of the tile; a lane's first
    const float* b_lane = Bs + lane % 4 * B_PITCH + column;
    float acc[32] = {};
    if (N % 4 == 0 && K % DEPTH == 0)
        multiply_aligned(acc, A, B, M, N, K, first_row, first_col, As, Bs, b_lane);
    else
        multiply_ragged(acc, A, B, M, N, K, first_row, first_col, As, Bs, b_lane);
    store_sums(C, M, N, first_row + lane % 4 * 2, first_col + column, acc);
}
