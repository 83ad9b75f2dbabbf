// The part of <cub/cub.cuh> that is taken: reductions and scans of a block and of a warp by CUB's
// default algorithms, for the parser, and inlined where a kernel calls them. Who adds what to what,
// and in which order, is as in the CUB of CUDA 12.9 and 13.0, so that sums of float have the GPU's
// bits: by shuffles within a warp, then from warp to warp (reductions), or by one warp that goes
// through a part of shared memory each (scans, "raking").
namespace cuda {
namespace std {
template <typename T = void> struct plus {
    template <typename V> __host__ __device__ V operator()(V a, V b) const { return a + b; }
};
}
template <typename T = void> struct maximum {
    template <typename V> __host__ __device__ V operator()(V a, V b) const { return a < b ? b : a; }
};
template <typename T = void> struct minimum {
    template <typename V> __host__ __device__ V operator()(V a, V b) const { return b < a ? b : a; }
};
}
namespace cub {
typedef cuda::std::plus<> Sum;
typedef cuda::maximum<> Max;
typedef cuda::minimum<> Min;
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
namespace detail {
#define TILEWISE_LANE (cooperative_groups::thread_block::thread_rank() % 32)
// The number of a thread in a block of such sizes.
template <int X, int Y, int Z> struct Block {
    static __device__ int rank() { return (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x; }
};
template <int X, int Y> struct Block<X, Y, 1> {
    static __device__ int rank() { return threadIdx.y * X + threadIdx.x; }
};
template <int X> struct Block<X, 1, 1> {
    static __device__ int rank() { return threadIdx.x; }
};
// Within a warp CUB adds in assembly, which no compiler fuses with a product.
template <typename F, typename T> __device__ T join(F f, T a, T b) { return f(a, b); }
static __inline__ __device__ float join(cuda::std::plus<>, float a, float b) {
    return __fadd_rn(a, b);
}
static __inline__ __device__ double join(cuda::std::plus<>, double a, double b) {
    return __dadd_rn(a, b);
}
template <typename F> struct is_known : std::false_type {};
template <typename T> struct is_known<cuda::std::plus<T>> : std::true_type {};
template <typename T> struct is_known<cuda::maximum<T>> : std::true_type {};
template <typename T> struct is_known<cuda::minimum<T>> : std::true_type {};
// A thread's own items: pairwise, but one after another for an operation of the text or 8 bytes.
template <int N, typename T, typename F> __device__ T reduce(const T (&items)[N], F f) {
    T joined[N];
    for (int i = 0; i < N; i++) joined[i] = items[i];
    if (!is_known<F>::value || sizeof(T) > 4) {
        for (int i = 1; i < N; i++) joined[0] = f(joined[0], joined[i]);
    } else {
        for (int d = 1; d < N; d *= 2)
            for (int i = 0; i + d < N; i += 2 * d) joined[i] = f(joined[i], joined[i + d]);
    }
    return joined[0];
}
// The items of a thread behind what stands before them.
template <int N, typename T, typename F>
__device__ void scan_after(T (&in)[N], T (&out)[N], F f, T before, bool has_before,
                           bool inclusive) {
    T total = in[0];
    if (has_before) total = f(before, total);
    out[0] = inclusive ? total : before;
    for (int i = 1; i < N; i++) {
        T next = f(total, in[i]);
        out[i] = inclusive ? next : total;
        total = next;
    }
}
// Lane 0 of each N gets what the first `count` of these have.
template <int N, typename T, typename F> __device__ T reduce_warp(T value, F f, int count) {
    const int rank = TILEWISE_LANE % N;
    const unsigned lanes = (0xffffffffu >> (32 - N)) << (TILEWISE_LANE - rank);
    for (int d = 1; d < N; d *= 2) {
        const T other = __shfl_sync(lanes, value, rank + d < count ? rank + d : rank, N);
        if (rank + d < count) value = join(f, value, other);
    }
    return value;
}
// Each lane of the first N gets what it and those before it have.
template <int N, typename T, typename F> __device__ T scan_warp(T value, F f, unsigned lanes) {
    const int rank = N & (N - 1) ? TILEWISE_LANE : TILEWISE_LANE % N;
    for (int d = 1; d < N; d *= 2) {
        const T other = __shfl_up_sync(lanes, value, d, N & (N - 1) ? 32 : N);
        if (rank >= d) value = join(f, other, value);
    }
    return value;
}
}
template <typename T, int N = 32> class WarpReduce {
public:
    struct TempStorage { int unused; };
    __device__ WarpReduce(TempStorage&) {
        static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0,
                      "WarpReduce takes 1, 2, 4, 8, 16 or 32 threads here");
    }
    __device__ T Sum(T value) { return detail::reduce_warp<N>(value, cub::Sum(), N); }
    __device__ T Sum(T value, int count) {
        return detail::reduce_warp<N>(value, cub::Sum(), count);
    }
    template <typename F> __device__ T Reduce(T value, F f) {
        return detail::reduce_warp<N>(value, f, N);
    }
    template <typename F> __device__ T Reduce(T value, F f, int count) {
        return detail::reduce_warp<N>(value, f, count);
    }
};
template <typename T, int N = 32> class WarpScan {
    static __device__ unsigned lanes() {
        return (0xffffffffu >> (32 - N)) << (TILEWISE_LANE / N * N);
    }
public:
    struct TempStorage { int unused; };
    __device__ WarpScan(TempStorage&) {
        static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0,
                      "WarpScan takes 1, 2, 4, 8, 16 or 32 threads here");
    }
    template <typename F> __device__ void InclusiveScan(T in, T& out, F f) {
        out = detail::scan_warp<N>(in, f, lanes());
    }
    template <typename F> __device__ void InclusiveScan(T in, T& out, F f, T& total) {
        out = detail::scan_warp<N>(in, f, lanes());
        total = __shfl_sync(lanes(), out, N - 1, N);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, F f) {
        out = __shfl_up_sync(lanes(), detail::scan_warp<N>(in, f, lanes()), 1, N);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, T first, F f) {
        T unused;
        ExclusiveScan(in, out, first, f, unused);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, T first, F f, T& total) {
        T up_to = detail::scan_warp<N>(in, f, lanes());
        total = __shfl_sync(lanes(), up_to, N - 1, N);
        up_to = f(first, up_to);
        out = __shfl_up_sync(lanes(), up_to, 1, N);
        if (TILEWISE_LANE % N == 0) out = first;
    }
    __device__ void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
    __device__ void InclusiveSum(T in, T& out, T& total) {
        InclusiveScan(in, out, cub::Sum(), total);
    }
    __device__ void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T in, T& out, T& total) {
        ExclusiveScan(in, out, T(0), cub::Sum(), total);
    }
    __device__ T Broadcast(T value, unsigned lane) { return __shfl_sync(lanes(), value, lane, N); }
};
template <typename T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int = 0>
class BlockReduce {
    static constexpr int THREADS = X * Y * Z, WARPS = (THREADS + 31) / 32;
    static constexpr int LANES = THREADS < 32 ? THREADS : 32;
public:
    struct TempStorage { T part[WARPS]; };
    __device__ BlockReduce(TempStorage& given) : storage(&given) {
        static_assert(A == BLOCK_REDUCE_WARP_REDUCTIONS, "the default algorithm");
        static_assert(THREADS >= 32 || (THREADS & (THREADS - 1)) == 0,
                      "BlockReduce takes a power of two of threads here, or 32 and more");
    }
    template <typename F> __device__ T Reduce(T value, F f, int count) {
        const int thread = detail::Block<X, Y, Z>::rank(), warp = thread / LANES;
        value = detail::reduce_warp<LANES>(value, f, min(LANES, count - warp * LANES));
        if (TILEWISE_LANE == 0) storage->part[warp] = value;
        __syncthreads();
        if (thread == 0)
            for (int next = 1; next < WARPS; next++)
                if (next * LANES < count) value = f(value, storage->part[next]);
        return value;
    }
    template <typename F> __device__ T Reduce(T value, F f) { return Reduce(value, f, THREADS); }
    template <int N, typename F> __device__ T Reduce(T (&items)[N], F f) {
        return Reduce(detail::reduce(items, f), f, THREADS);
    }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), THREADS); }
    __device__ T Sum(T value, int count) { return Reduce(value, cub::Sum(), count); }
    template <int N> __device__ T Sum(T (&items)[N]) { return Reduce(items, cub::Sum()); }
