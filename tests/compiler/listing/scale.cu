__device__ __noinline__ float line_of(float a, float b)
{
    return a * b + 1.0f;
}

extern "C" __global__ void scale(float* x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = line_of(x[i], by) + __shfl_xor_sync(0xffffffff, by, 1);
}
