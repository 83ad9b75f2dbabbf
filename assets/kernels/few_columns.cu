// Few columns: C has at most COLUMNS of them, so that each value of A is needed COLUMNS times and
// no more.
// Unlike in the kernel for few rows, A is the large matrix here, and its rows run along k. So the
// lanes of a warp take neighbouring k of ROWS rows, with AHEAD sets of values on their way, read once
// and not kept; each lane multiplies by the row of B for its k. That row is loaded one set earlier:
// the caches answer in the order of the loads, so that it arrives after the values of A before it.
// Then the 32 lanes add up. If each cell's sum were passed on alone, it would take five turns a
// cell. So halves are exchanged: a lane gives away one half of its cells and gets its partner's sums
// of the other, until each has 1/32 of the cells, of all lanes. The WARPS_DEEP warps of a block that
// share rows add up after that. Blocks along z take a piece of K each, as in the kernel for few rows.
// Still limits it: with eight columns, each value of A needs eight of B, which a lane loads alone.
#define ROWS 8
#define COLUMNS 4
#define WARPS_DOWN 1
#define WARPS_DEEP 4
#define AHEAD 4
#define PADDED 0 // 1: a row of B takes (N + 3) / 4 * 4 values, as pad_rows of anyshape writes it

#define THREADS (32 * WARPS_DOWN * WARPS_DEEP)
#define DEPTH (32 * WARPS_DEEP) // k that the block takes at once: one a lane
#define CELLS (ROWS * COLUMNS) // of a warp

// A row of B, with zeros where it has none. WIDE is 4 where rows begin on 16 bytes, else 1.
template <int WIDE>
__device__ void load_row(float (&values)[COLUMNS], const float* from, int count)
{
    #pragma unroll
    for (int j = 0; j < COLUMNS; j += WIDE) {
        if (WIDE == 4) {
            float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (j < count)
                four = *reinterpret_cast<const float4*>(from + j);
            values[j] = four.x;
            values[j + 1] = four.y;
            values[j + 2] = four.z;
            values[j + 3] = four.w;
        } else {
            values[j] = j < count ? from[j] : 0.0f;
        }
    }
}

// Values of one column of A, a row each. Rows from `rows` on, and columns past the piece, are zeros.
__device__ void load_column(float (&values)[ROWS], const float* from, int K, int rows)
{
    #pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        values[row] = 0.0f;
        if (row < rows)
            values[row] = __ldcs(from + row * K);
    }
}

// The block's cells of C, from its piece of K.
template <int WIDE>
__device__ void compute_rows(const float* A, const float* B, float* C, int M, int N, int K,
                             float (&sums)[WARPS_DEEP][WARPS_DOWN][CELLS])
{
    int lane = threadIdx.x % 32;
    int deep = threadIdx.x / 32 % WARPS_DEEP;
    int down = threadIdx.x / 32 / WARPS_DEEP;
    int first_row = (blockIdx.y * WARPS_DOWN + down) * ROWS;
    int first_col = blockIdx.x * COLUMNS;
    int pitch = PADDED ? (N + 3) / 4 * 4 : N; // of B's rows
    int piece = (K + gridDim.z - 1) / gridDim.z;
    int k_begin = blockIdx.z * piece;
    int k_end = min(K, k_begin + piece);
    float acc[CELLS] = {};
    float next[AHEAD][ROWS]; // of A
    float next_row[COLUMNS]; // of B
    int k = k_begin + deep * 32 + lane;
    const float* column = A + first_row * K;
    #pragma unroll
    for (int s = 0; s < AHEAD; ++s)
        load_column(next[s], column + k + s * DEPTH, K,
                    k + s * DEPTH < k_end ? M - first_row : 0);
    load_row<WIDE>(next_row, B + k * pitch + first_col, k < k_end ? N - first_col : 0);

    for (; k < k_end; k += AHEAD * DEPTH) {
        #pragma unroll
        for (int s = 0; s < AHEAD; ++s) {
            int now = k + s * DEPTH;
            int soon = now + DEPTH;
            int later = now + AHEAD * DEPTH;
            float a[ROWS];
            float b[COLUMNS];
            #pragma unroll
            for (int row = 0; row < ROWS; ++row)
                a[row] = next[s][row];
            #pragma unroll
            for (int j = 0; j < COLUMNS; ++j)
                b[j] = next_row[j];
            load_row<WIDE>(next_row, B + soon * pitch + first_col, soon < k_end ? N - first_col : 0);
            load_column(next[s], column + later, K, later < k_end ? M - first_row : 0);
            #pragma unroll
            for (int row = 0; row < ROWS; ++row)
                #pragma unroll
                for (int j = 0; j < COLUMNS; ++j)
                    acc[row * COLUMNS + j] += a[row] * b[j];
        }
    }

    // Halves are exchanged with the lane 16 away, then 8, and so on; a single cell is added by both.
    #pragma unroll
    for (int step = 1; step <= 5; ++step) {
        const int half = CELLS >> step;
        const int away = 32 >> step;
        #pragma unroll
        for (int cell = 0; cell < CELLS / 2; ++cell) {
            if (cell < half) {
                float given = lane & away ? acc[cell] : acc[cell + half];
                float kept = lane & away ? acc[cell + half] : acc[cell];
                acc[cell] = kept + __shfl_xor_sync(0xffffffff, given, away);
            }
        }
        if (half == 0)
            acc[0] += __shfl_xor_sync(0xffffffff, acc[0], away);
    }
    if (lane * CELLS % 32 == 0) { // of the lanes with the same cell, one
        #pragma unroll
        for (int cell = 0; cell < (CELLS + 31) / 32; ++cell)
            sums[deep][down][lane * CELLS / 32 + cell] = acc[cell];
    }
    __syncthreads();
    for (int cell = threadIdx.x; cell < WARPS_DOWN * CELLS; cell += THREADS) {
        int row = blockIdx.y * WARPS_DOWN * ROWS + cell / COLUMNS;
        int col = first_col + cell % COLUMNS;
        float sum = 0.0f;
        #pragma unroll
        for (int d = 0; d < WARPS_DEEP; ++d)
            sum += sums[d][cell / CELLS][cell % CELLS];
        if (row < M && col < N)
            C[(blockIdx.z * M + row) * N + col] = sum;
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void few_columns(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float sums[WARPS_DEEP][WARPS_DOWN][CELLS];
    if (COLUMNS % 4 == 0 && (PADDED || N % 4 == 0))
        compute_rows<COLUMNS % 4 == 0 ? 4 : 1>(A, B, C, M, N, K, sums);
    else
        compute_rows<1>(A, B, C, M, N, K, sums);
}
