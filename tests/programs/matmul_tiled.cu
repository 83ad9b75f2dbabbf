#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define TILE_WIDTH 16
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort=true)
{
   if (code != cudaSuccess)
   {
      fprintf(stderr,"GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
      if (abort) exit(code);
   }
}

// C (m x n) = A (m x k) * B (k x n); boundary checks for any size.
__global__ void tiledMultiply(const float *A, const float *B, float *C,
                              int m, int k, int n)
{
    __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x;  int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Cvalue = 0.0;

    for (int ph = 0; ph < (k - 1) / TILE_WIDTH + 1; ++ph) {
        if (Row < m && ph * TILE_WIDTH + tx < k)
            ds_A[ty][tx] = A[Row * k + ph * TILE_WIDTH + tx];
        else
            ds_A[ty][tx] = 0.0f;
        if (ph * TILE_WIDTH + ty < k && Col < n)
            ds_B[ty][tx] = B[(ph * TILE_WIDTH + ty) * n + Col];
        else
            ds_B[ty][tx] = 0.0f;
        __syncthreads();

        for (int i = 0; i < TILE_WIDTH; ++i)
            Cvalue += ds_A[ty][i] * ds_B[i][tx];
        __syncthreads();
    }
    if (Row < m && Col < n)
        C[Row * n + Col] = Cvalue;
}

void cpuMultiply(const float *A, const float *B, float *C, int m, int k, int n)
{
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
            C[row * n + col] = sum;
        }
}

int main()
{
    int m = 33, k = 47, n = 29;
    float *hA, *hB, *hC, *check, *dA, *dB, *dC;
    gpuErrchk(cudaMallocHost(&hA, m * k * sizeof(float)));
    gpuErrchk(cudaMallocHost(&hB, k * n * sizeof(float)));
    gpuErrchk(cudaMallocHost(&hC, m * n * sizeof(float)));
    check = (float *)malloc(m * n * sizeof(float));
    for (int i = 0; i < m * k; i++) hA[i] = (float)rand() / (float)(RAND_MAX / 2);
    for (int i = 0; i < k * n; i++) hB[i] = (float)rand() / (float)(RAND_MAX / 2);
    gpuErrchk(cudaMalloc(&dA, m * k * sizeof(float)));
    gpuErrchk(cudaMalloc(&dB, k * n * sizeof(float)));
    gpuErrchk(cudaMalloc(&dC, m * n * sizeof(float)));
    gpuErrchk(cudaMemcpy(dA, hA, m * k * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dB, hB, k * n * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid((n + TILE_WIDTH - 1) / TILE_WIDTH, (m + TILE_WIDTH - 1) / TILE_WIDTH);
    dim3 block(TILE_WIDTH, TILE_WIDTH);
    cudaEvent_t start, stop;
    float ms;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    tiledMultiply<<<grid, block>>>(dA, dB, dC, m, k, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    gpuErrchk(cudaPeekAtLastError());

    gpuErrchk(cudaMemcpy(hC, dC, m * n * sizeof(float), cudaMemcpyDeviceToHost));
    cpuMultiply(hA, hB, check, m, k, n);
    int bad = 0;
    for (int i = 0; i < m * n; i++) bad += fabs(check[i] - hC[i]) > 1e-3;
    printf("%s in %.3f ms\n", bad ? "FAIL" : "PASS", ms);
    cudaFreeHost(hA); cudaFreeHost(hB); cudaFreeHost(hC);
    cudaFree(dA); cudaFree(dB); cudaFree(dC);
    free(check);
    return bad != 0;
}
