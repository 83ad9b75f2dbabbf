"""Roofline chart: TFLOP/s of each kernel over its arithmetic intensity, under the ceilings."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.cuda.device import Device
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.precision import short_name
from gpu.predicted_counters import global_bytes
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import performance, rows
from ui.gpu_charts.named_points import TEXT_HEIGHT, Corner, NamedPoint, draw_axes, draw_names
from ui.gpu_charts.performance import NO_PAIR, Pair

PLOT_HEIGHT = 372  # pixels
MARGIN = {"l": 58, "r": 14, "b": 60}  # pixels, beside the ceilings' names above
ROOF_SAMPLES = 120  # intervals between the points of a ceiling that names avoid
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
X_TITLE = "operations per byte requested"


@dataclass(frozen=True, slots=True)
class Roof:
    """A ceiling: of arithmetic, the same at every intensity, or of a memory's bandwidth."""

    name: str
    value: float  # TFLOP/s, or GB/s if per_byte
    per_byte: bool  # whether it is a bandwidth

    def tflops_at(self, intensity: float) -> float:
        """TFLOP/s that the ceiling allows at an intensity in operations per byte."""
        return self.value * intensity / 1e3 if self.per_byte else self.value


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel's point in the chart."""

    kernel: KernelResult
    intensity: float  # operations per byte that its loads and stores request
    colour: str
    marker: str


def find_roofs(
    device: Device, limits: Limits | None, precisions: Collection[str] = ()
) -> list[Roof]:
    """The device's measured ceilings, else those computed from its clocks, cores and bus.

    Tensor cores' are there for the precisions of the kernels that are shown.
    """
    if limits:
        best = limits.ceilings
        tensor = {"tf32": best.best_tf32_tflops, "float16": best.best_half_tflops}
        return [
            Roof(f"FP32 measured {best.fp32_tflops:.1f} TFLOP/s", best.fp32_tflops, False),
            Roof(f"DRAM measured {best.dram_gb_s:,.0f} GB/s", best.dram_gb_s, True),
            Roof(f"L2 measured {best.l2_gb_s:,.0f} GB/s", best.l2_gb_s, True),
            *(
                Roof(f"{short_name(name)} measured {value:,.0f} TFLOP/s", value, False)
                for name, value in tensor.items()
                if value and name in precisions
            ),
        ]
    found = []
    if device.peak_fp32_tflops:
        peak = device.peak_fp32_tflops
        found.append(Roof(f"FP32 peak {peak:.1f} TFLOP/s", peak, False))
    if device.peak_gb_s:
        found.append(Roof(f"DRAM peak {device.peak_gb_s:,.0f} GB/s", device.peak_gb_s, True))
    return found


def find_points(comparison: Comparison, pair: Pair = NO_PAIR) -> list[Point]:
    """The kernels whose bytes are known, but those of float64.

    The simulator has counted them, or the hardware where the simulator does not run the kernel.
    """
    M, N, K = comparison.size
    points = []
    for number, kernel in enumerate(performance.timed_kernels(comparison)):
        counted = kernel.simulated or kernel.counters
        if counted and kernel.element != "float64":
            requested = global_bytes(counted)
            if requested:
                intensity = 2 * M * N * K / requested
                colour, marker = (
                    performance.colour_of(kernel, pair),
                    performance.marker_of(number),
                )
                points.append(Point(kernel, intensity, colour, marker))
    return points


