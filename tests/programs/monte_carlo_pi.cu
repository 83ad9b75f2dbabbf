#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

class Lcg {
    uint32_t state;

public:
    __device__ explicit Lcg(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
    __device__ uint32_t next()
    {
        state = state * 1664525u + 1013904223u;
        return state;
    }
    __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

__device__ uint64_t xorshift(uint64_t &s)
{
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

__global__ void estimatePi(unsigned long long *hits, int samples, uint32_t seed)
{
    const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    Lcg rng(seed ^ id);
    unsigned int mine = 0;
    for (int i = 0; i < samples; ++i) {
        float x = rng.uniform();
        float y = rng.uniform();
        if (x * x + y * y <= 1.0f) ++mine;
    }
    __shared__ unsigned int blockHits;
    if (threadIdx.x == 0) blockHits = 0;
    __syncthreads();
    atomicAdd(&blockHits, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(hits, static_cast<unsigned long long>(blockHits));
}

__global__ void fillRandom(uint64_t *out, int n, uint64_t seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t state = seed + (uint64_t)i * 0x9E3779B97F4A7C15ULL;
    xorshift(state);
    xorshift(state);
    out[i] = xorshift(state);
}

int main()
{
    const int blocks = 4, threads = 64, samples = 50;
    unsigned long long *hits;
    uint64_t *random;
    cudaMallocManaged(&hits, sizeof(*hits));
    cudaMallocManaged(&random, 100 * sizeof(*random));
    *hits = 0;
    estimatePi<<<blocks, threads>>>(hits, samples, 2024u);
    fillRandom<<<1, 128>>>(random, 100, 88172645463325252ULL);
    cudaDeviceSynchronize();
    std::printf("pi is about %f\n", 4.0 * *hits / (double(blocks) * threads * samples));
    return 0;
}
