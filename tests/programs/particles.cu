#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define LEN 256

// Array of structs
struct innerStruct
{
    float x;
    float y;
};

// Struct of arrays
struct innerArray
{
    float x[LEN];
    float y[LEN];
};

struct Particle {
    float3 position;
    float3 velocity;
    float mass;
    int alive;
};

__global__ void testInnerStruct(innerStruct *data, innerStruct *result, const int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        innerStruct tmp = data[i];
        tmp.x += 10.f;
        tmp.y += 20.f;
        result[i] = tmp;
    }
}

__global__ void testInnerArray(innerArray *data, innerArray *result, const int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        float tmpx = data->x[i];
        float tmpy = data->y[i];
        tmpx += 10.f;
        tmpy += 20.f;
        result->x[i] = tmpx;
        result->y[i] = tmpy;
    }
}

__device__ float3 operator+(const float3 &a, const float3 &b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__device__ float3 operator*(float s, const float3 &a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}

__device__ void step(Particle &p, float dt)
{
    if (!p.alive) return;
    p.velocity = p.velocity + dt * make_float3(0.0f, -9.81f, 0.0f);
    p.position = p.position + dt * p.velocity;
    if (p.position.y < 0.0f) {
        p.position.y = -p.position.y;
        p.velocity.y *= -0.5f;
    }
}

__global__ void advance(Particle *particles, int n, float dt, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = particles[i];
    for (int s = 0; s < steps; s++) step(p, dt);
    particles[i] = p;
}

int main(int argc, char **argv)
{
    innerStruct *a, *b;
    innerArray *c, *d;
    Particle *particles;
    cudaMallocManaged(&a, LEN * sizeof(innerStruct));
    cudaMallocManaged(&b, LEN * sizeof(innerStruct));
    cudaMallocManaged(&c, sizeof(innerArray));
    cudaMallocManaged(&d, sizeof(innerArray));
    cudaMallocManaged(&particles, 40 * sizeof(Particle));
    for (int i = 0; i < 40; i++) {
        particles[i].position = make_float3(i, 2.0f, -i);
        particles[i].velocity = make_float3(0, 0, 1);
        particles[i].mass = 1;
        particles[i].alive = i % 3 != 0;
    }
    testInnerStruct<<<(LEN + 127) / 128, 128>>>(a, b, LEN);
    testInnerArray<<<(LEN + 127) / 128, 128>>>(c, d, LEN);
    advance<<<2, 32>>>(particles, 40, 0.01f, 100);
    cudaDeviceSynchronize();
    printf("%f\n", particles[1].position.y);
    return EXIT_SUCCESS;
}
