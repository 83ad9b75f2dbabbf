// Half precision: what of cuda_fp16.h is not in short_float.cuh, for the parser alone.
typedef _Float16 half;
typedef _Float16 __half;
#define TILEWISE_T half
#define TILEWISE_P half2
#define TILEWISE_W half
#define TILEWISE_R __half_raw
#define TILEWISE_RP __half2_raw
#include "short_float.cuh"
typedef half2 __half2;
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
