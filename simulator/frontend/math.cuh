// CUDA's mathematical functions and constants: for the parser alone. Names and types are those of
// the CUDA Math API Reference; simulator/language/functions.py lists them, simulator/machine runs
// them.
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define CHAR_BIT 8
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_THIRD_F 0.333333333f
#define CUDART_3PIO4_F 2.356194490f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_2_OVER_PI_F 0.797884561f
#define CUDART_L2T_F 3.321928094f
#define CUDART_LG2_F 0.301029996f
#define CUDART_LGE_F 0.434294482f
#define CUDART_LNT_F 2.302585093f
#define CUDART_LNPI_F 1.144729886f
#define CUDART_TWO_TO_M126_F 1.175494351e-38f
#define CUDART_TWO_TO_126_F 8.507059173e37f
#define CUDART_NORM_HUGE_F 3.402823466e38f
#define CUDART_TWO_TO_23_F 8388608.0f
#define CUDART_TWO_TO_24_F 16777216.0f
#define CUDART_TWO_TO_31_F 2147483648.0f
#define CUDART_TWO_TO_32_F 4294967296.0f
#define CUDART_INF __builtin_huge_val()
#define CUDART_NAN __builtin_nan("")
#define CUDART_MIN_DENORM 4.9406564584124654e-324
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO 1.4142135623730951
#define CUDART_SQRT_HALF 0.70710678118654752
#define CUDART_PI 3.1415926535897931
#define CUDART_PIO2 1.5707963267948966
#define CUDART_PIO4 0.78539816339744831
#define CUDART_LN2 0.69314718055994531
#define CUDART_NEG_ZERO (-0.0)
#define CUDART_THIRD 3.3333333333333333e-1
#define CUDART_TWOTHIRD 6.6666666666666667e-1
#define CUDART_3PIO4 2.3561944901923448
#define CUDART_2_OVER_PI 6.3661977236758138e-1
#define CUDART_SQRT_2PI 2.5066282746310007
#define CUDART_SQRT_PIO2 1.2533141373155003
#define CUDART_SQRT_2OPI 7.9788456080286536e-1
#define CUDART_L2E 1.4426950408889634
#define CUDART_L2T 3.3219280948873622
#define CUDART_LG2 3.0102999566398120e-1
#define CUDART_LGE 4.3429448190325182e-1
#define CUDART_LNT 2.3025850929940459
#define CUDART_LNPI 1.1447298858494002
#define CUDART_TWO_TO_23 8388608.0
#define CUDART_TWO_TO_52 4503599627370496.0
#define CUDART_TWO_TO_53 9007199254740992.0
#define CUDART_TWO_TO_54 18014398509481984.0
#define CUDART_TWO_TO_M54 5.5511151231257827e-17
#define CUDART_TWO_TO_M1022 2.22507385850720140e-308

// The functions of both widths. As the host's <cmath> has it, an integer argument, and arguments of
// both widths, are computed in double ([c.math.syn]).
template <bool> struct tilewise_double_if {};
template <> struct tilewise_double_if<true> { typedef double type; };
#define TILEWISE_ONE(N)                                                                       \
    __device__ float N##f(float);                                                             \
    __device__ float N(float);                                                                \
    __device__ double N(double);                                                              \
    template <typename T> __device__ typename tilewise_double_if<__is_integral(T)>::type N(T);
#define TILEWISE_TWO(N)                                                                       \
    __device__ float N##f(float, float);                                                      \
    __device__ float N(float, float);                                                         \
    __device__ double N(double, double);                                                      \
    template <typename T, typename U> __device__                                              \
    typename tilewise_double_if<__is_arithmetic(T) && __is_arithmetic(U)>::type N(T, U);
