// What nvcc gives every CUDA source without an #include: for the parser alone. The names and
// types are those of the CUDA C++ Programming Guide; what they do is the machine's business.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define TILEWISE_VECTOR(T, N, A2, A4)                                                         \
    struct __attribute__((aligned(A2))) N##2 { T x, y; };                                     \
    struct N##3 { T x, y, z; };                                                               \
    struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                               \
    __device__ N##2 make_##N##2(T x, T y);                                                    \
    __device__ N##3 make_##N##3(T x, T y, T z);                                               \
    __device__ N##4 make_##N##4(T x, T y, T z, T w);
typedef unsigned int uint;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
TILEWISE_VECTOR(float, float, 8, 16)
TILEWISE_VECTOR(double, double, 16, 16)
TILEWISE_VECTOR(int, int, 8, 16)
TILEWISE_VECTOR(unsigned int, uint, 8, 16)
struct dim3 { unsigned int x, y, z; };
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
extern "C" {
__device__ void __syncthreads();
__device__ float fmaf(float, float, float);
__device__ float fminf(float, float);
__device__ float fmaxf(float, float);
__device__ float fabsf(float);
__device__ float sqrtf(float);
}
__device__ double fma(double, double, double);
__device__ float fma(float, float, float);
__device__ double fmin(double, double);
__device__ double fmax(double, double);
__device__ double fabs(double);
__device__ double sqrt(double);
__device__ float sqrt(float);
__device__ int abs(int);
__device__ int min(int, int);
__device__ unsigned int min(unsigned int, unsigned int);
__device__ long min(long, long);
__device__ unsigned long min(unsigned long, unsigned long);
__device__ float min(float, float);
__device__ double min(double, double);
__device__ int max(int, int);
__device__ unsigned int max(unsigned int, unsigned int);
__device__ long max(long, long);
__device__ unsigned long max(unsigned long, unsigned long);
__device__ float max(float, float);
__device__ double max(double, double);
template <typename T> __device__ T __ldg(const T*);
