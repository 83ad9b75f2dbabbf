// The part of <mma.h> that the simulator knows, for NVRTC, which has no such header: matrices in
// the registers of a warp (fragments), and the tensor core's products of them.
// A lane's elements are those that NVIDIA's header gives it: with g = lane / 4 and t = lane % 4
//   half     A (row g + 8 bit 1, column 2t + bit 0 + 8 bit 2), B the same with rows and columns
//            2t + bit 0 + 8 bit 1 and g + 8 bit 2; elements 8 to 15 repeat 0 to 7
//   tf32     A (row g + 8 bit 0, column t + 4 bit 1), B (row t + 4 bit 0, column g + 8 bit 1)
//   sums     row g + 8 bit 1, column 2t + bit 0 + 8 bit 2, of float and of half
// where bit n is the n-th of the element's number. It takes compute capability 8.0.
#if __has_include(<cuda_fp16.h>)
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#endif
namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

template <typename Element, int Count>
struct tilewise_elements {
    enum { num_elements = Count };
    typedef Element element_type;
    alignas(4) Element x[Count];
};

template <typename Use, int M, int N, int K, typename Type, typename Layout = void>
class fragment {
    static_assert(M < 0, "On a GPU there are fragments of 16x16x16 for half and __nv_bfloat16, and "
                         "of 16x16x8 for tf32: take one of these shapes.");
};
template <typename Layout>
class fragment<matrix_a, 16, 16, 8, precision::tf32, Layout>
    : public tilewise_elements<float, 4> {};
template <typename Layout>
class fragment<matrix_b, 16, 16, 8, precision::tf32, Layout>
    : public tilewise_elements<float, 4> {};
template <>
class fragment<accumulator, 16, 16, 8, float> : public tilewise_elements<float, 8> {};
template <>
class fragment<accumulator, 16, 16, 16, float> : public tilewise_elements<float, 8> {};

__device__ __forceinline__ unsigned tilewise_lane()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Four 8 x 8 matrices of 16-bit numbers, or 8 x 4 of 32 bits, from shared memory; lane L has the
// address of row L % 8 of matrix L / 8.
template <bool Transposed>
__device__ __forceinline__ void tilewise_load_four(unsigned* to, const void* tile, unsigned offset)
{
    unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + offset;
    if (Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

template <typename F, typename Value>
__device__ __forceinline__ void fill_fragment(F& f, const Value& value)
{
    #pragma unroll
    for (int i = 0; i < F::num_elements; ++i)
        f.x[i] = static_cast<typename F::element_type>(value);
}

__device__ __forceinline__ float __float_to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

// A tile's rows begin every ldm elements in memory; those of a matrix in col_major are its columns.
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major>& a, const float* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        unsigned four[4];
        tilewise_load_four<false>(four, from, (lane % 16 * ldm + lane / 16 * 4) * 4);
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            a.x[i] = __uint_as_float(four[i]);
    } else {
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            a.x[i] = from[(lane / 4 + 8 * (i & 1)) * ldm + lane % 4 + 4 * (i >> 1)];
    }
}

__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_a, 16, 16, 8, precision::tf32, col_major>& a, const float* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    #pragma unroll
    for (int i = 0; i < 4; ++i)
        a.x[i] = from[lane / 4 + 8 * (i & 1) + (lane % 4 + 4 * (i >> 1)) * ldm];
}

__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major>& b, const float* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    #pragma unroll
    for (int i = 0; i < 4; ++i)
        b.x[i] = from[(lane % 4 + 4 * (i & 1)) * ldm + lane / 4 + 8 * (i >> 1)];
}

__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_b, 16, 16, 8, precision::tf32, col_major>& b, const float* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        unsigned four[4];
        tilewise_load_four<false>(
            four, from, ((lane % 8 + lane / 16 * 8) * ldm + lane / 8 % 2 * 4) * 4);
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            b.x[i] = __uint_as_float(four[i]);
    } else {
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            b.x[i] = from[lane % 4 + 4 * (i & 1) + (lane / 4 + 8 * (i >> 1)) * ldm];
    }
}

template <int K>
__device__ __forceinline__ void load_matrix_sync(
    fragment<accumulator, 16, 16, K, float>& c, const float* from, unsigned ldm, layout_t layout)
{
    unsigned lane = tilewise_lane();
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        unsigned row = lane / 4 + 8 * (i >> 1 & 1);
        unsigned column = lane % 4 * 2 + (i & 1) + 8 * (i >> 2);
        c.x[i] = layout == mem_row_major ? from[row * ldm + column] : from[column * ldm + row];
    }
}

