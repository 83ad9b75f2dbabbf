#include <cuda_runtime.h>
#include <stdio.h>

// Complex numbers as double2, audio as short2, dates as ushort4 packed in ulonglong2.
__device__ __forceinline__ double2 cmul(double2 a, double2 b)
{
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__global__ void powers(const double2 *z, double2 *out, int n, int exponent)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double2 result = {1.0, 0.0}, base = z[i];
    for (int e = exponent; e; e >>= 1) {
        if (e & 1) result = cmul(result, base);
        base = cmul(base, base);
    }
    out[i] = result;
}

__global__ void mix(const short2 *left, const short2 *right, short2 *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        short2 a = left[i], b = right[i], c;
        int x = a.x + b.x, y = a.y + b.y;
        c.x = x > 32767 ? 32767 : x < -32768 ? -32768 : x;
        c.y = (short)min(max(y, -32768), 32767);
        out[i] = c;
    }
}

__global__ void checksum(const uint4 *data, unsigned long long *sums, int n)
{
    __shared__ unsigned long long s[64];
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint4 v = data[i];
        mine = mine * 31 + ((unsigned long long)v.x << 32 | v.y);
        mine ^= (unsigned long long)v.z * v.w;
    }
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x) sums[blockIdx.x] = s[0];
}

// Morton order: bits of x and y in turn; and boxes as char4.
__global__ void morton(const ushort2 *at, unsigned int *code, char4 *box, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int c = 0;
#pragma unroll
        for (int b = 0; b < 16; ++b)
            c |= (at[i].x >> b & 1u) << (2 * b) | (at[i].y >> b & 1u) << (2 * b + 1);
        code[i] = c;
        box[i] = make_char4((char)at[i].x, (char)(at[i].x >> 8), (char)at[i].y, (char)(at[i].y >> 8));
    }
}

int main()
{
    const int n = 100;
    double2 *z, *w;
    cudaMallocManaged(&z, n * sizeof(double2));
    cudaMallocManaged(&w, n * sizeof(double2));
    for (int i = 0; i < n; i++) z[i] = make_double2(i * 0.01, 1 - i * 0.01);
    powers<<<2, 64>>>(z, w, n, 13);
    short2 *a;
    cudaMallocManaged(&a, 3 * n * sizeof(short2));
    mix<<<1, 64>>>(a, a + n, a + 2 * n, n);
    unsigned long long *sums;
    cudaMallocManaged(&sums, 2 * sizeof(*sums));
    checksum<<<2, 64>>>((uint4 *)z, sums, n);
    unsigned int *code;
    char4 *box;
    cudaMallocManaged(&code, n * sizeof(*code));
    cudaMallocManaged(&box, n * sizeof(*box));
    morton<<<2, 64>>>((ushort2 *)a, code, box, n);
    cudaDeviceSynchronize();
    printf("%f %f\n", w[5].x, w[5].y);
}
