#include <cfloat>
#include <climits>
#include <cstdio>
#include <cuda_runtime.h>

struct Extremes { int low; int high; };

// atomicMax for float by compare-and-swap, the guide's way.
__device__ __forceinline__ float atomicMaxFloat(float* address, float val)
{
    int* address_as_i = (int*) address;
    int old = *address_as_i, assumed;
    do {
        assumed = old;
        old = ::atomicCAS(address_as_i, assumed,
            __float_as_int(::fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void maxKernel(const float* in, float* result, int n)
{
    float largest = -FLT_MAX;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        largest = fmaxf(largest, in[i]);
    atomicMaxFloat(result, largest);
}

__global__ void extremes(const int* in, int* low, int* high, unsigned long long* sum, int n)
{
    __shared__ int s_low, s_high;
    if (threadIdx.x == 0) {
        s_low = INT_MAX;
        s_high = INT_MIN;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(&s_low, in[i]);
        atomicMax(&s_high, in[i]);
        atomicAdd(sum, (unsigned long long) (in[i] + 1000));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(low, s_low);
        atomicMax(high, s_high);
    }
}

int main()
{
    const int n = 700;
    float* f; float* fmax_; int* v; int* lo; int* hi; unsigned long long* sum;
    cudaMallocManaged(&f, n * sizeof(float));
    cudaMallocManaged(&fmax_, sizeof(float));
    cudaMallocManaged(&v, n * sizeof(int));
    cudaMallocManaged(&lo, sizeof(int));
    cudaMallocManaged(&hi, sizeof(int));
    cudaMallocManaged(&sum, sizeof(*sum));
    *fmax_ = -FLT_MAX; *lo = INT_MAX; *hi = INT_MIN; *sum = 0;
    for (int i = 0; i < n; ++i) { v[i] = (i * 7919) % 613 - 300; f[i] = v[i] * 0.5f; }
    maxKernel<<<3, 96>>>(f, fmax_, n);
    extremes<<<(n + 127) / 128, 128>>>(v, lo, hi, sum, n);
    cudaDeviceSynchronize();
    Extremes e = {*lo, *hi};
    printf("%d %d %f %llu\n", e.low, e.high, *fmax_, *sum);
}
