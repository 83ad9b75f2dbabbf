// Tensor cores by groups of four warps. Operands of 16 bits, sums of 32.
// Fixes a weakness of the kernel of half precision: there every warp fetches its own pieces of A
// and B into registers, and shared memory is as busy with that as the tensor cores are with the
// products. Here four warps, a warpgroup, issue one instruction together (wgmma): 64 x 16 of A
// times 16 x 256 of B, and the tensor cores read both directly from shared memory. The warps need
// not wait for that: they begin the copies of a later tile, and come back when the tile before
// has been multiplied.
// The instruction wants rows of 128 bytes, whose eight parts of 16 bytes change places from row to
// row: part p of row r lies at p ^ r % 8. So the same part of eight rows lies in all banks, and no
// row is longer than its values.
// CUDA C has no function for this instruction: functions whose names begin with wgmma issue it as
// inline PTX. The simulator does not execute it, and only GPUs of compute
// capability 9.0 have it.
// Still limits it: the warps that multiply make the copies, too. A GPU of today has a unit that
// copies whole tiles, and one warp that waits for it is enough; this kernel leaves it out.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#define DEPTH 64

#define STAGES 4 // tiles that are multiplied, are there, or are on their way
#define STEP 16 // k of an instruction
#define GROUPS 2 // of four warps; each has 64 rows of the block's tile of C
#define THREADS (GROUPS * 128)
#define TILE_ROWS (GROUPS * 64)
#define TILE_COLUMNS 256
#define BAND 8 // rows of tiles whose blocks come one after another: the L2 still has their B
#define PANEL 64 // values in a row of 128 bytes: so many columns of B lie together
#define A_SIZE (TILE_ROWS * DEPTH) // of a tile
#define B_SIZE (DEPTH * TILE_COLUMNS)
// Copies that a thread makes of each tile, of eight values each, and the rows from one to the next.
#define A_COPIES (A_SIZE / 8 / THREADS)
#define B_COPIES (B_SIZE / 8 / THREADS)
#define A_STEP (TILE_ROWS / A_COPIES)
#define B_STEP (DEPTH / B_COPIES)

#define FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define SUMS SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), \
             SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)

// sums += A's 64 x 16 times B's 16 x 256, which lie where their descriptions say. A lane's sums are
// of two rows, lane / 4 of its warp's 16 and eight further, and of two columns in every eight.
__device__ __forceinline__ void wgmma(float (&sums)[128], unsigned long long a,
                                      unsigned long long b)
{
    // One operand says to add; the last four: not to negate A or B, and that B's rows are of one k.
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, %130, 0;"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12,"
        " %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25,"
        " %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38,"
        " %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51,"
        " %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64,"
        " %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77,"
        " %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90,"
        " %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103,"
        " %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116,"
        " %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1, 0, 1;}"
        : SUMS : "l"(a), "l"(b), "n"(1));
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

// Where a matrix lies, in 16 bytes: its start, from one panel of columns to the next, from eight
// rows to the next eight. The last bit says that the parts of its rows change places.
__device__ __forceinline__ unsigned long long describe(const half* start)
{
    return __cvta_generic_to_shared(start) / 16 | DEPTH * PANEL * sizeof(half) / 16 << 16 |
           8ull * 128 / 16 << 32 | 1ull << 62;
}

// Where eight values from a column on lie in a panel.
__device__ __forceinline__ int place(int row, int column)
{
    return row * PANEL + (column / 8 ^ row % 8) * 8;
}

// The products of a tile, as a batch.
__device__ __forceinline__ void multiply(float (&sums)[128], const half* a_tile, const half* b_tile)
{
    unsigned long long a = describe(a_tile);
    unsigned long long b = describe(b_tile);
    wgmma_begin();
    #pragma unroll
    for (int k = 0; k < DEPTH; k += STEP)
        wgmma(sums, a + k * sizeof(half) / 16, b + k * PANEL * sizeof(half) / 16);
    wgmma_commit();
}

// Begin a thread's copies of a tile, and go on to the next.
__device__ __forceinline__ void copy_tile(half* a_to, half* b_to, const half* (&a_from)[A_COPIES],
                                          const half*& b_from, int N)
{
    #pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        __pipeline_memcpy_async(a_to + i * A_STEP * PANEL, a_from[i], 16);
        a_from[i] += DEPTH;
    }
    #pragma unroll
    for (int i = 0; i < B_COPIES; ++i)
        __pipeline_memcpy_async(b_to + i * B_STEP * PANEL, b_from + i * B_STEP * N, 16);
    b_from += DEPTH * N;
}

