#include <stdio.h>
#include <string.h>
#include <cuda_runtime.h>

#define N 16

__device__ char shift(char c, int by) {
  if (c >= 'a' && c <= 'z') return 'a' + (c - 'a' + by + 26) % 26;
  if (c >= 'A' && c <= 'Z') return (char)('A' + (c - 'A' + by + 26) % 26);
  return c;
}

__global__ void caesar(char *text, int length, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) text[i] = shift(text[i], by);
}

// "Hello " and seven offsets make "World!"
__global__ void hello(char *a, int *b) {
  a[threadIdx.x] += b[threadIdx.x];
}

// Where a word begins in a text: flags, then a count.
__global__ void findWord(const char *text, int length, const char *word, int wordLength,
                         bool *found, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + wordLength > length) return;
  bool same = true;
  for (int k = 0; k < wordLength && same; k++)
    same = text[i + k] == word[k];
  found[i] = same;
  if (same) atomicAdd(count, 1);
}

int main() {
  char a[N] = "Hello \0\0\0\0\0\0";
  int b[N] = {15, 10, 6, 0, -11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  char *ad;
  int *bd;
  const int csize = N * sizeof(char);
  const int isize = N * sizeof(int);
  printf("%s", a);
  cudaMalloc((void **)&ad, csize);
  cudaMalloc((void **)&bd, isize);
  cudaMemcpy(ad, a, csize, cudaMemcpyHostToDevice);
  cudaMemcpy(bd, b, isize, cudaMemcpyHostToDevice);
  dim3 dimBlock(N, 1);
  dim3 dimGrid(1, 1);
  hello<<<dimGrid, dimBlock>>>(ad, bd);
  cudaMemcpy(a, ad, csize, cudaMemcpyDeviceToHost);
  printf("%s\n", a);
  caesar<<<1, 32>>>(ad, (int)strlen(a), 3);
  cudaFree(ad);
  cudaFree(bd);
  return EXIT_SUCCESS;
}
