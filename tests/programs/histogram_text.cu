#include <cstring>
#include <iostream>
#include <string>

#define NUM_BINS 7
#define CFACTOR 4

// Letters of a text, four to a bin.
__global__ void histo_kernel(char *data, unsigned int length, unsigned int *histo) {
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < length) {
        int alphabet_position = data[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            atomicAdd(&(histo[alphabet_position/4]), 1);
        }
    }
}

__global__ void histo_private_kernel(char *data, unsigned int length, unsigned int *histo) {
    // Initialize privatized bins
    __shared__ unsigned int histo_s[NUM_BINS];
    for(unsigned int bin=threadIdx.x; bin<NUM_BINS; bin += blockDim.x){
        histo_s[bin] = 0u;
    }
    __syncthreads();

    // Histogram
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < length) {
        int alphabet_position = data[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            atomicAdd(&(histo_s[alphabet_position/4]), 1);
        }
    }
    __syncthreads();

    // Commit to global memory
    for(unsigned int bin=threadIdx.x; bin<NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if(binValue > 0) {
            atomicAdd(&(histo[bin]), binValue);
        }
    }
}

// Contiguous stretches, with the run of equal bins kept in a register.
__global__ void histo_aggregate_kernel(char *data, unsigned int length, unsigned int *histo) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x)
        histo_s[bin] = 0u;
    __syncthreads();

    unsigned int accumulator = 0;
    int prevBinIdx = -1;
    unsigned int tid = blockIdx.x*blockDim.x + threadIdx.x;
    for (unsigned int i = tid*CFACTOR; i < min((tid+1)*CFACTOR, length); ++i) {
        int alphabet_position = data[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            int bin = alphabet_position/4;
            if (bin == prevBinIdx) {
                ++accumulator;
            } else {
                if (accumulator > 0) {
                    atomicAdd(&(histo_s[prevBinIdx]), accumulator);
                }
                accumulator = 1;
                prevBinIdx = bin;
            }
        }
    }
    if (accumulator > 0) {
        atomicAdd(&(histo_s[prevBinIdx]), accumulator);
    }
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if (binValue > 0) atomicAdd(&(histo[bin]), binValue);
    }
}

int main() {
    std::string text = "programming massively parallel processors";
    while (text.size() < 500) text += ' ' + text;
    unsigned int length = text.size(), host[NUM_BINS];
    char *data;
    unsigned int *histo;
    cudaMalloc(&data, length);
    cudaMalloc(&histo, NUM_BINS*sizeof(unsigned int));
    cudaMemcpy(data, text.c_str(), length, cudaMemcpyHostToDevice);
    cudaMemset(histo, 0, NUM_BINS*sizeof(unsigned int));
    histo_kernel<<<(length + 127)/128, 128>>>(data, length, histo);
    histo_private_kernel<<<(length + 127)/128, 128>>>(data, length, histo);
    histo_aggregate_kernel<<<(length + 511)/512, 128>>>(data, length, histo);
    cudaMemcpy(host, histo, sizeof host, cudaMemcpyDeviceToHost);
    for (int b = 0; b < NUM_BINS; ++b)
        std::cout << char('a' + 4*b) << ": " << host[b] / 3 << std::endl;
    return 0;
}
