"""Kernels of all kinds as a visitor may write them, each with a launch that a scene can show."""

from __future__ import annotations

from simulator.verdict.form import (
    ArrayArgument,
    Contents,
    LaunchForm,
    NumberArgument,
    Sizes3,
    UserKernel,
)

ZEROS, ONES, COUNTING = Contents.ZEROS, Contents.ONES, Contents.COUNTING


def sizes(text: str) -> Sizes3:
    """Sizes in x, y and z, of which the latter may be left out."""
    x, y, z = [*text.split(","), "1", "1"][:3]
    return x, y, z


def array(name: str, columns: str, contents: Contents = Contents.RANDOM) -> ArrayArgument:
    """An array of one row."""
    return ArrayArgument(name, "1", columns, contents)


def user_kernel(
    text: str, grid: str, block: str, *arguments: ArrayArgument | NumberArgument | tuple[str, str],
    shared: str = "0", roles: str = "",
) -> UserKernel:  # fmt: skip
    """A kernel and its launch; roles are those of a product, such as "A=x B=w C=y"."""
    given = tuple(NumberArgument(*one) if isinstance(one, tuple) else one for one in arguments)
    pairs = tuple((role, what) for role, _, what in (one.partition("=") for one in roles.split()))
    name = text.split("void ", 1)[1].split("(")[0].strip()
    task = "product" if roles else ""
    return UserKernel(text, name, LaunchForm(sizes(grid), sizes(block), shared, given, task, pairs))


SAXPY = user_kernel(
    """__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
""",
    "(n + 31) / 32", "32", ("n", "50"), ("a", "2.5"), array("x", "n"), array("y", "n"),
)  # fmt: skip

REDUCTION = user_kernel(
    """__global__ void reduce(const float* in, float* out, int n) {
    __shared__ float partial[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
""",
    "2", "64", array("in", "n"), array("out", "2", ZEROS), ("n", "100"),
)  # fmt: skip

RACE = user_kernel(
    REDUCTION.text.replace("        __syncthreads();\n    }", "    }").replace("reduce", "hasty"),
    "2", "64", array("in", "n"), array("out", "2", ZEROS), ("n", "100"),
)  # fmt: skip

HISTOGRAM = user_kernel(
    """__global__ void histogram(const unsigned char* pixels, unsigned int* bins, int n) {
    __shared__ unsigned int counts[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[pixels[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], counts[b]);
}
""",
    "2", "64", array("pixels", "n"), array("bins", "256", ZEROS), ("n", "300"),
)  # fmt: skip

HASTY_HISTOGRAM = user_kernel(
    """__global__ void hasty(const int* x, int* bins, int n) {
    int i = threadIdx.x;
    bins[i % 5] += x[i];
}
""",
    "1", "16", array("x", "n"), array("bins", "8", ZEROS), ("n", "16"),
)  # fmt: skip

TRANSPOSE = user_kernel(
    """#define TILE 8
__global__ void transpose(const float* in, float* out, int rows, int columns) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
""",
    "(columns + TILE - 1) / TILE,(rows + TILE - 1) / TILE", "TILE,TILE",
    ArrayArgument("in", "rows", "columns", COUNTING),
    ArrayArgument("out", "columns", "rows", ZEROS), ("rows", "12"), ("columns", "20"),
)  # fmt: skip

STENCIL = user_kernel(
    """#define RADIUS 2
__global__ void blur(const double* in, double* out, int n) {
    extern __shared__ double line[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + RADIUS;
    line[at] = i < n ? in[i] : 0.0;
    if (threadIdx.x < RADIUS) {
        line[threadIdx.x] = i >= RADIUS ? in[i - RADIUS] : 0.0;
        line[at + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0.0;
    }
    __syncthreads();
    double sum = 0;
    for (int d = -RADIUS; d <= RADIUS; ++d) sum += line[at + d];
    if (i < n) out[i] = sum / (2 * RADIUS + 1);
}
""",
    "3", "16", array("in", "n", COUNTING), array("out", "n", ZEROS), ("n", "40"),
    shared="20 * 8",
)  # fmt: skip

