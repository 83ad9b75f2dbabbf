#include <stdio.h>
#include <stdlib.h>
#include <limits.h>
#include <cuda_runtime.h>

#define LOCAL_FRONTIER_CAPACITY 64

typedef struct CSRGraph {
    unsigned int numVertices;
    unsigned int *srcPtrs;
    unsigned int *dst;
} CSRGraph;

// Top-down, one thread a vertex: threads may write the same level to the same vertex.
__global__ void bfs_vertex_push(unsigned int numVertices, const unsigned int *srcPtrs,
                                const unsigned int *dst, unsigned int *level,
                                unsigned int *newVertexVisited, unsigned int currLevel) {
    unsigned int vertex = blockIdx.x*blockDim.x + threadIdx.x;
    if (vertex < numVertices) {
        if (level[vertex] == currLevel - 1) {
            for (unsigned int edge = srcPtrs[vertex]; edge < srcPtrs[vertex + 1]; ++edge) {
                unsigned int neighbor = dst[edge];
                if (level[neighbor] == UINT_MAX) { // Neighbor not visited
                    level[neighbor] = currLevel;
                    *newVertexVisited = 1;
                }
            }
        }
    }
}

// Bottom-up: each vertex writes its own level alone, and reads others' of the step before.
__global__ void bfs_vertex_pull(unsigned int numVertices, const unsigned int *srcPtrs,
                                const unsigned int *dst, const unsigned int *level,
                                unsigned int *next, unsigned int currLevel) {
    unsigned int vertex = blockIdx.x*blockDim.x + threadIdx.x;
    if (vertex < numVertices) {
        next[vertex] = level[vertex];
        if (level[vertex] == UINT_MAX) { // Vertex not yet visited
            for (unsigned int edge = srcPtrs[vertex]; edge < srcPtrs[vertex + 1]; ++edge) {
                unsigned int neighbor = dst[edge];
                if (level[neighbor] == currLevel - 1) {
                    next[vertex] = currLevel;
                    break;
                }
            }
        }
    }
}

// Frontiers, the next one gathered in shared memory first.
__global__ void bfs_frontier(const unsigned int *srcPtrs, const unsigned int *dst,
                             unsigned int *level, const unsigned int *prevFrontier,
                             unsigned int *currFrontier, unsigned int numPrevFrontier,
                             unsigned int *numCurrFrontier, unsigned int currLevel) {
    // Initialize privatized frontier
    __shared__ unsigned int currFrontier_s[LOCAL_FRONTIER_CAPACITY];
    __shared__ unsigned int numCurrFrontier_s;
    if (threadIdx.x == 0) {
        numCurrFrontier_s = 0;
    }
    __syncthreads();

    // Perform BFS
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < numPrevFrontier) {
        unsigned int vertex = prevFrontier[i];
        for (unsigned int edge = srcPtrs[vertex]; edge < srcPtrs[vertex + 1]; ++edge) {
            unsigned int neighbor = dst[edge];
            if (atomicCAS(&level[neighbor], UINT_MAX, currLevel) == UINT_MAX) {
                unsigned int currFrontierIdx = atomicAdd(&numCurrFrontier_s, 1);
                if (currFrontierIdx < LOCAL_FRONTIER_CAPACITY) {
                    currFrontier_s[currFrontierIdx] = neighbor;
                } else {
                    numCurrFrontier_s = LOCAL_FRONTIER_CAPACITY;
                    unsigned int idx = atomicAdd(numCurrFrontier, 1);
                    currFrontier[idx] = neighbor;
                }
            }
        }
    }
    __syncthreads();

    // Allocate in global frontier
    __shared__ unsigned int currFrontierStartIdx;
    if (threadIdx.x == 0) {
        currFrontierStartIdx = atomicAdd(numCurrFrontier, numCurrFrontier_s);
    }
    __syncthreads();

    // Commit to global frontier
    for (unsigned int currFrontierIdx_s = threadIdx.x; currFrontierIdx_s < numCurrFrontier_s;
         currFrontierIdx_s += blockDim.x) {
        unsigned int currFrontierIdx = currFrontierStartIdx + currFrontierIdx_s;
        currFrontier[currFrontierIdx] = currFrontier_s[currFrontierIdx_s];
    }
}

int main(int argc, char **argv) {
    // A binary tree of 63 vertices.
    CSRGraph g;
    g.numVertices = 63;
    unsigned int *level, *flag;
    cudaMallocManaged((void **)&g.srcPtrs, 64 * sizeof(unsigned int));
    cudaMallocManaged((void **)&g.dst, 62 * sizeof(unsigned int));
    cudaMallocManaged((void **)&level, 63 * sizeof(unsigned int));
    cudaMallocManaged((void **)&flag, sizeof(unsigned int));
    for (unsigned int v = 0; v <= 63; v++) g.srcPtrs[v] = v < 31 ? 2 * v : 62;
    for (unsigned int e = 0; e < 62; e++) g.dst[e] = e + 1;
    for (unsigned int v = 0; v < 63; v++) level[v] = v ? UINT_MAX : 0;
    unsigned int currLevel = 1;
    do {
        *flag = 0;
        bfs_vertex_push<<<2, 32>>>(g.numVertices, g.srcPtrs, g.dst, level, flag, currLevel++);
        cudaDeviceSynchronize();
    } while (*flag);
    printf("deepest level: %u\n", level[62]);
    return level[62] == 5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
