#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include <random>

namespace gemm {

constexpr int TILE = 16;

/// Loads the next tile while the current one is multiplied: one barrier a tile.
__global__ void doubleBuffered(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int m, int n, int k) {
  __shared__ float sa[2][TILE][TILE];
  __shared__ float sb[2][TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float acc = 0.f;
  int buffer = 0;
  sa[buffer][ty][tx] = row < m && tx < k ? a[row * k + tx] : 0.f;
  sb[buffer][ty][tx] = ty < k && col < n ? b[ty * n + col] : 0.f;
  __syncthreads();
  const int tiles = (k + TILE - 1) / TILE;
  for (int t = 0; t < tiles; ++t) {
    const int next = (t + 1) * TILE;
    if (t + 1 < tiles) {
      sa[buffer ^ 1][ty][tx] = row < m && next + tx < k ? a[row * k + next + tx] : 0.f;
      sb[buffer ^ 1][ty][tx] = next + ty < k && col < n ? b[(next + ty) * n + col] : 0.f;
    }
#pragma unroll
    for (int i = 0; i < TILE; ++i) acc += sa[buffer][ty][i] * sb[buffer][i][tx];
    __syncthreads();
    buffer ^= 1;
  }
  if (row < m && col < n) c[row * n + col] = acc;
}

class Problem {
 public:
  Problem(int m, int n, int k) : m_(m), n_(n), k_(k), a_(m * k), b_(k * n) {
    std::mt19937 gen(42);
    std::uniform_real_distribution<float> dist(-1.f, 1.f);
    for (auto& x : a_) x = dist(gen);
    for (auto& x : b_) x = dist(gen);
  }
  std::vector<float> run() const {
    float *a, *b, *c;
    cudaMalloc(&a, a_.size() * sizeof(float));
    cudaMalloc(&b, b_.size() * sizeof(float));
    cudaMalloc(&c, m_ * n_ * sizeof(float));
    cudaMemcpy(a, a_.data(), a_.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, b_.data(), b_.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 block(TILE, TILE), grid((n_ + TILE - 1) / TILE, (m_ + TILE - 1) / TILE);
    doubleBuffered<<<grid, block>>>(a, b, c, m_, n_, k_);
    std::vector<float> result(m_ * n_);
    cudaMemcpy(result.data(), c, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return result;
  }

 private:
  int m_, n_, k_;
  std::vector<float> a_, b_;
};

}  // namespace gemm

int main() {
  const gemm::Problem problem(40, 40, 40);
  const auto c = problem.run();
  std::printf("c[0] = %f\n", c.front());
}
