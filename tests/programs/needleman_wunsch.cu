#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH 2
#define MISMATCH -1
#define GAP -2
#define LENGTH 48

__device__ __host__ inline int maximum(int a, int b, int c) {
  int k;
  if (a <= b) k = b;
  else k = a;
  if (k <= c) return c;
  else return k;
}

// One block walks the anti-diagonals of the table of scores.
__global__ void align(const char *first, const char *second, short *score) {
  const int width = LENGTH + 1;
  __shared__ short diagonal[3][LENGTH + 1];
  const int row = threadIdx.x;
  for (int d = 0; d <= 2 * LENGTH; d++) {
    const int col = d - row;
    if (row <= LENGTH && col >= 0 && col <= LENGTH) {
      short value;
      if (row == 0)
        value = col * GAP;
      else if (col == 0)
        value = row * GAP;
      else {
        const int same = first[row - 1] == second[col - 1] ? MATCH : MISMATCH;
        value = maximum(diagonal[(d + 1) % 3][row - 1] + same,
                        diagonal[(d + 2) % 3][row - 1] + GAP,
                        diagonal[(d + 2) % 3][row] + GAP);
      }
      diagonal[d % 3][row] = value;
      score[row * width + col] = value;
    }
    __syncthreads();
  }
}

int main() {
  char *a, *b;
  short *score;
  cudaMallocManaged(&a, LENGTH);
  cudaMallocManaged(&b, LENGTH);
  cudaMallocManaged(&score, (LENGTH + 1) * (LENGTH + 1) * sizeof(short));
  for (int i = 0; i < LENGTH; i++) {
    a[i] = "ACGT"[rand() % 4];
    b[i] = rand() % 5 ? a[i] : "ACGT"[rand() % 4];
  }
  align<<<1, 64>>>(a, b, score);
  cudaDeviceSynchronize();
  printf("%d\n", score[(LENGTH + 1) * (LENGTH + 1) - 1]);
}
