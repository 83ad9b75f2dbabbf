// Half precision: the types, operators and functions of cuda_fp16.h, for the parser alone. Here
// half is an arithmetic type of the compiler; expressions.py refuses the mixtures that its class
// in CUDA refuses. What is converted, added or compared is simulator/machine/half.py's business.
typedef _Float16 half;
typedef _Float16 __half;
struct __attribute__((aligned(4))) half2 {
    half x, y;
    half2() = default;
    __host__ __device__ constexpr half2(half x, half y) : x(x), y(y) {}
};
typedef half2 __half2;
__device__ half2 make_half2(half, half);
__device__ half __float2half(float);
__device__ half __double2half(double);
__device__ float __half2float(half);
#define TILEWISE_HALF_ROUNDED(R)                                                              \
    __device__ half __float2half_##R(float);                                                  \
    __device__ half __int2half_##R(int); __device__ half __uint2half_##R(unsigned int);       \
    __device__ half __short2half_##R(short); __device__ half __ushort2half_##R(unsigned short); \
    __device__ half __ll2half_##R(long long); __device__ half __ull2half_##R(unsigned long long); \
    __device__ int __half2int_##R(half); __device__ unsigned int __half2uint_##R(half);       \
    __device__ short __half2short_##R(half); __device__ unsigned short __half2ushort_##R(half); \
    __device__ long long __half2ll_##R(half); __device__ unsigned long long __half2ull_##R(half);
TILEWISE_HALF_ROUNDED(rn) TILEWISE_HALF_ROUNDED(rz)
TILEWISE_HALF_ROUNDED(ru) TILEWISE_HALF_ROUNDED(rd)
__device__ short __half_as_short(half);
__device__ unsigned short __half_as_ushort(half);
__device__ half __short_as_half(short);
__device__ half __ushort_as_half(unsigned short);
#define TILEWISE_HALF_TWO(N)                                                                  \
    __device__ half N(half, half); __device__ half2 N##2(half2, half2);
TILEWISE_HALF_TWO(__hadd) TILEWISE_HALF_TWO(__hsub) TILEWISE_HALF_TWO(__hmul)
TILEWISE_HALF_TWO(__hmax) TILEWISE_HALF_TWO(__hmin)
__device__ half __hmax_nan(half, half);
__device__ half2 __hmax2_nan(half2, half2);
__device__ half __hmin_nan(half, half);
__device__ half2 __hmin2_nan(half2, half2);
__device__ half __hdiv(half, half);
__device__ half2 __h2div(half2, half2);
__device__ half2 __hadd2_rn(half2, half2);
__device__ half2 __hsub2_rn(half2, half2);
__device__ half2 __hmul2_rn(half2, half2);
__device__ half2 __hadd2_sat(half2, half2);
__device__ half2 __hsub2_sat(half2, half2);
__device__ half2 __hmul2_sat(half2, half2);
__device__ half __hadd_rn(half, half);
__device__ half __hsub_rn(half, half);
__device__ half __hmul_rn(half, half);
__device__ half __hadd_sat(half, half);
__device__ half __hsub_sat(half, half);
__device__ half __hmul_sat(half, half);
__device__ half __hfma(half, half, half);
__device__ half2 __hfma2(half2, half2, half2);
__device__ half __hfma_sat(half, half, half);
__device__ half2 __hfma2_sat(half2, half2, half2);
__device__ half __hfma_relu(half, half, half);
__device__ half2 __hfma2_relu(half2, half2, half2);
__device__ half __hneg(half);
__device__ half2 __hneg2(half2);
__device__ half __habs(half);
__device__ half2 __habs2(half2);
#define TILEWISE_HALF_TEST(N)                                                                 \
    __device__ bool __h##N(half, half); __device__ bool __h##N##u(half, half);                \
    __device__ half2 __h##N##2(half2, half2); __device__ half2 __h##N##u2(half2, half2);      \
    __device__ bool __hb##N##2(half2, half2); __device__ bool __hb##N##u2(half2, half2);
TILEWISE_HALF_TEST(eq) TILEWISE_HALF_TEST(ne) TILEWISE_HALF_TEST(lt) TILEWISE_HALF_TEST(le)
TILEWISE_HALF_TEST(gt) TILEWISE_HALF_TEST(ge)
__device__ bool __hisnan(half);
__device__ half2 __hisnan2(half2);
__device__ int __hisinf(half);
#define TILEWISE_HALF_ONE(N) __device__ half h##N(half); __device__ half2 h2##N(half2);
TILEWISE_HALF_ONE(sqrt) TILEWISE_HALF_ONE(rsqrt) TILEWISE_HALF_ONE(rcp) TILEWISE_HALF_ONE(exp)
TILEWISE_HALF_ONE(exp2) TILEWISE_HALF_ONE(exp10) TILEWISE_HALF_ONE(log) TILEWISE_HALF_ONE(log2)
TILEWISE_HALF_ONE(log10) TILEWISE_HALF_ONE(sin) TILEWISE_HALF_ONE(cos) TILEWISE_HALF_ONE(tanh)
TILEWISE_HALF_ONE(floor) TILEWISE_HALF_ONE(ceil) TILEWISE_HALF_ONE(trunc) TILEWISE_HALF_ONE(rint)
__device__ half2 __half2half2(half);
__device__ half2 __halves2half2(half, half);
__device__ half2 __float2half2_rn(float);
__device__ half2 __floats2half2_rn(float, float);
__device__ half2 __float22half2_rn(float2);
__device__ float2 __half22float2(half2);
__device__ half __low2half(half2);
__device__ half __high2half(half2);
__device__ float __low2float(half2);
__device__ float __high2float(half2);
__device__ half2 __low2half2(half2);
__device__ half2 __high2half2(half2);
__device__ half2 __lowhigh2highlow(half2);
__device__ half2 __lows2half2(half2, half2);
__device__ half2 __highs2half2(half2, half2);
__device__ half2 operator+(half2, half2);
__device__ half2 operator-(half2, half2);
__device__ half2 operator*(half2, half2);
__device__ half2 operator/(half2, half2);
__device__ half2& operator+=(half2&, half2);
__device__ half2& operator-=(half2&, half2);
__device__ half2& operator*=(half2&, half2);
__device__ half2& operator/=(half2&, half2);
__device__ half2 operator+(half2);
__device__ half2 operator-(half2);
__device__ bool operator==(half2, half2);
__device__ bool operator!=(half2, half2);
__device__ bool operator<(half2, half2);
__device__ bool operator<=(half2, half2);
__device__ bool operator>(half2, half2);
__device__ bool operator>=(half2, half2);
#define TILEWISE_HALF_SHUFFLE(T)                                                              \
    __device__ T __shfl_sync(unsigned int, T, int, int = 32);                                 \
    __device__ T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);                     \
    __device__ T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);                   \
    __device__ T __shfl_xor_sync(unsigned int, T, int, int = 32);
TILEWISE_HALF_SHUFFLE(half) TILEWISE_HALF_SHUFFLE(half2)
__device__ half atomicAdd(half*, half);
__device__ half2 atomicAdd(half2*, half2);
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
