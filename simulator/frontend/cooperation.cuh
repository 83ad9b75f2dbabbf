// What threads do together, as nvcc declares it: warp functions, votes of a block, atomics and
// fences; and what they say and stop at. For the parser alone, behind prelude.cuh.
extern "C" __device__ void __syncthreads();
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ void __threadfence_system();
__device__ void __syncwarp(unsigned int = 0xffffffff);
__device__ unsigned int __activemask();
__device__ int __any_sync(unsigned int, int);
__device__ int __all_sync(unsigned int, int);
__device__ unsigned int __ballot_sync(unsigned int, int);
#define TILEWISE_SHUFFLE(T)                                                                   \
    __device__ T __shfl_sync(unsigned int, T, int, int = 32);                                 \
    __device__ T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);                     \
    __device__ T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);                   \
    __device__ T __shfl_xor_sync(unsigned int, T, int, int = 32);                             \
    __device__ unsigned int __match_any_sync(unsigned int, T);                                \
    __device__ unsigned int __match_all_sync(unsigned int, T, int*);
TILEWISE_SHUFFLE(int) TILEWISE_SHUFFLE(unsigned int) TILEWISE_SHUFFLE(long)
TILEWISE_SHUFFLE(unsigned long) TILEWISE_SHUFFLE(long long) TILEWISE_SHUFFLE(unsigned long long)
TILEWISE_SHUFFLE(float) TILEWISE_SHUFFLE(double)
#define TILEWISE_REDUCE(T)                                                                    \
    __device__ T __reduce_add_sync(unsigned int, T);                                          \
    __device__ T __reduce_min_sync(unsigned int, T);                                          \
    __device__ T __reduce_max_sync(unsigned int, T);
TILEWISE_REDUCE(int) TILEWISE_REDUCE(unsigned int)
__device__ unsigned int __reduce_and_sync(unsigned int, unsigned int);
__device__ unsigned int __reduce_or_sync(unsigned int, unsigned int);
__device__ unsigned int __reduce_xor_sync(unsigned int, unsigned int);
#define TILEWISE_ATOMIC(F, T)                                                                 \
    __device__ T F(T*, T); __device__ T F##_block(T*, T); __device__ T F##_system(T*, T);
#define TILEWISE_SWAP(T)                                                                      \
    __device__ T atomicCAS(T*, T, T); __device__ T atomicCAS_block(T*, T, T);                 \
    __device__ T atomicCAS_system(T*, T, T);
#define TILEWISE_WORD_ATOMICS(T)                                                              \
    TILEWISE_ATOMIC(atomicMin, T) TILEWISE_ATOMIC(atomicMax, T) TILEWISE_ATOMIC(atomicAnd, T) \
    TILEWISE_ATOMIC(atomicOr, T) TILEWISE_ATOMIC(atomicXor, T)
TILEWISE_WORD_ATOMICS(int) TILEWISE_WORD_ATOMICS(unsigned int)
TILEWISE_WORD_ATOMICS(long long) TILEWISE_WORD_ATOMICS(unsigned long long)
TILEWISE_ATOMIC(atomicAdd, int) TILEWISE_ATOMIC(atomicAdd, unsigned int)
TILEWISE_ATOMIC(atomicAdd, unsigned long long)
TILEWISE_ATOMIC(atomicAdd, float) TILEWISE_ATOMIC(atomicAdd, double)
TILEWISE_ATOMIC(atomicSub, int) TILEWISE_ATOMIC(atomicSub, unsigned int)
TILEWISE_ATOMIC(atomicExch, int) TILEWISE_ATOMIC(atomicExch, unsigned int)
TILEWISE_ATOMIC(atomicExch, unsigned long long) TILEWISE_ATOMIC(atomicExch, float)
TILEWISE_ATOMIC(atomicInc, unsigned int) TILEWISE_ATOMIC(atomicDec, unsigned int)
TILEWISE_SWAP(int) TILEWISE_SWAP(unsigned int) TILEWISE_SWAP(unsigned long long)
__device__ unsigned short atomicCAS(unsigned short*, unsigned short, unsigned short);
extern "C" __device__ int printf(const char*, ...);
__device__ void tilewise_assert(bool, const char*);
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) tilewise_assert(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#endif
__device__ void __trap();
__device__ void __brkpt();
