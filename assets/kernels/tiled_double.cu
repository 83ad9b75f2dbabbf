// Tiled, in double precision: the tiled kernel with double instead of float.
// What it shows: every load moves twice the bytes, a warp's 8-byte shared loads take two
// wavefronts, and the GPU has fewer units for double: one for two of float on A100 and H200,
// one for 32 or 64 on GeForce, T4, A10 and L40. The error falls by nine orders of magnitude.
// Still limits it: two shared loads for every multiply-add in the source, 1.5 in the compiled code.
#define TILE 16

extern "C" __global__ void tiled_double(const double* A, const double* B, double* C,
                                        int M, int N, int K)
{
    __shared__ double As[TILE][TILE];
    __shared__ double Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    double acc = 0.0;

    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a_col = t * TILE + tx;
        int b_row = t * TILE + ty;
        As[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0;
        Bs[ty][tx] = b_row < K && col < N ? B[b_row * N + col] : 0.0;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}
