// What nvcc gives every CUDA source without an #include: for the parser alone. The names and
// types are those of the CUDA C++ Programming Guide; what they do is the machine's business.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(N) __attribute__((aligned(N)))
#define __grid_constant__
#define __cluster_dims__(...)                                                                 \
    __attribute__((annotate("Clusters of blocks are not supported; leave __cluster_dims__ out, " \
                            "and let blocks work alone.")))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
// Short vectors, with the alignments of CUDA's vector_types.h.
#define TILEWISE_VECTOR(T, N, A2, A4)                                                         \
    struct N##1 { T x; };                                                                     \
    struct __attribute__((aligned(A2))) N##2 { T x, y; };                                     \
    struct N##3 { T x, y, z; };                                                               \
    struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                               \
    __device__ N##1 make_##N##1(T x);                                                         \
    __device__ N##2 make_##N##2(T x, T y);                                                    \
    __device__ N##3 make_##N##3(T x, T y, T z);                                               \
    __device__ N##4 make_##N##4(T x, T y, T z, T w);
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
extern "C" __device__ void* memset(void*, int, size_t);
extern "C" __device__ void* memcpy(void*, const void*, size_t);
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef long ssize_t;
typedef signed char int_least8_t;
typedef unsigned char uint_least8_t;
typedef int int_least32_t;
typedef unsigned int uint_least32_t;
typedef long int_fast32_t;
typedef unsigned long uint_fast32_t;
#define PRId32 "d"
#define PRIi32 "i"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRId64 "ld"
#define PRIi64 "li"
#define PRIu64 "lu"
#define PRIx64 "lx"
#define NULL nullptr
#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
// What <cstdint> and <type_traits> have in namespace std, as far as kernels ask for it.
#define TILEWISE_TRAIT(NAME, VALUE)                                                           \
    template <typename T> struct NAME : integral_constant<bool, VALUE> {};                    \
    template <typename T> inline constexpr bool NAME##_v = VALUE;
namespace std {
using ::size_t; using ::memset; using ::memcpy;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;
template <typename T, T V> struct integral_constant {
    static constexpr T value = V;
    __host__ __device__ constexpr operator T() const { return V; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
TILEWISE_TRAIT(is_integral, __is_integral(T))
TILEWISE_TRAIT(is_floating_point, __is_floating_point(T))
TILEWISE_TRAIT(is_arithmetic, __is_arithmetic(T))
TILEWISE_TRAIT(is_signed, __is_signed(T))
TILEWISE_TRAIT(is_unsigned, __is_unsigned(T))
TILEWISE_TRAIT(is_pointer, __is_pointer(T))
template <typename T, typename U> struct is_same : integral_constant<bool, __is_same(T, U)> {};
template <typename T, typename U> inline constexpr bool is_same_v = __is_same(T, U);
template <bool C, typename T, typename U> struct conditional { using type = T; };
template <typename T, typename U> struct conditional<false, T, U> { using type = U; };
template <bool C, typename T, typename U> using conditional_t = typename conditional<C, T, U>::type;
template <bool C, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool C, typename T = void> using enable_if_t = typename enable_if<C, T>::type;
}
#undef TILEWISE_TRAIT
TILEWISE_VECTOR(float, float, 8, 16)
TILEWISE_VECTOR(double, double, 16, 16)
TILEWISE_VECTOR(signed char, char, 2, 4)
TILEWISE_VECTOR(unsigned char, uchar, 2, 4)
TILEWISE_VECTOR(short, short, 4, 8)
TILEWISE_VECTOR(unsigned short, ushort, 4, 8)
TILEWISE_VECTOR(int, int, 8, 16)
TILEWISE_VECTOR(unsigned int, uint, 8, 16)
TILEWISE_VECTOR(long, long, 16, 16)
TILEWISE_VECTOR(unsigned long, ulong, 16, 16)
TILEWISE_VECTOR(long long, longlong, 16, 16)
TILEWISE_VECTOR(unsigned long long, ulonglong, 16, 16)
struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
typedef long clock_t;
__device__ clock_t clock();
__device__ long long clock64();
__device__ void __nanosleep(unsigned int);
// Loads and stores with a wish for the caches, which changes no value.
template <typename T> struct tilewise_same { typedef T type; };
#define TILEWISE_LOAD(N) template <typename T> __device__ T N(const T*);
#define TILEWISE_STORE(N)                                                                     \
    template <typename T> __device__ void N(T*, typename tilewise_same<T>::type);
TILEWISE_LOAD(__ldg) TILEWISE_LOAD(__ldca) TILEWISE_LOAD(__ldcg) TILEWISE_LOAD(__ldcs)
TILEWISE_LOAD(__ldlu) TILEWISE_LOAD(__ldcv)
TILEWISE_STORE(__stwb) TILEWISE_STORE(__stcg) TILEWISE_STORE(__stcs) TILEWISE_STORE(__stwt)
__device__ void __pipeline_memcpy_async(void*, const void*, size_t, size_t = 0);
__device__ void __pipeline_commit();
__device__ void __pipeline_wait_prior(size_t);
__device__ size_t __cvta_generic_to_shared(const void*);
__device__ void* __cvta_shared_to_generic(size_t);
