// One launch: the block that draws the last ticket adds the partial sums of all.
#include <stdio.h>
#include <cuda_runtime.h>

__device__ unsigned int retirementCount = 0;

__device__ float blockSum(float v, float *sdata)
{
    unsigned int tid = threadIdx.x;
    sdata[tid] = v;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1)
    {
        if (tid < s)
            sdata[tid] = v = v + sdata[tid + s];
        __syncthreads();
    }
    return v;
}

__global__ void reduceSinglePass(const float *g_idata, volatile float *g_odata, unsigned int n)
{
    extern __shared__ float smem[];
    __shared__ bool amLast;

    float sum = 0.0f;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += g_idata[i];
    sum = blockSum(sum, smem);

    if (threadIdx.x == 0)
    {
        g_odata[blockIdx.x] = sum;
        // wait until the memory write above is visible to all other blocks
        __threadfence();
        unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
        // If the ticket ID is equal to the number of blocks, we are the last block!
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();

    if (amLast)
    {
        float total = 0.0f;
        for (unsigned int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            total += g_odata[i];
        total = blockSum(total, smem);
        if (threadIdx.x == 0)
        {
            g_odata[0] = total;
            // reset retirement count so that next run succeeds
            retirementCount = 0;
        }
    }
}

int main()
{
    const unsigned int n = 1 << 11;
    const int threads = 128, blocks = 6;
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, blocks * sizeof(float));
    for (unsigned int i = 0; i < n; i++) in[i] = i % 10;
    for (int run = 0; run < 2; run++)
    {
        reduceSinglePass<<<blocks, threads, threads * sizeof(float)>>>(in, out, n);
        cudaDeviceSynchronize();
        printf("GPU result = %f\n", out[0]);
    }
}