template <int K>
__device__ __forceinline__ void store_matrix_sync(
    float* to, const fragment<accumulator, 16, 16, K, float>& c, unsigned ldm, layout_t layout)
{
    unsigned lane = tilewise_lane();
    #pragma unroll
    for (int i = 0; i < 8; i += 2) {
        unsigned row = lane / 4 + 8 * (i >> 1 & 1);
        unsigned column = lane % 4 * 2 + 8 * (i >> 2);
        if (layout == mem_row_major) {
            *reinterpret_cast<float2*>(to + row * ldm + column) = make_float2(c.x[i], c.x[i + 1]);
        } else {
            to[column * ldm + row] = c.x[i];
            to[(column + 1) * ldm + row] = c.x[i + 1];
        }
    }
}

// d = a b + c: two instructions, for the left and the right half of b's columns. NVIDIA's header
// makes four of TF32, of four k each, which take a third longer and round otherwise.
#define TILEWISE_HALVES(i) _Pragma("unroll") for (int i = 0; i < 8; i += 4)
template <typename LayoutA, typename LayoutB>
__device__ __forceinline__ void mma_sync(
    fragment<accumulator, 16, 16, 8, float>& d,
    const fragment<matrix_a, 16, 16, 8, precision::tf32, LayoutA>& a,
    const fragment<matrix_b, 16, 16, 8, precision::tf32, LayoutB>& b,
    const fragment<accumulator, 16, 16, 8, float>& c)
{
    TILEWISE_HALVES(i)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
            : "=f"(d.x[i]), "=f"(d.x[i + 1]), "=f"(d.x[i + 2]), "=f"(d.x[i + 3])
            : "r"(__float_as_uint(a.x[0])), "r"(__float_as_uint(a.x[1])),
              "r"(__float_as_uint(a.x[2])), "r"(__float_as_uint(a.x[3])),
              "r"(__float_as_uint(b.x[i / 2])), "r"(__float_as_uint(b.x[i / 2 + 1])),
              "f"(c.x[i]), "f"(c.x[i + 1]), "f"(c.x[i + 2]), "f"(c.x[i + 3]));
}

// half and __nv_bfloat16 differ in nothing but the instruction.
#ifdef __CUDA_FP16_H__
#define TILEWISE_PIECES(Type)                                                                   \
    template <typename Layout>                                                                  \
    class fragment<matrix_a, 16, 16, 16, Type, Layout> : public tilewise_elements<Type, 16> {}; \
    template <typename Layout>                                                                  \
    class fragment<matrix_b, 16, 16, 16, Type, Layout> : public tilewise_elements<Type, 16> {};
TILEWISE_PIECES(half)
TILEWISE_PIECES(__nv_bfloat16)

// Where element i of a lane lies, given what a row and a column further is in memory.
__device__ __forceinline__ unsigned tilewise_place_a(int i, unsigned row_step, unsigned column_step)
{
    unsigned lane = tilewise_lane();
    return (lane / 4 + 8 * (i >> 1 & 1)) * row_step
           + (lane % 4 * 2 + (i & 1) + 8 * (i >> 2 & 1)) * column_step;
}

__device__ __forceinline__ unsigned tilewise_place_b(int i, unsigned row_step, unsigned column_step)
{
    unsigned lane = tilewise_lane();
    return (lane % 4 * 2 + (i & 1) + 8 * (i >> 1 & 1)) * row_step
           + (lane / 4 + 8 * (i >> 2 & 1)) * column_step;
}

template <bool Transposed, typename Piece, typename Type>
__device__ __forceinline__ void tilewise_load_sixteen(Piece& piece, const Type* tile,
                                                      unsigned place)
{
    unsigned four[4];
    tilewise_load_four<Transposed>(four, tile, place * 2);
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        reinterpret_cast<unsigned*>(piece.x)[i] = four[i];
        reinterpret_cast<unsigned*>(piece.x)[i + 4] = four[i];
    }
}

template <typename Type>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_a, 16, 16, 16, Type, row_major>& a, const Type* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        tilewise_load_sixteen<false>(a, from, lane % 16 * ldm + lane / 16 * 8);
    } else {
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            a.x[i] = from[tilewise_place_a(i, ldm, 1)];
    }
}

