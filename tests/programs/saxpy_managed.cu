#include <stdio.h>
#include <math.h>

// y = a*x + y with a grid-stride loop: any grid fits any n.
__global__
void saxpy(int n, float a, float *x, float *y)
{
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = index; i < n; i += stride)
    y[i] = a*x[i] + y[i];
}

int main(void)
{
  int N = 1<<11;
  float *x, *y;
  cudaMallocManaged(&x, N*sizeof(float));
  cudaMallocManaged(&y, N*sizeof(float));

  for (int i = 0; i < N; i++) {
    x[i] = 1.0f;
    y[i] = 2.0f;
  }

  int blockSize = 128;
  saxpy<<<4, blockSize>>>(N, 2.0f, x, y);
  cudaDeviceSynchronize();

  float maxError = 0.0f;
  for (int i = 0; i < N; i++)
    maxError = fmax(maxError, fabs(y[i]-4.0f));
  printf("Max error: %f\n", maxError);

  cudaFree(x);
  cudaFree(y);
  return 0;
}
