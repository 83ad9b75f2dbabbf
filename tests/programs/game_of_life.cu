#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

namespace life {
namespace {

typedef unsigned char ubyte;

// The world is a torus: what leaves at one edge comes back at the other.
__global__ void simpleLifeKernel(const ubyte* lifeData, unsigned worldWidth, unsigned worldHeight, ubyte* resultLifeData) {
  unsigned worldSize = worldWidth * worldHeight;

  for (unsigned cellId = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
      cellId < worldSize;
      cellId += blockDim.x * gridDim.x) {
    unsigned x = cellId % worldWidth;
    unsigned yAbs = cellId - x;
    unsigned xLeft = (x + worldWidth - 1) % worldWidth;
    unsigned xRight = (x + 1) % worldWidth;
    unsigned yAbsUp = (yAbs + worldSize - worldWidth) % worldSize;
    unsigned yAbsDown = (yAbs + worldWidth) % worldSize;

    unsigned aliveCells = lifeData[xLeft + yAbsUp] + lifeData[x + yAbsUp] + lifeData[xRight + yAbsUp]
      + lifeData[xLeft + yAbs] + lifeData[xRight + yAbs]
      + lifeData[xLeft + yAbsDown] + lifeData[x + yAbsDown] + lifeData[xRight + yAbsDown];

    resultLifeData[x + yAbs] =
      aliveCells == 3 || (aliveCells == 2 && lifeData[x + yAbs]) ? 1 : 0;
  }
}

}  // namespace
}  // namespace life

int main(int argc, char* argv[]) {
  const unsigned width = 30, height = 20;
  std::vector<unsigned char> world(width * height);
  for (auto& cell : world) cell = std::rand() % 3 == 0;
  unsigned char *now, *next;
  cudaMalloc(&now, world.size());
  cudaMalloc(&next, world.size());
  cudaMemcpy(now, world.data(), world.size(), cudaMemcpyHostToDevice);
  for (int step = 0; step < 4; ++step) {
    life::simpleLifeKernel<<<3, 128>>>(now, width, height, next);
    unsigned char* t = now; now = next; next = t;
  }
  cudaMemcpy(world.data(), now, world.size(), cudaMemcpyDeviceToHost);
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) std::putchar(world[y * width + x] ? 'o' : ' ');
    std::putchar('\n');
  }
}
