#include <cuda_runtime.h>
#include <stdio.h>

#define IN_TILE_DIM 8
#define OUT_TILE_DIM (IN_TILE_DIM - 2)

// Seven-point stencil's weights, set with cudaMemcpyToSymbol.
__constant__ float c0, c1;

__global__ void stencil_kernel(float* in, float* out, unsigned int N) {
    int i = blockIdx.z*OUT_TILE_DIM + threadIdx.z - 1;
    int j = blockIdx.y*OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x*OUT_TILE_DIM + threadIdx.x - 1;
    __shared__ float in_s[IN_TILE_DIM][IN_TILE_DIM][IN_TILE_DIM];
    if (i >= 0 && i < N && j >= 0 && j < N && k >= 0 && k < N) {
        in_s[threadIdx.z][threadIdx.y][threadIdx.x] = in[i*N*N + j*N + k];
    }
    __syncthreads();
    if (i >= 1 && i < N-1 && j >= 1 && j < N-1 && k >= 1 && k < N-1) {
        if (threadIdx.z >= 1 && threadIdx.z < IN_TILE_DIM-1 && threadIdx.y >= 1
            && threadIdx.y < IN_TILE_DIM-1 && threadIdx.x >= 1 && threadIdx.x < IN_TILE_DIM-1) {
            out[i*N*N + j*N + k] = c0*in_s[threadIdx.z][threadIdx.y][threadIdx.x]
                                 + c1*(in_s[threadIdx.z][threadIdx.y][threadIdx.x-1]
                                     + in_s[threadIdx.z][threadIdx.y][threadIdx.x+1]
                                     + in_s[threadIdx.z][threadIdx.y-1][threadIdx.x]
                                     + in_s[threadIdx.z][threadIdx.y+1][threadIdx.x]
                                     + in_s[threadIdx.z-1][threadIdx.y][threadIdx.x]
                                     + in_s[threadIdx.z+1][threadIdx.y][threadIdx.x]);
        }
    }
}

// Coarsened along z, with the planes before and after in registers.
__global__ void stencil_register(const float* in, float* out, unsigned int N) {
    int iStart = blockIdx.z*OUT_TILE_DIM;
    int j = blockIdx.y*OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x*OUT_TILE_DIM + threadIdx.x - 1;
    float inPrev = 0;
    __shared__ float inCurr_s[IN_TILE_DIM][IN_TILE_DIM];
    float inCurr = 0;
    float inNext = 0;
    const bool inside = j >= 0 && j < N && k >= 0 && k < N;
    if (iStart-1 >= 0 && inside) inPrev = in[(iStart - 1)*N*N + j*N + k];
    if (iStart < N && inside) {
        inCurr = in[iStart*N*N + j*N + k];
        inCurr_s[threadIdx.y][threadIdx.x] = inCurr;
    }
    for (int i = iStart; i < iStart + OUT_TILE_DIM; ++i) {
        if (i + 1 < N && inside) inNext = in[(i + 1)*N*N + j*N + k];
        __syncthreads();
        if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1) {
            if (threadIdx.y >= 1 && threadIdx.y < IN_TILE_DIM - 1
                && threadIdx.x >= 1 && threadIdx.x < IN_TILE_DIM - 1) {
                out[i*N*N + j*N + k] = c0*inCurr
                                     + c1*(inCurr_s[threadIdx.y][threadIdx.x-1]
                                         + inCurr_s[threadIdx.y][threadIdx.x+1]
                                         + inCurr_s[threadIdx.y-1][threadIdx.x]
                                         + inCurr_s[threadIdx.y+1][threadIdx.x]
                                         + inPrev + inNext);
            }
        }
        __syncthreads();
        inPrev = inCurr;
        inCurr = inNext;
        inCurr_s[threadIdx.y][threadIdx.x] = inNext;
    }
}

int main() {
    const unsigned int N = 16;
    float h0 = 0.5f, h1 = 1.0f/12;
    cudaMemcpyToSymbol(c0, &h0, sizeof(float));
    cudaMemcpyToSymbol(c1, &h1, sizeof(float));
    float *in, *out;
    cudaMallocManaged(&in, N*N*N*sizeof(float));
    cudaMallocManaged(&out, N*N*N*sizeof(float));
    for (unsigned int i = 0; i < N*N*N; i++) in[i] = 2.0f;
    unsigned int tiles = (N + OUT_TILE_DIM - 1)/OUT_TILE_DIM;
    stencil_kernel<<<dim3(tiles, tiles, tiles), dim3(IN_TILE_DIM, IN_TILE_DIM, IN_TILE_DIM)>>>(in, out, N);
    stencil_register<<<dim3(tiles, tiles, tiles), dim3(IN_TILE_DIM, IN_TILE_DIM)>>>(in, out, N);
    cudaDeviceSynchronize();
    printf("%f\n", out[N*N + N + 1]);
    return 0;
}
