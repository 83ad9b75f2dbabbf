#include <iostream>
#define TILE_WIDTH 16
#define COARSE_FACTOR 4

// Each thread makes COARSE_FACTOR outputs; the tile of M is loaded once for them.
__global__ void matrixMulCoarse(float* M, float* N, float* P, int width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x; int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;

    int row = by*TILE_WIDTH + ty;
    int colStart = bx*TILE_WIDTH*COARSE_FACTOR + tx;

    float Pvalue[COARSE_FACTOR];
    for (int c = 0; c < COARSE_FACTOR; ++c) {
        Pvalue[c] = 0.0f;
    }

    for (int ph = 0; ph < width/TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[row*width + ph*TILE_WIDTH + tx];

        for (int c = 0; c < COARSE_FACTOR; ++c) {
            int col = colStart + c*TILE_WIDTH;
            Nds[ty][tx] = N[(ph*TILE_WIDTH + ty)*width + col];
            __syncthreads();

            for (int k = 0; k < TILE_WIDTH; ++k) {
                Pvalue[c] += Mds[ty][k]*Nds[k][tx];
            }
            __syncthreads();
        }
    }

    for (int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c*TILE_WIDTH;
        P[row*width + col] = Pvalue[c];
    }
}

int main(void)
{
    const int width = 64;
    float *M, *N, *P;
    cudaMallocManaged(&M, width*width*sizeof(*M));
    cudaMallocManaged(&N, width*width*sizeof(*N));
    cudaMallocManaged(&P, width*width*sizeof(*P));
    for (int i = 0; i < width*width; ++i) { M[i] = 1.0f*i/width; N[i] = (i%width == i/width); }
    dim3 block(TILE_WIDTH, TILE_WIDTH);
    dim3 grid(width/TILE_WIDTH/COARSE_FACTOR, width/TILE_WIDTH);
    matrixMulCoarse<<<grid, block>>>(M, N, P, width);
    cudaDeviceSynchronize();
    for (int i = 0; i < width*width; ++i)
        if (P[i] != M[i]) { std::cout << "wrong at " << i << std::endl; return 1; }
    std::cout << "ok" << std::endl;
    cudaFree(M); cudaFree(N); cudaFree(P);
}
