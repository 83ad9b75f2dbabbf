#include <stdio.h>
#include <cuda_runtime.h>
#include <helper_cuda.h>

// Scan using shfl - takes log2(n) steps, then warps' sums are scanned by the first warp
__global__ void shfl_scan_test(int *data, int width, int *partial_sums = NULL) {
  extern __shared__ int sums[];
  int id = ((blockIdx.x * blockDim.x) + threadIdx.x);
  int lane_id = id % warpSize;
  // determine a warp_id within a block
  int warp_id = threadIdx.x / warpSize;

  int value = data[id];

#pragma unroll
  for (int i = 1; i <= width; i *= 2) {
    unsigned int mask = 0xffffffff;
    int n = __shfl_up_sync(mask, value, i, width);

    if (lane_id >= i) value += n;
  }

  // write the sum of the warp to smem
  if (threadIdx.x % warpSize == warpSize - 1) {
    sums[warp_id] = value;
  }
  __syncthreads();

  // scan sum the warp sums, with the lower lanes only
  if (warp_id == 0 && lane_id < (blockDim.x / warpSize)) {
    int warp_sum = sums[lane_id];

    int mask = (1 << (blockDim.x / warpSize)) - 1;
    for (int i = 1; i <= (blockDim.x / warpSize); i *= 2) {
      int n = __shfl_up_sync(mask, warp_sum, i, (blockDim.x / warpSize));

      if (lane_id >= i) warp_sum += n;
    }
    sums[lane_id] = warp_sum;
  }
  __syncthreads();

  int blockSum = 0;
  if (warp_id > 0) {
    blockSum = sums[warp_id - 1];
  }
  value += blockSum;

  // Now write out our result
  data[id] = value;

  // last thread has sum, write write out the block's sum
  if (partial_sums != NULL && threadIdx.x == blockDim.x - 1) {
    partial_sums[blockIdx.x] = value;
  }
}

// Uniform add: add partial sums array
__global__ void uniform_add(int *data, int *partial_sums, int len) {
  __shared__ int buf;
  int id = ((blockIdx.x * blockDim.x) + threadIdx.x);

  if (id > len) return;

  if (threadIdx.x == 0) {
    buf = partial_sums[blockIdx.x];
  }
  __syncthreads();
  data[id] += buf;
}

static unsigned int iDivUp(unsigned int dividend, unsigned int divisor) {
  return ((dividend % divisor) == 0) ? (dividend / divisor) : (dividend / divisor + 1);
}

int main(int argc, char *argv[]) {
  int n_elements = 1024, blockSize = 256;
  int gridSize = n_elements / blockSize;
  int shmem_sz = blockSize / 32 * sizeof(int);
  int p_blocks = iDivUp(gridSize, 32), *d_data, *d_partial;
  checkCudaErrors(cudaMalloc((void **)&d_data, sizeof(int) * n_elements));
  checkCudaErrors(cudaMalloc((void **)&d_partial, sizeof(int) * 32));
  checkCudaErrors(cudaMemset(d_data, 1, sizeof(int) * n_elements));
  shfl_scan_test<<<gridSize, blockSize, shmem_sz>>>(d_data, 32, d_partial);
  shfl_scan_test<<<p_blocks, 32, 32>>>(d_partial, 32);
  uniform_add<<<gridSize - 1, blockSize>>>(d_data + blockSize, d_partial, n_elements);
  checkCudaErrors(cudaDeviceSynchronize());
  printf("done\n");
}
