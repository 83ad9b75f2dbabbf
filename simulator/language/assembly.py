"""The instructions of tensor cores in inline PTX that a kernel may have, by names of ours.

Their operands are registers of each lane; how a tile's elements lie in these is that of the PTX
ISA (Matrix fragments for mma.m16n8k4, .m16n8k8 and .m16n8k16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.fragments import Fragment, Shape, Use

REGISTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class MatrixLoad:
    """ldmatrix: matrices of 8 rows of 16 bytes, of each of which a lane gets one register."""

    matrices: int  # 1, 2 or 4
    is_transposed: bool


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """mma.sync: D = A B + C, with C and D of float."""

    shape: Shape
    operand: str  # of number_types.OPERANDS

    def fragment(self, use: Use) -> Fragment:
        """One of its tiles."""
        operand = "float" if use is Use.ACCUMULATOR else self.operand
        return Fragment(use, self.shape, operand, "")

    def registers(self, use: Use) -> int:
        """How many registers of a lane hold its elements of a tile."""
        fragment = self.fragment(use)
        return fragment.distinct * fragment.element.size // REGISTER_BYTES


MATRIX_LOADS: Mapping[str, MatrixLoad] = {
    f"ldmatrix.x{count}{'.trans' if transposed else ''}": MatrixLoad(count, transposed)
    for count in (1, 2, 4)
    for transposed in (False, True)
}
_OPERANDS = {"f16": "half", "bf16": "__nv_bfloat16", "tf32": "tf32"}
MATRIX_PRODUCTS: Mapping[str, MatrixProduct] = {
    f"mma.m16n8k{k}.{word}": MatrixProduct((16, 8, k), _OPERANDS[word])
    for word, depths in (("f16", (8, 16)), ("bf16", (8, 16)), ("tf32", (4, 8)))
    for k in depths
}
