// Transposed: as the tiled kernel, but B's tile lies transposed in shared memory, so that
// both operands are read along k, the way one writes a dot product of two rows.
// What it shows: a warp now reads Bs[tx][k] at one k, TILE words apart. They fall into few
// of the 32 banks (with TILE 16 into two, with 32 into one) and are served one by one.
// Still limits it: those bank conflicts. It is slower than the kernel before it.
#define TILE 16

extern "C" __global__ void transposed(const float* A, const float* B, float* C,
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
        Bs[tx][ty] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}
