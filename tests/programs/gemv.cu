#include <cuda_runtime.h>
#include <stdio.h>

// y = A x, a thread for each row: neighbours read far apart.
__global__ void gemvRow(const float* A, const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.f;
    for (int c = 0; c < cols; c++) sum += A[row * cols + c] * x[c];
    y[row] = sum;
}

// y = A x, a warp for each row, float4 at a time.
__global__ void gemvWarp(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y, const int M, const int N) {
    const int laneId = threadIdx.x & 31;
    const int current_row = blockDim.y * blockIdx.x + threadIdx.y;
    if (current_row < M) {
        float res = 0;
        int kIteration = (N / 32) / 4;
        if (kIteration == 0) kIteration = 1;
        A = &A[current_row * N];
        #pragma unroll
        for (int i = 0; i < kIteration; i++) {
            int current_col_vec = (i * 32 + laneId);
            float4 current_val = reinterpret_cast<const float4 *>(A)[current_col_vec];
            float4 current_x = reinterpret_cast<const float4 *>(x)[current_col_vec];
            res += current_val.x * current_x.x;
            res += current_val.y * current_x.y;
            res += current_val.z * current_x.z;
            res += current_val.w * current_x.w;
        }
        for (int delta = 16; delta >= 1; delta >>= 1)
            res += __shfl_down_sync(0xffffffffu, res, delta);
        if (laneId == 0) y[current_row] = res;
    }
}

int main() {
    const int M = 20, N = 256;
    float *A, *x, *y;
    cudaMallocManaged(&A, M * N * sizeof(float));
    cudaMallocManaged(&x, N * sizeof(float));
    cudaMallocManaged(&y, M * sizeof(float));
    for (int i = 0; i < M * N; ++i) A[i] = 1.0f;
    for (int i = 0; i < N; ++i) x[i] = i;
    gemvRow<<<1, 32>>>(A, x, y, M, N);
    dim3 block(32, 4), grid((M + 3) / 4);
    gemvWarp<<<grid, block>>>(A, x, y, M, N);
    cudaDeviceSynchronize();
    printf("%f\n", y[M - 1]);
}
