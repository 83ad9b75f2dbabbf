// What NVIDIA's own headers have of a multiprocessor: a line each of capability in, its limits out.
#include <cstdio>
#include <cuda/devices>

int main()
{
    int capability;
    while (std::scanf("%d", &capability) == 1) {
        auto has = cuda::arch_traits_for(cuda::compute_capability{capability});
        std::printf("%d %d %zu %zu %zu %d\n", has.max_blocks_per_multiprocessor,
                    has.max_warps_per_multiprocessor, has.max_shared_memory_per_multiprocessor,
                    has.max_shared_memory_per_block_optin, has.reserved_shared_memory_per_block,
                    has.max_registers_per_multiprocessor);
    }
}
