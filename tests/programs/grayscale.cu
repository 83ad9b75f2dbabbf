#include <cstdio>
#include <cstdlib>
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#define BLUR_SIZE 1

typedef unsigned char uchar;

// Luminance of a packed picture, one thread a pixel.
__global__ void colorToGray(uchar *out, const uchar3 *in, int width, int height)
{
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (col < width && row < height) {
        int offset = row * width + col;
        uchar3 rgb = in[offset];
        out[offset] = 0.21f * rgb.x + 0.71f * rgb.y + 0.07f * rgb.z;
    }
}

// The mean of a pixel's neighbours.
__global__ void blurKernel(uchar *in, uchar *out, int w, int h)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (col < w && row < h) {
        int pixVal = 0;
        int pixels = 0;
        for (int blurRow = -BLUR_SIZE; blurRow < BLUR_SIZE + 1; ++blurRow) {
            for (int blurCol = -BLUR_SIZE; blurCol < BLUR_SIZE + 1; ++blurCol) {
                int curRow = row + blurRow;
                int curCol = col + blurCol;
                if (curRow >= 0 && curRow < h && curCol >= 0 && curCol < w) {
                    pixVal += in[curRow * w + curCol];
                    ++pixels;
                }
            }
        }
        out[row * w + col] = (uchar)(pixVal / pixels);
    }
}

int main(int argc, char *argv[])
{
    const int width = 62, height = 37;
    uchar3 *pixels = (uchar3 *)malloc(width * height * sizeof(uchar3));
    for (int i = 0; i < width * height; i++)
        pixels[i] = make_uchar3(rand() % 256, rand() % 256, rand() % 256);
    uchar3 *d_in;
    uchar *d_gray, *d_blur;
    cudaMalloc((void **)&d_in, sizeof(uchar3) * width * height);
    cudaMalloc((void **)&d_gray, width * height);
    cudaMalloc((void **)&d_blur, width * height);
    cudaMemcpy(d_in, pixels, sizeof(uchar3) * width * height, cudaMemcpyHostToDevice);

    dim3 dimGrid(ceil(width / 16.0), ceil(height / 16.0), 1);
    dim3 dimBlock(16, 16, 1);
    colorToGray<<<dimGrid, dimBlock>>>(d_gray, d_in, width, height);
    blurKernel<<<dimGrid, dimBlock>>>(d_gray, d_blur, width, height);

    uchar *gray = (uchar *)malloc(width * height);
    cudaMemcpy(gray, d_blur, width * height, cudaMemcpyDeviceToHost);
    printf("first pixel %d\n", gray[0]);
    cudaFree(d_in); cudaFree(d_gray); cudaFree(d_blur);
    free(pixels); free(gray);
    return 0;
}