// Write a lane's sums to C, as far as C goes.
__device__ __forceinline__ void store_sums(float* C, int M, int N, int row, int col,
                                           const float (&sums)[128])
{
    #pragma unroll
    for (int i = 0; i < 128; i += 2) {
        int r = row + i / 2 % 2 * 8;
        int c = col + i / 4 * 8;
        if (r < M && c + 1 < N && N % 2 == 0) {
            *reinterpret_cast<float2*>(C + r * N + c) = make_float2(sums[i], sums[i + 1]);
        } else if (r < M) {
            if (c < N)
                C[r * N + c] = sums[i];
            if (c + 1 < N)
                C[r * N + c + 1] = sums[i + 1];
        }
    }
}

// A block's products, where 128-bit copies fit rows and tiles.
__device__ __forceinline__ void multiply_aligned(float (&sums)[128], const half* A, const half* B,
                                                 int M, int N, int K, int first_row, int first_col,
                                                 half* As, half* Bs)
{
    int group = threadIdx.x / 128;
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
    half* a_to = As + place(a_row, a_k);
    half* b_to = Bs + (b_col / PANEL * (DEPTH * PANEL) + place(b_k, b_col % PANEL));
    int count = K / DEPTH;
    for (int t = 0; t < STAGES - 2; ++t) {
        if (t < count)
            copy_tile(a_to + t * A_SIZE, b_to + t * B_SIZE, a_from, b_from, N);
        __pipeline_commit();
    }
    int now = 0;
    int coming = STAGES - 2; // where the tile goes that is copied next
    #pragma unroll 1
    for (int t = 0; t < count; ++t) {
        __pipeline_wait_prior(STAGES - 3); // all but the youngest
        wgmma_show();
        __syncthreads();
        multiply(sums, As + now * A_SIZE + group * 64 * PANEL, Bs + now * B_SIZE);
        // Both groups have waited for the tile before the last: its place is free.
        if (t + STAGES - 2 < count)
            copy_tile(a_to + coming * A_SIZE, b_to + coming * B_SIZE, a_from, b_from, N);
        __pipeline_commit();
        wgmma_wait<1>(); // for the tile before this one
        now = now + 1 < STAGES ? now + 1 : 0;
        coming = coming + 1 < STAGES ? coming + 1 : 0;
    }
    wgmma_wait<0>();
}

// A block's products where they do not: plain copies, and zeros past the edges.
__device__ __forceinline__ void multiply_ragged(float (&sums)[128], const half* A, const half* B,
                                                int M, int N, int K, int first_row, int first_col,
                                                half* As, half* Bs)
{
    int group = threadIdx.x / 128;
    half zero = __float2half(0.0f);
    #pragma unroll 1
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = threadIdx.x; i < A_SIZE; i += THREADS) {
            int r = i / DEPTH;
            int k = i % DEPTH;
            bool inside = first_row + r < M && start + k < K;
            As[place(r, k) + k % 8] = inside ? A[(first_row + r) * K + start + k] : zero;
        }
        for (int i = threadIdx.x; i < B_SIZE; i += THREADS) {
            int k = i / TILE_COLUMNS;
            int c = i % TILE_COLUMNS;
            bool inside = start + k < K && first_col + c < N;
            Bs[c / PANEL * (DEPTH * PANEL) + place(k, c % PANEL) + c % 8] =
                inside ? B[(start + k) * N + first_col + c] : zero;
        }
        wgmma_show();
        __syncthreads();
        multiply(sums, As + group * 64 * PANEL, Bs);
        wgmma_wait<0>();
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void warpgroup_half(const half* A, const half* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(1024) half tiles[]; // STAGES of A, then STAGES of B
    half* As = tiles;
    half* Bs = tiles + STAGES * A_SIZE;
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    int in_band = BAND * gridDim.x;
    int band = block / in_band * BAND;
    int rows = min(BAND, static_cast<int>(gridDim.y) - band);
    int first_row = (band + block % in_band % rows) * TILE_ROWS;
    int first_col = block % in_band / rows * TILE_COLUMNS;
    float sums[128] = {};
    if (N % 8 == 0 && K % DEPTH == 0)
        multiply_aligned(sums, A, B, M, N, K, first_row, first_col, As, Bs);
    else
        multiply_ragged(sums, A, B, M, N, K, first_row, first_col, As, Bs);
    int row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    int col = first_col + threadIdx.x % 4 * 2;
    store_sums(C, M, N, row, col, sums);
}
