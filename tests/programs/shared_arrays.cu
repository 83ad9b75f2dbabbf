#include <cuda_runtime.h>
#include <stdio.h>

// One dynamic array, cut into three by hand.
__global__ void threeInOne(const float *x, const int *y, float *out, int n)
{
    extern __shared__ int s[];
    int *integerData = s;                             // n ints
    float *floatData = (float *)&integerData[n];      // n floats
    char *charData = (char *)&floatData[n];           // n chars
    int t = threadIdx.x;
    integerData[t] = y[t];
    floatData[t] = x[t];
    charData[t] = (char)(t % 3);
    __syncthreads();
    int r = n - 1 - t;
    out[t] = integerData[r] * floatData[r] + charData[r];
}

// Two names of dynamic memory begin at the same address: these overlap, as the guide warns.
__global__ void twoNames(int *out)
{
    extern __shared__ int first[];
    extern __shared__ int second[];
    first[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = second[blockDim.x - 1 - threadIdx.x];
}

__global__ void dynamicReverse(int *d, int n)
{
  extern __shared__ int s[];
  int t = threadIdx.x;
  int tr = n-t-1;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

__global__ void staticReverse(int *d, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  int tr = n-t-1;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

int main(void)
{
  const int n = 64;
  int a[n], r[n], d[n];
  for (int i = 0; i < n; i++) {
    a[i] = i;
    r[i] = n-i-1;
    d[i] = 0;
  }
  int *d_d;
  cudaMalloc(&d_d, n * sizeof(int));
  // run version with static shared memory
  cudaMemcpy(d_d, a, n*sizeof(int), cudaMemcpyHostToDevice);
  staticReverse<<<1,n>>>(d_d, n);
  cudaMemcpy(d, d_d, n*sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (d[i] != r[i]) printf("Error: d[%d]!=r[%d] (%d, %d)\n", i, i, d[i], r[i]);
  // run dynamic shared memory version
  cudaMemcpy(d_d, a, n*sizeof(int), cudaMemcpyHostToDevice);
  dynamicReverse<<<1,n,n*sizeof(int)>>>(d_d, n);
  cudaMemcpy(d, d_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (d[i] != r[i]) printf("Error: d[%d]!=r[%d] (%d, %d)\n", i, i, d[i], r[i]);
  twoNames<<<1, n, n * sizeof(int)>>>(d_d);
  float *x, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  threeInOne<<<1, n, n * (sizeof(int) + sizeof(float) + sizeof(char))>>>(x, d_d, out, n);
  cudaDeviceSynchronize();
}
