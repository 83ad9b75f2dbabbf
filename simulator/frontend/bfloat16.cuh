// The part of <cuda_bf16.h> that is taken: the type, and its conversions to and from float, rounded
// to nearest, halves to even; every NaN becomes 0x7fff, as on a GPU. For the parser, and inlined
// where a kernel converts.
static __inline__ __host__ __device__ unsigned short tilewise_bfloat16_bits(float f) {
    return f != f ? 0x7fff
                  : (__float_as_uint(f) + 0x7fffu + (__float_as_uint(f) >> 16 & 1u)) >> 16;
}
struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(float f) : __x(tilewise_bfloat16_bits(f)) {}
    __host__ __device__ operator float() const { return __uint_as_float((unsigned int)__x << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;
static __inline__ __host__ __device__ __nv_bfloat16 __float2bfloat16(float f) {
    return __nv_bfloat16(f);
}
static __inline__ __host__ __device__ __nv_bfloat16 __float2bfloat16_rn(float f) {
    return __nv_bfloat16(f);
}
static __inline__ __host__ __device__ float __bfloat162float(__nv_bfloat16 h) {
    return __uint_as_float((unsigned int)h.__x << 16);
}
static __inline__ __host__ __device__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) {
    return h.__x;
}
// A GPU rounds each sum and product of two to their type, and may fuse them: left out.
#define TILEWISE_LEFT_OUT(OPERATOR)                                                           \
    __device__ __nv_bfloat16 operator OPERATOR(__nv_bfloat16, __nv_bfloat16) = delete;        \
    __device__ __nv_bfloat16 operator OPERATOR(__nv_bfloat16, float) = delete;                \
    __device__ __nv_bfloat16 operator OPERATOR(float, __nv_bfloat16) = delete;                \
    __device__ __nv_bfloat16& operator OPERATOR##=(__nv_bfloat16&, float) = delete;
TILEWISE_LEFT_OUT(+) TILEWISE_LEFT_OUT(-) TILEWISE_LEFT_OUT(*) TILEWISE_LEFT_OUT(/)
#undef TILEWISE_LEFT_OUT
