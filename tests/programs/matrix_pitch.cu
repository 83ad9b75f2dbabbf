#include <stdio.h>
#include <assert.h>
#include <cuda_runtime.h>

// Rows of a pitched allocation begin at multiples of `pitch` bytes.
__global__ void scaleRows(float* devPtr, size_t pitch, int width, int height, float by)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    float* row = (float*)((char*)devPtr + r * pitch);
    row[c] *= by;
}

__global__ void matAdd2D(const int (*A)[24], const int (*B)[24], int (*C)[24], int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 24 && j < rows)
        C[j][i] = A[j][i] + B[j][i];
}

// Elements of the diagonal, then 1 there and 0 elsewhere.
__global__ void identity(int* M, int* trace, int n)
{
    int ix = threadIdx.x + blockIdx.x * blockDim.x;
    int iy = threadIdx.y + blockIdx.y * blockDim.y;
    if (ix < n && iy < n) {
        if (ix == iy) atomicAdd(trace, M[iy * n + ix]);
        M[iy * n + ix] = ix == iy ? 1 : 0;
    }
}

int main()
{
    int width = 50, height = 20;
    float* devPtr;
    size_t pitch;
    cudaMallocPitch(&devPtr, &pitch, width * sizeof(float), height);
    dim3 threads(16, 4), blocks((width + 15) / 16, (height + 3) / 4);
    scaleRows<<<blocks, threads>>>(devPtr, pitch, width, height, 2.0f);
    int (*a)[24], (*b)[24], (*c)[24];
    cudaMallocManaged(&a, 10 * sizeof(*a));
    cudaMallocManaged(&b, 10 * sizeof(*b));
    cudaMallocManaged(&c, 10 * sizeof(*c));
    matAdd2D<<<dim3(3, 3), dim3(8, 4)>>>(a, b, c, 10);
    int *m, *t;
    cudaMallocManaged(&m, 400 * sizeof(int));
    cudaMallocManaged(&t, sizeof(int));
    identity<<<dim3(3, 3), dim3(8, 8)>>>(m, t, 20);
    cudaDeviceSynchronize();
    assert(m[21] == 1);
    printf("pitch %zu\n", pitch);
    cudaFree(devPtr);
}
