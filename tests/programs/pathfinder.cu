#include <stdio.h>
#include <stdlib.h>
#include <assert.h>

#define BLOCK_SIZE 64
#define HALO 1 // halo width along one direction when advancing to the next iteration
#define IN_RANGE(x, min, max)   ((x)>=(min) && (x)<=(max))
#define CLAMP_RANGE(x, min, max) x = (x<(min)) ? min : ((x>(max)) ? max : x )
#define MIN(a, b) ((a)<=(b) ? (a) : (b))

// Cheapest way down a grid: `iteration` rows at once, a narrower trapezoid with each.
__global__ void dynproc_kernel(
                int iteration,
                int *gpuWall,
                int *gpuSrc,
                int *gpuResults,
                int cols,
                int rows,
                int startStep,
                int border)
{
        __shared__ int prev[BLOCK_SIZE];
        __shared__ int result[BLOCK_SIZE];

        int bx = blockIdx.x;
        int tx=threadIdx.x;

        // calculate the small block size
        int small_block_cols = BLOCK_SIZE-iteration*HALO*2;

        // calculate the boundary for the block according to the boundary of its small block
        int blkX = small_block_cols*bx-border;
        int blkXmax = blkX+BLOCK_SIZE-1;

        // calculate the global thread coordination
        int xidx = blkX+tx;

        // effective range within this block that falls within the valid range of the input data
        int validXmin = (blkX < 0) ? -blkX : 0;
        int validXmax = (blkXmax > cols-1) ? BLOCK_SIZE-1-(blkXmax-cols+1) : BLOCK_SIZE-1;

        int W = tx-1;
        int E = tx+1;

        W = (W < validXmin) ? validXmin : W;
        E = (E > validXmax) ? validXmax : E;

        bool isValid = IN_RANGE(tx, validXmin, validXmax);

        if(IN_RANGE(xidx, 0, cols-1)){
            prev[tx] = gpuSrc[xidx];
        }
        __syncthreads();
        bool computed;
        for (int i=0; i<iteration ; i++){
            computed = false;
            if( IN_RANGE(tx, i+1, BLOCK_SIZE-i-2) &&  \
                  isValid){
                  computed = true;
                  int left = prev[W];
                  int up = prev[tx];
                  int right = prev[E];
                  int shortest = MIN(left, up);
                  shortest = MIN(shortest, right);
                  int index = cols*(startStep+i)+xidx;
                  result[tx] = shortest + gpuWall[index];
            }
            __syncthreads();
            if(i==iteration-1)
                break;
            if(computed)         //Assign the computation range
                prev[tx]= result[tx];
            __syncthreads();
      }

      // update the global memory; after the last iteration, only threads coordinated within the
      // small block perform the calculation and switch on ``computed''
      if (computed){
          gpuResults[xidx]=result[tx];
      }
}

int main(int argc, char** argv)
{
    int cols = 100, rows = 9, pyramid_height = 2;
    int *wall, *src, *dst;
    cudaMallocManaged(&wall, cols * rows * sizeof(int));
    cudaMallocManaged(&src, cols * sizeof(int));
    cudaMallocManaged(&dst, cols * sizeof(int));
    for (int i = 0; i < cols * rows; i++) wall[i] = rand() % 10;
    for (int i = 0; i < cols; i++) src[i] = 0;
    int borderCols = pyramid_height * HALO;
    int smallBlockCol = BLOCK_SIZE - pyramid_height * HALO * 2;
    int blockCols = cols / smallBlockCol + ((cols % smallBlockCol == 0) ? 0 : 1);
    for (int t = 0; t < rows - 1; t += pyramid_height) {
        dynproc_kernel<<<blockCols, BLOCK_SIZE>>>(MIN(pyramid_height, rows - t - 1), wall, src, dst,
                                                  cols, rows, t, borderCols);
        cudaDeviceSynchronize();
        int *swap = src; src = dst; dst = swap;
    }
    printf("%d\n", src[0]);
}
