// Swizzled: B's tile lies transposed in shared memory, each of its rows in an order of its own:
// word k of row tx is kept at position k ^ tx (exclusive or), which permutes the row.
// Improves on the transposed kernel: at one k, neighbouring threads read different positions in
// their rows, and so different banks. Unlike padding it takes no memory.
// Still limits it: shared memory, as in the tiled kernel, and more registers.
#define TILE 16

extern "C" __global__ void swizzled(const float* A, const float* B, float* C,
                                    int M, int N, int K)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a_col = t * TILE + tx;
        int b_row = t * TILE + ty;
        As[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;
        Bs[tx][ty ^ tx] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[tx][k ^ tx];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}
