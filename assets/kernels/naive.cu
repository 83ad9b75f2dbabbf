// Naive: one thread computes one element of C and reads its whole row of A and its
// whole column of B from global memory, 2 K loads a thread.
// Threads next to each other in x read neighbouring columns of B, so that a warp's
// loads of B coalesce and its loads of A are broadcasts.
// Still limits it: every element of A is loaded N times and every element of B M times.
extern "C" __global__ void naive(const float* A, const float* B, float* C,
                                 int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}
