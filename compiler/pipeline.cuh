// The functions of <cuda_pipeline.h> that the simulator knows, for NVRTC, which has no such header.
// Asynchronous copies need compute capability 8.0; before it a copy is an ordinary one.
__device__ __forceinline__ void __pipeline_memcpy_async(void* to, const void* from, size_t size)
{
#if __CUDA_ARCH__ >= 800
    unsigned int shared = static_cast<unsigned int>(__cvta_generic_to_shared(to));
    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
#else
    if (size == 16)
        *static_cast<float4*>(to) = *static_cast<const float4*>(from);
    else if (size == 8)
        *static_cast<float2*>(to) = *static_cast<const float2*>(from);
    else
        *static_cast<float*>(to) = *static_cast<const float*>(from);
#endif
}

// The last zeros bytes of the copy are zeros, and not read.
__device__ __forceinline__ void __pipeline_memcpy_async(void* to, const void* from, size_t size,
                                                        size_t zeros)
{
#if __CUDA_ARCH__ >= 800
    unsigned int shared = static_cast<unsigned int>(__cvta_generic_to_shared(to));
    unsigned int read = static_cast<unsigned int>(size - zeros);
    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     ::"r"(shared), "l"(from), "r"(read) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                     ::"r"(shared), "l"(from), "r"(read) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     ::"r"(shared), "l"(from), "r"(read) : "memory");
#else
    for (size_t i = 0; i < size / 4; ++i)
        static_cast<float*>(to)[i] = i < (size - zeros) / 4 ? static_cast<const float*>(from)[i] : 0.0f;
#endif
}

__device__ __forceinline__ void __pipeline_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

__device__ __forceinline__ void __pipeline_wait_prior(size_t batches)
{
#if __CUDA_ARCH__ >= 800
    if (batches == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (batches == 1)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else if (batches == 2)
        asm volatile("cp.async.wait_group 2;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
}
