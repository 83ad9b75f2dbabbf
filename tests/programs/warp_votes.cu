#include <stdio.h>
#include <cuda_runtime.h>

// What the votes say of each warp's input.
__global__ void votes(const int *in, int *any, int *all, unsigned int *ballot, int *uni) {
  int tx = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned int mask = 0xffffffff;
  int a = __any_sync(mask, in[tx]);
  int b = __all_sync(mask, in[tx]);
  unsigned int c = __ballot_sync(mask, in[tx] & 1);
  if (threadIdx.x % warpSize == 0) {
    int warp = tx / warpSize;
    any[warp] = a;
    all[warp] = b;
    ballot[warp] = c;
    uni[warp] = __popc(c) - __clz(c) + __ffs(c);
  }
}

// Barriers that count, and, or.
__global__ void barrierVotes(const int *in, int *out) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int positive = __syncthreads_count(v > 0);
  int every = __syncthreads_and(v != 7);
  int some = __syncthreads_or(v == 3);
  if (threadIdx.x == 0) {
    out[3 * blockIdx.x + 0] = positive;
    out[3 * blockIdx.x + 1] = every != 0;
    out[3 * blockIdx.x + 2] = some != 0;
  }
}

// Bits of each number turned over, counted, and bytes permuted.
__global__ void bitTricks(const unsigned int *in, unsigned int *out, int n) {
  int i = threadIdx.x;
  if (i < n) {
    unsigned int v = in[i];
    unsigned int swapped = __byte_perm(v, 0, 0x0123);
    out[4 * i] = __brev(v);
    out[4 * i + 1] = swapped;
    out[4 * i + 2] = __popc(v) * 100 + __clz((int)v);
    out[4 * i + 3] = __umulhi(v, 0x9E3779B9u) ^ __mul24((int)(v & 0xffff), 3);
  }
}

int main() {
  int *in, *any, *all, *uni, *out;
  unsigned int *ballot;
  cudaMallocManaged(&in, 256 * sizeof(int));
  cudaMallocManaged(&any, 8 * sizeof(int));
  cudaMallocManaged(&all, 8 * sizeof(int));
  cudaMallocManaged(&uni, 8 * sizeof(int));
  cudaMallocManaged(&ballot, 8 * sizeof(int));
  cudaMallocManaged(&out, 12 * sizeof(int));
  for (int i = 0; i < 256; i++) in[i] = i / 3 % 9;
  votes<<<2, 128>>>(in, any, all, ballot, uni);
  barrierVotes<<<4, 64>>>(in, out);
  bitTricks<<<1, 64>>>((unsigned int *)in, (unsigned int *)in + 64, 48);
  cudaDeviceSynchronize();
  for (int w = 0; w < 8; w++) printf("%d %d %08x\n", any[w], all[w], ballot[w]);
}
