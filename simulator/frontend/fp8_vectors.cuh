// The pair and the four of a type of 8 bits, for the parser, and inlined where a kernel uses them.
// Before it is included stand the macros TILEWISE_PAIR and TILEWISE_FOUR, their names, and
// TILEWISE_KIND, what the type is as an interpretation of bits.
struct __attribute__((aligned(2))) TILEWISE_PAIR {
    __nv_fp8x2_storage_t __x;
    TILEWISE_PAIR() = default;
    __host__ __device__ explicit TILEWISE_PAIR(half2 v)
        : __x(__nv_cvt_halfraw2_to_fp8x2(__half2_raw(v), __NV_SATFINITE, TILEWISE_KIND)) {}
    __host__ __device__ explicit TILEWISE_PAIR(__nv_bfloat162 v)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw(v), __NV_SATFINITE,
                                             TILEWISE_KIND)) {}
    __host__ __device__ explicit TILEWISE_PAIR(float2 v)
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, TILEWISE_KIND)) {}
    __host__ __device__ explicit TILEWISE_PAIR(double2 v)
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, TILEWISE_KIND)) {}
    __host__ __device__ explicit operator half2() const {
        return half2(__nv_cvt_fp8_to_half((unsigned char)(__x & 0xff), TILEWISE_KIND),
                     __nv_cvt_fp8_to_half((unsigned char)(__x >> 8), TILEWISE_KIND));
    }
    __host__ __device__ explicit operator float2() const {
        return make_float2(
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x & 0xff), TILEWISE_KIND)),
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x >> 8), TILEWISE_KIND)));
    }
};
struct __attribute__((aligned(4))) TILEWISE_FOUR {
    __nv_fp8x4_storage_t __x;
    TILEWISE_FOUR() = default;
    __host__ __device__ explicit TILEWISE_FOUR(float4 v)
        : __x((unsigned int)__nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE,
                                                     TILEWISE_KIND) |
              (unsigned int)__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __NV_SATFINITE,
                                                     TILEWISE_KIND) << 16) {}
    __host__ __device__ explicit operator float4() const {
        return make_float4(
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x & 0xff), TILEWISE_KIND)),
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x >> 8 & 0xff), TILEWISE_KIND)),
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x >> 16 & 0xff), TILEWISE_KIND)),
            __half2float(__nv_cvt_fp8_to_half((unsigned char)(__x >> 24), TILEWISE_KIND)));
    }
};
#undef TILEWISE_PAIR
#undef TILEWISE_FOUR
#undef TILEWISE_KIND
