// Rows: a thread computes EACH elements of C, one below another: a register tile of one column.
// Improves on the tiled kernels: a value of B, once read from shared memory, stays in a register
// for EACH multiply-adds, so that one needs 1 + 1 / EACH shared loads in the source, not two.
// The block's tiles of A and B are TILE x DEPTH and DEPTH x TILE: narrow, so that a large TILE
// fits, which also divides the loads from global memory by TILE.
// Still limits it: the shared loads of A, one for every multiply-add.
#define TILE 64
#define DEPTH 8
#define EACH 8

extern "C" __global__ void rows(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float As[TILE][DEPTH];
    __shared__ float Bs[DEPTH][TILE];
    const int threads = TILE * TILE / EACH;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * TILE + tx;
    int first_row = blockIdx.y * TILE;
    int first_col = blockIdx.x * TILE;
    float acc[EACH] = {};

    for (int start = 0; start < K; start += DEPTH) {
        for (int begin = 0; begin < TILE * DEPTH; begin += threads) {
            int i = begin + thread;
            if (TILE * DEPTH % threads != 0 && i >= TILE * DEPTH)
                break;
            int row = first_row + i / DEPTH;
            int k = start + i % DEPTH;
            As[i / DEPTH][i % DEPTH] = row < M && k < K ? A[row * K + k] : 0.0f;
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
            float b = Bs[k][tx];
            for (int i = 0; i < EACH; ++i)
                acc[i] += As[ty * EACH + i][k] * b;
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        int row = first_row + ty * EACH + i;
        int col = first_col + tx;
        if (row < M && col < N)
            C[row * N + col] = acc[i];
    }
}
