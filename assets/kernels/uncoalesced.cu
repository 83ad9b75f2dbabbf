// Uncoalesced: one thread computes one element of C, and x counts rows.
// The first kernel that many people write: row from x, as in a loop over rows.
// Threads next to each other in x are in different rows of A and C, K and N elements
// apart, so that a warp's one load of A touches up to 32 sectors to use 4 bytes of each.
// Still limits it: those sectors. Exchange x and y and they are gone (naive.cu).
extern "C" __global__ void uncoalesced(const float* A, const float* B, float* C,
                                       int M, int N, int K)
{
    int row = blockIdx.y * blockDim.x + threadIdx.x;
    int col = blockIdx.x * blockDim.y + threadIdx.y;

    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}
