/*
    Parallel reduction, the first steps of the ladder:
    interleaved with divergence, interleaved with bank conflicts, sequential, first add at load.
*/
#include <stdio.h>
#include <stdlib.h>
#include <helper_cuda.h>

// This reduction interleaves which threads are active by using the modulo operator.
__global__ void reduce0(int *g_idata, int *g_odata)
{
    extern __shared__ int sdata[];

    // each thread loads one element from global to shared mem
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    sdata[tid] = g_idata[i];
    __syncthreads();

    // do reduction in shared mem
    for(unsigned int s=1; s < blockDim.x; s *= 2) {
        if (tid % (2*s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    // write result for this block to global mem
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

__global__ void reduce1(int *g_idata, int *g_odata)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    sdata[tid] = g_idata[i];
    __syncthreads();

    for (unsigned int s=1; s < blockDim.x; s *= 2) {
        int index = 2 * s * tid;

        if (index < blockDim.x) {
            sdata[index] += sdata[index + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

__global__ void reduce2(int *g_idata, int *g_odata)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    sdata[tid] = g_idata[i];
    __syncthreads();

    for (unsigned int s=blockDim.x/2; s>0; s>>=1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

__global__ void reduce3(int *g_idata, int *g_odata)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x*(blockDim.x*2) + threadIdx.x;
    sdata[tid] = g_idata[i] + g_idata[i+blockDim.x];
    __syncthreads();

    for (unsigned int s=blockDim.x/2; s>0; s>>=1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

int main(int argc, char **argv)
{
    const int n = 1024, threads = 128;
    int bytes = n * sizeof(int), sum = 0, total = 0;
    int *h_idata = (int *) malloc(bytes), h_odata[n / threads];
    for (int i = 0; i < n; i++) {
        h_idata[i] = (int)(rand() & 0xFF);
        sum += h_idata[i];
    }
    int *d_idata, *d_odata;
    checkCudaErrors(cudaMalloc((void **)&d_idata, bytes));
    checkCudaErrors(cudaMalloc((void **)&d_odata, n / threads * sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_idata, h_idata, bytes, cudaMemcpyHostToDevice));
    int smemSize = threads * sizeof(int);
    reduce0<<< n / threads, threads, smemSize >>>(d_idata, d_odata);
    reduce1<<< n / threads, threads, smemSize >>>(d_idata, d_odata);
    reduce3<<< n / threads / 2, threads, smemSize >>>(d_idata, d_odata);
    reduce2<<< n / threads, threads, smemSize >>>(d_idata, d_odata);
    getLastCudaError("Kernel execution failed");
    checkCudaErrors(cudaMemcpy(h_odata, d_odata, sizeof(h_odata), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n / threads; i++) total += h_odata[i];
    printf(total == sum ? "Test PASSED\n" : "Test FAILED!\n");
    cudaFree(d_idata); cudaFree(d_odata); free(h_idata);
    return total != sum;
}
