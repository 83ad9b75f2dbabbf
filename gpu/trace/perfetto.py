"""A trace in Chrome's trace format, which Perfetto (https://ui.perfetto.dev) opens.

The format is the Trace Event Format: complete events ("X") with a start and a duration in
microseconds, in rows (tid) of groups (pid) that metadata events ("M") name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpu.trace.trace import NO_TILE, Block, Trace

FIRST_BLOCK = 1_000_000  # the number of the first group that is a block, above all multiprocessors


def trace_events(trace: Trace) -> dict[str, Any]:
    """The object of the format: a group for each multiprocessor and each block traced whole."""
    events = [*_multiprocessors(trace)]
    for number, block in enumerate(trace.whole_blocks):
        events += _warps(trace, block, FIRST_BLOCK + number)
    size = " x ".join(map(str, trace.size))
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"kernel": trace.kernel, "M x N x K": size, "times plain": trace.ratio},
    }


def _multiprocessors(trace: Trace) -> Iterator[dict[str, Any]]:
    """Every block on its multiprocessor, those at the same time in rows of their own."""
    rows: dict[int, list[int]] = {}  # of a multiprocessor: when each row is free again
    for block in sorted(trace.blocks, key=lambda block: block.start):
        if block.multiprocessor not in rows:
            yield _name("process_name", f"multiprocessor {block.multiprocessor}",
                        block.multiprocessor)  # fmt: skip
        ends = rows.setdefault(block.multiprocessor, [])
        row = next((row for row, end in enumerate(ends) if end <= block.start), len(ends))
        ends[row:] = [block.end, *ends[row + 1 :]]
        yield {
            "name": f"block ({block.x}, {block.y})", "ph": "X", "pid": block.multiprocessor,
            "tid": row, "ts": block.start / 1e3, "dur": (block.end - block.start) / 1e3,
        }  # fmt: skip


def _warps(trace: Trace, block: Block, group: int) -> Iterator[dict[str, Any]]:
    """The phases of each warp of a block; the block's own times say how long a cycle is."""
    yield _name("process_name", f"block ({block.x}, {block.y}) by warps", group)
    cycles = max((warp[-1].end for warp in block.warps if warp), default=1)
    nanoseconds = (block.end - block.start) / max(1, cycles)
    for number, warp in enumerate(block.warps):
        yield _name("thread_name", f"warp {number}", group, number)
        for interval in warp:
            phase = trace.phases[interval.phase]
            taken = interval.end - interval.begin
            arguments = {"cycles": taken, "lines": f"{phase.first_line} to {phase.last_line}"}
            if interval.tile != NO_TILE:
                arguments["tile"] = interval.tile
            yield {
                "name": phase.name, "cat": str(phase.kind), "ph": "X", "pid": group, "tid": number,
                "ts": (block.start + interval.begin * nanoseconds) / 1e3,
                "dur": taken * nanoseconds / 1e3, "args": arguments,
            }  # fmt: skip


def _name(what: str, name: str, group: int, row: int = 0) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": group, "tid": row, "args": {"name": name}}