TILEWISE_ONE(sqrt) TILEWISE_ONE(rsqrt) TILEWISE_ONE(cbrt) TILEWISE_ONE(rcbrt) TILEWISE_ONE(fabs)
TILEWISE_ONE(exp) TILEWISE_ONE(exp2) TILEWISE_ONE(exp10) TILEWISE_ONE(expm1) TILEWISE_ONE(log)
TILEWISE_ONE(log2) TILEWISE_ONE(log10) TILEWISE_ONE(log1p) TILEWISE_ONE(logb) TILEWISE_ONE(sin)
TILEWISE_ONE(cos) TILEWISE_ONE(tan) TILEWISE_ONE(sinpi) TILEWISE_ONE(cospi) TILEWISE_ONE(asin)
TILEWISE_ONE(acos) TILEWISE_ONE(atan) TILEWISE_ONE(sinh) TILEWISE_ONE(cosh) TILEWISE_ONE(tanh)
TILEWISE_ONE(asinh) TILEWISE_ONE(acosh) TILEWISE_ONE(atanh) TILEWISE_ONE(floor) TILEWISE_ONE(ceil)
TILEWISE_ONE(trunc) TILEWISE_ONE(rint) TILEWISE_ONE(nearbyint) TILEWISE_ONE(round)
TILEWISE_ONE(erf) TILEWISE_ONE(erfc) TILEWISE_ONE(erfinv)
TILEWISE_ONE(normcdf) TILEWISE_ONE(lgamma) TILEWISE_ONE(tgamma)
TILEWISE_TWO(fmin) TILEWISE_TWO(fmax) TILEWISE_TWO(fmod) TILEWISE_TWO(remainder) TILEWISE_TWO(pow)
TILEWISE_TWO(atan2) TILEWISE_TWO(hypot) TILEWISE_TWO(rhypot) TILEWISE_TWO(copysign)
TILEWISE_TWO(fdim) TILEWISE_TWO(nextafter)
__device__ float fmaf(float, float, float);
__device__ float fma(float, float, float);
__device__ double fma(double, double, double);
#define TILEWISE_BOTH(R, N, ...)                                                              \
    __device__ R N##f(float, ##__VA_ARGS__);                                                  \
    __device__ R N(float, ##__VA_ARGS__);                                                     \
    __device__ R N(double, ##__VA_ARGS__);
TILEWISE_BOTH(int, ilogb) TILEWISE_BOTH(long, lrint) TILEWISE_BOTH(long, lround)
TILEWISE_BOTH(long long, llrint) TILEWISE_BOTH(long long, llround)
#define TILEWISE_SCALED(N, ...)                                                               \
    __device__ float N##f(float, __VA_ARGS__);                                                \
    __device__ float N(float, __VA_ARGS__);                                                   \
    __device__ double N(double, __VA_ARGS__);
TILEWISE_SCALED(ldexp, int) TILEWISE_SCALED(scalbn, int)
TILEWISE_SCALED(frexp, int*)
__device__ float modff(float, float*);
__device__ float modf(float, float*);
__device__ double modf(double, double*);
__device__ void sincosf(float, float*, float*);
__device__ void sincos(float, float*, float*);
__device__ void sincos(double, double*, double*);
__device__ void sincospif(float, float*, float*);
__device__ void sincospi(double, double*, double*);
__device__ void __sincosf(float, float*, float*);
__device__ float norm3df(float, float, float);
__device__ double norm3d(double, double, double);
__device__ float rnorm3df(float, float, float);
__device__ double rnorm3d(double, double, double);
__device__ float norm4df(float, float, float, float);
__device__ double norm4d(double, double, double, double);
__device__ float fdividef(float, float);
#define TILEWISE_TEST(N) __device__ bool N(float); __device__ bool N(double);
TILEWISE_TEST(isnan) TILEWISE_TEST(isinf) TILEWISE_TEST(isfinite) TILEWISE_TEST(signbit)

// Fast approximations.
__device__ float __fdividef(float, float);
__device__ float __powf(float, float);
#define TILEWISE_FAST(N) __device__ float N(float);
TILEWISE_FAST(__expf) TILEWISE_FAST(__exp10f) TILEWISE_FAST(__logf) TILEWISE_FAST(__log2f)
TILEWISE_FAST(__log10f) TILEWISE_FAST(__sinf) TILEWISE_FAST(__cosf) TILEWISE_FAST(__tanf)
TILEWISE_FAST(__tanhf) TILEWISE_FAST(__saturatef) TILEWISE_FAST(__frsqrt_rn)

// One operation with a rounding of its own.
#define TILEWISE_ROUNDED(R)                                                                   \
    __device__ float __fadd_##R(float, float); __device__ float __fsub_##R(float, float);     \
    __device__ float __fmul_##R(float, float); __device__ float __fdiv_##R(float, float);     \
    __device__ float __fmaf_##R(float, float, float);                                         \
    __device__ float __fsqrt_##R(float); __device__ float __frcp_##R(float);                  \
    __device__ double __dadd_##R(double, double); __device__ double __dsub_##R(double, double); \
    __device__ double __dmul_##R(double, double); __device__ double __ddiv_##R(double, double); \
    __device__ double __fma_##R(double, double, double);                                      \
    __device__ double __dsqrt_##R(double); __device__ double __drcp_##R(double);              \
    __device__ int __float2int_##R(float); __device__ unsigned int __float2uint_##R(float);   \
    __device__ long long __float2ll_##R(float);                                               \
    __device__ unsigned long long __float2ull_##R(float);                                     \
    __device__ int __double2int_##R(double); __device__ unsigned int __double2uint_##R(double); \
    __device__ long long __double2ll_##R(double);                                             \
    __device__ unsigned long long __double2ull_##R(double);                                   \
    __device__ float __int2float_##R(int); __device__ float __uint2float_##R(unsigned int);   \
    __device__ float __ll2float_##R(long long);                                               \
    __device__ float __ull2float_##R(unsigned long long);                                     \
    __device__ double __ll2double_##R(long long);                                             \
    __device__ double __ull2double_##R(unsigned long long);                                   \
    __device__ float __double2float_##R(double);
TILEWISE_ROUNDED(rn) TILEWISE_ROUNDED(rz) TILEWISE_ROUNDED(ru) TILEWISE_ROUNDED(rd)
__device__ double __int2double_rn(int);
__device__ double __uint2double_rn(unsigned int);

// Whole numbers.
__device__ int abs(int);
__device__ long abs(long);
__device__ long long abs(long long);
__device__ float abs(float);
__device__ double abs(double);
__device__ long labs(long);
__device__ long long llabs(long long);
#define TILEWISE_ORDER(R, T, U) __device__ R min(T, U); __device__ R max(T, U);
#define TILEWISE_ORDERS(T, U)                                                                 \
    TILEWISE_ORDER(T, T, T) TILEWISE_ORDER(U, U, U) TILEWISE_ORDER(U, T, U) TILEWISE_ORDER(U, U, T)
TILEWISE_ORDERS(int, unsigned int) TILEWISE_ORDERS(long, unsigned long)
TILEWISE_ORDERS(long long, unsigned long long) TILEWISE_ORDERS(float, double)
__device__ unsigned int umin(unsigned int, unsigned int);
__device__ unsigned int umax(unsigned int, unsigned int);
__device__ long long llmin(long long, long long);
__device__ long long llmax(long long, long long);
__device__ unsigned long long ullmin(unsigned long long, unsigned long long);
__device__ unsigned long long ullmax(unsigned long long, unsigned long long);
__device__ int __popc(unsigned int);
__device__ int __popcll(unsigned long long);
__device__ int __clz(int);
__device__ int __clzll(long long);
__device__ int __ffs(int);
__device__ int __ffsll(long long);
__device__ unsigned int __brev(unsigned int);
__device__ unsigned long long __brevll(unsigned long long);
__device__ unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
#define TILEWISE_FUNNEL(N) __device__ unsigned int N(unsigned int, unsigned int, unsigned int);
TILEWISE_FUNNEL(__funnelshift_l) TILEWISE_FUNNEL(__funnelshift_lc)
TILEWISE_FUNNEL(__funnelshift_r) TILEWISE_FUNNEL(__funnelshift_rc)
__device__ int __mulhi(int, int);
__device__ unsigned int __umulhi(unsigned int, unsigned int);
__device__ long long __mul64hi(long long, long long);
__device__ unsigned long long __umul64hi(unsigned long long, unsigned long long);
__device__ int __mul24(int, int);
__device__ unsigned int __umul24(unsigned int, unsigned int);
__device__ unsigned int __sad(int, int, unsigned int);
__device__ unsigned int __usad(unsigned int, unsigned int, unsigned int);
__device__ int __hadd(int, int);
__device__ int __rhadd(int, int);
__device__ unsigned int __uhadd(unsigned int, unsigned int);
__device__ unsigned int __urhadd(unsigned int, unsigned int);
__device__ int __dp4a(int, int, int);
__device__ unsigned int __dp4a(unsigned int, unsigned int, unsigned int);
#define TILEWISE_DOT(N)                                                                       \
    __device__ int N(int, int, int); __device__ unsigned int N(unsigned, unsigned, unsigned);
TILEWISE_DOT(__dp2a_lo) TILEWISE_DOT(__dp2a_hi)

// Two halfwords or four bytes within a word.
#define TILEWISE_PARTS(N)                                                                     \
    __device__ unsigned int __v##N##2(unsigned int);                                          \
    __device__ unsigned int __v##N##4(unsigned int);
#define TILEWISE_PARTS_OF_TWO(N)                                                              \
    __device__ unsigned int __v##N##2(unsigned int, unsigned int);                            \
    __device__ unsigned int __v##N##4(unsigned int, unsigned int);
TILEWISE_PARTS(neg) TILEWISE_PARTS(abs) TILEWISE_PARTS(negss) TILEWISE_PARTS(absss)
TILEWISE_PARTS_OF_TWO(add) TILEWISE_PARTS_OF_TWO(addss) TILEWISE_PARTS_OF_TWO(addus)
TILEWISE_PARTS_OF_TWO(sub) TILEWISE_PARTS_OF_TWO(subss) TILEWISE_PARTS_OF_TWO(subus)
TILEWISE_PARTS_OF_TWO(maxs) TILEWISE_PARTS_OF_TWO(maxu) TILEWISE_PARTS_OF_TWO(mins)
TILEWISE_PARTS_OF_TWO(minu) TILEWISE_PARTS_OF_TWO(avgu) TILEWISE_PARTS_OF_TWO(haddu)
TILEWISE_PARTS_OF_TWO(absdiffs) TILEWISE_PARTS_OF_TWO(absdiffu) TILEWISE_PARTS_OF_TWO(sads)
TILEWISE_PARTS_OF_TWO(sadu) TILEWISE_PARTS_OF_TWO(cmpeq) TILEWISE_PARTS_OF_TWO(cmpne)
TILEWISE_PARTS_OF_TWO(cmpges) TILEWISE_PARTS_OF_TWO(cmpgeu) TILEWISE_PARTS_OF_TWO(cmpgts)
TILEWISE_PARTS_OF_TWO(cmpgtu) TILEWISE_PARTS_OF_TWO(cmples) TILEWISE_PARTS_OF_TWO(cmpleu)
TILEWISE_PARTS_OF_TWO(cmplts) TILEWISE_PARTS_OF_TWO(cmpltu) TILEWISE_PARTS_OF_TWO(seteq)
TILEWISE_PARTS_OF_TWO(setne) TILEWISE_PARTS_OF_TWO(setges) TILEWISE_PARTS_OF_TWO(setgeu)
TILEWISE_PARTS_OF_TWO(setgts) TILEWISE_PARTS_OF_TWO(setgtu) TILEWISE_PARTS_OF_TWO(setles)
TILEWISE_PARTS_OF_TWO(setleu) TILEWISE_PARTS_OF_TWO(setlts) TILEWISE_PARTS_OF_TWO(setltu)

// The same bits as another type.
__device__ float __int_as_float(int);
__device__ int __float_as_int(float);
__device__ float __uint_as_float(unsigned int);
__device__ unsigned int __float_as_uint(float);
__device__ long long __double_as_longlong(double);
__device__ double __longlong_as_double(long long);
__device__ double __hiloint2double(int, int);
__device__ int __double2hiint(double);
__device__ int __double2loint(double);

// What <cmath> has in namespace std besides.
namespace std {
using ::abs; using ::sqrt; using ::cbrt; using ::fabs; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::logb; using ::sin; using ::cos;
using ::tan; using ::asin; using ::acos; using ::atan; using ::sinh; using ::cosh; using ::tanh;
using ::asinh; using ::acosh; using ::atanh; using ::floor; using ::ceil; using ::trunc;
using ::rint; using ::nearbyint; using ::round; using ::erf; using ::erfc; using ::lgamma;
using ::tgamma; using ::fmin; using ::fmax; using ::fmod; using ::remainder; using ::pow;
using ::atan2; using ::hypot; using ::copysign; using ::fdim; using ::nextafter; using ::fma;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit; using ::ilogb; using ::ldexp;
using ::size_t; using ::ptrdiff_t;
}
