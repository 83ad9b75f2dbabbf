#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <iostream>
#include <memory>
#include <stdexcept>

/**
 * Matrix multiplication: C = A * B, wA is A's width and wB is B's width
 */
template <typename T, int BLOCK_SIZE>
__global__ void MatrixMulCUDA(T *C, T *A, T *B, int wA, int wB) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;

  int aBegin = wA * BLOCK_SIZE * by;
  int aEnd   = aBegin + wA - 1;
  int aStep  = BLOCK_SIZE;
  int bBegin = BLOCK_SIZE * bx;
  int bStep  = BLOCK_SIZE * wB;

  T Csub = 0;

  for (int a = aBegin, b = bBegin;
       a <= aEnd;
       a += aStep, b += bStep) {
    __shared__ T As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ T Bs[BLOCK_SIZE][BLOCK_SIZE];

    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();

#pragma unroll

    for (int k = 0; k < BLOCK_SIZE; ++k) {
      Csub += As[ty][k] * Bs[k][tx];
    }
    __syncthreads();
  }

  int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
  C[c + wB * ty + tx] = Csub;
}

template <class T>
class DeviceArray {
  T *data_ = nullptr;
  size_t size_;

public:
  explicit DeviceArray(size_t size) : size_(size) {
    if (cudaMalloc(&data_, size * sizeof(T)) != cudaSuccess)
      throw std::runtime_error("out of memory");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  T *get() { return data_; }
  operator T *() { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }
};

template <typename T> int MatrixMultiply(const dim3 &dimsA, const dim3 &dimsB) {
  DeviceArray<T> A(dimsA.x * dimsA.y), B(dimsB.x * dimsB.y), C(dimsB.x * dimsA.y);
  cudaStream_t stream;
  checkCudaErrors(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  dim3 threads(16, 16);
  dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
  MatrixMulCUDA<T, 16><<<grid, threads, 0, stream>>>(C, A, B, dimsA.x, dimsB.x);
  checkCudaErrors(cudaStreamSynchronize(stream));
  auto host = std::make_unique<T[]>(dimsB.x * dimsA.y);
  checkCudaErrors(cudaMemcpyAsync(host.get(), C.get(), C.bytes(), cudaMemcpyDeviceToHost, stream));
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  try {
    return MatrixMultiply<float>(dim3(32, 32, 1), dim3(48, 32, 1)) |
           MatrixMultiply<double>(dim3(32, 32, 1), dim3(32, 32, 1));
  } catch (const std::exception &e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
  }
}
