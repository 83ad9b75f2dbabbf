// bfloat16: what of cuda_bf16.h is not in short_float.cuh, for the parser alone.
typedef __bf16 __nv_bfloat16;
typedef __bf16 nv_bfloat16;
#define TILEWISE_T __nv_bfloat16
#define TILEWISE_P __nv_bfloat162
#define TILEWISE_W bfloat16
#define TILEWISE_R __nv_bfloat16_raw
#define TILEWISE_RP __nv_bfloat162_raw
#include "short_float.cuh"
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
