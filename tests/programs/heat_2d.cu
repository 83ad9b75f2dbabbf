#include <cstdio>
#include <cstdlib>
#include <utility>

static constexpr int NX = 48, NY = 40;
const float A = 0.5f;   // diffusivity

// Index of a cell of the flattened grid.
__host__ __device__ inline int idx(int i, int j) { return i * NX + j; }

template <typename Real>
__global__ void evolve(Real* __restrict__ next, const Real* __restrict__ now, Real aDt, Real dx2, Real dy2)
{
    const int j = threadIdx.x + blockIdx.x * blockDim.x;
    const int i = threadIdx.y + blockIdx.y * blockDim.y;
    if (i <= 0 || j <= 0 || i >= NY - 1 || j >= NX - 1) {
        if (i < NY && j < NX) next[idx(i, j)] = now[idx(i, j)];
        return;
    }
    const Real uij = now[idx(i, j)];
    const Real uim1j = now[idx(i - 1, j)], uip1j = now[idx(i + 1, j)];
    const Real uijm1 = now[idx(i, j - 1)], uijp1 = now[idx(i, j + 1)];
    next[idx(i, j)] = uij + aDt * ((uim1j - Real(2) * uij + uip1j) / dx2 + (uijm1 - Real(2) * uij + uijp1) / dy2);
}

// One block keeps the whole bar in shared memory and takes all the steps itself.
__global__ void heatBar(float* u, int n, int steps, float r)
{
    extern __shared__ float s[];
    float* now = s;
    float* next = &s[n];
    int i = threadIdx.x;
    now[i] = u[i];
    for (int t = 0; t < steps; t++) {
        __syncthreads();
        if (i == 0 || i == n - 1)
            next[i] = now[i];
        else
            next[i] = now[i] + r * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
        float* swap = now; now = next; next = swap;
    }
    __syncthreads();
    u[i] = now[i];
}

int main()
{
    float *un, *unp1;
    size_t bytes = NX * NY * sizeof(float);
    cudaMallocManaged(&un, bytes);
    cudaMallocManaged(&unp1, bytes);
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NX; j++)
            un[idx(i, j)] = (i - NY / 2) * (i - NY / 2) + (j - NX / 2) * (j - NX / 2) < 25 ? 65.0f : 5.0f;
    dim3 block(16, 8);
    dim3 grid((NX + block.x - 1) / block.x, (NY + block.y - 1) / block.y);
    for (int n = 0; n < 10; n++) {
        evolve<float><<<grid, block>>>(unp1, un, A * 0.01f, 0.0001f, 0.0001f);
        std::swap(un, unp1);
    }
    heatBar<<<1, 128, 2 * 128 * sizeof(float)>>>(un, 128, 5, 0.25f);
    cudaDeviceSynchronize();
    printf("%f\n", un[idx(NY / 2, NX / 2)]);
    return EXIT_SUCCESS;
}
