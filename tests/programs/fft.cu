#define _USE_MATH_DEFINES
#include <math.h>
#include <cstdio>
#include <complex>
#include <vector>
#include <cuda_runtime.h>

typedef float2 Complex;

static __device__ __host__ inline Complex ComplexAdd(Complex a, Complex b) {
  Complex c;
  c.x = a.x + b.x;
  c.y = a.y + b.y;
  return c;
}

static __device__ __host__ inline Complex ComplexMul(Complex a, Complex b) {
  Complex c;
  c.x = a.x * b.x - a.y * b.y;
  c.y = a.x * b.y + a.y * b.x;
  return c;
}

// Radix-2, decimation in time; a block transforms n = 2 * blockDim.x numbers.
__global__ void fftShared(Complex *data, int n, int logn, int sign) {
  extern __shared__ Complex s[];
  data += blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s[__brev(i) >> (32 - logn)] = data[i];
  __syncthreads();
  for (int len = 2; len <= n; len <<= 1) {
    int half = len >> 1;
    int group = threadIdx.x / half, k = threadIdx.x % half;
    float angle = sign * 2.0f * (float)M_PI * k / len;
    Complex w;
    sincosf(angle, &w.y, &w.x);
    Complex u = s[group * len + k];
    Complex v = ComplexMul(s[group * len + k + half], w);
    Complex minus = {-v.x, -v.y};
    s[group * len + k] = ComplexAdd(u, v);
    s[group * len + k + half] = ComplexAdd(u, minus);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
}

int main() {
  const int n = 64;
  std::vector<std::complex<float>> signal(n);
  for (int i = 0; i < n; ++i) signal[i] = std::complex<float>(std::cos(2 * M_PI * 3 * i / n), 0);
  Complex *d;
  cudaMalloc(&d, n * sizeof(Complex));
  cudaMemcpy(d, signal.data(), n * sizeof(Complex), cudaMemcpyHostToDevice);
  fftShared<<<1, n / 2, n * sizeof(Complex)>>>(d, n, 6, -1);
  cudaMemcpy(signal.data(), d, n * sizeof(Complex), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 5; ++i) printf("%d: %f\n", i, std::abs(signal[i]));
}
