#include <stdio.h>
#include <stdlib.h>

__global__ void helloFromGPU(void)
{
    printf("Hello World from thread %d of block %d!\n", threadIdx.x, blockIdx.x);
}

__global__ void checkIndex(void)
{
    printf("threadIdx:(%d, %d, %d) blockIdx:(%d, %d, %d) blockDim:(%d, %d, %d) gridDim:(%d, %d, %d)\n",
           threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z,
           blockDim.x, blockDim.y, blockDim.z, gridDim.x, gridDim.y, gridDim.z);
}

__global__ void printThreadIndex(float *A, const int nx, const int ny)
{
    int ix = threadIdx.x + blockIdx.x * blockDim.x;
    int iy = threadIdx.y + blockIdx.y * blockDim.y;
    unsigned int idx = iy * nx + ix;
    if (ix < nx && iy < ny) {
        if (A[idx] > 10.0f)
            printf("thread_id (%d,%d) coordinate (%d,%d) global index %2d ival %.2f\n",
                   threadIdx.x, threadIdx.y, ix, iy, idx, A[idx]);
        A[idx] += 0.5f;
    }
}

int main(int argc, char **argv)
{
    printf("Hello World from CPU!\n");
    helloFromGPU<<<2, 4>>>();
    dim3 block(3);
    dim3 grid((6 + block.x - 1) / block.x);
    checkIndex<<<grid, block>>>();
    float *A;
    cudaMallocManaged(&A, 48 * sizeof(float));
    for (int i = 0; i < 48; i++) A[i] = i;
    printThreadIndex<<<dim3(2, 3), dim3(4, 2)>>>(A, 8, 6);
    cudaDeviceReset();
    return 0;
}