SCAN = user_kernel(
    """__global__ void scan(int* values) {
    __shared__ int a[2][32];
    int t = threadIdx.x, from = 0;
    a[0][t] = values[t];
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
        a[1 - from][t] = t >= d ? a[from][t] + a[from][t - d] : a[from][t];
        from = 1 - from;
        __syncthreads();
    }
    values[t] = a[from][t];
}
""",
    "1", "32", array("values", "32", ONES),
)  # fmt: skip

STRUCTS = user_kernel(
    """struct Body { double mass; float x, y; int hits; };
__global__ void move(Body* bodies, float dt, int count) {
    int i = threadIdx.x;
    if (i >= count) return;
    Body one = bodies[i];
    one.x += dt * (float)one.mass;
    bodies[i].x = one.x;
    bodies[i].hits += 1;
    bodies[i].mass = one.mass * 0.5;
}
""",
    "1", "32", array("bodies", "count"), ("dt", "0.5"), ("count", "20"),
)  # fmt: skip

HALVES = user_kernel(
    """#include <cuda_fp16.h>
__global__ void halve(__half* h, int n) {
    int i = threadIdx.x;
    if (i < n) h[i] = __hmul(h[i], __float2half(0.5f));
}
""",
    "1", "40", array("h", "n"), ("n", "33"),
)  # fmt: skip

PRINTING = user_kernel(
    """__global__ void hello() {
    printf("thread %d of block %d\\n", threadIdx.x, blockIdx.x);
}
""",
    "2", "4",
)  # fmt: skip

STORES_NOTHING = user_kernel(
    """__global__ void nothing(const int* thread, int* line, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) line[i] = thread[i];
}
""",
    "3", "16", array("thread", "8"), array("line", "8"), ("n", "8"),
)  # fmt: skip

LARGE_BLOCK = user_kernel(
    """__global__ void __launch_bounds__(1024) square(int* v) {
    v[threadIdx.y * blockDim.x + threadIdx.x] *= v[threadIdx.y * blockDim.x + threadIdx.x];
}
""".replace("void __launch_bounds__(1024) square", "__launch_bounds__(1024) void square"),
    "1", "32,32", array("v", "1024"),
)  # fmt: skip

DEEP_LOOPS = user_kernel(
    """__constant__ float weights[3][3];
__global__ void convolve(const float* image, float* result, int height, int width) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            for (int pass = 0; pass < 2; ++pass) {
                int row = y + dy, column = x + dx;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                sum += weights[dy + 1][dx + 1] + image[(z * height + row) * width + column];
            }
    result[(z * height + y) * width + x] = sum;
}
""",
    "1", "4,3,2", ArrayArgument("image", "2 * height", "width"),
    ArrayArgument("result", "2 * height", "width", ZEROS), ("height", "3"), ("width", "4"),
)  # fmt: skip

VECTORS = user_kernel(
    """__global__ void add4(const float4* left, const float4* right, float4* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = left[i], b = right[i];
    sum[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
""",
    "2", "8", ArrayArgument("left", "1", "n"), ArrayArgument("right", "1", "n"),
    ArrayArgument("sum", "1", "n", ZEROS), ("n", "12"),
)  # fmt: skip

MANY_ARRAYS = user_kernel(
    "__global__ void many("
    + ", ".join(f"float* an_array_with_a_long_name_{i}" for i in range(12))
    + ") {\n    int i = threadIdx.x;\n"
    + "".join(f"    an_array_with_a_long_name_{i}[i] = i * {i}.5f;\n" for i in range(12))
    + "}\n",
    "1",
    "64",
    *(array(f"an_array_with_a_long_name_{i}", "64") for i in range(12)),
)

MATRIX_VECTOR = user_kernel(
    """__global__ void gemv(const float* A, const float* v, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float acc = 0.0f;
    for (int k = 0; k < columns; ++k) acc += A[row * columns + k] * v[k];
    y[row] = acc;
}
""",
    "2", "32", ArrayArgument("A", "rows", "columns"), array("v", "columns"),
    array("y", "rows", ZEROS), ("rows", "64"), ("columns", "64"),
)  # fmt: skip

