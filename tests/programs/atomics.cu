// A trivial use of every atomic function, one cell for each.
#include <stdio.h>
#include <helper_cuda.h>

__global__ void testKernel(int *g_odata)
{
    // access thread id
    const unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;

    // Arithmetic atomic instructions
    // Atomic addition
    atomicAdd(&g_odata[0], 10);
    // Atomic subtraction (final should be 0)
    atomicSub(&g_odata[1], 10);
    // Atomic exchange
    atomicExch(&g_odata[2], tid);
    // Atomic maximum
    atomicMax(&g_odata[3], tid);
    // Atomic minimum
    atomicMin(&g_odata[4], tid);
    // Atomic increment (modulo 17+1)
    atomicInc((unsigned int *)&g_odata[5], 17);
    // Atomic decrement
    atomicDec((unsigned int *)&g_odata[6], 137);
    // Atomic compare-and-swap
    atomicCAS(&g_odata[7], tid - 1, tid);

    // Bitwise atomic instructions
    // Atomic AND
    atomicAnd(&g_odata[8], 2 * tid + 7);
    // Atomic OR
    atomicOr(&g_odata[9], 1 << tid);
    // Atomic XOR
    atomicXor(&g_odata[10], tid);
    atomicAdd_system(&g_odata[11], 10);
    atomicAdd_block(&g_odata[12], 1);
}

__device__ double atomicAddByCas(double* address, double val)
{
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;

    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(val + __longlong_as_double(assumed)));

    // Note: uses integer comparison to avoid hang in case of NaN (since NaN != NaN)
    } while (assumed != old);

    return __longlong_as_double(old);
}

__global__ void sumDoubles(const double *in, double *sum, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAddByCas(sum, in[i]);
}

int main(int argc, char **argv)
{
    unsigned int numThreads = 64;
    unsigned int numBlocks = 2;
    unsigned int numData = 13;
    unsigned int memSize = sizeof(int) * numData;
    int *hOData = (int *)malloc(memSize);
    for (unsigned int i = 0; i < numData; i++) hOData[i] = 0;
    // To make the AND and XOR tests generate something other than 0...
    hOData[8] = hOData[10] = 0xff;
    int *dOData;
    checkCudaErrors(cudaMalloc((void **)&dOData, memSize));
    checkCudaErrors(cudaMemcpy(dOData, hOData, memSize, cudaMemcpyHostToDevice));
    testKernel<<<numBlocks, numThreads>>>(dOData);
    getLastCudaError("Kernel execution failed");
    checkCudaErrors(cudaMemcpy(hOData, dOData, memSize, cudaMemcpyDeviceToHost));
    printf("%d %d\n", hOData[0], hOData[3]);
    double *d;
    checkCudaErrors(cudaMallocManaged(&d, 101 * sizeof(double)));
    for (int i = 0; i < 100; i++) d[i] = i;
    d[100] = 0;
    sumDoubles<<<2, 32>>>(d, d + 100, 100);
    checkCudaErrors(cudaDeviceSynchronize());
    printf("%f\n", d[100]);
    free(hOData);
    return 0;
}
