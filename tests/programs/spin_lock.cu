#include <cstdio>
#include <cuda_runtime.h>

struct Lock {
    int *mutex;
    __device__ void lock( void ) {
        while( atomicCAS( mutex, 0, 1 ) != 0 );
        __threadfence();
    }

    __device__ void unlock( void ) {
        __threadfence();
        atomicExch( mutex, 0 );
    }
};

// Each block adds its sum to *c under the lock.
__global__ void dotLocked( int n, const int *a, const int *b, int *c, int *mutex ) {
    __shared__ int cache[64];
    int cacheIndex = threadIdx.x;
    int temp = 0;
    for (int tid = threadIdx.x + blockIdx.x * blockDim.x; tid < n; tid += blockDim.x * gridDim.x)
        temp += a[tid] * b[tid];
    cache[cacheIndex] = temp;
    __syncthreads();
    for (int i = blockDim.x/2; i != 0; i /= 2) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
    }
    if (cacheIndex == 0) {
        Lock lock;
        lock.mutex = mutex;
        lock.lock();
        *c += cache[0];
        lock.unlock();
    }
}

// Every thread of a warp takes its turn: the pattern that does not hang on any GPU.
__global__ void turns( int *counter, int *mutex ) {
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            __threadfence();
            int v = *(volatile int *)counter;
            *(volatile int *)counter = v + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}

int main( void ) {
    const int N = 500;
    int *a, *b, *c, *mutex;
    cudaMallocManaged( &a, N * sizeof(int) );
    cudaMallocManaged( &b, N * sizeof(int) );
    cudaMallocManaged( &c, sizeof(int) );
    cudaMallocManaged( &mutex, sizeof(int) );
    *c = *mutex = 0;
    for (int i=0; i<N; i++) { a[i] = i % 10; b[i] = 2; }
    dotLocked<<<4,64>>>( N, a, b, c, mutex );
    cudaDeviceSynchronize();
    printf( "%d\n", *c );
    turns<<<3,32>>>( c, mutex );
    cudaDeviceSynchronize();
    printf( "%d\n", *c );
    return 0;
}
