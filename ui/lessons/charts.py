"""Charts of lessons: of the newest recorded run on a GPU."""

from __future__ import annotations

from typing import assert_never

import plotly.graph_objects as go

from gpu.microbenchmarks.limits import Limits
from gpu.recorded import RecordedRun, recordings
from gpu.result import Comparison
from ui.gpu_charts import latency, performance, roofline
from ui.lessons.lesson import Chart

# The bars of the ladder, one window high: each rung once, in tiles of 16 where it has a choice.
RUNGS = (
    "naive", "tiled", "transposed", "rows", "registers", "vectors", "pipelined", "warptiles",
    "cublas",
)  # fmt: skip


def newest() -> RecordedRun:
    """The newest recorded run, which every copy of this repository has."""
    return recordings().runs[0]


def largest_square(run: RecordedRun) -> Comparison:
    """The comparison of a run with the largest square matrices."""
    squares = [one for one in run.comparisons if len(set(one.size)) == 1]
    return max(squares, key=lambda one: one.size)


def ladder(run: RecordedRun) -> Comparison:
    """The rungs of the ladder at the largest square matrices."""
    return performance.choose_kernels(largest_square(run), RUNGS)


def draw_chart(chart: Chart, ink: str) -> go.Figure:
    """Draw a chart, its text in a colour."""
    run = newest()
    match chart:
        case Chart.LATENCIES:
            return latency.draw_latencies(limits_of(run).latency, ink)
        case Chart.LADDER:
            return performance.draw_throughput(ladder(run), ink)
        case Chart.AGAINST_SIZE:
            return performance.draw_against_size(run.comparisons, ink)
        case Chart.ROOFLINE:
            return roofline.draw_roofline(largest_square(run), run.limits, ink)
        case _:
            assert_never(chart)


def describe(chart: Chart) -> str:
    """What a chart shows, in words, for screen readers."""
    run = newest()
    match chart:
        case Chart.LATENCIES:
            return latency.describe(limits_of(run).latency)
        case Chart.LADDER:
            return performance.describe(ladder(run))
        case Chart.AGAINST_SIZE:
            return "TFLOP/s of each kernel over the size of square matrices."
        case Chart.ROOFLINE:
            return roofline.describe(largest_square(run), run.limits)
        case _:
            assert_never(chart)


def source(chart: Chart) -> str:
    """Where a chart's numbers come from, a sentence."""
    run = newest()
    size = ""
    if chart in (Chart.LADDER, Chart.ROOFLINE):
        size = f", at {' × '.join(map(str, largest_square(run).size))}"
    return f"Recorded on {run.device.name}, {run.when.day} {run.when:%B %Y}{size}."


def limits_of(run: RecordedRun) -> Limits:
    """What the GPU of a run can reach: its latencies and ceilings."""
    assert run.limits is not None  # the newest recording has them
    return run.limits
