"""What a recorded run on a GPU says about a kernel of the catalogue, in a sentence."""

from __future__ import annotations

import functools

from gpu.comparison import KernelResult
from gpu.recorded import recordings
from simulator.catalogue import catalogue
from ui.gpu_charts.performance import format_milliseconds, format_ratio, phrase

Tile = tuple[int, int, int]  # rows and columns of C, and the depth of K


@functools.cache
def describe_recorded_time(name: str, tile: Tile | None) -> tuple[str, ...]:
    """Wordings of how long a kernel took on a GPU, the longest first; () if none is recorded.

    They are of the newest recording, and there of the largest square matrices. name is the
    catalogue's. Where it was not measured in this tile, they name the tile in which it was.
    """
    for run in recordings().runs:
        squares = [one for one in run.comparisons if len(set(one.size)) == 1]
        for comparison in sorted(squares, key=lambda one: one.size, reverse=True):
            measured = [
                kernel for kernel in comparison.kernels
                if kernel.name.split(":")[0] == name and kernel.verified and kernel.ms
            ]  # fmt: skip
            kernel = next((one for one in measured if _tile(name, one) == tile), None)
            phrased, short = "" if kernel is None else phrase(kernel), ""
            if kernel is None and measured:
                kernel = measured[0]
                rows, columns, _ = _tile(name, kernel) or (0, 0, 0)
                short = f"in tiles of {rows} × {columns}"
                phrased = f"{name} {short}"
            if kernel is None or kernel.ms is None:
                continue
            took = f"{format_milliseconds(kernel.ms)} at {comparison.size[0]:,}³"
            where = f"On an {run.device.name}, {phrased} took {took}"
            plain = (f"{where}.", f"{short.capitalize()}: {took}.") if short else (f"{where}.",)
            if kernel.cublas_ratio is None:
                return plain
            return (f"{where}, {format_ratio(kernel.cublas_ratio)} × cuBLAS's speed.", *plain)
    return ()


def _tile(name: str, kernel: KernelResult) -> Tile | None:
    """The tile that a kernel was measured in."""
    return catalogue()[name].tile(**{key: int(text) for key, text in kernel.defines.items()})
