// Few rows: C has at most ROWS of them, so that each value of B is needed ROWS times and no more.
// Unlike in the tiled kernels, there is nothing to share: the thread that loads a value of B uses it
// for all rows at once, from a register. What is left is to read B from global memory as fast as
// possible. So four neighbouring values come at a time, AHEAD sets of them are on their way while
// one is multiplied, and none is kept in a cache, as each is read once. (Kept there, they would push
// out what others wrote, which then has to be written to DRAM in the meantime.)
// All threads of a block work on the same COLUMNS, each on other k, and add up at the end: the sums
// always have the same order. Blocks along z take a piece of K each, and store their sums one after
// the other; add_pieces adds those.
// Still limits it: with eight rows, each set of B's values waits for eight times as many of A's.
#define ROWS 4
#define COLUMNS 32
#define WARPS 16
#define AHEAD 2

#define THREADS (32 * WARPS)
#define ACROSS (COLUMNS / 4) // threads side by side, each with four columns
#define DEPTH (4 * THREADS / ACROSS) // k that the block takes at once: four a thread

// Four neighbours of a row, of which `left` exist, and zeros for the others. WIDE is 4 where
// rows begin on 16 bytes, else 1. What is read once is not kept in the caches.
template <int WIDE, bool ONCE>
__device__ void load_four(float (&four)[4], const float* from, int left)
{
    if (WIDE == 4) {
        const float4* place = reinterpret_cast<const float4*>(from);
        float4 values = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (left > 0)
            values = ONCE ? __ldcs(place) : *place;
        four[0] = values.x;
        four[1] = values.y;
        four[2] = values.z;
        four[3] = values.w;
    } else {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            four[i] = 0.0f;
            if (i < left)
                four[i] = ONCE ? __ldcs(from + i) : from[i];
        }
    }
}

// The block's cells of C, from its piece of K.
template <int WIDE>
__device__ void compute_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                float (&sums)[WARPS][ROWS][COLUMNS])
{
    int first_row = blockIdx.y * ROWS;
    int first_col = blockIdx.x * COLUMNS;
    int col = first_col + threadIdx.x % ACROSS * 4; // the thread's first of four
    int piece = (K + 4 * gridDim.z - 1) / (4 * gridDim.z) * 4;
    int k_begin = blockIdx.z * piece;
    int k_end = min(K, k_begin + piece);
    float acc[ROWS][4] = {};
    float next[AHEAD][4][4]; // of B: four k, four columns
    int k = k_begin + threadIdx.x / ACROSS * 4;
    #pragma unroll
    for (int s = 0; s < AHEAD; ++s)
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            load_four<WIDE, true>(next[s][i], B + (k + s * DEPTH + i) * N + col,
                                  k + s * DEPTH + i < k_end ? N - col : 0);

    for (; k < k_end; k += AHEAD * DEPTH) {
        #pragma unroll
        for (int s = 0; s < AHEAD; ++s) {
            int now = k + s * DEPTH;
            int later = now + AHEAD * DEPTH;
            float b[4][4];
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                #pragma unroll
                for (int j = 0; j < 4; ++j)
                    b[i][j] = next[s][i][j];
                load_four<WIDE, true>(next[s][i], B + (later + i) * N + col,
                                      later + i < k_end ? N - col : 0);
            }
            #pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                float a[4];
                load_four<WIDE, false>(a, A + (first_row + row) * K + now,
                                       first_row + row < M ? k_end - now : 0);
                #pragma unroll
                for (int i = 0; i < 4; ++i)
                    #pragma unroll
                    for (int j = 0; j < 4; ++j)
                        acc[row][j] += a[i] * b[i][j];
            }
        }
    }

    // Lanes with the same columns add up, then warps.
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            float sum = acc[row][j];
            #pragma unroll
            for (int away = ACROSS; away < 32; away *= 2)
                sum += __shfl_xor_sync(0xffffffff, sum, away);
            if (lane < ACROSS)
                sums[warp][row][lane * 4 + j] = sum;
        }
    }
    __syncthreads();
    for (int cell = threadIdx.x; cell < ROWS * COLUMNS; cell += THREADS) {
        int row = first_row + cell / COLUMNS;
        int c = cell % COLUMNS;
        float sum = 0.0f;
        #pragma unroll
        for (int w = 0; w < WARPS; ++w)
            sum += sums[w][cell / COLUMNS][c];
        if (row < M && first_col + c < N)
            C[(blockIdx.z * M + row) * N + first_col + c] = sum;
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void few_rows(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float sums[WARPS][ROWS][COLUMNS];
    if (N % 4 == 0 && K % 4 == 0)
        compute_columns<4>(A, B, C, M, N, K, sums);
    else
        compute_columns<1>(A, B, C, M, N, K, sums);
}

// Adds the sums of all pieces of K, in order. A thread has one of C's `cells`.
extern "C" __global__ void add_pieces(const float* parts, float* C, int cells, int pieces)
{
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < cells) {
        float sum = 0.0f;
        for (int piece = 0; piece < pieces; ++piece)
            sum += parts[piece * cells + cell];
        C[cell] = sum;
    }
}
