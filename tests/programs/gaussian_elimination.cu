#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "cuda.h"
#include <string.h>

#ifdef RD_WG_SIZE_0
#define MAXBLOCKSIZE RD_WG_SIZE_0
#else
#define MAXBLOCKSIZE 64
#endif
#define BLOCK_SIZE_XY 8

int Size = 16;
float *a, *b, *finalVec;
float *m;
FILE *fp;

unsigned int totalKernelTime = 0;

/*-------------------------------------------------------
 ** Fan1() -- Calculate multiplier matrix
 ** Pay attention to the index.  Index i give the range
 ** which starts from 0 to range-1.  The real values of
 ** the index should be adjust and related with the value
 ** of t which is defined on the ForwardSub().
 **-------------------------------------------------------
 */
__global__ void Fan1(float *m_cuda, float *a_cuda, int Size, int t)
{
	if(threadIdx.x + blockIdx.x * blockDim.x >= Size-1-t) return;
	*(m_cuda+Size*(blockDim.x*blockIdx.x+threadIdx.x+t+1)+t) = *(a_cuda+Size*(blockDim.x*blockIdx.x+threadIdx.x+t+1)+t) / *(a_cuda+Size*t+t);
}

/*-------------------------------------------------------
 ** Fan2() -- Modify the matrix A into LUD
 **-------------------------------------------------------
 */
__global__ void Fan2(float *m_cuda, float *a_cuda, float *b_cuda,int Size, int j1, int t)
{
	if(threadIdx.x + blockIdx.x * blockDim.x >= Size-1-t) return;
	if(threadIdx.y + blockIdx.y * blockDim.y >= Size-t) return;

	int xidx = blockIdx.x * blockDim.x + threadIdx.x;
	int yidx = blockIdx.y * blockDim.y + threadIdx.y;

	a_cuda[Size*(xidx+1+t)+(yidx+t)] -= m_cuda[Size*(xidx+1+t)+t] * a_cuda[Size*t+(yidx+t)];
	if(yidx == 0){
		b_cuda[xidx+1+t] -= m_cuda[Size*(xidx+1+t)+(yidx+t)] * b_cuda[t];
	}
}

void ForwardSub()
{
	int t;
	float *m_cuda,*a_cuda,*b_cuda;
	cudaMalloc((void **) &m_cuda, Size * Size * sizeof(float));
	cudaMalloc((void **) &a_cuda, Size * Size * sizeof(float));
	cudaMalloc((void **) &b_cuda, Size * sizeof(float));
	cudaMemcpy(a_cuda, a, Size * Size * sizeof(float),cudaMemcpyHostToDevice );
	cudaMemcpy(b_cuda, b, Size * sizeof(float),cudaMemcpyHostToDevice );

	int block_size = MAXBLOCKSIZE;
	int grid_size = (Size/block_size) + (!(Size%block_size)? 0:1);
	dim3 dimBlock(block_size);
	dim3 dimGrid(grid_size);
	int blockSize2d = BLOCK_SIZE_XY;
	int gridSize2d = (Size/blockSize2d) + (!(Size%blockSize2d?0:1));
	dim3 dimBlockXY(blockSize2d,blockSize2d);
	dim3 dimGridXY(gridSize2d,gridSize2d);
	for (t=0; t<(Size-1); t++) {
		Fan1<<<dimGrid,dimBlock>>>(m_cuda,a_cuda,Size,t);
		cudaDeviceSynchronize();
		Fan2<<<dimGridXY,dimBlockXY>>>(m_cuda,a_cuda,b_cuda,Size,Size-t,t);
		cudaDeviceSynchronize();
	}
	cudaMemcpy(a, a_cuda, Size * Size * sizeof(float),cudaMemcpyDeviceToHost );
	cudaFree(m_cuda);
	cudaFree(a_cuda);
	cudaFree(b_cuda);
}

int main(int argc, char *argv [])
{
	a = (float *) malloc(Size * Size * sizeof(float));
	b = (float *) malloc(Size * sizeof(float));
	for (int i=0; i<Size; i++) {
		for (int j=0; j<Size; j++) a[i*Size+j] = i == j ? 20.0f : 1.0f / (1 + i + j);
		b[i] = 1.0f;
	}
	ForwardSub();
	printf("%f\n", a[Size*Size-1]);
	free(a);
	free(b);
}
