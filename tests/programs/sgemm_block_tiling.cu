#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#include <cstdlib>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

// One column of TM results a thread.
template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, float alpha,
                                   const float *A, const float *B, float beta,
                                   float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;

  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;

  assert(BM * BK == blockDim.x);
  assert(BN * BK == blockDim.x);
  const uint innerColA = threadIdx.x % BK;
  const uint innerRowA = threadIdx.x / BK;
  const uint innerColB = threadIdx.x % BN;
  const uint innerRowB = threadIdx.x / BN;

  float threadResults[TM] = {0.0};

  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();

    A += BK;
    B += BK * N;

    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (uint resIdx = 0; resIdx < TM; ++resIdx) {
        threadResults[resIdx] +=
            As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }

  for (uint resIdx = 0; resIdx < TM; ++resIdx) {
    C[(threadRow * TM + resIdx) * N + threadCol] =
        alpha * threadResults[resIdx] +
        beta * C[(threadRow * TM + resIdx) * N + threadCol];
  }
}

void run_sgemm1D(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  const uint BM = 32;
  const uint BN = 32;
  const uint BK = 8;
  const uint TM = 4;
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  dim3 blockDim((BM * BN) / TM);
  sgemm1DBlocktiling<BM, BN, BK, TM>
      <<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 64;
  float *A, *B, *C;
  cudaMallocManaged(&A, sizeof(float) * size * size);
  cudaMallocManaged(&B, sizeof(float) * size * size);
  cudaMallocManaged(&C, sizeof(float) * size * size);
  for (int i = 0; i < size * size; i++) A[i] = B[i] = C[i] = i % 3;
  run_sgemm1D(size, size, size, 0.5f, A, B, 3.0f, C);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] %s\n", cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
  return 0;
}
