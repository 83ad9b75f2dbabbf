#include <stdio.h>
#include <stdlib.h>
#include "cuda_runtime.h"

#define BM 32
#define BN 32
#define BK 8
#define TM 4
#define TN 4
// cal offset from row col and ld , in row-major matrix, ld is the width of the matrix
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
// transfer float4
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])

// A is kept transposed in shared memory, so that the register loads are float4, too.
__global__ void sgemmVectorized(float *__restrict__ A, float *__restrict__ B,
                                float *__restrict__ C, const int M, const int N, const int K)
{
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];

    const int tid = threadIdx.x;
    const int a_row = tid / 2, a_col = (tid % 2) * 4;
    const int b_row = tid / 8, b_col = (tid % 8) * 4;
    const int ty = tid / (BN / TN), tx = tid % (BN / TN);

    float accum[TM][TN] = {0};
    float frag_a[TM], frag_b[TN];

    A = &A[blockIdx.y * BM * K];
    B = &B[blockIdx.x * BN];

    for (int k = 0; k < K; k += BK) {
        float4 tmp = FETCH_FLOAT4(A[OFFSET(a_row, a_col, K)]);
        As[a_col + 0][a_row] = tmp.x;
        As[a_col + 1][a_row] = tmp.y;
        As[a_col + 2][a_row] = tmp.z;
        As[a_col + 3][a_row] = tmp.w;
        FETCH_FLOAT4(Bs[b_row][b_col]) = FETCH_FLOAT4(B[OFFSET(b_row, b_col, N)]);
        __syncthreads();
        A += BK;
        B += BK * N;

        #pragma unroll
        for (int i = 0; i < BK; i++) {
            FETCH_FLOAT4(frag_a[0]) = FETCH_FLOAT4(As[i][ty * TM]);
            FETCH_FLOAT4(frag_b[0]) = FETCH_FLOAT4(Bs[i][tx * TN]);
            #pragma unroll
            for (int y = 0; y < TM; y++)
                #pragma unroll
                for (int x = 0; x < TN; x++)
                    accum[y][x] += frag_a[y] * frag_b[x];
        }
        __syncthreads();
    }

    #pragma unroll
    for (int y = 0; y < TM; y++) {
        float4 out = make_float4(accum[y][0], accum[y][1], accum[y][2], accum[y][3]);
        FETCH_FLOAT4(C[OFFSET(blockIdx.y * BM + ty * TM + y, blockIdx.x * BN + tx * TN, N)]) = out;
    }
}

int main(int argc, char** argv)
{
    if (argc != 4) {
        printf("usage: ./main [M] [K] [N]\n");
        exit(0);
    }
    size_t M = atoi(argv[1]);
    size_t K = atoi(argv[2]);
    size_t N = atoi(argv[3]);
    float *d_A, *d_B, *d_C;
    cudaMalloc(&d_A, M * K * sizeof(float));
    cudaMalloc(&d_B, K * N * sizeof(float));
    cudaMalloc(&d_C, M * N * sizeof(float));
    double gflops = 2.0 * M * N * K * 1.0e-9;
    dim3 dimBlock((BN / TN) * (BM / TM));
    dim3 dimGrid(N / BN, M / BM);
    cudaEvent_t t0, t1;
    cudaEventCreate(&t0); cudaEventCreate(&t1);
    cudaEventRecord(t0);
    sgemmVectorized<<< dimGrid, dimBlock >>>(d_A, d_B, d_C, M, N, K);
    cudaEventRecord(t1);
    cudaEventSynchronize(t1);
    float msec = 0;
    cudaEventElapsedTime(&msec, t0, t1);
    printf("%.2f GFlop/s\n", gflops / (msec / 1000.0f));
    cudaFree(d_A); cudaFree(d_B); cudaFree(d_C);
}
