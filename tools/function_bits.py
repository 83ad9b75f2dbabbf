"""A GPU's functions, of cuRAND's and of a kernel: `python -m tools.function_bits --out FILE`.

What the GPU gives for random operands, and digests of sines and cosines of a turn's angles:
tests/simulator/test_function_bits.py holds the simulator to FILE.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tools.measured import compiled, machine, write
from tools.short_float_bits import THREADS, short_digest

Array = np.ndarray[Any, Any]

GRID, EVERY = 2**24, 64  # angles of a turn; every EVERYth result is in the digest
RECORDED = 256  # operands of each function in the file
FUNCTIONS = {
    "logf": "float", "expf": "float", "log": "double", "exp": "double",
    "ex2": "float", "sin": "float", "cos": "float",
    "__expf": "float", "__sinf": "float", "__cosf": "float",
}  # fmt: skip
PAIRS = {"normal": ("_curand_box_muller", 2, "float2"),
         "normal_double": ("_curand_box_muller_double", 4, "double2")}  # fmt: skip
CALLS = {name: f'asm("{name}.approx{ending}.f32 %0, %1;" : "=f"(o[i]) : "f"(x[i]));'
         for name, ending in (("ex2", ".ftz"), ("sin", ""), ("cos", ""))}  # fmt: skip
HEAD = "#include <curand_kernel.h>\n"
KERNEL = """extern "C" __global__ void {name}(const {given}* x, {result}* o) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {call}
}}
"""


def angles() -> dict[str, Array]:
    """Those of a turn for the sine, of the first eighth for the cosine: float32 [n]."""
    turn = (np.arange(GRID) * (2 * np.pi / GRID)).astype(np.float32)
    return {"sin": turn, "cos": turn[: GRID // 8]}


def text() -> str:
    """A kernel for each function."""
    kernels = [
        KERNEL.format(name=f"of_{name}", given=kind, result=kind,
                      call=CALLS.get(name, f"o[i] = {name}(x[i]);"))
        for name, kind in FUNCTIONS.items()
    ]  # fmt: skip
    for name, (function, count, result) in PAIRS.items():
        words = ", ".join(f"x[{count} * i + {number}]" for number in range(count))
        kernels.append(KERNEL.format(name=f"of_{name}", given="unsigned", result=result,
                                     call=f"o[i] = {function}({words});"))  # fmt: skip
    return HEAD + "".join(kernels)


def operands() -> dict[str, Array]:
    """RECORDED random operands of each function, and words for as many pairs."""
    random = np.random.default_rng(20261127)
    words = random.integers(0, 2**32, 4 * RECORDED, np.uint64).astype(np.uint32)
    parts, powers = random.random(RECORDED), random.standard_normal(RECORDED) * 4
    # Of all sizes, both signs: small, whole, those of which the power is finite, and any.
    signs = random.choice([-1, 1], RECORDED)
    sizes = 10 ** random.uniform(-38, 38, RECORDED)
    exponents = np.concatenate([
        powers[::4], signs[::4] * 10 ** random.uniform(-12, -5, RECORDED // 4),
        np.arange(-32, 32), random.uniform(-87, 89, RECORDED // 4),
    ])  # fmt: skip
    given = {
        "logf": sizes, "log": parts, "expf": exponents, "exp": powers, "ex2": exponents,
        "__expf": exponents, "__sinf": signs * sizes, "__cosf": signs * sizes,
    }  # fmt: skip
    kinds = {"float": np.float32, "double": np.float64}
    return {
        "normal": words[: 2 * RECORDED], "normal_double": words,
        **{name: each.astype(kinds[FUNCTIONS[name]]) for name, each in given.items()},
    }  # fmt: skip


def recorded(given: Mapping[str, Array], results: Mapping[str, Array]) -> dict[str, Any]:
    """The file's part that was measured: bits of operands and results, digests of the turn."""
    rows = {
        name: {"given": _bits(array), "result": _bits(results[name])}
        for name, array in given.items()
    }
    turn = {name: short_digest(results[name][::EVERY].view(np.uint32)) for name in angles()}
    return {"functions": rows, "turn": turn}


def _bits(array: Array) -> list[int]:
    return [int(each) for each in array.view(f"u{array.itemsize}")]


def on_gpu(given: Mapping[str, Array]) -> dict[str, Array]:
    """What the GPU gives for operands, and for the angles of a turn."""
    import cupy

    module = compiled(text())
    found = {}
    for name, array in {**given, **angles()}.items():
        _, count, result = PAIRS.get(name, ("", 1, FUNCTIONS.get(name, "")))
        kind = np.float64 if result.startswith("double") else np.float32
        threads = array.size // count
        out = cupy.zeros(threads * (2 if name in PAIRS else 1), kind)
        module.get_function(f"of_{name}")(
            (threads // THREADS,), (THREADS,), (cupy.asarray(array), out)
        )
        found[name] = cupy.asnumpy(out)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute on the GPU and write: 0."""
    parser = argparse.ArgumentParser(prog="python -m tools.function_bits", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    given = operands()
    what = "What a GPU gave for a kernel's functions and those of cuRAND's normal numbers, as bits."
    how = "python -m tools.function_bits --out FILE"
    measured = recorded(given, on_gpu(given))
    write(options.out, {"what": what, **machine(), "how": how, **measured})
    return 0


if __name__ == "__main__":
    sys.exit(main())
