// What nvcc gives every CUDA source without an #include: for the parser alone. The names and
// types are those of the CUDA C++ Programming Guide; what they do is the machine's business.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define M_PI 3.14159265358979323846
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
#define TILEWISE_ONE(N)                                                                       \
    __device__ float N##f(float);                                                             \
    __device__ float N(float);                                                                \
    __device__ double N(double);
#define TILEWISE_TWO(N)                                                                       \
    __device__ float N##f(float, float);                                                      \
    __device__ float N(float, float);                                                         \
    __device__ double N(double, double);
TILEWISE_ONE(sqrt) TILEWISE_ONE(rsqrt) TILEWISE_ONE(cbrt) TILEWISE_ONE(fabs)
TILEWISE_ONE(exp) TILEWISE_ONE(exp2) TILEWISE_ONE(expm1) TILEWISE_ONE(log) TILEWISE_ONE(log2)
TILEWISE_ONE(log10) TILEWISE_ONE(log1p) TILEWISE_ONE(sin) TILEWISE_ONE(cos) TILEWISE_ONE(tan)
TILEWISE_ONE(asin) TILEWISE_ONE(acos) TILEWISE_ONE(atan) TILEWISE_ONE(sinh) TILEWISE_ONE(cosh)
TILEWISE_ONE(tanh) TILEWISE_ONE(floor) TILEWISE_ONE(ceil) TILEWISE_ONE(trunc)
TILEWISE_ONE(rint) TILEWISE_ONE(round)
TILEWISE_TWO(fmin) TILEWISE_TWO(fmax) TILEWISE_TWO(fmod) TILEWISE_TWO(pow)
TILEWISE_TWO(atan2) TILEWISE_TWO(hypot) TILEWISE_TWO(copysign) TILEWISE_TWO(fdim)
__device__ float fmaf(float, float, float);
__device__ double fma(double, double, double);
__device__ float fma(float, float, float);
__device__ float __fmaf_rn(float, float, float);
__device__ double __fma_rn(double, double, double);
__device__ float __fadd_rn(float, float);
__device__ float __fsub_rn(float, float);
__device__ float __fmul_rn(float, float);
__device__ float __fdiv_rn(float, float);
__device__ float __fdividef(float, float);
__device__ double __dadd_rn(double, double);
__device__ double __dmul_rn(double, double);
__device__ float __expf(float);
__device__ float __logf(float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ bool isnan(float);
__device__ bool isnan(double);
__device__ bool isinf(float);
__device__ bool isinf(double);
__device__ int abs(int);
__device__ long abs(long);
__device__ float abs(float);
__device__ double abs(double);
#define TILEWISE_ORDER(T) __device__ T min(T, T); __device__ T max(T, T);
TILEWISE_ORDER(int) TILEWISE_ORDER(unsigned int) TILEWISE_ORDER(long)
TILEWISE_ORDER(unsigned long) TILEWISE_ORDER(long long) TILEWISE_ORDER(unsigned long long)
TILEWISE_ORDER(float) TILEWISE_ORDER(double)
__device__ int __popc(unsigned int);
__device__ int __clz(int);
__device__ int __ffs(int);
__device__ int __mul24(int, int);
__device__ unsigned int __umul24(unsigned int, unsigned int);
__device__ float __int_as_float(int);
__device__ int __float_as_int(float);
__device__ float __uint_as_float(unsigned int);
__device__ unsigned int __float_as_uint(float);
template <typename tilewise_T> __device__ tilewise_T __ldg(const tilewise_T*);
__device__ void __pipeline_memcpy_async(void*, const void*, size_t, size_t = 0);
__device__ void __pipeline_commit();
__device__ void __pipeline_wait_prior(size_t);
