/*
 * 64-bin and 256-bin histograms of bytes packed in words.
 */
#include <assert.h>
#include <helper_cuda.h>

typedef unsigned int uint;
typedef unsigned char uchar;

#define HISTOGRAM256_BIN_COUNT 256
#define LOG2_WARP_SIZE 5U
#define WARP_SIZE (1U << LOG2_WARP_SIZE)
#define WARP_COUNT 2
#define UMUL(a, b) ((a) * (b))
#define UMAD(a, b, c) (UMUL((a), (b)) + (c))
#define HISTOGRAM256_THREADBLOCK_SIZE (WARP_COUNT * WARP_SIZE)
#define HISTOGRAM256_THREADBLOCK_MEMORY (WARP_COUNT * HISTOGRAM256_BIN_COUNT)

inline __device__ void addByte(uint *s_WarpHist, uint data) {
  atomicAdd(s_WarpHist + data, 1);
}

inline __device__ void addWord(uint *s_WarpHist, uint data) {
  addByte(s_WarpHist, (data >> 0) & 0xFFU);
  addByte(s_WarpHist, (data >> 8) & 0xFFU);
  addByte(s_WarpHist, (data >> 16) & 0xFFU);
  addByte(s_WarpHist, (data >> 24) & 0xFFU);
}

__global__ void histogram256Kernel(uint *d_PartialHistograms, uint *d_Data, uint dataCount) {
  // Per-warp subhistogram storage
  __shared__ uint s_Hist[HISTOGRAM256_THREADBLOCK_MEMORY];
  uint *s_WarpHist = s_Hist + (threadIdx.x >> LOG2_WARP_SIZE) * HISTOGRAM256_BIN_COUNT;

// Clear shared memory storage for current threadblock before processing
#pragma unroll
  for (uint i = 0; i < (HISTOGRAM256_THREADBLOCK_MEMORY / HISTOGRAM256_THREADBLOCK_SIZE); i++) {
    s_Hist[threadIdx.x + i * HISTOGRAM256_THREADBLOCK_SIZE] = 0;
  }
  __syncthreads();

  for (uint pos = UMAD(blockIdx.x, blockDim.x, threadIdx.x); pos < dataCount;
       pos += UMUL(blockDim.x, gridDim.x)) {
    uint data = d_Data[pos];
    addWord(s_WarpHist, data);
  }
  // Merge per-warp histograms into per-block and write to global memory
  __syncthreads();

  for (uint bin = threadIdx.x; bin < HISTOGRAM256_BIN_COUNT; bin += HISTOGRAM256_THREADBLOCK_SIZE) {
    uint sum = 0;
    for (uint i = 0; i < WARP_COUNT; i++) {
      sum += s_Hist[bin + i * HISTOGRAM256_BIN_COUNT];
    }
    d_PartialHistograms[blockIdx.x * HISTOGRAM256_BIN_COUNT + bin] = sum;
  }
}

// Byte by byte, with several bins of a word: unsigned char counters in shared memory.
__global__ void histogram16Bytes(uint *out, const uchar *data, int n) {
  __shared__ uchar counts[16][32];
  for (int b = 0; b < 16; b++) counts[b][threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += 32) counts[data[i] >> 4][threadIdx.x]++;
  __syncwarp();
  if (threadIdx.x < 16) {
    uint sum = 0;
    for (int t = 0; t < 32; t++) sum += counts[threadIdx.x][t];
    out[threadIdx.x] = sum;
  }
}

extern "C" void histogram256(uint *d_Histogram, void *d_Data, uint byteCount) {
  assert(byteCount % sizeof(uint) == 0);
  histogram256Kernel<<<3, HISTOGRAM256_THREADBLOCK_SIZE>>>(d_Histogram, (uint *)d_Data,
                                                           byteCount / sizeof(uint));
  getLastCudaError("histogram256Kernel() execution failed\n");
  histogram16Bytes<<<1, 32>>>(d_Histogram, (uchar *)d_Data, byteCount);
}

int main(int argc, char **argv) {
  uchar *d_Data;
  uint *d_Histogram;
  checkCudaErrors(cudaMalloc((void **)&d_Data, 4096));
  checkCudaErrors(cudaMalloc((void **)&d_Histogram, 3 * HISTOGRAM256_BIN_COUNT * sizeof(uint)));
  checkCudaErrors(cudaMemset(d_Data, 7, 4096));
  histogram256(d_Histogram, d_Data, 4096);
  checkCudaErrors(cudaDeviceSynchronize());
  exit(EXIT_SUCCESS);
}
