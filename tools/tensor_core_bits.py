"""A tensor core beside simulator.machine.tensor_core: `python -m tools.tensor_core_bits`.

Products of one tile each, of the kinds of tests/tensor_tiles.py, are computed by wmma on a GPU and
by the simulator's function, there with CuPy's arrays instead of NumPy's, and compared bit by bit.
--out FILE writes what the GPU gave: what tests/simulator/test_tensor_core.py holds NumPy to.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simulator.language.ctype import FLOAT, Scalar
from simulator.language.number_types import OPERANDS, Operand
from simulator.machine.tensor_core import multiply_add
from tests.tensor_tiles import kinds, tiles
from tools.measured import compiled, digest, machine, write

HALF, BFLOAT16, TF32 = (OPERANDS[name] for name in ("half", "__nv_bfloat16", "tf32"))
TF32_OF_NVIDIA = replace(TF32, depth=4)
BY_APP = "tf32 16x16x8 by mma.cuh"


class Product(NamedTuple):
    """What is multiplied, and what it is added to."""

    form: Operand
    shape: tuple[int, int, int]  # m, n, k
    sums: Scalar = FLOAT


SHAPES: dict[str, Product] = {  # by NVIDIA's mma.h, but for BY_APP
    "half 16x16x16": Product(HALF, (16, 16, 16)),
    "half 32x8x16": Product(HALF, (32, 8, 16)),
    "half 8x32x16": Product(HALF, (8, 32, 16)),
    "half 16x16x16 to half": Product(HALF, (16, 16, 16), HALF.ctype),
    "half 32x8x16 to half": Product(HALF, (32, 8, 16), HALF.ctype),
    "half 8x32x16 to half": Product(HALF, (8, 32, 16), HALF.ctype),
    "bfloat16 16x16x16": Product(BFLOAT16, (16, 16, 16)),
    "bfloat16 32x8x16": Product(BFLOAT16, (32, 8, 16)),
    "bfloat16 8x32x16": Product(BFLOAT16, (8, 32, 16)),
    "tf32 16x16x8": Product(TF32_OF_NVIDIA, (16, 16, 8)),
    BY_APP: Product(TF32, (16, 16, 8)),
}
RECORDED_TILES = 24  # of each kind, of which the file has a digest
AT_ONCE = 20_000  # tiles, for the memory of the GPU
THREADS = 128
TYPES = {
    "half": ("half", "half"), "__nv_bfloat16": ("__nv_bfloat16", "__nv_bfloat16"),
    "tf32": ("float", "wmma::precision::tf32"),
}  # fmt: skip
TYPE_HEADERS = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
KERNEL = """
using namespace nvcuda;
extern "C" __global__ void multiply(const TYPE* A, const TYPE* B, const SUM* C, SUM* D, int n) {
    int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (tile >= n) return;
    wmma::fragment<wmma::matrix_a, TM, TN, TK, PRECISION, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, TM, TN, TK, PRECISION, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, TM, TN, TK, SUM> c;
    wmma::load_matrix_sync(a, A + (size_t)tile * TM * TK, TK);
    wmma::load_matrix_sync(b, B + (size_t)tile * TK * TN, TN);
    wmma::load_matrix_sync(c, C + (size_t)tile * TM * TN, TN, wmma::mem_row_major);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(D + (size_t)tile * TM * TN, c, TN, wmma::mem_row_major);
}
"""


def toolkit_has_wmma() -> bool:
    """Whether NVIDIA's own mma.h is installed: it is what is to be compared with."""
    from compiler.headers import toolkit_folders

    return any((Path(folder) / "mma.h").is_file() for folder in toolkit_folders())


