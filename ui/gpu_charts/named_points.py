"""Kernels as points on two logarithmic axes, each with its name beside it where there is room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from gpu.comparison import KernelResult
from ui.drawing.palette import CHART_PAPERS, REFERENCE_COLOUR
from ui.gpu_charts import performance, rows
from ui.gpu_charts.label_placement import View, place_labels
from ui.gpu_charts.performance import Pair

# Pixels of the plot on a phone and on a screen of 1280: names have to fit on both.
PLOT_WIDTHS = (280, 1000)
NAME_SIZE = 15  # pixels
CHARACTER_WIDTH = 8.0  # pixels of a character at NAME_SIZE: capitals take more than the mean, 7.4
TEXT_HEIGHT = 22  # pixels of a line of text

Corner = tuple[float, float]  # x and y, in the axes' units


class NamedPoint(NamedTuple):
    """Where a kernel is."""

    kernel: KernelResult
    x: float
    y: float  # TFLOP/s


def draw_axes(figure: go.Figure, ink: str) -> None:
    """Draw two axes, which have their titles, as lines with ticks, and the legend above them."""
    font = rows.axis_font(ink)
    for axis in (figure.update_xaxes, figure.update_yaxes):
        axis(
            type="log", tickfont=font, title_font=font, zeroline=False, showgrid=False,
            ticks="outside", tickcolor=REFERENCE_COLOUR, showline=True, linecolor=REFERENCE_COLOUR,
        )  # fmt: skip
    figure.update_layout(legend=rows.LEGEND | {"y": 1.02, "font": font})


def draw_names(
    figure: go.Figure, points: Sequence[NamedPoint], low: Corner, high: Corner, height: float,
    ink: str, pair: Pair, line: Sequence[Corner] = (),
) -> None:  # fmt: skip
    """Write kernels' names beside their points: the compared ones first, then the fastest.

    low and high are the corners of the plot, which is so many pixels high; names avoid the places
    on `line`. A name that would lie on another is left out.
    """

    def pixels(x: float, y: float, width: float) -> Corner:
        across = math.log(x / low[0]) / math.log(high[0] / low[0])
        up = math.log(y / low[1]) / math.log(high[1] / low[1])
        return width * across, height * (1 - up)

    ordered = sorted(points, key=lambda point: (point.kernel.name not in pair, -point.y))
    names = [performance.kernel_label(point.kernel) for point in ordered]
    views = tuple(
        View(
            tuple(pixels(point.x, point.y, width) for point in ordered), (0, 0, width, height),
            tuple(pixels(*place, width) for place in line),
        )
        for width in PLOT_WIDTHS
    )  # fmt: skip
    widths = tuple(CHARACTER_WIDTH * len(name) for name in names)
    positions = place_labels(views, widths, TEXT_HEIGHT)
    rows.annotate(figure, [
        go.layout.Annotation(
            x=math.log10(point.x), y=math.log10(point.y),
            text=f"<b>{name}</b>" if point.kernel.name in pair else name,
            ax=position.x, ay=position.y, xanchor=position.side, yanchor="middle",
            showarrow=True, arrowhead=0, arrowwidth=1, bgcolor=CHART_PAPERS[ink],
            arrowcolor=ink if position.far else "rgba(0,0,0,0)",
            font={"size": NAME_SIZE, "color": ink}, borderpad=0, standoff=0,
        )
        for point, name, position in zip(ordered, names, positions, strict=True)
        if position is not None
    ])  # fmt: skip