OUTSIDE = user_kernel(
    SAXPY.text.replace("if (i < n) ", "").replace("saxpy", "careless"),
    "(n + 31) / 32", "32", ("n", "50"), ("a", "2.5"), array("x", "n"), array("y", "n"),
)  # fmt: skip

NAIVE_PRODUCT = user_kernel(
    """__global__ void mm(const float* left, const float* right, float* out, int h, int w, int d) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= h || col >= w) return;
    float sum = 0;
    for (int k = 0; k < d; ++k) sum += left[row * d + k] * right[k * w + col];
    out[row * w + col] = sum;
}
""",
    "(w + 3) / 4,(h + 3) / 4", "4,4", ArrayArgument("left", "h", "d"),
    ArrayArgument("right", "d", "w"), ArrayArgument("out", "h", "w", ZEROS), ("h", "6"),
    ("w", "7"), ("d", "5"), roles="A=left B=right C=out M=h N=w K=d",
)  # fmt: skip

TILED_PRODUCT = user_kernel(
    """#define T 4
__global__ void gemm(const float* x, const float* weights, float* y, int n) {
    __shared__ float xs[T * T], ws[T][T];
    int tx = threadIdx.x % T, ty = threadIdx.x / T;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int t = 0; t < (n + T - 1) / T; ++t) {
        xs[ty * T + tx] = row < n && t * T + tx < n ? x[row * n + t * T + tx] : 0.0f;
        ws[ty][tx] = t * T + ty < n && col < n ? weights[(t * T + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += xs[ty * T + k] * ws[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) y[row * n + col] = acc;
}
""",
    "(n + T - 1) / T,(n + T - 1) / T", "T * T", array("x", "n * n"),
    ArrayArgument("weights", "n", "n"), ArrayArgument("y", "n", "n", ZEROS), ("n", "10"),
    roles="A=x B=weights C=y M=n N=n K=n",
)  # fmt: skip

SPLIT_PRODUCT = user_kernel(
    """__global__ void split(const float* P, const float* Q, float* R, int m, int n, int k) {
    int row = threadIdx.y, col = threadIdx.x, first = blockIdx.x * 4;
    float part = 0.0f;
    for (int i = first; i < first + 4 && i < k; ++i) part += P[row * k + i] * Q[i * n + col];
    atomicAdd(&R[row * n + col], part);
}
""",
    "(k + 3) / 4", "n,m", ArrayArgument("P", "m", "k"), ArrayArgument("Q", "k", "n"),
    ArrayArgument("R", "m", "n", ZEROS), ("m", "3"), ("n", "5"), ("k", "8"),
    roles="A=P B=Q C=R M=m N=n K=k",
)  # fmt: skip

HASTY_PRODUCT = user_kernel(
    """__global__ void hasty(const float* P, const float* Q, float* R, int m, int n, int k) {
    int row = threadIdx.y, col = threadIdx.x;
    for (int i = threadIdx.z; i < k; i += 2) R[row * n + col] += P[row * k + i] * Q[i * n + col];
}
""",
    "1", "n,m,2", ArrayArgument("P", "m", "k"), ArrayArgument("Q", "k", "n"),
    ArrayArgument("R", "m", "n", ZEROS), ("m", "4"), ("n", "4"), ("k", "8"),
    roles="A=P B=Q C=R M=m N=n K=k",
)  # fmt: skip

REGISTER_PRODUCT = user_kernel(
    """__global__ void columns4(const double* a, const double* b, double* c, int n) {
    double sums[4] = {0, 0, 0, 0};
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = 4 * threadIdx.x;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < 4; ++i)
            if (row < n && col + i < n) sums[i] += a[row * n + k] * b[k * n + col + i];
    for (int i = 0; i < 4; ++i)
        if (row < n && col + i < n) c[row * n + col + i] = sums[i];
}
""",
    "1,2", "2,4", ArrayArgument("a", "n", "n"), ArrayArgument("b", "n", "n"),
    ArrayArgument("c", "n", "n", ZEROS), ("n", "6"), roles="A=a B=b C=c M=n N=n K=n",
)  # fmt: skip

