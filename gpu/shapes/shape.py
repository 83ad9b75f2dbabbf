"""What `python -m gpu shapes` finds: for each shape the chosen kernel beside cuBLAS."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu.cuda.device import Device
from gpu.json_data import decode
from gpu.shapes.plan import Plan, Table
from simulator.catalogue import FEW


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: what was chosen for it, whether it was right, and how fast."""

    size: tuple[int, int, int]  # M, N, K
    kernel: str  # as gpu.candidate.choose takes it, with its pieces
    cublas_ratio: float  # cuBLAS's time over the chosen kernel's, all that it needs included
    verified: bool
    ms: float
    cublas_ms: float
    is_random: bool  # one of the drawn shapes
    plan: Plan
    copy_ms: float | None = None  # of a copy that moves as many bytes; None in older recordings

    @property
    def is_few(self) -> bool:
        """Whether C has so few rows or columns that the other matrix is best read once."""
        return min(self.size[:2]) <= FEW

    @property
    def copy_ratio(self) -> float | None:
        """The time of a copy that moves as many bytes over the chosen kernel's."""
        return None if self.copy_ms is None else self.copy_ms / self.ms

    @property
    def gb_per_s(self) -> float:
        """10^9 bytes a second, A and B read once and C written once."""
        M, N, K = self.size
        return 4 * (M * K + K * N + M * N) / self.ms / 1e6


@dataclass(frozen=True, slots=True)
class Shapes:
    """A run over many shapes on one GPU."""

    device: Device
    table: Table
    shapes: tuple[Shape, ...]

    @property
    def verified(self) -> bool:
        """Whether every product was right."""
        return all(shape.verified for shape in self.shapes)

    def to_json(self) -> dict[str, Any]:
        """As JSON takes it; `shapes_from` reads it."""
        return dataclasses.asdict(self)


def with_few(earlier: Shapes, later: Shapes) -> Shapes:
    """An earlier run, with a later one over those of its shapes that have few rows or columns."""
    kernels = (kernel for kernel in earlier.table.kernels if not kernel.few)
    table = dataclasses.replace(earlier.table, kernels=(*kernels, *later.table.kernels))
    shapes = (shape for shape in earlier.shapes if not shape.is_few)
    return Shapes(earlier.device, table, (*shapes, *later.shapes))


def shapes_from(found: dict[str, Any]) -> Shapes:
    """The run that `to_json` wrote. ValueError, a sentence, where it is none."""
    return decode(Shapes, found, "The run over shapes")


def geometric_mean(shapes: Sequence[Shape]) -> float:
    """The geometric mean of their ratios to cuBLAS; at least one shape."""
    return math.exp(sum(math.log(shape.cublas_ratio) for shape in shapes) / len(shapes))
