"""The charts of a comparison of kernels: an entry each, in the order of the GPU page's tabs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.comparison import Comparison
from gpu.cuda.microbenchmarks.limits import Limits
from ui.gpu_charts import accuracy, instruction_mix, performance, roofline
from ui.gpu_charts.performance import Pair

MILLISECONDS = "Milliseconds"


@dataclass(frozen=True, slots=True)
class ChartData:
    """What a chart is drawn from."""

    comparison: Comparison  # of the kernels shown
    squares: tuple[Comparison, ...]  # of the same kernels, at each size of the run with M = N = K
    limits: Limits | None  # of the device; None if they were not measured
    pair: Pair
    ink: str  # the colour of text
    unit: str = ""  # the chosen one of the chart's units


@dataclass(frozen=True, slots=True)
class ComparisonChart:
    """A chart in a tab of its own."""

    tab: str  # its title
    draw: Callable[[ChartData], go.Figure]
    alt: Callable[[ChartData], str]  # the chart in words, for screen readers
    caption: Callable[[ChartData], str] = lambda data: ""  # below it; "" for none
    units: tuple[str, ...] = ()  # a visitor's choice, the default first
    is_offered: Callable[[ChartData], bool] = lambda data: True  # else the tab is left out
    missing: Callable[[ChartData], str] = lambda data: ""  # shown instead of a chart without data
    needs_simulated: bool = False  # whether it shows the simulator's counters of the kernels


@functools.lru_cache(maxsize=64)  # a page has seven, and draws all of them at every choice
def draw_chart(chart: ComparisonChart, data: ChartData) -> go.Figure:
    """A chart's figure, which is never changed."""
    return chart.draw(data)


def _describe_sizes(data: ChartData) -> str:
    sizes = " ".join(
        f"M = N = K = {one.size[0]:,}: {performance.describe(one)}." for one in data.squares
    )
    return f"{data.unit} of each kernel. {sizes}"


def _roofline_missing(data: ChartData) -> str:
    if roofline.find_points(data.comparison):
        return ""
    return "No float32 kernel of this run has a time and simulated bytes."


def _roofline_caption(data: ChartData) -> str:
    return (
        "Horizontal axis: 2·M·N·K operations divided by the bytes of all global sectors, which the "
        "simulator counts or, where it does not run the kernel, the hardware. Threads "
        "ask for these bytes, but caches answer most of the requests, so a kernel may lie above "
        "DRAM's line. "
    ) + (
        "The ceilings were measured on this GPU."
        if data.limits
        else "The ceilings follow from its clocks, cores and bus; no kernel reaches them fully."
    )


CHARTS = (
    ComparisonChart(
        tab="Speed",
        draw=lambda data: performance.draw_throughput(data.comparison, data.ink, data.pair),
        alt=lambda data: f"Speed. {performance.describe(data.comparison)}",
    ),
    ComparisonChart(
        tab="Time",
        draw=lambda data: performance.draw_times(data.comparison, data.ink, data.pair),
        alt=lambda data: f"Time. {performance.describe(data.comparison)}",
    ),
    ComparisonChart(
        tab="Share of cuBLAS",
        draw=lambda data: performance.draw_cublas_share(data.comparison, data.ink, data.pair),
        alt=lambda data: f"Share of cuBLAS. {performance.describe(data.comparison)}",
    ),
    ComparisonChart(
        tab="Against size",
        draw=lambda data: performance.draw_against_size(
            data.squares, data.ink, of_time=data.unit == MILLISECONDS, pair=data.pair
        ),
        alt=_describe_sizes,
        units=("TFLOP/s", MILLISECONDS),
        is_offered=lambda data: len({one.size for one in data.squares}) > 1,
    ),
    ComparisonChart(
        tab="Speed and error",
        draw=lambda data: accuracy.draw_accuracy(data.comparison, data.ink, data.pair),
        alt=lambda data: f"Speed and error. {accuracy.describe(data.comparison)}",
        caption=lambda data: (
            "The error compares C with a product in double precision of the same A and B. TF32 "
            "rounds them as they are multiplied, which counts as error; half operands were rounded "
            "before, which does not."
        ),
        is_offered=lambda data: bool(accuracy.find_points(data.comparison)),
    ),
    ComparisonChart(
        tab="Roofline",
        draw=lambda data: roofline.draw_roofline(data.comparison, data.limits, data.ink, data.pair),
        alt=lambda data: roofline.describe(data.comparison, data.limits),
        caption=_roofline_caption,
        missing=_roofline_missing,
        needs_simulated=True,
    ),
    ComparisonChart(
        tab="Instructions",
        draw=lambda data: instruction_mix.draw_mixes(data.comparison, data.ink),
        alt=lambda data: f"Instructions. {instruction_mix.describe(data.comparison)}",
        caption=lambda data: (
            "Instructions of one iteration of the inner loop, in the machine code that was "
            f"recorded for {instruction_mix.ARCHITECTURE}. Allowed: the share of float32's peak "
            "that the kernel would reach if no instruction waited. Each takes an issue slot, and "
            "each load or store also takes the port to L1 and shared memory for a cycle, not "
            "counting conflicts."
        ),
        is_offered=lambda data: bool(instruction_mix.find_mixes(data.comparison)),
    ),
)
