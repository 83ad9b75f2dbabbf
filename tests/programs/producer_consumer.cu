#include <cuda_runtime.h>
#include <stdio.h>

#define ITEMS 32

// Block 0 makes, block 1 waits for the flag and takes.
__global__ void handOver(int *mailbox, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        mailbox[threadIdx.x] = threadIdx.x * threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *flag = 1;
    } else {
        if (threadIdx.x == 0)
            while (*flag == 0) ;
        __syncthreads();
        __threadfence();
        out[threadIdx.x] = mailbox[(threadIdx.x + 1) % ITEMS] + 1;
    }
}

// A barrier of the whole grid, made of one counter: every block must be resident.
__device__ void gridBarrier(unsigned int *arrived, unsigned int goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < goal) { }
        __threadfence();
    }
    __syncthreads();
}

__global__ void neighbours(volatile int *a, volatile int *b, unsigned int *arrived)
{
    const int n = gridDim.x * blockDim.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
    gridBarrier(arrived, gridDim.x);
    b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
    gridBarrier(arrived, 2 * gridDim.x);
    a[i] = b[(i + blockDim.x) % n];
}

int main(void)
{
    int *mailbox, *flag, *out;
    unsigned int *arrived;
    cudaMalloc(&mailbox, ITEMS * sizeof(int));
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    cudaMallocManaged(&out, ITEMS * sizeof(int));
    handOver<<<2, ITEMS>>>(mailbox, flag, out);
    cudaDeviceSynchronize();
    printf("%d\n", out[5]);
    int *a, *b;
    cudaMallocManaged(&a, 96 * sizeof(int));
    cudaMallocManaged(&b, 96 * sizeof(int));
    cudaMallocManaged(&arrived, sizeof(unsigned int));
    *arrived = 0;
    neighbours<<<3, 32>>>(a, b, arrived);
    cudaDeviceSynchronize();
    printf("%d\n", a[0]);
    return 0;
}
