// Vectors: loads and stores of 128 bits, four neighbouring floats in one instruction.
// Improves on the kernel of registers: a quarter of its load instructions, from global memory
// and from shared. A's tile is stored transposed, so that a thread's rows are neighbours too;
// four words at the end of each row of it keep the transposing stores out of each other's banks.
// 128 bits at once need addresses that are a multiple of 16 bytes: where K or N is not a
// multiple of 4, rows do not begin on one, and their values are taken one by one.
// Still limits it: nothing is computed while a tile is on its way from global memory.
#define TILE 128
#define DEPTH 8
#define EACH 8

// Elements first .. first + 3 of a row that has `count`, with zeros past its end.
__device__ float4 load_four(const float* row, int first, int count)
{
    if (count % 4 == 0)
        return first < count ? *reinterpret_cast<const float4*>(row + first)
                             : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return make_float4(first < count ? row[first] : 0.0f,
                       first + 1 < count ? row[first + 1] : 0.0f,
                       first + 2 < count ? row[first + 2] : 0.0f,
                       first + 3 < count ? row[first + 3] : 0.0f);
}

// The same elements written, as far as the row goes.
__device__ void store_four(float* row, int first, int count, float4 value)
{
    if (count % 4 == 0) {
        if (first < count)
            *reinterpret_cast<float4*>(row + first) = value;
        return;
    }
    if (first < count)
        row[first] = value.x;
    if (first + 1 < count)
        row[first + 1] = value.y;
    if (first + 2 < count)
        row[first + 2] = value.z;
    if (first + 3 < count)
        row[first + 3] = value.w;
}

extern "C" __global__ void vectors(const float* A, const float* B, float* C,
                                   int M, int N, int K)
{
    __shared__ alignas(16) float As[DEPTH][TILE + 4];
    __shared__ alignas(16) float Bs[DEPTH][TILE];
    const int side = TILE / EACH;
    const int threads = side * side;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * side + tx;
    int first_row = blockIdx.y * TILE;
    int first_col = blockIdx.x * TILE;
    float acc[EACH][EACH] = {};

    for (int start = 0; start < K; start += DEPTH) {
        for (int begin = 0; begin < TILE * DEPTH / 4; begin += threads) {
            int i = begin + thread;
            if (TILE * DEPTH / 4 % threads != 0 && i >= TILE * DEPTH / 4)
                break;
            int row = i / (DEPTH / 4);
            int k = i % (DEPTH / 4) * 4;
            float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_row + row < M)
                four = load_four(A + (first_row + row) * K, start + k, K);
            As[k][row] = four.x;
            As[k + 1][row] = four.y;
            As[k + 2][row] = four.z;
            As[k + 3][row] = four.w;
        }
        for (int begin = 0; begin < DEPTH * TILE / 4; begin += threads) {
            int i = begin + thread;
            if (DEPTH * TILE / 4 % threads != 0 && i >= DEPTH * TILE / 4)
                break;
            int k = i / (TILE / 4);
            int col = i % (TILE / 4) * 4;
            float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (start + k < K)
                four = load_four(B + (start + k) * N, first_col + col, N);
            *reinterpret_cast<float4*>(&Bs[k][col]) = four;
        }
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float a[EACH];
            float b[EACH];
            for (int i = 0; i < EACH; i += 4) {
                *reinterpret_cast<float4*>(&a[i]) =
                    *reinterpret_cast<float4*>(&As[k][i * side + ty * 4]);
                *reinterpret_cast<float4*>(&b[i]) =
                    *reinterpret_cast<float4*>(&Bs[k][i * side + tx * 4]);
            }
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        int row = first_row + i / 4 * 4 * side + ty * 4 + i % 4;
        for (int j = 0; j < EACH; j += 4) {
            float4 four = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            if (row < M)
                store_four(C + row * N, first_col + j * side + tx * 4, N, four);
        }
    }
}
