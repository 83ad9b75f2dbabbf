// The GPU's clock beside a kernel's statements. A warp's first lane writes what it reads to the
// warp's own room, in the blocks that are traced whole; of every block it is known where and when
// it ran.
struct TilewiseRoom {
    unsigned long long* reads;  // `room` for each warp of a whole block: clock << 12 | phase
    unsigned long long* ends;   // two for each of these warps: its last clock, its number of reads
    unsigned long long* blocks; // six for each block: see ~TilewiseTrace
    unsigned whole;             // blocks that are traced whole, the first ones
    unsigned count;             // blocks that have a place in `blocks`
    unsigned room;              // reads
    int tile;                   // the one of which every iteration of the inner loop is read
};
extern "C" {
__constant__ TilewiseRoom tilewise_room;
}

struct TilewiseTrace {
    unsigned next; // where the next read goes
    unsigned end;  // where the warp's room ends: 0 for all that write nothing
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

    __device__ __forceinline__ explicit TilewiseTrace(unsigned phase) : next(0), end(0), tile(-1)
    {
        if (thread() % 32 == 0 && block() < tilewise_room.whole) {
            next = warp() * tilewise_room.room;
            end = next + tilewise_room.room;
        }
        if (thread() == 0 && block() < tilewise_room.count) {
            unsigned multiprocessor;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
            unsigned long long* at = tilewise_room.blocks + block() * 6ull;
            at[0] = multiprocessor;
            at[1] = nanoseconds();
            at[2] = clock();
        }
        enter(phase);
    }

    // What was before this read ends here, and a phase begins.
    __device__ __forceinline__ void enter(unsigned phase)
    {
        unsigned long long now = clock();
        if (next < end)
            tilewise_room.reads[next] = now << 12 | phase;
        ++next;
    }

    // Likewise, and a tile.
    __device__ __forceinline__ void begin_tile(unsigned phase)
    {
        ++tile;
        enter(phase);
    }

    // Likewise an iteration of the inner loop, in one tile alone.
    __device__ __forceinline__ void each(unsigned phase)
    {
        if (tile == tilewise_room.tile)
            enter(phase);
    }

    // The end of the kernel, wherever a thread returns.
    __device__ __forceinline__ ~TilewiseTrace()
    {
        unsigned long long now = clock();
        if (thread() % 32 != 0)
            return;
        if (end != 0) {
            tilewise_room.ends[2ull * warp()] = now;
            tilewise_room.ends[2ull * warp() + 1] = next - (end - tilewise_room.room);
        }
        if (block() < tilewise_room.count) {
            unsigned long long* at = tilewise_room.blocks + block() * 6ull;
            if (thread() == 0) {
                at[3] = nanoseconds();
                at[4] = now;
            }
            atomicMax(at + 5, now);
        }
    }
};
