// The complex numbers of cuComplex.h: for the parser, and inlined where a kernel calls them. What
// they compute, and in which order, is what cuComplex.h documents, so that bits are the GPU's.
#define TILEWISE_COMPLEX(T, PAIR, COMPLEX, F, LARGEST)                                        \
    typedef PAIR COMPLEX;                                                                     \
    static __inline__ __host__ __device__ COMPLEX make_##COMPLEX(T re, T im) {                \
        return make_##PAIR(re, im);                                                           \
    }                                                                                         \
    static __inline__ __host__ __device__ T cuCreal##F(COMPLEX a) { return a.x; }             \
    static __inline__ __host__ __device__ T cuCimag##F(COMPLEX a) { return a.y; }             \
    static __inline__ __host__ __device__ COMPLEX cuConj##F(COMPLEX a) {                      \
        return make_##PAIR(a.x, -a.y);                                                        \
    }                                                                                         \
    static __inline__ __host__ __device__ COMPLEX cuCadd##F(COMPLEX a, COMPLEX b) {           \
        return make_##PAIR(a.x + b.x, a.y + b.y);                                             \
    }                                                                                         \
    static __inline__ __host__ __device__ COMPLEX cuCsub##F(COMPLEX a, COMPLEX b) {           \
        return make_##PAIR(a.x - b.x, a.y - b.y);                                             \
    }                                                                                         \
    static __inline__ __host__ __device__ COMPLEX cuCmul##F(COMPLEX a, COMPLEX b) {           \
        return make_##PAIR(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                     \
    }                                                                                         \
    static __inline__ __host__ __device__ COMPLEX cuCdiv##F(COMPLEX a, COMPLEX b) {           \
        T scale = T(1) / (fabs##F(b.x) + fabs##F(b.y));                                       \
        PAIR n = make_##PAIR(a.x * scale, a.y * scale), d = make_##PAIR(b.x * scale, b.y * scale); \
        T inverse = T(1) / (d.x * d.x + d.y * d.y);                                           \
        return make_##PAIR((n.x * d.x + n.y * d.y) * inverse,                                 \
                           (n.y * d.x - n.x * d.y) * inverse);                                \
    }                                                                                         \
    static __inline__ __host__ __device__ T cuCabs##F(COMPLEX a) {                            \
        T re = fabs##F(a.x), im = fabs##F(a.y);                                               \
        T large = re > im ? re : im, small = re > im ? im : re;                               \
        T ratio = small / large;                                                              \
        T length = large * sqrt##F(T(1) + ratio * ratio);                                     \
        return large == 0 || large > LARGEST || small > LARGEST ? large + small : length;     \
    }                                                                                         \
    static __inline__ __host__ __device__ COMPLEX cuCfma##F(COMPLEX a, COMPLEX b, COMPLEX c) { \
        PAIR first = make_##PAIR(a.x * b.x + c.x, a.x * b.y + c.y);                           \
        return make_##PAIR(-(a.y * b.y) + first.x, a.y * b.x + first.y);                      \
    }
TILEWISE_COMPLEX(float, float2, cuFloatComplex, f, 3.402823466e+38f)
TILEWISE_COMPLEX(double, double2, cuDoubleComplex, , 1.79769313486231570e+308)
#undef TILEWISE_COMPLEX
typedef cuFloatComplex cuComplex;
static __inline__ __host__ __device__ cuComplex make_cuComplex(float re, float im) {
    return make_float2(re, im);
}
static __inline__ __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
    return make_double2(a.x, a.y);
}
static __inline__ __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return make_float2(a.x, a.y);
}
