#include <stdio.h>
#include <stdlib.h>
#include <cuda.h>

__host__ __device__ int co_rank(int k, int* A, int m, int* B, int n) {
    int i = k < m ? k : m;          // i = min(k,m)
    int j = k - i;
    int i_low = 0 > (k-n) ? 0 : k-n; // i_low = max(0, k-n)
    int j_low = 0 > (k-m) ? 0 : k-m; // j_low = max(0, k-m)
    int delta;
    bool active = true;
    while (active) {
        if (i > 0 && j < n && A[i-1] > B[j]) {
            delta = ((i - i_low + 1) >> 1); // ceil((i-i_low)/2)
            j_low = j;
            j = j + delta;
            i = i - delta;
        } else if (j > 0 && i < m && B[j-1] >= A[i]) {
            delta = ((j - j_low + 1) >> 1);
            i_low = i;
            i = i + delta;
            j = j - delta;
        } else {
            active = false;
        }
    }
    return i;
}

__host__ __device__ void merge_sequential(int *A, int m, int *B, int n, int *C) {
    int i = 0; // Index into A
    int j = 0; // Index into B
    int k = 0; // Index into C
    while ((i < m) && (j < n)) { // Handle start of A[] and B[]
        if (A[i] <= B[j]) {
            C[k++] = A[i++];
        } else {
            C[k++] = B[j++];
        }
    }
    if (i == m) { // Done with A[], handle remaining B[]
        while (j < n) {
            C[k++] = B[j++];
        }
    } else { // Done with B[], handle remaining A[]
        while (i < m) {
            C[k++] = A[i++];
        }
    }
}

__global__ void merge_basic_kernel(int* A, int m, int* B, int n, int* C) {
    int tid = blockIdx.x*blockDim.x + threadIdx.x;
    int elementsPerThread = ceil((m+n)/(blockDim.x*gridDim.x*1.0));
    int k_curr = tid*elementsPerThread; // start output index
    int k_next = min((tid+1)*elementsPerThread, m+n); // end output index
    if (k_curr > m + n) return;
    int i_curr = co_rank(k_curr, A, m, B, n);
    int i_next = co_rank(k_next, A, m, B, n);
    int j_curr = k_curr - i_curr;
    int j_next = k_next - i_next;
    merge_sequential(&A[i_curr], i_next-i_curr, &B[j_curr], j_next-j_curr, &C[k_curr]);
}

int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }

int main() {
    int m = 90, n = 130;
    int *A, *B, *C, *check = (int *)malloc((m + n) * sizeof(int));
    cudaMallocManaged(&A, m * sizeof(int));
    cudaMallocManaged(&B, n * sizeof(int));
    cudaMallocManaged(&C, (m + n) * sizeof(int));
    for (int i = 0; i < m; i++) A[i] = rand() % 1000;
    for (int i = 0; i < n; i++) B[i] = rand() % 1000;
    qsort(A, m, sizeof(int), compare);
    qsort(B, n, sizeof(int), compare);
    merge_basic_kernel<<<2, 32>>>(A, m, B, n, C);
    cudaDeviceSynchronize();
    merge_sequential(A, m, B, n, check);
    for (int i = 0; i < m + n; i++)
        if (check[i] != C[i]) return printf("wrong at %d\n", i), 1;
    printf("merged\n");
}
