#include <stdio.h>
#include <cuda_runtime.h>

// What a stride costs: of global memory in sectors, of shared memory in bank conflicts.
__global__ void stride(float *a, int s)
{
  int i = (blockDim.x * blockIdx.x + threadIdx.x) * s;
  a[i] = a[i] + 1;
}

__global__ void offset(float* a, int s)
{
  int i = blockDim.x * blockIdx.x + threadIdx.x + s;
  a[i] = a[i] + 1;
}

template <int STRIDE>
__global__ void sharedStride(const float *in, float *out)
{
  __shared__ float s[32 * STRIDE];
  for (int i = threadIdx.x; i < 32 * STRIDE; i += 32) s[i] = in[i];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x * STRIDE];
}

int main()
{
  float *a, *b;
  cudaMallocManaged(&a, 64 * 33 * sizeof(float));
  cudaMallocManaged(&b, 32 * sizeof(float));
  for (int s = 1; s <= 32; s++) stride<<<2, 32>>>(a, s);
  for (int s = 0; s <= 32; s++) offset<<<2, 32>>>(a, s);
  sharedStride<1><<<1, 32>>>(a, b);
  sharedStride<2><<<1, 32>>>(a, b);
  sharedStride<32><<<1, 32>>>(a, b);
  sharedStride<33><<<1, 32>>>(a, b);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
