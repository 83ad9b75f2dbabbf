// What NVIDIA's own calculator says of launches: a line each of capability and launch in, blocks out.
#include <cstdio>
#include <cuda_occupancy.h>

int main()
{
    int major, minor, warps, shared, most, reserved, threads, bytes, registers;
    while (std::scanf("%d %d %d %d %d %d %d %d %d", &major, &minor, &warps, &shared, &most, &reserved,
                      &threads, &bytes, &registers) == 9) {
        cudaOccDeviceProp device;
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = 32 * warps;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = shared;
        device.sharedMemPerBlockOptin = most;
        device.reservedSharedMemPerBlock = reserved;
        device.numSms = 1;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = 0;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = most;
        cudaOccDeviceState state;
        cudaOccResult found;
        cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state,
                                                                     threads, bytes);
        std::printf("%d\n", error ? 0 : found.activeBlocksPerMultiprocessor);
    }
}
