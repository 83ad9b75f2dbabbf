#include <stdio.h>
#include <stdlib.h>
#include <cuda.h>

__global__ void MatrixMulKernel(float* M, float* N, float* P, int Width) {
	int row = blockIdx.y*blockDim.y+threadIdx.y;
	int col = blockIdx.x*blockDim.x+threadIdx.x;
	if ((row < Width) && (col < Width)) {
		float Pvalue = 0;
		for (int k = 0; k < Width; ++k) {
			Pvalue += M[row*Width+k]*N[k*Width+col];
		}
		P[row*Width+col] = Pvalue;
	}
}

/* each thread makes a whole row, or a whole column, of the product */
__global__ void rowPerThread(float* M, float* N, float* P, int Width) {
	int row = blockIdx.x*blockDim.x+threadIdx.x;
	if (row < Width) {
		for (int col = 0; col < Width; ++col) {
			float sum = 0.0f;
			for (int k = 0; k < Width; ++k)
				sum += M[row*Width+k]*N[k*Width+col];
			P[row*Width+col] = sum;
		}
	}
}

void matrixMul(float* h_M, float* h_N, float* h_P, int Width) {
	int size = Width * Width * sizeof(float);
	float *d_M, *d_N, *d_P;
	cudaMalloc((void **) &d_M, size);
	cudaMalloc((void **) &d_N, size);
	cudaMalloc((void **) &d_P, size);
	cudaMemcpy(d_M, h_M, size, cudaMemcpyHostToDevice);
	cudaMemcpy(d_N, h_N, size, cudaMemcpyHostToDevice);
	dim3 dimBlock(16, 16);
	dim3 dimGrid((Width-1)/dimBlock.x+1, (Width-1)/dimBlock.y+1);
	MatrixMulKernel<<<dimGrid, dimBlock>>>(d_M, d_N, d_P, Width);
	rowPerThread<<<(Width+31)/32, 32>>>(d_M, d_N, d_P, Width);
	cudaMemcpy(h_P, d_P, size, cudaMemcpyDeviceToHost);
	cudaFree(d_M); cudaFree(d_N); cudaFree(d_P);
}

int main() {
	int Width = 40;
	float *M = (float*)malloc(Width*Width*sizeof(float));
	float *N = (float*)malloc(Width*Width*sizeof(float));
	float *P = (float*)malloc(Width*Width*sizeof(float));
	for (int i = 0; i < Width*Width; i++) { M[i] = i % 7; N[i] = i % 5; }
	matrixMul(M, N, P, Width);
	printf("%f\n", P[0]);
	return 0;
}
