"""Traces of the tiled kernels whose phases have the lines of their text; no GPU measured them."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import UTC, datetime

from gpu.trace.recorded import RecordedTraces
from gpu.trace.trace import Trace
from simulator.catalogue import catalogue
from tests.gpu.trace.test_recorded_traces import DEVICE
from tests.gpu.trace.traces import trace_of


@functools.cache
def traced(kernel: str, *cycles: int, size: int = 512, warps: int = 2) -> Trace:
    """A trace of one of the tiled kernels: cycles of copy, wait, inner loop and wait of a tile."""
    name, _, setting = kernel.partition(":TILE=")
    lines = [line.strip() for line in catalogue()[name].source().split("\n")]
    copy = next(i for i, line in enumerate(lines, 1) if line.startswith("int a_col"))
    first, second = (i for i, line in enumerate(lines, 1) if line == "__syncthreads();")
    tile = [
        ("copy", cycles[0], copy, first - 1), ("wait", cycles[1], first, first),
        ("inner loop", cycles[2], first + 2, second - 1), ("wait", cycles[3], second, second),
    ]  # fmt: skip
    made = trace_of(kernel, (size,) * 3, tile, int(setting or 16), 2, traced_warps=warps)
    stored = next(i for i, line in enumerate(lines, 1) if line.startswith("C[row"))
    store = replace(made.phases[-1], first_line=stored - 1, last_line=stored)
    return replace(made, phases=(*made.phases[:-1], store))


SLOW = traced("transposed:TILE=32", 847, 7, 9011, 171, warps=32)
FAST = traced("padded:TILE=32", 748, 9, 2064, 73, warps=32)
RUN = RecordedTraces(
    "made.json.gz", datetime(2026, 3, 4, tzinfo=UTC), replace(DEVICE, name="NVIDIA H200"),
    (traced("tiled", 702, 12, 744, 73, warps=8), SLOW, FAST,
     traced("tiled:TILE=32", 733, 9, 2064, 73, warps=32)),
)  # fmt: skip
