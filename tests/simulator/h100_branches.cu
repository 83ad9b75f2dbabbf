// Both branches of an if call the same warp function with the same mask: h100_branches.json holds
// what these kernels gave for x, zeros before, with one warp.
#include <cuda_fp16.h>
__device__ __noinline__ int swap(int v) { return __shfl_xor_sync(~0u, v, 16); }
__device__ int apart(int t) {
    if (t % 2) return 3 * __shfl_xor_sync(~0u, t, 1);
    else return 2 * __shfl_xor_sync(~0u, t, 1);
}
__global__ void shuffle(int* x) {
    int t = threadIdx.x;
    int v = t * 3;
    if (t < 16) { v += 1; x[t] = __shfl_xor_sync(~0u, v, 16); }
    else { v += 2; x[t] = __shfl_xor_sync(~0u, v, 16) + 1000; }
}
__global__ void in_loops(int* x) {
    int t = threadIdx.x;
    int v = t * 3;
    if (t & 1) { v += 1; for (int o = 1; o < 3; o++) v += __shfl_xor_sync(~0u, v, o); x[t] = v; }
    else { v *= 2; for (int o = 1; o < 3; o++) v -= __shfl_xor_sync(~0u, v, o); x[t] = v + 7; }
}
__global__ void vote(int* x) {
    int t = threadIdx.x;
    if (t < 16) { x[t] = __ballot_sync(~0u, t & 1); }
    else { x[t] = __ballot_sync(~0u, t % 3 == 0); }
}
__global__ void other_branchs_lane(int* x) {
    int t = threadIdx.x;
    if (t < 16) { x[t] = __shfl_sync(~0u, t * 2, 20); }
    else { x[t] = __shfl_sync(~0u, t * 5, 3); }
}
__global__ void reduction(int* x) {
    int t = threadIdx.x;
    if (t < 16) { x[t] = __reduce_add_sync(~0u, t); }
    else { x[t] = __reduce_add_sync(~0u, 100) + 1; }
}
__global__ void called_in_expression(int* x) {
    int t = threadIdx.x;
    if (t < 16) { x[t] = swap(t) + 1; }
    else { x[t] = 2 * swap(t * 7); }
}
__global__ void half_first(int* x) {
    int t = threadIdx.x;
    if (t < 16) {
        x[t] = __shfl_xor_sync(0xffff, t, 1);
        __syncwarp();
        x[t] += __shfl_sync(~0u, 5, 31);
    } else {
        __syncwarp();
        x[t] = __shfl_sync(~0u, 7, 0);
    }
}
__global__ void conditions(int* x) {
    int t = threadIdx.x;
    if (t % 2) { if (__any_sync(~0u, t == 3)) x[t] = 1; }
    else { x[t] = __popc(2); if (__any_sync(~0u, false)) x[t] = 9; }
}
__global__ void branches_of_a_function(int* x) {
    int t = threadIdx.x;
    x[t] = 1 + apart(t);
}
__global__ void double_and_half2(int* x) {
    int t = threadIdx.x;
    double d = t / 2.0;
    half2 h = __floats2half2_rn(t, -t);
    if (t % 2) { d = __shfl_xor_sync(~0u, d, 1); h = __shfl_xor_sync(~0u, h, 1); }
    else { d = 2 * __shfl_xor_sync(~0u, d, 1); h = __shfl_xor_sync(~0u, h, 1); }
    x[t] = 4 * d - 1000 * __high2float(h);
}
__global__ void one_lanes_value(int* x) {
    int t = threadIdx.x;
    int n;
    if (t % 2) { if (t == 5) n = 9; x[t] = __shfl_sync(~0u, n, 5); }
    else { x[t] = __shfl_sync(~0u, t, 5); }
}
__global__ void three_branches(int* x) {
    int t = threadIdx.x;
    if (t < 8) x[t] = __shfl_xor_sync(~0u, t, 31);
    else if (t < 24) x[t] = __shfl_xor_sync(~0u, 2 * t, 31);
    else x[t] = __shfl_xor_sync(~0u, 3 * t, 31);
}
__global__ void match(int* x) {
    int t = threadIdx.x;
    if (t % 2) x[t] = __popc(__match_any_sync(~0u, t / 4));
    else x[t] = __popc(__match_any_sync(~0u, t / 8 * 2));
}
__global__ void skipped_call(int* x) {
    int t = threadIdx.x;
    if (t < 16) { if (x[t] == 0 && __any_sync(0xffff, t == 3)) x[t] = 2; }
    else { x[t] = __any_sync(0xffff0000, t == 3); }
}
