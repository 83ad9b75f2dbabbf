// The GPU's clock beside a kernel's statements. A warp's first lane writes what it reads to the
// warp's own buffer, in the blocks that are traced whole; of every block it is known where and when
// it ran.
struct TilewiseBuffers {
    unsigned long long* reads;  // `capacity` for each warp of a whole block: phase << 32 | clock
    unsigned long long* ends;   // two for each of these warps: its last clock, its number of reads
    unsigned long long* blocks; // six for each block: see ~TilewiseTrace
    unsigned whole;             // blocks that are traced whole, the first ones
    unsigned count;             // blocks that have a place in `blocks`
    int capacity;               // reads
    int tile;                   // the one of which every iteration of the inner loop is read
};
extern "C" {
__constant__ TilewiseBuffers tilewise_buffers;
}

struct TilewiseTrace {
    unsigned long long* next; // where the next read goes
    int left;                 // reads for which there is room; far below 0 for all that write none
    int tile;

    static __device__ __forceinline__ unsigned long long clock()
    {
        unsigned long long now;
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) :: "memory");
        return now;
    }

    static __device__ __forceinline__ unsigned long long nanoseconds()
    {
        unsigned long long now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
        return now;
    }

    static __device__ __forceinline__ unsigned block()
    {
        return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }

    static __device__ __forceinline__ unsigned thread()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }

    // The number of this warp among all of the grid.
    static __device__ __forceinline__ unsigned warp()
    {
        return block() * ((blockDim.x * blockDim.y * blockDim.z + 31) / 32) + thread() / 32;
    }

    __device__ __forceinline__ explicit TilewiseTrace(unsigned phase)
        : next(0), left(-0x40000000), tile(-1)
    {
        if (thread() % 32 == 0 && block() < tilewise_buffers.whole) {
            next = tilewise_buffers.reads + 1ull * warp() * tilewise_buffers.capacity;
            left = tilewise_buffers.capacity;
        }
        if (thread() == 0 && block() < tilewise_buffers.count) {
            unsigned multiprocessor;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
            unsigned long long* at = tilewise_buffers.blocks + block() * 6ull;
            at[0] = multiprocessor;
            at[1] = nanoseconds();
            at[2] = clock();
        }
        enter(phase);
    }

    // What was before this read ends here, and a phase begins. The lower half of the clock is
    // enough for the time to the next read, and leaves the upper one for the phase.
    __device__ __forceinline__ void enter(unsigned phase)
    {
        unsigned now = static_cast<unsigned>(clock());
        if (left > 0)
            *next = 1ull * phase << 32 | now;
        ++next;
        --left;
    }

    // Likewise, and a tile.
    __device__ __forceinline__ void begin_tile(unsigned phase)
    {
        ++tile;
        enter(phase | 0x80000000u);
    }

    // Likewise an iteration of the inner loop, in one tile alone.
    __device__ __forceinline__ void each(unsigned phase)
    {
        if (tile == tilewise_buffers.tile)
            enter(phase);
    }

    // The end of the kernel, wherever a thread returns.
    __device__ __forceinline__ ~TilewiseTrace()
    {
        unsigned long long now = clock();
        if (thread() % 32 != 0)
            return;
        if (block() < tilewise_buffers.whole) {
            tilewise_buffers.ends[2ull * warp()] = now;
            tilewise_buffers.ends[2ull * warp() + 1] = tilewise_buffers.capacity - left;
        }
        if (block() < tilewise_buffers.count) {
            unsigned long long* at = tilewise_buffers.blocks + block() * 6ull;
            if (thread() == 0) {
                at[3] = nanoseconds();
                at[4] = now;
            }
            atomicMax(at + 5, now);
        }
    }
};
