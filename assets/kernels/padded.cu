// Padded: B's tile lies transposed in shared memory, each of its rows one word longer.
// Improves on the transposed kernel: Bs[tx][k] and Bs[tx + 1][k] are now TILE + 1 words apart,
// an odd number, so that a warp's reads of one k fall into different banks.
// Still limits it: shared memory, as in the tiled kernel; and the words of the padding
// are lost; with wider loads a padded row would also lose its alignment (see swizzled.cu).
#define TILE 16

extern "C" __global__ void padded(const float* A, const float* B, float* C,
                                  int M, int N, int K)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + 1];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a_col = t * TILE + tx;
        int b_row = t * TILE + ty;
        As[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;
        Bs[tx][ty] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}
