#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

struct CsrMatrix {
    int rows;
    std::vector<int> rowPtrs, colIdx;
    std::vector<float> values;
};

__global__ void spmv_coo_kernel(const int *rowIdx, const int *colIdx, const float *value,
                                float *x, float *y, unsigned int numNonzeros)
{
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < numNonzeros) {
        unsigned int row = rowIdx[i];
        unsigned int col = colIdx[i];
        atomicAdd(&y[row], x[col]*value[i]);
    }
}

__global__ void spmv_csr_kernel(const int *rowPtrs, const int *colIdx, const float *value,
                                const float *x, float *y, int numRows)
{
    int row = blockIdx.x*blockDim.x + threadIdx.x;
    if (row < numRows) {
        float sum = 0.0f;
        for (int i = rowPtrs[row]; i < rowPtrs[row+1]; ++i)
            sum += x[colIdx[i]]*value[i];
        y[row] = sum;
    }
}

// A warp for each row.
__global__ void spmv_csr_vector_kernel(const int num_rows, const int *ptr, const int *indices,
                                       const float *data, const float *x, float *y)
{
    __shared__ float vals[128];
    int thread_id = blockDim.x * blockIdx.x + threadIdx.x; // global thread index
    int warp_id = thread_id / 32;                          // global warp index
    int lane = thread_id & (32 - 1);                       // thread index within the warp
    int row = warp_id;
    if (row < num_rows) {
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        vals[threadIdx.x] = 0;
        for (int jj = row_start + lane; jj < row_end; jj += 32)
            vals[threadIdx.x] += data[jj] * x[indices[jj]];
        for (int d = 16; d > 0; d /= 2) {
            __syncwarp();
            if (lane < d) vals[threadIdx.x] += vals[threadIdx.x + d];
        }
        if (lane == 0) y[row] = vals[threadIdx.x];
    }
}

__global__ void spmv_ell_kernel(const int *colIdx, const float *value, const float *x, float *y,
                                int numRows, int maxPerRow)
{
    int row = blockIdx.x*blockDim.x + threadIdx.x;
    if (row < numRows) {
        float sum = 0;
        for (int t = 0; t < maxPerRow; ++t) {
            int i = t*numRows + row;
            int col = colIdx[i];
            if (col >= 0) sum += x[col]*value[i];
        }
        y[row] = sum;
    }
}

int main()
{
    CsrMatrix A;
    A.rows = 50;
    A.rowPtrs.push_back(0);
    for (int r = 0; r < A.rows; r++) {
        for (int c = r % 3; c < A.rows; c += 3 + r % 5) {
            A.colIdx.push_back(c);
            A.values.push_back(1.0f / (1 + c));
        }
        A.rowPtrs.push_back((int)A.colIdx.size());
    }
    int *ptr, *col; float *val, *x, *y;
    cudaMalloc(&ptr, A.rowPtrs.size() * sizeof(int));
    cudaMalloc(&col, A.colIdx.size() * sizeof(int));
    cudaMalloc(&val, A.values.size() * sizeof(float));
    cudaMalloc(&x, A.rows * sizeof(float));
    cudaMalloc(&y, A.rows * sizeof(float));
    cudaMemcpy(ptr, &A.rowPtrs[0], A.rowPtrs.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(col, &A.colIdx[0], A.colIdx.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(val, &A.values[0], A.values.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(x, 0, A.rows * sizeof(float));
    spmv_csr_kernel<<<(A.rows + 31) / 32, 32>>>(ptr, col, val, x, y, A.rows);
    spmv_csr_vector_kernel<<<(A.rows + 3) / 4, 128>>>(A.rows, ptr, col, val, x, y);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
