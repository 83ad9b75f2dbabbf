"""Speed against error: one point for each kernel, the right ones far up and to the left."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.precision import short_name
from ui.drawing.palette import CHART_PAPERS, REFERENCE_COLOUR
from ui.gpu_charts import performance, rows
from ui.gpu_charts.label_placement import View, place_labels
from ui.gpu_charts.performance import NO_PAIR, Pair

HEIGHT = 560  # pixels
MARGIN = {"l": 58, "r": 14, "t": 56, "b": 60}
# Pixels of the plot on a phone and on a screen of 1280: names have to fit on both.
PLOT_WIDTHS = (280, 1000)
NAME_SIZE = 15  # pixels
CHARACTER_WIDTH = 8.0  # pixels of a character at NAME_SIZE: capitals take more than the mean, 7.4
TEXT_HEIGHT = 22  # pixels of a line of text
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
    low, high = _ranges(shown)
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
    _draw_names(figure, shown, low, high, ink, pair)
    font = {"size": rows.AXIS_SIZE, "color": ink}
    figure.update_xaxes(
        title="error of C, a share of its norm: left is closer", type="log", dtick=1,
        exponentformat="power", range=[low[0], high[0]],
    )  # fmt: skip
    figure.update_yaxes(title="TFLOP/s", type="log", dtick=1, range=[low[1], high[1]])
    for axis in (figure.update_xaxes, figure.update_yaxes):
        axis(
            tickfont=font, title_font=font, zeroline=False, showgrid=False, ticks="outside",
            tickcolor=REFERENCE_COLOUR, showline=True, linecolor=REFERENCE_COLOUR,
        )  # fmt: skip
    figure.update_layout(
        height=HEIGHT, margin=MARGIN, showlegend=True,
        legend={
            "orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0,
            "font": {"size": rows.AXIS_SIZE, "color": ink},
        },
    )  # fmt: skip
    return figure


def _place(kernel: KernelResult) -> tuple[float, float]:
    return math.log10(kernel.rel_norm_error or 1.0), math.log10(kernel.tflops or 1.0)


def _ranges(shown: Sequence[KernelResult]) -> tuple[tuple[float, float], tuple[float, float]]:
    """(x, y) of the lower left corner and of the upper right one, as powers of ten."""
    across, up = zip(*map(_place, shown), strict=True)
    return (min(across) - 1.0, min(up) - 0.3), (max(across) + 0.3, max(up) + 0.3)


def _draw_names(
    figure: go.Figure,
    shown: Sequence[KernelResult],
    low: tuple[float, float],
    high: tuple[float, float],
    ink: str,
    pair: Pair,
) -> None:
    """Write kernels' names beside their points: the compared ones first, then the fastest."""
    height = HEIGHT - MARGIN["t"] - MARGIN["b"]
    ordered = sorted(shown, key=lambda one: (one.name not in pair, -(one.tflops or 0.0)))
    names = [performance.kernel_label(kernel) for kernel in ordered]

    def pixels(kernel: KernelResult, width: float) -> tuple[float, float]:
        across, up = _place(kernel)
        return (
            width * (across - low[0]) / (high[0] - low[0]),
            height * (high[1] - up) / (high[1] - low[1]),
        )

    views = tuple(
        View(tuple(pixels(kernel, width) for kernel in ordered), (0, 0, width, height))
        for width in PLOT_WIDTHS
    )
    widths = tuple(CHARACTER_WIDTH * len(name) for name in names)
    positions = place_labels(views, widths, TEXT_HEIGHT)
    notes = []
    for kernel, name, position in zip(ordered, names, positions, strict=True):
        if position is None:
            continue
        across, up = _place(kernel)
        notes.append(go.layout.Annotation(
            x=across, y=up, text=f"<b>{name}</b>" if kernel.name in pair else name,
            ax=position.x, ay=position.y, xanchor=position.side, yanchor="middle",
            showarrow=True, arrowhead=0, arrowwidth=1, bgcolor=CHART_PAPERS[ink],
            arrowcolor=ink if position.far else "rgba(0,0,0,0)",
            font={"size": NAME_SIZE, "color": ink}, borderpad=0, standoff=0,
        ))  # fmt: skip
    rows.annotate(figure, notes)


def describe(comparison: Comparison) -> str:
    """Describe the chart in words, for screen readers."""
    return "; ".join(
        f"{performance.kernel_label(kernel)}: error {kernel.rel_norm_error:.2g}, "
        f"{kernel.tflops:.3g} TFLOP/s"
        for kernel in find_points(comparison)
    )
