"""What a recorded run on a GPU says about a kernel of the catalogue, in a sentence."""

from __future__ import annotations

import functools

from gpu.recorded import recordings
from ui.gpu_charts.performance import format_milliseconds, format_ratio, phrase


@functools.cache
def describe_recorded_time(name: str) -> tuple[str, ...]:
    """Two wordings of how long a kernel took on a GPU, the longer first; () if none is recorded.

    They are of the newest recording, and there of the largest square matrices. name is the
    catalogue's.
    """
    for run in recordings().runs:
        squares = [one for one in run.comparisons if len(set(one.size)) == 1]
        for comparison in sorted(squares, key=lambda one: one.size, reverse=True):
            for kernel in comparison.kernels:
                if kernel.name == name and kernel.verified and kernel.ms:
                    took = f"{phrase(kernel)} took {format_milliseconds(kernel.ms)}"
                    where = f"On an {run.device.name} {took} at {comparison.size[0]:,}³"
                    plain = f"{where}."
                    if kernel.cublas_ratio is None:
                        return (plain,)
                    return (f"{where}, {format_ratio(kernel.cublas_ratio)} × cuBLAS.", plain)
    return ()
