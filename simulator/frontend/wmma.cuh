// The part of <mma.h> that is taken, by the names of the CUDA C++ Programming Guide (Warp Matrix
// Functions): for the parser alone. Which types and shapes there are is said here; which lane holds
// what in simulator/language/fragments.py.
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
template <typename Use, int m, int n, int k, typename T, typename Layout = void> struct fragment;
#define TILEWISE_FRAGMENT(USE, M, N, K, T, STORED, COUNT)                                     \
    {                                                                                         \
        typedef STORED element_type;                                                          \
        typedef STORED storage_element_type;                                                  \
        static constexpr int num_elements = COUNT;                                            \
        static constexpr int num_storage_elements = COUNT;                                    \
        STORED x[COUNT];                                                                      \
    };
#define TILEWISE_OPERAND(...)                                                                 \
    template <> struct fragment<TILEWISE_HEAD(__VA_ARGS__), row_major>                        \
    TILEWISE_FRAGMENT(__VA_ARGS__)                                                            \
    template <> struct fragment<TILEWISE_HEAD(__VA_ARGS__), col_major>                        \
    TILEWISE_FRAGMENT(__VA_ARGS__)
#define TILEWISE_HEAD(USE, M, N, K, T, STORED, COUNT) USE, M, N, K, T
#define TILEWISE_SUMS(...)                                                                    \
    template <> struct fragment<TILEWISE_HEAD(__VA_ARGS__)> TILEWISE_FRAGMENT(__VA_ARGS__)
TILEWISE_OPERAND(matrix_a, 16, 16, 16, half, half, 16)
TILEWISE_OPERAND(matrix_b, 16, 16, 16, half, half, 16)
TILEWISE_OPERAND(matrix_a, 32, 8, 16, half, half, 16)
TILEWISE_OPERAND(matrix_b, 32, 8, 16, half, half, 16)
TILEWISE_OPERAND(matrix_a, 8, 32, 16, half, half, 16)
TILEWISE_OPERAND(matrix_b, 8, 32, 16, half, half, 16)
TILEWISE_OPERAND(matrix_a, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8)
TILEWISE_OPERAND(matrix_b, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, 8)
TILEWISE_OPERAND(matrix_a, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, 16)
TILEWISE_OPERAND(matrix_b, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, 4)
TILEWISE_OPERAND(matrix_a, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, 4)
TILEWISE_OPERAND(matrix_b, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, 16)
TILEWISE_OPERAND(matrix_a, 16, 16, 8, precision::tf32, float, 4)
TILEWISE_OPERAND(matrix_b, 16, 16, 8, precision::tf32, float, 4)
TILEWISE_SUMS(accumulator, 16, 16, 16, float, float, 8)
TILEWISE_SUMS(accumulator, 32, 8, 16, float, float, 8)
TILEWISE_SUMS(accumulator, 8, 32, 16, float, float, 8)
TILEWISE_SUMS(accumulator, 16, 16, 8, float, float, 8)
TILEWISE_SUMS(accumulator, 16, 16, 16, half, half, 8)
TILEWISE_SUMS(accumulator, 32, 8, 16, half, half, 8)
TILEWISE_SUMS(accumulator, 8, 32, 16, half, half, 8)
#undef TILEWISE_SUMS
#undef TILEWISE_HEAD
#undef TILEWISE_OPERAND
#undef TILEWISE_FRAGMENT
template <typename Use, int m, int n, int k, typename T, typename L>
__device__ void fill_fragment(fragment<Use, m, n, k, T, L>& a,
                              typename fragment<Use, m, n, k, T, L>::element_type v);
template <typename Use, int m, int n, int k, typename T, typename L>
__device__ void load_matrix_sync(
    fragment<Use, m, n, k, T, L>& a,
    const typename fragment<Use, m, n, k, T, L>::element_type* p, unsigned ldm);
template <int m, int n, int k, typename T>
__device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& a, const T* p, unsigned ldm,
                                 layout_t layout);
template <int m, int n, int k, typename T>
__device__ void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& a, unsigned ldm,
                                  layout_t layout);
template <int m, int n, int k, typename T, typename LA, typename LB>
__device__ void mma_sync(fragment<accumulator, m, n, k, float>& d,
                         const fragment<matrix_a, m, n, k, T, LA>& a,
                         const fragment<matrix_b, m, n, k, T, LB>& b,
                         const fragment<accumulator, m, n, k, float>& c, bool satf = false);
template <int m, int n, int k, typename LA, typename LB>
__device__ void mma_sync(fragment<accumulator, m, n, k, half>& d,
                         const fragment<matrix_a, m, n, k, half, LA>& a,
                         const fragment<matrix_b, m, n, k, half, LB>& b,
                         const fragment<accumulator, m, n, k, half>& c, bool satf = false);
__device__ float __float_to_tf32(float);
}  // namespace wmma
}  // namespace nvcuda