def draw_roofline(
    comparison: Comparison, limits: Limits | None = None, ink: str = rows.INK, pair: Pair = NO_PAIR
) -> go.Figure:
    """Draw TFLOP/s over operations per byte, both logarithmic, under the device's ceilings.

    The bytes are those that loads and stores request from the caches, 32 for each counted
    sector: a kernel may lie above a memory's ceiling if a cache answered most of the requests.
    A name that would lie on another is left out: hovering over the point shows it.
    """
    shown = find_points(comparison, pair)
    ceilings = find_roofs(comparison.device, limits, {point.kernel.element for point in shown})
    low, high = _ranges(shown, ceilings)
    figure = go.Figure()
    flat = max((roof.value for roof in ceilings if not roof.per_byte), default=high[1])
    for number, roof in enumerate(ceilings):
        edge = min(high[0], 1e3 * flat / roof.value) if roof.per_byte else high[0]
        start = max(low[0], 1e3 * low[1] / roof.value) if roof.per_byte else low[0]
        figure.add_scatter(
            x=[start, edge], y=[roof.tflops_at(start), roof.tflops_at(edge)], mode="lines",
            hoverinfo="skip", line={"color": REFERENCE_COLOUR, "width": 3, "dash": DASHES[number]},
            name=roof.name,
        )  # fmt: skip
    for point in shown:
        figure.add_scatter(
            x=[point.intensity], y=[point.kernel.tflops], mode="markers", showlegend=False,
            marker={
                "symbol": point.marker if point.kernel.verified else f"{point.marker}-open",
                "size": 13, "color": point.colour, "line": {"width": 1.5, "color": ink},
            },
            name=performance.kernel_label(point.kernel),
            hovertemplate="%{x:.3g} operations a byte, %{y:.3g} TFLOP/s<extra>"
            + performance.kernel_label(point.kernel) + "</extra>",
        )  # fmt: skip
    points = [NamedPoint(one.kernel, one.intensity, one.kernel.tflops or 1.0) for one in shown]
    steps = [low[0] * (high[0] / low[0]) ** (n / ROOF_SAMPLES) for n in range(ROOF_SAMPLES + 1)]
    roofs = [(step, roof.tflops_at(step)) for roof in ceilings for step in steps]
    draw_names(figure, points, low, high, PLOT_HEIGHT, ink, pair, roofs)
    for axis, title, begin, end in (
        (figure.update_xaxes, X_TITLE, low[0], high[0]),
        (figure.update_yaxes, "TFLOP/s", low[1], high[1]),
    ):
        ticks = [
            10.0**power for power in range(math.ceil(math.log10(begin)), 4) if 10.0**power <= end
        ]
        axis(
            title=title, range=[math.log10(begin), math.log10(end)], tickvals=ticks,
            ticktext=[f"{tick:,g}" for tick in ticks],
        )  # fmt: skip
    draw_axes(figure, ink)
    above = TEXT_HEIGHT * (len(ceilings) + 1)  # on a phone each name has a line of its own
    figure.update_layout(height=PLOT_HEIGHT + above + MARGIN["b"], margin=MARGIN | {"t": above})
    return figure


def _ranges(shown: Sequence[Point], ceilings: Sequence[Roof]) -> tuple[Corner, Corner]:
    """(x, y) of the lowest and of the highest corner of the chart, with a margin around points."""
    across = [point.intensity for point in shown] or [1.0]
    up = [point.kernel.tflops or 1.0 for point in shown] + [
        roof.value for roof in ceilings if not roof.per_byte
    ]
    up = up or [1.0]
    return (min(across) / 2.5, min(up) / 2.5), (max(across) * 8, max(up) * 2)


def describe(comparison: Comparison, limits: Limits | None = None) -> str:
    """Describe the chart in words, for screen readers."""
    sentences = [
        f"{performance.kernel_label(point.kernel)}: {point.intensity:.3g} operations a byte, "
        f"{point.kernel.tflops:.3g} TFLOP/s"
        for point in find_points(comparison)
    ]
    sentences += [
        f"{performance.kernel_label(kernel)}: operations a byte unknown"
        for kernel in performance.timed_kernels(comparison)
        if kernel.element != "float64"
        and kernel.simulated is not None
        and global_bytes(kernel.simulated) is None
    ]
    precisions = {point.kernel.element for point in find_points(comparison)}
    ceilings = [roof.name for roof in find_roofs(comparison.device, limits, precisions)]
    return (
        f"Ceilings: {', '.join(ceilings) or 'not known'}. "
        f"Kernels: {'; '.join(sentences) or 'none'}."
    )