TENSOR_PRODUCT = user_kernel(
    """#include <mma.h>
using namespace nvcuda;
__global__ void on_tensor_core(const half* x, const half* w, float* y, int n, int depth) {
    __shared__ __align__(32) half xs[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[1];
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fill_fragment(sums[0], 0.0f);
    for (int k = 0; k < depth; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            xs[i] = x[(row + i / 16) * depth + k + i % 16];
        }
        __syncwarp();
        wmma::load_matrix_sync(left, xs, 16);
        wmma::load_matrix_sync(right, w + k * n + col, n);
        wmma::mma_sync(sums[0], left, right, sums[0]);
        __syncwarp();
    }
    for (int i = 0; i < sums[0].num_elements; i++) sums[0].x[i] *= 2.0f;
    wmma::store_matrix_sync(y + row * n + col, sums[0], n, wmma::mem_row_major);
}
""",
    "n / 16,n / 16", "32", ArrayArgument("x", "n", "depth"), ArrayArgument("w", "depth", "n"),
    ArrayArgument("y", "n", "n", ZEROS), ("n", "32"), ("depth", "32"),
    roles="A=x B=w C=y M=n N=n K=depth",
)  # fmt: skip

BFLOAT16_PRODUCT = user_kernel(
    """#include <cuda_bf16.h>
#define TILE 4
__global__ void rounded(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int n) {
    __shared__ __nv_bfloat16 As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += __bfloat162float(As[threadIdx.y][k]) * __bfloat162float(Bs[k][threadIdx.x]);
        __syncthreads();
    }
    C[row * n + col] = acc;
}
""",
    "2,2", "4,4", ArrayArgument("A", "n", "n"), ArrayArgument("B", "n", "n"),
    ArrayArgument("C", "n", "n", ZEROS), ("n", "8"), roles="A=A B=B C=C M=n N=n K=n",
)  # fmt: skip

PRODUCTS = {
    "a naive product": NAIVE_PRODUCT,
    "a tiled product": TILED_PRODUCT,
    "a product split along k": SPLIT_PRODUCT,
    "four sums a thread": REGISTER_PRODUCT,
}
RANDOM_WALK = user_kernel(
    """#include <curand_kernel.h>
__global__ void walk(float* place, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState own;
    curand_init(7, i, 0, &own);
    float x = 0.0f;
    for (int s = 0; s < steps; ++s) x += curand_normal(&own);
    if (curand_uniform(&own) < 0.5f) x = -x;
    place[i] = x;
}
""",
    "2", "32", array("place", "64", ZEROS), ("steps", "3"),
)  # fmt: skip

WHOLE_GRID = user_kernel(
    """#include <cooperative_groups.h>
#include <cub/cub.cuh>
__global__ void share(const float* x, float* partial, float* y) {
    typedef cub::BlockReduce<float, 32> Reduce;
    __shared__ Reduce::TempStorage storage;
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    float sum = Reduce(storage).Sum(x[i]);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid.sync();
    y[i] = x[i] / (partial[0] + partial[1]);
}
""",
    "2", "32", array("x", "64"), array("partial", "2", ZEROS), array("y", "64", ZEROS),
)  # fmt: skip

OTHERS = {
    "random numbers": RANDOM_WALK,
    "the whole grid": WHOLE_GRID,
    "saxpy": SAXPY,
    "reduction": REDUCTION,
    "race": RACE,
    "histogram": HISTOGRAM,
    "a hasty histogram": HASTY_HISTOGRAM,
    "transpose": TRANSPOSE,
    "stencil": STENCIL,
    "scan": SCAN,
    "structs": STRUCTS,
    "halves": HALVES,
    "printf": PRINTING,
    "stores nothing": STORES_NOTHING,
    "1024 threads": LARGE_BLOCK,
    "three loops": DEEP_LOOPS,
    "short vectors": VECTORS,
    "many arrays": MANY_ARRAYS,
    "matrix and vector": MATRIX_VECTOR,
    "outside": OUTSIDE,
}
# Scenes with the matrices of a product, but without its stage: a whole warp multiplies, the sums
# are in C, or functions convert the factors.
USER_KERNELS = (
    PRODUCTS
    | OTHERS
    | {
        "tensor cores": TENSOR_PRODUCT,
        "a hasty product": HASTY_PRODUCT,
        "bfloat16": BFLOAT16_PRODUCT,
    }
)
