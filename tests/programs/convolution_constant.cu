// Convolutions with their mask in constant memory: 1-D, and 2-D with shared tiles.
#include <iostream>
#include <math.h>
#include <assert.h>

#define MASK_LENGTH 7
#define FILTER_RADIUS 2
#define IN_TILE_DIM 16
#define OUT_TILE_DIM ((IN_TILE_DIM) - 2*(FILTER_RADIUS))

// Allocate space for the mask in constant memory
__constant__ int mask[MASK_LENGTH];
__constant__ float F[2*FILTER_RADIUS+1][2*FILTER_RADIUS+1];

// 1-D convolution kernel
//  Arguments:
//      array   = padded array
//      result  = result array
//      n       = number of elements in array
__global__ void convolution_1d(int *array, int *result, int n) {
  // Global thread ID calculation
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int r = MASK_LENGTH / 2;
  int start = tid - r;
  int temp = 0;

  if (tid < n) {
    for (int j = 0; j < MASK_LENGTH; j++) {
      // Ignore elements that hang off (0s don't contribute)
      if (((start + j) >= 0) && (start + j < n)) {
        temp += array[start + j] * mask[j];
      }
    }
    result[tid] = temp;
  }
}

__global__ void convolution_tiled_2D_const_mem_kernel(float *N, float *P, int width, int height) {
  int col = blockIdx.x*OUT_TILE_DIM + threadIdx.x - FILTER_RADIUS;
  int row = blockIdx.y*OUT_TILE_DIM + threadIdx.y - FILTER_RADIUS;
  // loading input tile
  __shared__ float N_s[IN_TILE_DIM][IN_TILE_DIM];
  if (row >= 0 && row < height && col >= 0 && col < width) {
    N_s[threadIdx.y][threadIdx.x] = N[row*width + col];
  } else {
    N_s[threadIdx.y][threadIdx.x] = 0.0;
  }
  __syncthreads();
  // Calculating output elements
  int tileCol = threadIdx.x - FILTER_RADIUS;
  int tileRow = threadIdx.y - FILTER_RADIUS;
  // turning off the threads at the edges of the block
  if (col >= 0 && col < width && row >= 0 && row < height) {
    if (tileCol >= 0 && tileCol < OUT_TILE_DIM && tileRow >= 0 && tileRow < OUT_TILE_DIM) {
      float Pvalue = 0.0f;
      for (int fRow = 0; fRow < 2*FILTER_RADIUS+1; fRow++) {
        for (int fCol = 0; fCol < 2*FILTER_RADIUS+1; fCol++) {
          Pvalue += F[fRow][fCol]*N_s[tileRow+fRow][tileCol+fCol];
        }
      }
      P[row*width+col] = Pvalue;
    }
  }
}

int main() {
  int n = 1 << 9;
  int bytes_n = n * sizeof(int);
  size_t bytes_m = MASK_LENGTH * sizeof(int);
  int *h_array = new int[n];
  for (int i = 0; i < n; i++) h_array[i] = rand() % 100;
  int *h_mask = new int[MASK_LENGTH];
  for (int i = 0; i < MASK_LENGTH; i++) h_mask[i] = rand() % 10;
  int *h_result = new int[n];

  int *d_array, *d_result;
  cudaMalloc(&d_array, bytes_n);
  cudaMalloc(&d_result, bytes_n);
  cudaMemcpy(d_array, h_array, bytes_n, cudaMemcpyHostToDevice);
  // Copy the data directly to the symbol
  cudaMemcpyToSymbol(mask, h_mask, bytes_m);

  int THREADS = 128;
  int GRID = (n + THREADS - 1) / THREADS;
  convolution_1d<<<GRID, THREADS>>>(d_array, d_result, n);
  cudaMemcpy(h_result, d_result, bytes_n, cudaMemcpyDeviceToHost);

  float filter[5][5] = {{0, 0, 1, 0, 0}, {0, 2, 3, 2, 0}, {1, 3, 5, 3, 1}, {0, 2, 3, 2, 0}, {0, 0, 1, 0, 0}};
  cudaMemcpyToSymbol(F, filter, sizeof(filter));
  float *image, *out;
  int width = 40, height = 30;
  cudaMalloc(&image, width * height * sizeof(float));
  cudaMalloc(&out, width * height * sizeof(float));
  dim3 block(IN_TILE_DIM, IN_TILE_DIM);
  dim3 grid((width + OUT_TILE_DIM - 1) / OUT_TILE_DIM, (height + OUT_TILE_DIM - 1) / OUT_TILE_DIM);
  convolution_tiled_2D_const_mem_kernel<<<grid, block>>>(image, out, width, height);

  std::cout << "COMPLETED SUCCESSFULLY\n";
  delete[] h_array;
  delete[] h_result;
  delete[] h_mask;
  cudaFree(d_result);
  return 0;
}