template <typename Type>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_a, 16, 16, 16, Type, col_major>& a, const Type* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        tilewise_load_sixteen<true>(a, from, (lane % 8 + lane / 16 * 8) * ldm + lane / 8 % 2 * 8);
    } else {
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            a.x[i] = from[tilewise_place_a(i, 1, ldm)];
    }
}

template <typename Type>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_b, 16, 16, 16, Type, row_major>& b, const Type* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        tilewise_load_sixteen<true>(b, from, lane % 16 * ldm + lane / 16 * 8);
    } else {
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            b.x[i] = from[tilewise_place_b(i, ldm, 1)];
    }
}

template <typename Type>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_b, 16, 16, 16, Type, col_major>& b, const Type* from, unsigned ldm)
{
    unsigned lane = tilewise_lane();
    if (__isShared(from)) {
        tilewise_load_sixteen<false>(b, from, (lane % 8 + lane / 16 * 8) * ldm + lane / 8 % 2 * 8);
    } else {
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            b.x[i] = from[tilewise_place_b(i, 1, ldm)];
    }
}

#define TILEWISE_MMA(Type, Name)                                                                  \
    template <typename LayoutA, typename LayoutB>                                                 \
    __device__ __forceinline__ void mma_sync(                                                     \
        fragment<accumulator, 16, 16, 16, float>& d,                                              \
        const fragment<matrix_a, 16, 16, 16, Type, LayoutA>& a,                                   \
        const fragment<matrix_b, 16, 16, 16, Type, LayoutB>& b,                                   \
        const fragment<accumulator, 16, 16, 16, float>& c)                                        \
    {                                                                                             \
        const unsigned* left = reinterpret_cast<const unsigned*>(a.x);                            \
        const unsigned* right = reinterpret_cast<const unsigned*>(b.x);                           \
        TILEWISE_HALVES(i)                                                                        \
            asm("mma.sync.aligned.m16n8k16.row.col.f32." Name "." Name ".f32 "                    \
                "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"             \
                : "=f"(d.x[i]), "=f"(d.x[i + 1]), "=f"(d.x[i + 2]), "=f"(d.x[i + 3])              \
                : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]),                         \
                  "r"(right[i / 2]), "r"(right[i / 2 + 1]),                                       \
                  "f"(c.x[i]), "f"(c.x[i + 1]), "f"(c.x[i + 2]), "f"(c.x[i + 3]));                \
    }
TILEWISE_MMA(half, "f16")
TILEWISE_MMA(__nv_bfloat16, "bf16")

// Sums of half, of operands of half: two to a register.
template <>
class fragment<accumulator, 16, 16, 16, half> : public tilewise_elements<half, 8> {};

__device__ __forceinline__ void load_matrix_sync(
    fragment<accumulator, 16, 16, 16, half>& c, const half* from, unsigned ldm, layout_t layout)
{
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        c.x[i] = from[layout == mem_row_major ? tilewise_place_a(i, ldm, 1)
                                              : tilewise_place_a(i, 1, ldm)];
}

__device__ __forceinline__ void store_matrix_sync(
    half* to, const fragment<accumulator, 16, 16, 16, half>& c, unsigned ldm, layout_t layout)
{
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        to[layout == mem_row_major ? tilewise_place_a(i, ldm, 1)
                                   : tilewise_place_a(i, 1, ldm)] = c.x[i];
}

template <typename LayoutA, typename LayoutB>
__device__ __forceinline__ void mma_sync(
    fragment<accumulator, 16, 16, 16, half>& d,
    const fragment<matrix_a, 16, 16, 16, half, LayoutA>& a,
    const fragment<matrix_b, 16, 16, 16, half, LayoutB>& b,
    const fragment<accumulator, 16, 16, 16, half>& c)
{
    const unsigned* left = reinterpret_cast<const unsigned*>(a.x);
    const unsigned* right = reinterpret_cast<const unsigned*>(b.x);
    const unsigned* before = reinterpret_cast<const unsigned*>(c.x);
    unsigned* sums = reinterpret_cast<unsigned*>(d.x);
    #pragma unroll
    for (int i = 0; i < 4; i += 2)
        asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
            "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
            : "=r"(sums[i]), "=r"(sums[i + 1])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]),
              "r"(right[i]), "r"(right[i + 1]), "r"(before[i]), "r"(before[i + 1]));
}
#undef TILEWISE_PIECES
#undef TILEWISE_MMA
#endif
#undef TILEWISE_HALVES

} // namespace wmma
} // namespace nvcuda