private:
    TempStorage* storage;
};
template <typename T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int = 0>
class BlockScan {
    static constexpr int THREADS = X * Y * Z, LANES = THREADS < 32 ? THREADS : 32;
    static constexpr int PART = (THREADS + LANES - 1) / LANES, RAKERS = (THREADS + PART - 1) / PART;
    static constexpr int PADDED = PART + (PART % 2 == 0 && PART > 2);
public:
    struct TempStorage { T cells[RAKERS * PADDED]; T total; };
    __device__ BlockScan(TempStorage& given) : storage(&given) {
        static_assert(A != BLOCK_SCAN_WARP_SCANS, "the default algorithm");
    }
    template <typename F> __device__ void InclusiveScan(T in, T& out, F f) {
        T unused;
        out = scan(in, in, f, false, true, unused, false);
    }
    template <typename F> __device__ void InclusiveScan(T in, T& out, F f, T& total) {
        out = scan(in, in, f, false, true, total, true);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, F f) {
        T unused;
        out = scan(in, in, f, false, false, unused, false);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, T first, F f) {
        T unused;
        out = scan(in, first, f, true, false, unused, false);
    }
    template <typename F> __device__ void ExclusiveScan(T in, T& out, T first, F f, T& total) {
        out = scan(in, first, f, true, false, total, true);
    }
    template <int N, typename F> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], F f) {
        T before = detail::reduce(in, f);
        ExclusiveScan(before, before, f);
        detail::scan_after(in, out, f, before, rank() != 0, true);
    }
    template <int N, typename F>
    __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f) {
        T before = detail::reduce(in, f);
        ExclusiveScan(before, before, first, f);
        detail::scan_after(in, out, f, before, true, false);
    }
    template <int N, typename F>
    __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f, T& total) {
        T before = detail::reduce(in, f);
        ExclusiveScan(before, before, first, f, total);
        detail::scan_after(in, out, f, before, true, false);
    }
    __device__ void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
    __device__ void InclusiveSum(T in, T& out, T& total) {
        InclusiveScan(in, out, cub::Sum(), total);
    }
    __device__ void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T in, T& out, T& total) {
        ExclusiveScan(in, out, T(0), cub::Sum(), total);
    }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N]) {
        ExclusiveScan(in, out, T(0), cub::Sum());
    }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], T& total) {
        ExclusiveScan(in, out, T(0), cub::Sum(), total);
    }
    template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N]) {
        T before = detail::reduce(in, cub::Sum());
        ExclusiveSum(before, before);
        detail::scan_after(in, out, cub::Sum(), before, rank() != 0, true);
    }
    template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N], T& total) {
        T before = detail::reduce(in, cub::Sum());
        ExclusiveSum(before, before, total);
        detail::scan_after(in, out, cub::Sum(), before, rank() != 0, true);
    }
