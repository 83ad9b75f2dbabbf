"""Chart of kernels compiled as usual, and so that nothing of global memory is kept in L1."""

from __future__ import annotations

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.recorded import PAST_L1
from ui.drawing.palette import COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_milliseconds, kernel_label

MIDDLES = (0.02, 0.24)  # rows below the middle of a kernel's row, of its two bars


def find_pairs(comparison: Comparison) -> list[tuple[KernelResult, KernelResult]]:
    """Each kernel as it is compiled usually and without L1, where both were timed."""
    kernels = {kernel.name: kernel for kernel in comparison.kernels if kernel.ms}
    return [
        (kernel, kernels[f"{name} {PAST_L1}"])
        for name, kernel in kernels.items() if f"{name} {PAST_L1}" in kernels
    ]  # fmt: skip


def draw_without_l1(comparison: Comparison, ink: str = rows.INK) -> go.Figure:
    """Draw two bars for each kernel: milliseconds with L1, and without."""
    pairs = find_pairs(comparison)
    chart = go.Figure()
    for side, (name, colour) in enumerate(
        (("with L1", REFERENCE_COLOUR), ("without L1", COMPARED_COLOUR))
    ):
        for row, pair in enumerate(pairs):
            at, ms = row + MIDDLES[side], pair[side].ms or 0.0
            chart.add_scatter(
                x=[0, ms], y=[at, at], mode="lines", name=name, legendgroup=name,
                showlegend=row == 0, line={"color": colour, "width": 11},
                hovertemplate=f"{format_milliseconds(ms)}<extra></extra>",
            )  # fmt: skip
    names = [rows.Name(kernel_label(usual), _words(usual, past), False) for usual, past in pairs]
    rows.write_names(chart, names, ink)
    rows.draw_axis(chart, ink, "milliseconds", rangemode="tozero")
    rows.place_legend(chart, ink)
    return chart


def describe(comparison: Comparison) -> str:
    """The chart in words, for screen readers."""
    return "; ".join(
        f"{kernel_label(usual)}: {_words(usual, past)}" for usual, past in find_pairs(comparison)
    )


def _words(usual: KernelResult, past: KernelResult) -> str:
    times = [format_milliseconds(kernel.ms or 0.0) for kernel in (usual, past)]
    return ", without L1 ".join(times)
