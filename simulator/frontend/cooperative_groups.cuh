// The part of <cooperative_groups.h> that is taken: the grid, and groups within a block, declared
// as CUDA has them (CUDA C++ Programming Guide, Cooperative Groups). For the parser alone.
namespace cooperative_groups {
struct thread_group {
    __device__ void sync() const;
    __device__ unsigned long long thread_rank() const;
    __device__ unsigned long long num_threads() const;
    __device__ unsigned long long size() const;
};
struct thread_block : thread_group {
    static __device__ void sync();
    static __device__ unsigned int thread_rank();
    static __device__ unsigned int num_threads();
    static __device__ unsigned int size();
    static __device__ dim3 group_index();
    static __device__ dim3 thread_index();
    static __device__ dim3 group_dim();
    static __device__ dim3 dim_threads();
};
struct grid_group : thread_group {
    __device__ bool is_valid() const;
    __device__ void sync() const;
    static __device__ unsigned long long thread_rank();
    static __device__ unsigned long long num_threads();
    static __device__ unsigned long long size();
    static __device__ unsigned long long block_rank();
    static __device__ unsigned long long num_blocks();
    static __device__ dim3 group_dim();
    static __device__ dim3 dim_blocks();
    static __device__ dim3 dim_threads();
    static __device__ dim3 block_index();
    static __device__ dim3 thread_index();
};
#define TILEWISE_GROUP                                                                        \
    __device__ void sync() const;                                                             \
    __device__ unsigned int thread_rank() const;                                              \
    __device__ unsigned int meta_group_rank() const;                                          \
    __device__ unsigned int meta_group_size() const;                                          \
    __device__ int any(int) const;                                                            \
    __device__ int all(int) const;                                                            \
    __device__ unsigned int ballot(int) const;                                                \
    template <typename T> __device__ unsigned int match_any(T) const;                         \
    template <typename T> __device__ T shfl(T, int) const;                                    \
    template <typename T> __device__ T shfl_up(T, unsigned int) const;                        \
    template <typename T> __device__ T shfl_down(T, unsigned int) const;
struct coalesced_group : thread_group {
    __device__ unsigned int num_threads() const;
    __device__ unsigned int size() const;
    TILEWISE_GROUP
};
template <unsigned int Size, typename Parent = void> struct thread_block_tile : thread_group {
    __device__ thread_block_tile(const thread_block_tile&) = default;
    template <typename P> __device__ thread_block_tile(const thread_block_tile<Size, P>&);
    static constexpr unsigned int num_threads() { return Size; }
    static constexpr unsigned int size() { return Size; }
    TILEWISE_GROUP
    template <typename T> __device__ T shfl_xor(T, unsigned int) const;
};
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ coalesced_group coalesced_threads();
__device__ thread_group tiled_partition(const thread_group&, unsigned int);
template <unsigned int Size, typename Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent&);
template <typename Group> __device__ void sync(const Group&);
template <typename Group> __device__ unsigned int thread_rank(const Group&);
template <typename Group> __device__ unsigned int group_size(const Group&);
#define TILEWISE_OPERATION(N)                                                                 \
    template <typename T> struct N { __device__ T operator()(T, T) const; };
TILEWISE_OPERATION(plus) TILEWISE_OPERATION(less) TILEWISE_OPERATION(greater)
TILEWISE_OPERATION(bit_and) TILEWISE_OPERATION(bit_or) TILEWISE_OPERATION(bit_xor)
// With a body, which nothing runs, since the type of a lambda is known in one file alone.
#define TILEWISE_JOIN(N)                                                                      \
    template <typename Group, typename T, typename F>                                         \
    __device__ T N(const Group&, T value, F&&) { return value; }
TILEWISE_JOIN(reduce) TILEWISE_JOIN(inclusive_scan) TILEWISE_JOIN(exclusive_scan)
template <typename Group, typename T> __device__ T inclusive_scan(const Group&, T);
template <typename Group, typename T> __device__ T exclusive_scan(const Group&, T);
}
