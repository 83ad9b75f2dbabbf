"""Charts of lessons: of the newest recorded run on a GPU."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, assert_never

import plotly.graph_objects as go

from compiler.machine_code import MachineCode
from compiler.occupancy import CardOccupancy, card_occupancy
from compiler.recorded import recorded
from gpu.comparison import Comparison
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.recorded import RecordedRun, newest
from gpu.shapes.plan import Table
from gpu.shapes.shape import Shape
from gpu.trace.recorded import RecordedTraces, traces_of_one_gpu_first
from gpu.trace.trace import Trace
from simulator.broken_file import Broken, BrokenFileError
from simulator.catalogue import whole_catalogue
from ui.gpu_charts import (
    accuracy,
    bounds,
    instruction_grid,
    instruction_mix,
    latency,
    load_life,
    multiprocessor,
    near_and_far,
    performance,
    residency,
    roofline,
    shapes,
    traced_phases,
    without_l1,
)
from ui.gpu_charts.instruction_mix import ARCHITECTURE
from ui.lessons.lesson import Chart

# The bars of the ladder, one window high: each rung once, in tiles of 16 where it has a choice.
RUNGS = (
    "naive", "tiled", "transposed", "rows", "registers", "vectors", "pipelined", "warptiles",
    "cublas",
)  # fmt: skip
COUNTED = (
    "uncoalesced", "naive", "tiled", "transposed", "padded", "swizzled", "rows", "registers",
    "vectors", "pipelined", "warptiles",
)  # fmt: skip
AT_LARGEST_SQUARE = (
    Chart.LADDER, Chart.PREDICTIONS, Chart.BOUNDS, Chart.INSTRUCTIONS, Chart.ROOFLINE,
)  # fmt: skip
LOOPED = "tiled"  # its inner loop is shown as machine code
RESIDENT = "registers"  # its blocks are shown on a multiprocessor
STEADY = 1.05  # the 80th percentile of cuBLAS's times over the 20th, where nothing disturbed it
# Shapes whose waves are drawn: of few blocks, and with a last wave that is nearly full or empty.
IN_WAVES = ((512, 512, 512), (256, 256, 16384), (4096, 4096, 4096), (5120, 2560, 1280))
ACCURATE_AT = (4096, 4096, 4096)
TRACED_AT = (2048, 2048, 2048)
# Whose errors are drawn: of the ladder three, so that every name has room.
ACCURATE = (
    "naive", "tiled", "warptiles", "tensor_tf32", "tensor_half", "tensor_fp32", "warpgroup_tf32",
    "warpgroup_half", "warpgroup_fp32", "cublas", "cublas-tf32", "cublas-half",
)  # fmt: skip


def largest_square(run: RecordedRun) -> Comparison:
    """The comparison of a run with the largest square matrices at which cuBLAS was not disturbed.

    A GPU that comes to its power limit meanwhile gives one kernel less than another.
    """
    squares = [one for one in run.comparisons if len(set(one.size)) == 1 and is_steady(one)]
    if not squares:
        raise _lacking(run, "comparison of square matrices")
    return max(squares, key=lambda one: one.size)


def is_steady(comparison: Comparison) -> bool:
    """Whether cuBLAS's times of one product agree, so that a share of its speed means something."""
    spreads = [kernel.ms_spread for kernel in comparison.kernels if kernel.name == "cublas"]
    return all(spread is not None and spread[1] < STEADY * spread[0] for spread in spreads)


def ladder(run: RecordedRun) -> Comparison:
    """The rungs of the ladder at large square matrices."""
    return performance.choose_kernels(largest_square(run), RUNGS)


def counted(run: RecordedRun) -> Comparison:
    """Rungs of the ladder whose work the hardware counted, at large square matrices."""
    comparison = largest_square(run)
    if not any(kernel.counters for kernel in comparison.kernels):
        raise _lacking(run, "hardware counters")
    return performance.choose_kernels(comparison, COUNTED)


def in_waves(run: RecordedRun) -> tuple[Table, tuple[Shape, ...]]:
    """What a run knows of waves, and its shapes of IN_WAVES."""
    by_size = {shape.size: shape for shape in run.shapes}
    if run.shape_table is None or not by_size.keys() >= set(IN_WAVES):
        raise _lacking(run, "shapes")
    return run.shape_table, tuple(by_size[size] for size in IN_WAVES)


def accurate(run: RecordedRun) -> Comparison:
    """The comparison of a run at ACCURATE_AT, with the kernels of ACCURATE."""
    found = next((one for one in run.comparisons if one.size == ACCURATE_AT), None)
    if found is None:
        raise _lacking(run, f"comparisons of {performance.size_name(ACCURATE_AT)}")
    return performance.choose_kernels(found, ACCURATE)


def traced(run: RecordedRun) -> tuple[RecordedTraces, tuple[Trace, ...]]:
    """The traces of the ladder's rungs at TRACED_AT, those of a run's GPU if there are any."""
    for traces in traces_of_one_gpu_first():
        found = [traces.find(name, TRACED_AT) for name in RUNGS]
        if any(found):
            return traces, tuple(trace for trace in found if trace is not None)
    raise _lacking(run, "traces")


