"""bfloat16, half and the types of 8 bits on a GPU: `python -m tools.short_float_bits --out FILE`.

Every number of 16 bits, or of 8, goes through each conversion and function, and as many numbers of
the other types and pairs through what takes those. The simulator executes the same kernels:
tests/simulator/test_short_float_bits.py holds it to the digests that FILE has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tools.measured import compiled, digest, machine, write

Array = np.ndarray[Any, Any]

COUNT = 2**16  # threads of a launch, one for each number of 16 bits
THREADS = 256  # of a block
MODES = ("rn", "rz", "ru", "rd")
# By the words in CUDA's names.
WHOLE = {"int": "int", "uint": "unsigned", "short": "short", "ushort": "unsigned short",
         "ll": "long long", "ull": "unsigned long long"}  # fmt: skip
CELLS = {"__nv_bfloat16": "u2", "half": "f2", "__nv_fp8_e4m3": "u1", "__nv_fp8_e5m2": "u1",
         "float": "f4", "double": "f8", "short": "i2", "unsigned short": "u2", "int": "i4",
         "unsigned": "u4", "long long": "i8", "unsigned long long": "u8"}  # fmt: skip
HEADERS = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_fp8.h>\n"
KERNEL = """extern "C" __global__ void k(const {given}* a, const {given}* b, const {given}* c,
                             {result}* o, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {given} x = a[i], y = b[i], z = c[i];
    {lines}
}}
"""


@dataclass(frozen=True, slots=True)
class Group:
    """What is computed of x, y and z of one type, each a result of another."""

    given: str
    result: str
    expressions: tuple[str, ...]

    @property
    def text(self) -> str:
        """Its kernel, k: row r of the output holds the results of expression r."""
        lines = "\n    ".join(
            f"o[i + {row} * n] = {expression};" for row, expression in enumerate(self.expressions)
        )
        return HEADERS + KERNEL.format(given=self.given, result=self.result, lines=lines)

    def arguments(self) -> dict[str, Any]:
        """Those of a launch of COUNT threads, by parameter."""
        out = np.zeros(len(self.expressions) * COUNT, CELLS[self.result])
        return {**operands(self.given), "o": out, "n": np.int32(COUNT)}


def _scrambled(seed: int) -> Array:
    """COUNT words of 64 bits that look random (splitmix64)."""
    z = (np.arange(COUNT, dtype=np.uint64) + np.uint64(seed * COUNT + 1)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def operands(kind: str) -> dict[str, Array]:
    """a, b and c as cells of a type: a has each number of up to 16 bits, and b and c near ones."""
    every, dtype = np.arange(COUNT, dtype=np.uint64), np.dtype(CELLS[kind])
    unsigned = np.dtype(f"u{dtype.itemsize}")
    found = {}
    for number, name in enumerate("abc"):
        random = _scrambled(number)
        if dtype.itemsize <= 2:  # of the others half within an eighth of a's range
            near = every ^ (random >> np.uint64(32 + 19 - 8 * dtype.itemsize))
            cells = every if name == "a" else np.where(random & np.uint64(1), random, near)
        elif kind == "float":  # half way between two numbers of fewer bits, and a hair beside it
            ends = np.array([0, 1, 0x7FFF, 0x8000, 0x8001], np.uint64)[random % np.uint64(5)]
            cells = random if number else every << np.uint64(16) | ends
        elif kind == "double":
            narrow = operands("float")[name]
            wide = np.nan_to_num(narrow, nan=1.5).astype(np.float64).view(np.uint64)
            beside = wide + random % np.uint64(3) - np.uint64(1)
            cells = np.where(random % np.uint64(8), beside, random)
        else:  # whole numbers of all sizes
            bits = np.uint64(8 * dtype.itemsize)
            shifted = (random << (np.uint64(64) - bits)).view(np.int64) >> (
                np.uint64(64) - bits + (random >> np.uint64(40)) % bits
            ).view(np.int64)
            cells = shifted.view(np.uint64)
        found[name] = cells.astype(unsigned).view(dtype)
    return found


def _arithmetic() -> tuple[str, ...]:
    """What gives a bfloat16 of bfloat16."""
    one = ("-x", "__hneg(x)", "__habs(x)", "hsqrt(x)", "hrsqrt(x)", "hrcp(x)", "hexp(x)",
           "hexp2(x)", "hexp10(x)", "hlog(x)", "hlog2(x)", "hlog10(x)", "hsin(x)", "hcos(x)",
           "htanh(x)", "hfloor(x)", "hceil(x)", "htrunc(x)", "hrint(x)",
           "__short_as_bfloat16(__bfloat16_as_short(x))")  # fmt: skip
    two = ("x + y", "x - y", "x * y", "x / y", "__hdiv(x, y)")
    named = ("add", "sub", "mul")
    three = ("__hfma(x, y, z)", "__hfma_sat(x, y, z)", "__hfma_relu(x, y, z)", "x * y + z",
             "x * y - z", "z - x * y", "__hadd_rn(__hmul_rn(x, y), z)")  # fmt: skip
    v, w, u = ("__halves2bfloat162(" + pair + ")" for pair in ("x, y", "y, z", "z, x"))
    pairs = (f"__hfma2({v}, {w}, {u})", f"__hfma2_relu({v}, {w}, {u})", f"__h2div({v}, {w})",
             f"__hmax2({v}, {w})", f"__hmin2_nan({v}, {w})", f"__hadd2({v}, {w})",
             f"__hmul2_sat({v}, {w})", f"__hle2({v}, {w})", f"__hgtu2({v}, {w})",
             f"__hisnan2({v})", f"h2sqrt({v})", f"h2exp({v})", f"__lowhigh2highlow({v})",
             f"__lows2bfloat162({v}, {w})", f"{v} * {w}")  # fmt: skip
    return (
        *one, *two,
        *(f"__h{name}{end}(x, y)" for name in named for end in ("", "_rn", "_sat")),
        *(f"__h{name}{end}(x, y)" for name in ("max", "min") for end in ("", "_nan")), *three,
        *(f"({pair}).{part}" for pair in pairs for part in "xy"),
    )  # fmt: skip


def _tests() -> tuple[str, ...]:
    """What is asked of bfloat16, and its whole numbers."""
    tests = [f"{name}{end}" for name in ("eq", "ne", "lt", "le", "gt", "ge") for end in ("", "u")]
    v, w = "__halves2bfloat162(x, y)", "__halves2bfloat162(z, x)"
    return (
        "__hisnan(x)", "__hisinf(x)", "(bool)x", "__bfloat16_as_ushort(x)",
        *(f"__h{test}(x, y)" for test in tests), *(f"__hb{test}2({v}, {w})" for test in tests),
        *(f"x {sign} y" for sign in ("==", "!=", "<", "<=", ">", ">=")),
        *(f"__bfloat162{word}_{mode}(x)" for word in WHOLE for mode in MODES),
        *(f"({kind})x" for kind in WHOLE.values()),
    )  # fmt: skip


def _to_bytes(given: str) -> tuple[str, ...]:
    """What makes numbers of 8 bits of a type."""
    types = ("e4m3", "e5m2")
    call, raw = {
        "float": ("float", "x"), "double": ("double", "x"), "half": ("halfraw", "__half_raw(x)"),
        "__nv_bfloat16": ("bfloat16raw", "__nv_bfloat16_raw(x)"),
    }.get(given, ("", ""))  # fmt: skip
    calls = [
        f"__nv_cvt_{call}_to_fp8({raw}, {end}, __NV_{kind.upper()})"
        for kind in types
        for end in ("__NV_NOSAT", "__NV_SATFINITE")
        if call
    ]
    two = {
        "float": "make_float2(x, y)", "double": "make_double2(x, y)", "half": "half2(x, y)",
        "__nv_bfloat16": "__nv_bfloat162(x, y)",
    }.get(given)  # fmt: skip
    pairs = [f"__nv_fp8x2_{kind}({two}).__x" for kind in types if two]
    if given == "float":
        pairs += [f"__nv_fp8x4_{kind}(make_float4(x, y, z, x)).__x" for kind in types]
    return (*(f"__nv_fp8_{kind}(x).__x" for kind in types), *calls, *pairs)


def _groups() -> Mapping[str, Group]:
    """All of them, by a name."""
    bfloat16, bytes_ = "__nv_bfloat16", ("__nv_fp8_e4m3", "__nv_fp8_e5m2")
    whole = tuple(WHOLE.values())
    casts = (*whole, "signed char", "unsigned char", "bool")
    groups = [
        Group(bfloat16, bfloat16, _arithmetic()),
        Group(bfloat16, "long long", _tests()),
        Group(bfloat16, "float", ("__bfloat162float(x)", "(float)x")),
        Group(bfloat16, "double", ("(double)x",)),
        Group(bfloat16, "half", ("__float2half(__bfloat162float(x))",)),
        Group("float", bfloat16, ("__float2bfloat16(x)", "__nv_bfloat16(x)",
                                  *(f"__float2bfloat16_{mode}(x)" for mode in MODES))),
        Group("double", bfloat16, ("__double2bfloat16(x)", "__nv_bfloat16(x)")),
        *(Group(kind, bfloat16, (f"{bfloat16}(x)", *(f"__{word}2bfloat16_{mode}(x)"
                                                     for mode in MODES)))
          for word, kind in WHOLE.items()),
        *(Group(given, "unsigned", _to_bytes(given))
          for given in ("float", "double", "half", bfloat16, *whole)),
        *(Group(given, result, (f"({result})x",))
          for given in bytes_ for result in ("float", "double", "half", bfloat16)),
        *(Group(given, "long long", tuple(f"({cast})x" for cast in casts)) for given in bytes_),
    ]  # fmt: skip
    names = [f"{group.given} to {group.result}" for group in groups]
    assert len(set(names)) == len(names)
    return dict(zip(names, groups, strict=True))


GROUPS = _groups()


def short_digest(row: Array) -> str:
    """A digest, as the file has it."""
    return digest(row)[:32]


def on_gpu(group: Group) -> Array:
    """What the GPU gives for a group, as cells [expression, thread]."""
    import cupy

    kernel = compiled(group.text).get_function("k")
    given = group.arguments()
    arrays = {name: cupy.asarray(given[name]) for name in "abco"}
    kernel((COUNT // THREADS,), (THREADS,), (*arrays.values(), given["n"]))
    return np.asarray(cupy.asnumpy(arrays["o"])).reshape(-1, COUNT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute on the GPU and write: 0."""
    parser = argparse.ArgumentParser(prog="python -m tools.short_float_bits", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--arrays", type=Path, help="all results, as .npz, to look at")
    options = parser.parse_args(arguments)
    found = {name: on_gpu(group) for name, group in GROUPS.items()}
    rows = {
        name: dict(zip(GROUPS[name].expressions, map(short_digest, results), strict=True))
        for name, results in found.items()
    }
    what = "Digests of what a GPU gave for tools.short_float_bits, one for each expression."
    how = "python -m tools.short_float_bits --out FILE"
    write(options.out, {"what": what, **machine(), "how": how, "digests": rows})
    if options.arrays:
        np.savez_compressed(options.arrays, **dict[str, Any](found))
    print(f"{sum(map(len, rows.values()))} expressions of {len(rows)} groups written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
