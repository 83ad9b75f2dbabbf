// The part of <cuda_fp8.h> that is taken: the types e4m3 and e5m2 with their pairs and fours, and
// the conversions. For the parser, and inlined where a kernel uses pairs and fours; a number of 8
// bits is converted as simulator/language/encodings.py has it.
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
__device__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(
    float, __nv_saturation_t, __nv_fp8_interpretation_t);
__device__ __nv_fp8_storage_t __nv_cvt_double_to_fp8(
    double, __nv_saturation_t, __nv_fp8_interpretation_t);
__device__ half __nv_cvt_fp8_to_half(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
#define TILEWISE_HEAD static __inline__ __host__ __device__
TILEWISE_HEAD __half_raw __nv_cvt_fp8_to_halfraw(
    __nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half_raw(__nv_cvt_fp8_to_half(x, kind));
}
TILEWISE_HEAD __half2_raw __nv_cvt_fp8x2_to_halfraw2(
    __nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half2_raw(half2(__nv_cvt_fp8_to_half((unsigned char)(x & 0xff), kind),
                             __nv_cvt_fp8_to_half((unsigned char)(x >> 8), kind)));
}
TILEWISE_HEAD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(
    __half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__half2float(half(x)), saturate, kind);
}
TILEWISE_HEAD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(
    __nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, kind);
}
#define TILEWISE_PAIR(N, P, WIDEN, ONE)                                                       \
    TILEWISE_HEAD __nv_fp8x2_storage_t N(                                                     \
        P v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {                    \
        return (unsigned short)(ONE(WIDEN(v.x), saturate, kind) |                             \
                                ONE(WIDEN(v.y), saturate, kind) << 8);                        \
    }
TILEWISE_PAIR(__nv_cvt_float2_to_fp8x2, float2, , __nv_cvt_float_to_fp8)
TILEWISE_PAIR(__nv_cvt_double2_to_fp8x2, double2, , __nv_cvt_double_to_fp8)
TILEWISE_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __ushort_as_half, __nv_cvt_float_to_fp8)
TILEWISE_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __ushort_as_bfloat16,
              __nv_cvt_float_to_fp8)
#undef TILEWISE_PAIR
#define TILEWISE_FROM(N, T) __host__ __device__ explicit N(T);
#define TILEWISE_TO(T) __host__ __device__ explicit operator T() const;
#define TILEWISE_TYPE(W, KIND)                                                                \
    struct __attribute__((aligned(1))) __nv_fp8_##W {                                         \
        __nv_fp8_storage_t __x;                                                               \
        __nv_fp8_##W() = default;                                                             \
        TILEWISE_FROM(__nv_fp8_##W, half) TILEWISE_FROM(__nv_fp8_##W, __nv_bfloat16)          \
        TILEWISE_FROM(__nv_fp8_##W, float) TILEWISE_FROM(__nv_fp8_##W, double)                \
        TILEWISE_FROM(__nv_fp8_##W, short) TILEWISE_FROM(__nv_fp8_##W, unsigned short)        \
        TILEWISE_FROM(__nv_fp8_##W, int) TILEWISE_FROM(__nv_fp8_##W, unsigned int)            \
        TILEWISE_FROM(__nv_fp8_##W, long) TILEWISE_FROM(__nv_fp8_##W, unsigned long)          \
        TILEWISE_FROM(__nv_fp8_##W, long long) TILEWISE_FROM(__nv_fp8_##W, unsigned long long) \
        TILEWISE_TO(half) TILEWISE_TO(__nv_bfloat16) TILEWISE_TO(float) TILEWISE_TO(double)   \
        TILEWISE_TO(char) TILEWISE_TO(signed char) TILEWISE_TO(unsigned char)                 \
        TILEWISE_TO(short) TILEWISE_TO(unsigned short) TILEWISE_TO(int)                       \
        TILEWISE_TO(unsigned int) TILEWISE_TO(long) TILEWISE_TO(unsigned long)                \
        TILEWISE_TO(long long) TILEWISE_TO(unsigned long long) TILEWISE_TO(bool)              \
    };
TILEWISE_TYPE(e4m3, __NV_E4M3)
TILEWISE_TYPE(e5m2, __NV_E5M2)
#undef TILEWISE_TYPE
#undef TILEWISE_TO
#undef TILEWISE_FROM
#undef TILEWISE_HEAD
#define TILEWISE_PAIR __nv_fp8x2_e4m3
#define TILEWISE_FOUR __nv_fp8x4_e4m3
#define TILEWISE_KIND __NV_E4M3
#include "fp8_vectors.cuh"
#define TILEWISE_PAIR __nv_fp8x2_e5m2
#define TILEWISE_FOUR __nv_fp8x4_e5m2
#define TILEWISE_KIND __NV_E5M2
#include "fp8_vectors.cuh"