def l1_compared(run: RecordedRun) -> Comparison:
    """The comparison of kernels with and without the L1 cache."""
    if run.without_l1 is None:
        raise _lacking(run, "kernels without L1")
    return run.without_l1


def machine_code(name: str) -> MachineCode:
    """The recorded machine code of a kernel of the catalogue."""
    code = recorded(whole_catalogue()[name].source(), ARCHITECTURE)
    if code is None:
        raise BrokenFileError(Broken(f"{ARCHITECTURE}.json.gz", 1, f"It has no {name}."))
    return code


def resident() -> CardOccupancy:
    """What a multiprocessor holds of the kernel whose blocks are shown."""
    entry = whole_catalogue()[RESIDENT]
    threads = math.prod(entry.shape(1, 1)[1])
    return card_occupancy(machine_code(RESIDENT), threads, entry.shared_bytes())


def _lacking(run: RecordedRun, what: str) -> BrokenFileError:
    return BrokenFileError(Broken(run.file, 1, f"It has no {what} that this chart shows."))


def draw_chart(chart: Chart, ink: str) -> go.Figure:
    """Draw a chart, its text in a colour."""
    draw, _, numbers = _parts(chart, newest())
    figure: go.Figure = draw(*numbers, ink)
    return figure


def describe(chart: Chart) -> str:
    """What a chart shows, in words, for screen readers."""
    _, words, numbers = _parts(chart, newest())
    return words(*numbers)


Parts = tuple[Callable[..., go.Figure], Callable[..., str], tuple[Any, ...]]


def _parts(chart: Chart, run: RecordedRun) -> Parts:
    """What draws a chart, what describes it, and of what."""
    match chart:
        case Chart.LATENCIES:
            return latency.draw_latencies, latency.describe, (limits_of(run).latency,)
        case Chart.MULTIPROCESSOR:
            return multiprocessor.draw_multiprocessor, multiprocessor.describe, (limits_of(run),)
        case Chart.NEAR_AND_FAR:
            far = (limits_of(run).latency, run.device)
            return near_and_far.draw_near_and_far, near_and_far.describe, far
        case Chart.LOAD_LIFE:
            return load_life.draw_load_life, load_life.describe, (limits_of(run).latency,)
        case Chart.WITHOUT_L1:
            return without_l1.draw_without_l1, without_l1.describe, (l1_compared(run),)
        case Chart.LADDER:
            return performance.draw_throughput, performance.describe, (ladder(run),)
        case Chart.PREDICTIONS | Chart.BOUNDS:
            draw, words = (
                functools.partial(each, is_timed=chart is Chart.BOUNDS)
                for each in (bounds.draw_bounds, bounds.describe)
            )
            return draw, words, (counted(run),)
        case Chart.RESIDENCY:
            return residency.draw_residency, residency.describe, (resident(),)
        case Chart.INNER_LOOP:
            inner = instruction_grid.inner_instructions(machine_code(LOOPED))
            return instruction_grid.draw_instructions, instruction_grid.describe, (inner,)
        case Chart.INSTRUCTIONS:
            return instruction_mix.draw_mixes, instruction_mix.describe, (ladder(run),)
        case Chart.AGAINST_SIZE:
            return performance.draw_against_size, _describe_against_size, (run.comparisons,)
        case Chart.ROOFLINE:
            reached = (largest_square(run), run.limits)
            return roofline.draw_roofline, roofline.describe, reached
        case Chart.WAVES:
            return shapes.draw_known_waves, shapes.describe_known_waves, in_waves(run)
        case Chart.SHAPES:
            return shapes.draw_map, shapes.describe, (run.shapes,)
        case Chart.ACCURACY:
            return accuracy.draw_accuracy, accuracy.describe, (accurate(run),)
        case Chart.PHASES:
            return traced_phases.draw_phases, traced_phases.describe_phases, (traced(run)[1],)
        case _:
            assert_never(chart)


def _describe_against_size(_: Sequence[Comparison]) -> str:
    return "TFLOP/s of each kernel over the size of square matrices."


def source(chart: Chart) -> str:
    """Where a chart's numbers come from, a sentence."""
    run = newest()
    if chart in (Chart.RESIDENCY, Chart.INNER_LOOP):
        name = RESIDENT if chart is Chart.RESIDENCY else LOOPED
        compiler = machine_code(name).compiler
        return f"Machine code of `{name}`, recorded with {compiler} for {ARCHITECTURE}."
    size = ""
    if chart in AT_LARGEST_SQUARE:
        size = f", at {' × '.join(map(str, largest_square(run).size))}"
    if chart is Chart.WITHOUT_L1:
        size = f", at {performance.size_name(l1_compared(run).size)}"
    if chart is Chart.ACCURACY:
        size = f", at {' × '.join(map(str, ACCURATE_AT))}"
    if chart is Chart.PHASES:
        traces, _ = traced(run)
        size = f", at {performance.size_name(TRACED_AT)}"
        return f"Recorded on {traces.device.name}, {traces.when.day} {traces.when:%B %Y}{size}."
    return f"Recorded on {run.device.name}, {run.when.day} {run.when:%B %Y}{size}."


def limits_of(run: RecordedRun) -> Limits:
    """What the GPU of a run can reach: its latencies and ceilings."""
    if run.limits is None:
        raise _lacking(run, "latencies")
    return run.limits
