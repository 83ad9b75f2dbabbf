#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

template <typename T>
struct MaxOp {
  __device__ __forceinline__ T operator()(T const &x, T const &y) const { return x > y ? x : y; }
};

template <typename T>
struct SumOp {
  __device__ __forceinline__ T operator()(T const &x, T const &y) const { return x + y; }
};

template <template <typename> class Op, typename T>
__device__ __forceinline__ T warpAllReduce(T val) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) val = Op<T>()(val, __shfl_xor_sync(0xffffffff, val, mask));
  return val;
}

// A warp for each row.
__global__ void softmaxWarp(float *out, const float *in, int rows, int cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float *x = in + row * cols;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 32) m = fmaxf(m, x[c]);
  m = warpAllReduce<MaxOp, float>(m);
  float d = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) d += expf(x[c] - m);
  d = warpAllReduce<SumOp, float>(d);
  for (int c = threadIdx.x; c < cols; c += 32) out[row * cols + c] = expf(x[c] - m) / d;
}

struct __align__(8) MD {
  float m;
  float d;
};

__device__ __forceinline__ MD reduce_md_op(MD a, MD b) {
  bool a_bigger = (a.m > b.m);
  MD bigger_m = a_bigger ? a : b;
  MD smaller_m = a_bigger ? b : a;
  MD res;
  res.d = bigger_m.d + smaller_m.d * __expf(smaller_m.m - bigger_m.m);
  res.m = bigger_m.m;
  return res;
}

// One pass for the largest and the sum together; a block for each row.
__global__ void online_softmax(const float *__restrict x, float *__restrict y, int V) {
  const int thread_id = threadIdx.x;
  x += blockIdx.x * V;
  y += blockIdx.x * V;
  __shared__ MD partial[64];

  MD md_partial;
  md_partial.m = -FLT_MAX;
  md_partial.d = 0.0F;
  for (int elem_id = thread_id; elem_id < V; elem_id += 64) {
    MD new_elem;
    new_elem.m = x[elem_id];
    new_elem.d = 1.0F;
    md_partial = reduce_md_op(md_partial, new_elem);
  }
  partial[thread_id] = md_partial;
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (thread_id < s) partial[thread_id] = reduce_md_op(partial[thread_id], partial[thread_id + s]);
    __syncthreads();
  }
  MD md_total = partial[0];
  float d_total_inverse = __fdividef(1.0F, md_total.d);
  for (int elem_id = thread_id; elem_id < V; elem_id += 64)
    y[elem_id] = __expf(x[elem_id] - md_total.m) * d_total_inverse;
}

int main() {
  const int rows = 10, cols = 100;
  float *x, *y;
  cudaMallocManaged(&x, rows * cols * sizeof(float));
  cudaMallocManaged(&y, rows * cols * sizeof(float));
  for (int i = 0; i < rows * cols; ++i) x[i] = std::sin(i * 0.37f) * 3;
  softmaxWarp<<<(rows + 3) / 4, dim3(32, 4)>>>(y, x, rows, cols);
  online_softmax<<<rows, 64>>>(x, y, cols);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += y[i];
  printf("%f\n", sum);
}