class Hardware:
    """The GPU's products of tiles of one shape."""

    def __init__(self, name: str) -> None:
        import cupy

        from compiler.headers import MMA

        form, shape, sums = SHAPES[name]
        stored, precision = TYPES[form.name]
        wmma = MMA.read_text(encoding="utf-8") if name == BY_APP else "#include <mma.h>\n"
        macros = {"TYPE": stored, "PRECISION": precision, "SUM": sums.name}
        macros |= {name: str(size) for name, size in zip(("TM", "TN", "TK"), shape, strict=True)}
        options = [f"-D{name}={value}" for name, value in macros.items()]
        module = compiled(TYPE_HEADERS + wmma + KERNEL, *options)
        self._cupy, self._kernel = cupy, module.get_function("multiply")

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """c + a b of CuPy arrays [tiles, …]."""
        d = self._cupy.zeros_like(c)
        blocks = -(-len(c) * 32 // THREADS)
        self._kernel((blocks,), (THREADS,), (a, b, c, d, np.int32(len(c))))
        return d


def differing(name: str, kind: str, count: int, seed: int, hardware: Hardware) -> int:
    """How many cells of `count` tiles differ between GPU and simulator."""
    import cupy

    form, shape, sums = SHAPES[name]
    wrong, whole = 0, f"u{sums.size}"
    for number, first in enumerate(range(0, count, AT_ONCE)):
        a, b, c = tiles(form, kind, shape, min(AT_ONCE, count - first), seed + number, cupy, sums)
        left, right = (form.ctype.values_of(each) for each in (a, b))
        expected = multiply_add(left, right, c, form).view(whole)
        wrong += int((expected != hardware.multiply_add(a, b, c).view(whole)).sum())
    return wrong


def bits(values: Any) -> list[int]:
    """The bits of numbers of any one type, as whole numbers."""
    return [int(each) for each in values.copy().view(f"u{values.dtype.itemsize}").reshape(-1)]


def recorded(hardware: dict[str, Hardware]) -> list[dict[str, Any]]:
    """Of each shape and kind the digest of what the GPU gave, and one cell in full."""
    import cupy

    rows = []
    for name, (form, shape, sums) in SHAPES.items():
        for kind in kinds(form):
            arrays = tiles(form, kind, shape, RECORDED_TILES, 0, cupy, sums)
            d = cupy.asnumpy(hardware[name].multiply_add(*arrays))
            a, b, c = (cupy.asnumpy(each) for each in arrays)
            cell = {
                "a": bits(a[0, 0]), "b": bits(b[0, :, 0]),
                "c": bits(c[0, 0, :1])[0], "d": bits(d[0, 0, :1])[0],
            }  # fmt: skip
            rows.append(
                {"shape": name, "kind": kind, "sha256": digest(d.astype(np.float32)), "cell": cell}
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print: 0 where no bit differs, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tools.tensor_core_bits", description=__doc__)
    parser.add_argument("--tiles", type=int, default=1_000_000, help="of each shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    hardware = {name: Hardware(name) for name in SHAPES}
    compared = []
    for name, (form, shape, _) in SHAPES.items():
        each = -(-options.tiles // len(kinds(form)))
        found = {
            kind: differing(name, kind, each, options.seed, hardware[name]) for kind in kinds(form)
        }
        count = each * len(found)
        cells = count * shape[0] * shape[1]
        compared.append(
            {"shape": name, "tiles": count, "cells": cells, "differ": sum(found.values())}
        )
        print(
            f"{name}: {count:,} tiles, {cells:,} cells, {sum(found.values()):,} differ", flush=True
        )
        for kind, wrong in found.items():
            if wrong:
                print(f"  {kind}: {wrong:,}")
    if options.out:
        result = {
            "what": "wmma's products of tiles on a GPU; the tiles come from tests.tensor_tiles.",
            **machine(), "how": "python -m tools.tensor_core_bits --tiles N --out FILE",
            "tiles": RECORDED_TILES, "compared": compared, "recorded": recorded(hardware),
        }  # fmt: skip
        write(options.out, result)
    return int(any(row["differ"] for row in compared))


if __name__ == "__main__":
    sys.exit(main())
