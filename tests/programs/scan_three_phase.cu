#include <cuda.h>
#include <stdio.h>
#define SECTION 256
#define THREADS 32
#define EACH (SECTION / THREADS)

// Sequential within each thread's stretch, then over the stretches, then a last sweep.
__global__ void coarsenedScan(const int* X, int* Y, int n)
{
  __shared__ int XY[SECTION];
  __shared__ int ends[THREADS];
  const int base = blockIdx.x * SECTION;
  for (int j = threadIdx.x; j < SECTION; j += blockDim.x)
    XY[j] = (base + j < n) ? X[base + j] : 0;
  __syncthreads();

  const int start = threadIdx.x * EACH;
  for (int j = 1; j < EACH; j++) XY[start + j] += XY[start + j - 1];
  ends[threadIdx.x] = XY[start + EACH - 1];
  __syncthreads();

  for (unsigned stride = 1; stride < THREADS; stride <<= 1) {
    int add = 0;
    if (threadIdx.x >= stride) add = ends[threadIdx.x - stride];
    __syncthreads();
    ends[threadIdx.x] += add;
    __syncthreads();
  }

  if (threadIdx.x)
    for (int j = 0; j < EACH; j++) XY[start + j] += ends[threadIdx.x - 1];
  __syncthreads();
  for (int j = threadIdx.x; j < SECTION; j += blockDim.x)
    if (base + j < n) Y[base + j] = XY[j];
}

int main()
{
  int n = 600; int* X; int* Y;
  cudaMallocManaged(&X, n * sizeof(int));
  cudaMallocManaged(&Y, n * sizeof(int));
  for (int i = 0; i < n; i++) X[i] = i & 3;
  coarsenedScan<<<(n + SECTION - 1) / SECTION, THREADS>>>(X, Y, n);
  cudaDeviceSynchronize();
  for (int s = 0; s < n; s += SECTION) printf("%d ", Y[s]);
  return 0;
}
