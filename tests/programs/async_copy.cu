#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#include <stdio.h>

#define CHUNK 64

// Two stages: while one chunk is added up, the next is on its way.
__global__ void pipelinedSum(const float *in, float *out, int chunks) {
  __shared__ __align__(16) float stage[2][CHUNK * 4];
  const int t = threadIdx.x;
  const float *mine = in + (size_t)blockIdx.x * chunks * CHUNK * 4;
  __pipeline_memcpy_async(&stage[0][4 * t], &mine[4 * t], sizeof(float4));
  __pipeline_commit();
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) {
      __pipeline_memcpy_async(&stage[(c + 1) & 1][4 * t], &mine[(c + 1) * CHUNK * 4 + 4 * t],
                              sizeof(float4));
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    // a neighbour's four, so that the barriers are needed
    const float4 v = *(const float4 *)&stage[c & 1][4 * ((t + 1) % CHUNK)];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
    __syncthreads();
  }
  ((float4 *)out)[blockIdx.x * CHUNK + t] = sum;
}

int main() {
  const int blocks = 2, chunks = 5;
  float *in, *out;
  cudaMallocManaged(&in, blocks * chunks * CHUNK * 4 * sizeof(float));
  cudaMallocManaged(&out, blocks * CHUNK * 4 * sizeof(float));
  for (int i = 0; i < blocks * chunks * CHUNK * 4; i++) in[i] = 1;
  pipelinedSum<<<blocks, CHUNK>>>(in, out, chunks);
  cudaDeviceSynchronize();
  printf("%f\n", out[0]);
}
