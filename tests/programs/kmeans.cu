#include <cuda_runtime.h>
#include <cfloat>
#include <cstdio>
#include <vector>

constexpr int K = 4;

struct Data {
  explicit Data(int size) : size(size) {
    cudaMalloc(&x, size * sizeof(float));
    cudaMalloc(&y, size * sizeof(float));
  }
  ~Data() {
    cudaFree(x);
    cudaFree(y);
  }
  float* x{nullptr};
  float* y{nullptr};
  int size{0};
};

__device__ float squared_l2_distance(float x_1, float y_1, float x_2, float y_2) {
  return (x_1 - x_2) * (x_1 - x_2) + (y_1 - y_2) * (y_1 - y_2);
}

// Assigns each point to the nearest mean; the sums of the new means are atomic.
__global__ void assign_clusters(const float* __restrict__ data_x,
                                const float* __restrict__ data_y,
                                int data_size,
                                const float* __restrict__ means_x,
                                const float* __restrict__ means_y,
                                float* __restrict__ new_sums_x,
                                float* __restrict__ new_sums_y,
                                int k,
                                int* __restrict__ counts,
                                int* __restrict__ labels) {
  extern __shared__ float shared_means[];
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < k) {
    shared_means[threadIdx.x] = means_x[threadIdx.x];
    shared_means[k + threadIdx.x] = means_y[threadIdx.x];
  }
  __syncthreads();
  if (index >= data_size) return;

  // Make global loads once.
  const float x = data_x[index];
  const float y = data_y[index];

  float best_distance = FLT_MAX;
  int best_cluster = 0;
  for (int cluster = 0; cluster < k; ++cluster) {
    const float distance =
        squared_l2_distance(x, y, shared_means[cluster], shared_means[k + cluster]);
    if (distance < best_distance) {
      best_distance = distance;
      best_cluster = cluster;
    }
  }
  labels[index] = best_cluster;
  atomicAdd(&new_sums_x[best_cluster], x);
  atomicAdd(&new_sums_y[best_cluster], y);
  atomicAdd(&counts[best_cluster], 1);
}

__global__ void compute_new_means(float* means_x, float* means_y, const float* new_sum_x,
                                  const float* new_sum_y, const int* counts) {
  const int cluster = threadIdx.x;
  // Threshold count to turn 0/0 into 0/1.
  const int count = max(1, counts[cluster]);
  means_x[cluster] = new_sum_x[cluster] / count;
  means_y[cluster] = new_sum_y[cluster] / count;
}

int main() {
  const int n = 200;
  std::vector<float> h_x(n), h_y(n);
  for (int i = 0; i < n; ++i) { h_x[i] = i % 4 * 10 + i * 0.01f; h_y[i] = i % 2 * 10; }
  Data data(n), means(K), sums(K);
  int *counts, *labels;
  cudaMalloc(&counts, K * sizeof(int));
  cudaMalloc(&labels, n * sizeof(int));
  cudaMemcpy(data.x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(data.y, h_y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(means.x, h_x.data(), K * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(means.y, h_y.data(), K * sizeof(float), cudaMemcpyHostToDevice);
  const int threads = 64, blocks = (n + threads - 1) / threads;
  for (size_t iteration = 0; iteration < 5; ++iteration) {
    cudaMemset(counts, 0, K * sizeof(int));
    cudaMemset(sums.x, 0, K * sizeof(float));
    cudaMemset(sums.y, 0, K * sizeof(float));
    assign_clusters<<<blocks, threads, 2 * K * sizeof(float)>>>(
        data.x, data.y, n, means.x, means.y, sums.x, sums.y, K, counts, labels);
    compute_new_means<<<1, K>>>(means.x, means.y, sums.x, sums.y, counts);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
