"""Chart of how many of a kernel's issue slots multiply, beside the share of the peak it reaches."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import plotly.graph_objects as go

from compiler.iteration import Iteration, iterations
from compiler.recorded import recorded
from gpu.comparison import Comparison, KernelResult
from simulator.catalogue import whole_catalogue
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import kernel_label

ARCHITECTURE = "sm_90"  # its machine code is shown, as it was recorded
LEGEND_HEIGHT = 92  # pixels: four lines on a phone
MIX = "FFMA's share of the inner loop"
ALLOWED = "share of the peak that it allows"


def find_mixes(comparison: Comparison) -> list[tuple[KernelResult, Iteration]]:
    """The timed kernels of the catalogue that multiply in float32, each with its inner loop."""
    found = (
        (kernel, inner_loop(kernel.name.split(":")[0], tuple(sorted(kernel.defines.items()))))
        for kernel in comparison.kernels
        if kernel.peak_share
    )
    return [(kernel, inner) for kernel, inner in found if inner is not None]


@functools.cache
def inner_loop(name: str, defines: tuple[tuple[str, str], ...] = ()) -> Iteration | None:
    """The loop of a kernel's recorded machine code that has the most FFMA, None without any."""
    entry = whole_catalogue().get(name)
    if entry is None:
        return None
    chosen: Mapping[str, int] = {macro: int(value) for macro, value in defines}
    code = recorded(entry.source(**chosen), ARCHITECTURE)
    inner = None if code is None else next(iter(iterations(code)), None)
    return inner if inner is not None and inner.multiply_adds else None


def draw_mixes(comparison: Comparison, ink: str = rows.INK) -> go.Figure:
    """Draw a row a kernel: its share of FFMA, what its instructions allow, and what it reaches."""
    shown = find_mixes(comparison)
    places = list(range(len(shown)))
    chart = go.Figure()
    chart.add_bar(
        x=[100 * inner.multiply_add_share for _, inner in shown], y=places, orientation="h",
        width=rows.THICKNESS, name=MIX, marker_color=REFERENCE_COLOUR,
        hovertemplate="%{x:.0f}%<extra></extra>",
    )  # fmt: skip
    chart.add_scatter(
        x=[100 * inner.attainable for _, inner in shown], y=places, mode="markers", name=ALLOWED,
        cliponaxis=False, hovertemplate="%{x:.0f}%<extra></extra>",
        marker={"symbol": "line-ns", "size": 11, "line": {"width": 4, "color": ink}},
    )  # fmt: skip
    chart.add_scatter(
        x=[100 * (kernel.peak_share or 0) for kernel, _ in shown], y=places, mode="markers",
        name="share of the peak, measured", cliponaxis=False,
        hovertemplate="%{x:.0f}%<extra></extra>",
        marker={"symbol": "diamond", "size": 15, "color": ink},
    )  # fmt: skip
    names = [
        rows.Name(
            kernel_label(kernel),
            f"{inner.multiply_add_share:.0%} FFMA, {kernel.peak_share:.0%} of peak",
            False,
        )
        for kernel, inner in shown
    ]
    rows.write_names(chart, names, ink)
    rows.draw_axis(chart, ink, range=[0, 102], ticksuffix="%")
    rows.place_legend(chart, ink, LEGEND_HEIGHT)
    return chart


def describe(comparison: Comparison) -> str:
    """The chart in words, for screen readers."""
    return "; ".join(
        f"{kernel_label(kernel)}: {inner.multiply_add_share:.0%} FFMA, {inner.attainable:.0%} "
        f"allowed, {kernel.peak_share:.0%} measured"
        for kernel, inner in find_mixes(comparison)
    )
