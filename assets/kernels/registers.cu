// Registers: a thread computes EACH x EACH elements of C: a register tile in two dimensions.
// Improves on the kernel of rows: 2 EACH shared loads now feed EACH * EACH multiply-adds, so that
// one needs 2 / EACH loads, and TILE can grow further on the same number of threads.
// The thread's rows and columns lie TILE / EACH apart: a warp reads neighbouring words of B.
// Where a tile's cells divide evenly among the threads, no copy is checked: a check would keep
// each load waiting for the one before it.
// Still limits it: every load moves 4 bytes; the instructions that load and that compute
// addresses take turns with the multiply-adds, and a warp waits for each tile to arrive.
#define TILE 128
#define DEPTH 8
#define EACH 8

extern "C" __global__ __launch_bounds__(TILE / EACH * (TILE / EACH))
void registers(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float As[DEPTH][TILE + 1];
    __shared__ float Bs[DEPTH][TILE];
    const int side = TILE / EACH;
    const int threads = side * side;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * side + tx;
    int first_row = blockIdx.y * TILE;
    int first_col = blockIdx.x * TILE;
    float acc[EACH][EACH] = {};

    for (int start = 0; start < K; start += DEPTH) {
        for (int begin = 0; begin < TILE * DEPTH; begin += threads) {
            int i = begin + thread;
            if (TILE * DEPTH % threads != 0 && i >= TILE * DEPTH)
                break;
            int row = first_row + i / DEPTH;
            int k = start + i % DEPTH;
            As[i % DEPTH][i / DEPTH] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int begin = 0; begin < DEPTH * TILE; begin += threads) {
            int i = begin + thread;
            if (DEPTH * TILE % threads != 0 && i >= DEPTH * TILE)
                break;
            int k = start + i / TILE;
            int col = first_col + i % TILE;
            Bs[i / TILE][i % TILE] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float a[EACH];
            float b[EACH];
            for (int i = 0; i < EACH; ++i) {
                a[i] = As[k][i * side + ty];
                b[i] = Bs[k][i * side + tx];
            }
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            int row = first_row + i * side + ty;
            int col = first_col + j * side + tx;
            if (row < M && col < N)
                C[row * N + col] = acc[i][j];
        }
    }
}
