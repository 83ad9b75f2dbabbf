#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 64

// Each block takes a row and lets every cell learn from its neighbours how far the next wall is,
// until nothing changes any more.
__global__ void distanceToWall(const int *walls, int *dist, int *rounds, int *close, int reach)
{
    __shared__ int d[N];
    int t = threadIdx.x;
    int row = blockIdx.x;
    d[t] = walls[row * N + t] ? 0 : N;
    __syncthreads();

    bool changed;
    int steps = 0;
    do {
        int best = d[t];
        if (t > 0)     best = min(best, d[t - 1] + 1);
        if (t + 1 < N) best = min(best, d[t + 1] + 1);
        changed = best < d[t];
        __syncthreads();
        d[t] = best;
        steps++;
    } while (__syncthreads_or(changed));

    dist[row * N + t] = d[t];
    int inReach = __syncthreads_count(d[t] <= reach);
    if (__syncthreads_and(d[t] == N))
        steps = 0;  // no wall at all
    if (t == 0) {
        rounds[row] = steps;
        close[row] = inReach;
    }
}

int main()
{
    const int rows = 6;
    int *walls, *dist, *rounds, *close;
    cudaMallocManaged(&walls, rows * N * sizeof(int));
    cudaMallocManaged(&dist, rows * N * sizeof(int));
    cudaMallocManaged(&rounds, rows * sizeof(int));
    cudaMallocManaged(&close, rows * sizeof(int));
    for (int i = 0; i < rows * N; i++) walls[i] = rand() % 16 == 0;
    distanceToWall<<<rows, N>>>(walls, dist, rounds, close, 3);
    cudaDeviceSynchronize();
    for (int r = 0; r < rows; r++) printf("row %d: %d rounds, %d close\n", r, rounds[r], close[r]);
    return 0;
}