private:
    static __device__ int rank() { return detail::Block<X, Y, Z>::rank(); }
    // Of one warp's values what stands before each, or the first value; or with each itself.
    template <typename F>
    __device__ T scan_warp(T in, T first, F f, bool has_first, bool inclusive, T& total,
                           bool totals) {
        const unsigned lanes = 0xffffffffu >> (32 - RAKERS);
        T up_to = detail::scan_warp<RAKERS>(in, f, lanes);
        if (totals) total = __shfl_sync(lanes, up_to, RAKERS - 1);
        if (inclusive) return up_to;
        if (has_first) up_to = f(first, up_to);
        T before = __shfl_up_sync(lanes, up_to, 1);
        if (has_first && rank() == 0) before = first;
        return before;
    }
    template <typename F>
    __device__ T scan(T in, T first, F f, bool has_first, bool inclusive, T& total, bool totals) {
        if (RAKERS == THREADS) return scan_warp(in, first, f, has_first, inclusive, total, totals);
        T* const own = storage->cells + rank() + (PADDED > PART ? rank() / PART : 0);
        *own = in;
        __syncthreads();
        if (rank() < RAKERS) {
            T* const part = storage->cells + rank() * PADDED;
            const int count = min(PART, THREADS - rank() * PART);
            T joined = part[0];
            for (int i = 1; i < count; i++) joined = f(joined, part[i]);
            const T before = scan_warp(joined, first, f, has_first, false, total, totals);
            if (totals && rank() == 0) storage->total = total;
            joined = part[0];
            if (has_first || rank() != 0) joined = f(before, joined);
            part[0] = inclusive ? joined : before;
            for (int i = 1; i < count; i++) {
                const T next = f(joined, part[i]);
                part[i] = inclusive ? next : joined;
                joined = next;
            }
        }
        __syncthreads();
        if (totals) total = storage->total;
        return *own;
    }
    TempStorage* storage;
};
}
#undef TILEWISE_LANE
