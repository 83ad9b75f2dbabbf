#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE_W 16
#define TILE_H 8

static __device__ __forceinline__ unsigned char clampByte(int v)
{
    return (unsigned char)min(max(v, 0), 255);
}

// Edges of an 8-bit picture, with a halo of one pixel in shared memory.
__global__ void sobel(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int width, int height)
{
    __shared__ unsigned char tile[TILE_H + 2][TILE_W + 2];
    const int x = blockIdx.x * TILE_W + threadIdx.x;
    const int y = blockIdx.y * TILE_H + threadIdx.y;

    for (int ty = threadIdx.y; ty < TILE_H + 2; ty += TILE_H)
        for (int tx = threadIdx.x; tx < TILE_W + 2; tx += TILE_W) {
            int gx = min(max((int)(blockIdx.x * TILE_W) + tx - 1, 0), width - 1);
            int gy = min(max((int)(blockIdx.y * TILE_H) + ty - 1, 0), height - 1);
            tile[ty][tx] = in[gy * width + gx];
        }
    __syncthreads();
    if (x >= width || y >= height) return;

    const int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    int gx = -tile[sy - 1][sx - 1] + tile[sy - 1][sx + 1]
           - 2 * tile[sy][sx - 1] + 2 * tile[sy][sx + 1]
           - tile[sy + 1][sx - 1] + tile[sy + 1][sx + 1];
    int gy = -tile[sy - 1][sx - 1] - 2 * tile[sy - 1][sx] - tile[sy - 1][sx + 1]
           + tile[sy + 1][sx - 1] + 2 * tile[sy + 1][sx] + tile[sy + 1][sx + 1];
    out[y * width + x] = clampByte(abs(gx) + abs(gy));
}

// Brightness and contrast of four channels; alpha stays.
__global__ void adjust(uchar4 *pixels, int n, float contrast, int brightness)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = pixels[i];
    p.x = clampByte((int)((p.x - 128) * contrast) + 128 + brightness);
    p.y = clampByte((int)((p.y - 128) * contrast) + 128 + brightness);
    p.z = clampByte((int)((p.z - 128) * contrast) + 128 + brightness);
    pixels[i] = p;
}

// Mirror: bytes of a row change places in shared memory.
__global__ void mirror(unsigned char *rows, int width)
{
    extern __shared__ unsigned char line[];
    unsigned char *row = rows + blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) line[width - 1 - i] = row[i];
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = line[i];
}

int main()
{
    const int width = 45, height = 21;
    unsigned char *in, *out;
    cudaMallocManaged(&in, width * height);
    cudaMallocManaged(&out, width * height);
    for (int i = 0; i < width * height; i++) in[i] = (i % width) * 5;
    dim3 block(TILE_W, TILE_H), grid((width + TILE_W - 1) / TILE_W, (height + TILE_H - 1) / TILE_H);
    sobel<<<grid, block>>>(in, out, width, height);
    mirror<<<height, 32, width>>>(in, width);
    uchar4 *pixels;
    cudaMallocManaged(&pixels, 100 * sizeof(uchar4));
    adjust<<<4, 32>>>(pixels, 100, 1.25f, -10);
    cudaDeviceSynchronize();
    printf("%d\n", out[width + 1]);
    return 0;
}
