"""Single warp instructions with chosen addresses, to learn what each costs on a real GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.launch import WARP_SIZE

SPACES = ("shared", "global")
KINDS = ("load", "store")
REACH = 16384  # bytes that offsets may lie within
SEED = 20261121
TYPES = {4: "b32", 8: "b64", 16: "v4.b32"}
EVERY = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Pattern:
    """One load or store of a warp."""

    name: str
    space: str  # of SPACES
    kind: str  # of KINDS
    width: int  # bytes that a lane accesses: 4, 8 or 16
    offsets: tuple[int, ...]  # [32], each lane's offset in bytes
    mask: int  # bit i: whether lane i is active


def patterns() -> list[Pattern]:
    """All that are measured, the same ones every time."""
    found = []
    for space in SPACES:
        for kind in KINDS:
            for width in TYPES:
                named = [*_strided(width), *_masked(space, width)]
                if space == "shared":
                    named += _shared(width)
                named += _drawn(space, kind, width)
                for name, units, mask in named:
                    offsets = tuple(int(unit) * width for unit in units)
                    found.append(Pattern(name, space, kind, width, offsets, mask))
    return found


LANES = np.arange(WARP_SIZE)
Named = tuple[str, Array, int]


def _strided(width: int) -> Iterator[Named]:
    """Every lane active; offsets in units of the width."""
    yield "in order", LANES, EVERY
    yield "in reverse", LANES[::-1], EVERY
    yield "one for all", LANES * 0, EVERY
    for stride in (2, 3, 4, 8, 32, 33):
        yield f"stride {stride}", LANES * stride, EVERY


def _shared(width: int) -> Iterator[Named]:
    """Every lane active, some reading what others read."""
    for bit in (1, 2, 4, 8, 16):
        yield f"lanes that differ in bit {bit} share", LANES & ~bit, EVERY
    for size in (2, 4, 8, 16):
        yield f"runs of {size} share", LANES // size, EVERY
        yield f"lanes equal modulo {size} share", LANES % size, EVERY
    yield "pairs share, in one bank", LANES // 2 * (128 // width), EVERY
    yield "halves in one bank each", LANES % 16 * (128 // width) + LANES // 16, EVERY
    yield "two neighbours for all", LANES % 2, EVERY
    yield "a word in each half", LANES // 16 * 5, EVERY
    yield "a word in each quarter", LANES // 8 * 5, EVERY


def _masked(space: str, width: int) -> Iterator[Named]:
    """Some lanes active, in order and, in shared memory, in one bank and all at one address."""
    masks = {
        "lane 0": 1, "lane 31": 1 << 31, "first half": 0xFFFF,
        "second half": 0xFFFF0000, "first quarter": 0xFF, "third quarter": 0xFF0000,
        "first and third quarter": 0xFF00FF,
        "first and last quarter": 0xFF0000FF, "even lanes": 0x55555555, "odd lanes": 0xAAAAAAAA,
        "lanes without bit 2": 0x33333333, "lanes without bit 4": 0x0F0F0F0F,
        "lanes 0 and 16": 0x10001, "lanes 0 and 1": 3, "lanes 15 and 16": 0x18000,
        "a lane of each quarter": 0x01010101, "all but lane 7": EVERY ^ 128,
    }  # fmt: skip
    for name, mask in masks.items():
        yield f"in order, {name}", LANES, mask
        if space == "shared" and mask & (mask - 1):
            yield f"in one bank, {name}", LANES * (128 // width), mask
            if width > 4:
                yield f"one for all, {name}", LANES * 0, mask


def _drawn(space: str, kind: str, width: int) -> Iterator[Named]:
    """Random addresses and masks, some with lanes that share in the ways that might merge."""
    number = SPACES.index(space) * 2 + KINDS.index(kind)
    random = np.random.default_rng(SEED + 100 * number + width)
    count = 5 if space == "global" else 6 if width == 4 else 24 if kind == "load" else 16
    for i in range(count):
        reach = int(random.choice([16, 32, 64, 256]))
        units = random.integers(0, reach, WARP_SIZE)
        mask = EVERY if i % 3 == 0 else int(random.integers(0, 2**32))
        if i % 3 == 2:
            mask &= int(random.integers(0, 2**32))
        share = (0, 1, 2, 4, 8, 16)[i % 6]
        yield f"drawn {i}, sharing bit {share}", units[LANES & ~share], mask


def source(chosen: Sequence[Pattern]) -> str:
    """A program that launches one warp for each pattern, in order."""
    kernels = "".join(
        _kernel(*kind) for kind in sorted({(p.space, p.kind, p.width) for p in chosen})
    )
    rows = ",\n".join(
        f"{{{kernel_name(p)}, {{{p.mask}u, {{{', '.join(map(str, p.offsets))}}}}}}}" for p in chosen
    )
    return PROGRAM % {"kernels": kernels, "rows": rows, "reach": REACH}


def kernel_name(pattern: Pattern) -> str:
    """What the kernel that makes such an access is called."""
    return f"{pattern.space}_{pattern.kind}_{pattern.width}"


def _kernel(space: str, kind: str, width: int) -> str:
    """A kernel whose one access of the kind is predicated by the lane's bit, without a branch."""
    typed = TYPES[width]
    address = "shared" if space == "shared" else "memory"
    constraint = "r" if space == "shared" else "l"
    words = {4: ("r",), 8: ("l",), 16: ("r",) * 4}[width]
    c_type = {"l": "unsigned long long", "r": "unsigned"}[words[0]]
    names = [f"v{i}" for i in range(len(words))]
    first = len(words) if kind == "load" else 0
    a, on = f"%{first}", f"%{first + 1}"
    start = 0 if kind == "load" else 2
    listed = ", ".join(f"%{start + i}" for i in range(len(words)))
    value = f"{{{listed}}}" if len(words) > 1 else listed
    order = f"ld.{space}.{typed} {value}, [{a}]" if kind == "load" else (
        f"st.{space}.{typed} [{a}], {value}"
    )  # fmt: skip
    outputs = ", ".join(f'"+{c}"({n})' for c, n in zip(words, names, strict=True))
    inputs = ", ".join(f'"{c}"({n})' for c, n in zip(words, names, strict=True))
    operands = f'"{constraint}"({address}), "r"(on)'
    bound = f": {outputs} : {operands}" if kind == "load" else f":: {operands}, {inputs}"
    declared = " ".join(f"{c_type} {n} = lane + {i};" for i, n in enumerate(names))
    # A value that nobody uses would not be loaded: it is stored, were it one that never occurs.
    use = f"if (({' + '.join(names)}) == 0x7fff1234u) out[{REACH}] = 1;" if kind == "load" else ""
    return f"""
__global__ void {space}_{kind}_{width}(char* out) {{
    ADDRESSES
    {declared}
    asm volatile("{{ .reg .pred p; setp.ne.u32 p, {on}, 0; @p {order}; }}" {bound} : "memory");
    {use}
}}
"""


PROGRAM = """
#include <cstdio>
struct Lanes { unsigned mask; int offsets[32]; };
__constant__ Lanes lanes;
#define ADDRESSES \\
    extern __shared__ __align__(16) char room[]; \\
    unsigned lane = threadIdx.x, on = lanes.mask >> lane & 1u; \\
    unsigned shared = unsigned(__cvta_generic_to_shared(room)) + lanes.offsets[lane]; \\
    char* memory = out + lanes.offsets[lane];
%(kernels)s
struct Row { void (*kernel)(char*); Lanes lanes; };
const Row rows[] = {
%(rows)s
};
int main() {
    char* out;
    cudaMalloc(&out, %(reach)d + 16);
    cudaMemset(out, 0, %(reach)d + 16);
    for (const Row& row : rows) {
        cudaMemcpyToSymbol(lanes, &row.lanes, sizeof row.lanes);
        row.kernel<<<1, 32, %(reach)d>>>(out);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("failed: %%s\\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
"""
