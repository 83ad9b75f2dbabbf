#include <cuda_runtime.h>
#include <cassert>
#include <iostream>
#include <type_traits>

// Modern C++ in kernels: scoped enumerations, static_assert, lambdas, range-for, constexpr.
enum class Operation : int { Scale, Shift, Clamp };
enum Channel { RED, GREEN, BLUE, CHANNELS };

struct Settings {
  Operation operation;
  float amount;
  int limit;
};

template <typename T>
__host__ __device__ constexpr T square(T value) { return value * value; }

template <typename F>
__device__ void forEachOwn(int n, F&& f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

__global__ void apply(float* data, int n, Settings settings) {
  static_assert(sizeof(Settings) == 12, "three words");
  forEachOwn(n, [=](int i) {
    switch (settings.operation) {
      case Operation::Scale: data[i] *= settings.amount; break;
      case Operation::Shift: data[i] += settings.amount; break;
      case Operation::Clamp: data[i] = fminf(data[i], float(settings.limit)); break;
    }
  });
}

__global__ void polynomial(const float* __restrict__ x, float* __restrict__ y, int n) {
  static_assert(CHANNELS == 3);
  constexpr int start = square(2);
  const float coefficients[] = {0.5f, -1.0f, 2.0f, 0.25f};
  auto horner = [&coefficients](float v) {
    float sum = 0.0f;
    for (float c : coefficients) sum = sum * v + c;
    return sum;
  };
  if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) {
    y[i] = horner(x[i]) + (float)start;
  }
}

__global__ void swapChannels(int (*pixels)[CHANNELS], int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    auto& pixel = pixels[i];
    const auto red = pixel[RED];
    pixel[RED] = pixel[BLUE];
    pixel[BLUE] = red;
    pixel[GREEN] = ~pixel[GREEN] & 0xff;
  }
}

int main() {
  constexpr int n = 150;
  float *x, *y;
  int(*pixels)[CHANNELS];
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&pixels, n * sizeof(*pixels));
  for (int i = 0; i < n; ++i) x[i] = i * 0.01f;
  polynomial<<<3, 64>>>(x, y, n);
  apply<<<2, 32>>>(y, n, Settings{Operation::Scale, 2.0f, 0});
  swapChannels<<<3, 64>>>(pixels, n);
  cudaDeviceSynchronize();
  auto report = [](auto&& what) { std::cout << what << '\n'; };
  report(y[n - 1]);
}
