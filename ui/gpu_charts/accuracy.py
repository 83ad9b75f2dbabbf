"""Speed against error: one point for each kernel, the right ones far up and to the left."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.precision import short_name
from ui.gpu_charts import performance, rows
from ui.gpu_charts.named_points import Corner, NamedPoint, draw_axes, draw_names
from ui.gpu_charts.performance import NO_PAIR, Pair

HEIGHT = 560  # pixels
MARGIN = {"l": 58, "r": 14, "t": 56, "b": 60}
SYMBOLS = {"float32": "circle", "float64": "square", "tf32": "diamond", "float16": "triangle-up"}


def find_points(comparison: Comparison) -> list[KernelResult]:
    """The kernels whose C is right, with a speed and an error above zero."""
    return [
        kernel
        for kernel in performance.timed_kernels(comparison)
        if kernel.verified and kernel.rel_norm_error
    ]


def draw_accuracy(comparison: Comparison, ink: str = rows.INK, pair: Pair = NO_PAIR) -> go.Figure:
    """Draw TFLOP/s over the error of C, a share of its norm, both logarithmic.

    A symbol says what operands are multiplied as. A name that would lie on another is left out:
    hovering over the point shows it. Needs a point at least.
    """
    shown = find_points(comparison)
    points = [NamedPoint(one, one.rel_norm_error or 1.0, one.tflops or 1.0) for one in shown]
    low, high = _ranges(points)
    figure = go.Figure()
    for element, symbol in SYMBOLS.items():
        some = [kernel for kernel in shown if kernel.element == element]
        if some:
            figure.add_scatter(
                x=[kernel.rel_norm_error for kernel in some],
                y=[kernel.tflops for kernel in some],
                mode="markers", name=short_name(element),
                marker={
                    "symbol": symbol, "size": 13, "line": {"width": 1.5, "color": ink},
                    "color": [performance.colour_of(kernel, pair) for kernel in some],
                },
                customdata=[performance.kernel_label(kernel) for kernel in some],
                hovertemplate="error %{x:.2g}, %{y:.3g} TFLOP/s<extra>%{customdata}</extra>",
            )  # fmt: skip
    height = HEIGHT - MARGIN["t"] - MARGIN["b"]
    draw_names(figure, points, low, high, height, ink, pair)
    figure.update_xaxes(
        title="error as a share of C's norm: left is closer", dtick=1,
        exponentformat="power",
        range=[math.log10(low[0]), math.log10(high[0])],
    )  # fmt: skip
    figure.update_yaxes(title="TFLOP/s", dtick=1, range=[math.log10(low[1]), math.log10(high[1])])
    draw_axes(figure, ink)
    figure.update_layout(height=HEIGHT, margin=MARGIN, showlegend=True)
    return figure


def _ranges(shown: Sequence[NamedPoint]) -> tuple[Corner, Corner]:
    """(x, y) of the lower left corner and of the upper right one."""
    across, up = [point.x for point in shown], [point.y for point in shown]
    return (min(across) / 10, min(up) / 2), (max(across) * 2, max(up) * 2)


def describe(comparison: Comparison) -> str:
    """Describe the chart in words, for screen readers."""
    return "; ".join(
        f"{performance.kernel_label(kernel)}: error {kernel.rel_norm_error:.2g}, "
        f"{kernel.tflops:.3g} TFLOP/s"
        for kernel in find_points(comparison)
    )
