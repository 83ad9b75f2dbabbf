"""What the profile looks at: every catalogue kernel, and variants that access memory otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.headers import uses_tensor_cores
from simulator.catalogue import Entry, catalogue
from simulator.launch import dim3
from tools.program import Case

SIZES = ((96, 64, 80), (45, 37, 51))  # M, N, K: one that tiles divide, one that they do not
TRANSPOSED = (("Bs[ty][tx]", "Bs[tx][ty]"), ("Bs[k][tx]", "Bs[tx][k]"))
EDITS = {
    "B transposed": TRANSPOSED,
    "B transposed, padded": (*TRANSPOSED, ("Bs[TILE][TILE]", "Bs[TILE][TILE + 1]")),
    "A and B padded": (
        ("As[TILE][TILE]", "As[TILE][TILE + 1]"), ("Bs[TILE][TILE]", "Bs[TILE][TILE + 1]"),
    ),
    "double": (("float", "double"), ("0.0f", "0.0")),
}  # fmt: skip
FLOATS = ("f32:8192", "f32:8192", "i32=300")  # arguments of most


def cases() -> list[Case]:
    """Every launch that is profiled."""
    return [*_catalogue(), *_edited(), *_variants()]


def _catalogue() -> Iterator[Case]:
    for entry in catalogue().values():
        if uses_tensor_cores(entry.source()):
            continue  # mma.h has no place in a case's namespace: tile accesses have their own data
        for chosen in entry.settings():
            text = entry.source(**chosen)
            for size in SIZES:
                yield _product(entry, "", text, size, dict(chosen))


def _edited() -> Iterator[Case]:
    entry = catalogue()["tiled"]
    for what, edit in EDITS.items():
        for tile in (8, 16, 32):
            text = entry.source(TILE=tile)
            for old, new in edit:
                text = text.replace(old, new)
            for size in SIZES:
                yield _product(entry, f", {what}", text, size, {"TILE": tile})


def _product(
    entry: Entry, what: str, text: str, size: tuple[int, int, int], chosen: dict[str, int]
) -> Case:
    """C = A * B; a kernel of vectors cannot have volatile arrays."""
    M, N, K = size
    grid, block = entry.shape(M, N, **chosen)
    number = "f64" if "double*" in text else "f32"
    arrays = tuple(f"{number}:{rows}x{columns}" for rows, columns in ((M, K), (K, N), (M, N)))
    settings = "".join(f" {name}={value}" for name, value in chosen.items())
    numbers = tuple(f"i32={extent}" for extent in size)
    vectors = any(word in text for word in ("float2", "float4", "double2", "__pipeline"))
    form = "plain" if vectors else "volatile"
    name = f"{entry.name}{settings}{what}, {M}x{N}x{K}"
    return Case(name, text, entry.kernel, grid, block, arrays + numbers, form=form)


def _line(
    name: str, body: str, block: int, arguments: tuple[str, ...] = FLOATS, grid: int = 3,
    form: str = "volatile",
) -> Case:  # fmt: skip
    """A kernel over a line of threads: x is read, y written, n counts the elements used."""
    number = {"f32": "float", "f64": "double", "i32": "int"}[arguments[0][:3]]
    text = (
        f"__global__ void line({number}* x, {number}* y, int n)\n{{\n"
        f"    int t = threadIdx.x;\n    int i = blockIdx.x * blockDim.x + t;\n{body}\n}}\n"
    )
    return Case(name, text, "line", dim3(grid), dim3(block), arguments, form=form)


def _variants() -> Iterator[Case]:
    for block in (32, 48, 256):
        for shift in (0, 1, 7):
            yield _line(
                f"copy from {shift}, {block} threads",
                f"    if (i < n)\n        y[i] = x[i + {shift}];",
                block,
            )
    for stride in (2, 3, 8, 33):
        yield _line(f"stride {stride}", f"    y[i * {stride}] = x[i * {stride}];", 64)
    yield _line("every third lane", "    if (t % 3 == 0)\n        y[i] = x[i] + 1;", 96)
    yield _line(
        "two branches",
        "    if (t % 2)\n        y[i] = x[i];\n    else\n        y[i] = x[i + 512];",
        96,
    )
    doubles = ("f64:4096", "f64:4096", "i32=300")
    yield _line("double, from 1", "    if (i < n)\n        y[i] = x[i + 1];", 96, doubles)
    for vector in ("float2", "float4"):
        yield from _vectors(vector)
    whole = ("i32:4096", "i32:4096", "i32=300")
    yield _line(
        "atomics, whole numbers",
        "    __shared__ int s[32];\n    if (t < 32)\n        s[t] = 0;\n    __syncthreads();\n"
        "    atomicAdd(&s[t % 32], 1);\n    atomicAdd(&y[t % 8], 1);\n    __syncthreads();\n"
        "    if (t < 32)\n        x[t] = s[t];",
        96,
        whole,
        form="plain",
        grid=1,
    )
    for old, new in (("3-D shared", "[2][8][32]"), ("3-D shared, padded", "[2][8][33]")):
        yield _line(
            old,
            f"    __shared__ float s{new};\n    s[0][t / 32][t % 32] = x[i];\n"
            "    s[1][t / 32][t % 32] = x[i + 256];\n    __syncthreads();\n"
            "    y[i] = s[t % 2][t % 8][t / 8];",
            256,
        )
    yield _asynchronous()


def _vectors(vector: str) -> Iterator[Case]:
    yield _line(
        f"{vector} copy",
        f"    if (i < n)\n        reinterpret_cast<{vector}*>(y)[i] = "
        f"reinterpret_cast<{vector}*>(x)[i];",
        96,
        ("f32:8192", "f32:8192", "i32=250"),
        form="plain",
    )
    for what, index in (
        ("in order", "t"),
        ("one for all", "7"),
        ("pairs share", "t / 2"),
        ("lanes 16 apart share", "t % 16"),
        ("stride 5", "t * 5 % 128"),
        ("even lanes twice", "t & ~1"),
    ):
        yield _line(
            f"shared {vector}, {what}",
            f"    __shared__ {vector} s[128];\n"
            f"    s[t] = reinterpret_cast<{vector}*>(x)[i];\n    __syncthreads();\n"
            f"    reinterpret_cast<{vector}*>(y)[i] = s[{index}];",
            128,
            form="plain",
        )
    yield _line(
        f"shared {vector}, masked",
        f"    __shared__ {vector} s[128];\n    if (t % 32 < 20)\n"
        f"        s[t] = reinterpret_cast<{vector}*>(x)[i];\n    __syncthreads();\n"
        f"    if (t % 32 < 10)\n        reinterpret_cast<{vector}*>(y)[i] = s[t ^ 1];",
        128,
        form="plain",
    )


def _asynchronous() -> Case:
    body = (
        "    __shared__ float4 s[128];\n"
        "    __pipeline_memcpy_async(&s[t], reinterpret_cast<float4*>(x) + i, 16);\n"
        "    __pipeline_commit();\n    __pipeline_wait_prior(0);\n    __syncthreads();\n"
        "    reinterpret_cast<float4*>(y)[i] = s[127 - t];"
    )
    return _line("asynchronous copy", body, 128, form="plain")


# Counters that differ for a reason that lies outside the source: a part of a case's name, the
# form it is built in, the counters' prefix, and why.
COPIES = "The profiler counts an asynchronous copy as three shared loads and as no store."
FEW = "The profiler saw a few passes more than the same instruction takes on its own."
SUNK = "The compiler moves loads of what is stored in C into the branch that stores it."
BOTH = "Copies count as shared loads, and loads of C's elements move into the branch that stores."
EXPLAINED: tuple[tuple[str, str, str, str], ...] = (
    ("asynchronous copy", "plain", "shared_load_requests", COPIES),
    ("asynchronous copy", "plain", "shared_store", COPIES),
    ("pipelined", "plain", "shared_load_requests", COPIES),
    ("pipelined", "plain", "shared_store", COPIES),
    ("warptiles", "plain", "shared_load_requests", BOTH),
    ("warptiles WARPS_DOWN=2 WARPS_ACROSS=4", "plain", "shared_load_wavefronts", SUNK),
    ("warptiles", "plain", "shared_store", COPIES),
    ("anyshape WARPS_DOWN=2 WARPS_ACROSS=2", "plain", "shared_load_requests", BOTH),
    ("anyshape WARPS_DOWN=2 WARPS_ACROSS=2", "plain", "shared_load_wavefronts", SUNK),
    ("anyshape", "plain", "shared_load_requests", COPIES),
    ("anyshape", "plain", "shared_store", COPIES),
    ("two branches", "volatile", "global", "The compiler makes one instruction of both branches."),
    ("swizzled TILE=4, 96x64x80", "volatile", "shared_load_wavefronts", FEW),
    ("masked", "plain", "shared_store_wavefronts", FEW),
    ("few_rows", "plain", "shared_store_wavefronts", FEW),
    ("few_rows ROWS=2 COLUMNS=32 WARPS=1 AHEAD=1, 45x37x51", "plain", "shared_load", SUNK),
    ("few_rows ROWS=4 COLUMNS=32 WARPS=16 AHEAD=2, 45x37x51", "plain", "shared_load", SUNK),
    ("few_columns", "plain", "shared_store_wavefronts", FEW),
    ("few_columns", "plain", "shared_load_wavefronts", FEW),
)


def explained(case: str, form: str, counter: str) -> str | None:
    """Why a counter of a case differs from the hardware's, where that is known."""
    for part, built, prefix, why in EXPLAINED:
        if part in case and form == built and counter.startswith(prefix):
            return why
    return None
