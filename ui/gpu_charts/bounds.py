"""Chart of what kernels' counted work takes at least, beside the time that was measured."""

from __future__ import annotations

import plotly.graph_objects as go

from gpu.bounds import Bounds, find_bounds
from gpu.comparison import Comparison, KernelResult
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_milliseconds, kernel_label

LEGEND_HEIGHT = 70  # pixels: three lines on a phone
TICKS = (1, 2, 5, 10, 20, 50, 100, 200)
PORT, ISSUE = "port to L1 and shared memory", "issue slots, and what register banks add"


def find_all(comparison: Comparison) -> list[tuple[KernelResult, Bounds]]:
    """The kernels whose work was counted, with its bounds."""
    found = ((kernel, find_bounds(kernel, comparison)) for kernel in comparison.kernels)
    return [(kernel, bounds) for kernel, bounds in found if bounds is not None]


def draw_bounds(comparison: Comparison, ink: str = rows.INK, *, is_timed: bool = True) -> go.Figure:
    """Draw a row for each counted kernel: the port's time, the issue slots', and the measured one.

    Milliseconds, log scale. The later of the first two is the prediction; is_timed adds the third.
    """
    shown = find_all(comparison)
    ends = {"symbol": "line-ns", "size": 7, "line": {"width": 2, "color": REFERENCE_COLOUR}}
    chart = go.Figure()
    for row, (_, bounds) in enumerate(shown):
        chart.add_scatter(
            x=[bounds.issue_ms, bounds.register_ms], y=[row, row], mode="lines+markers", name=ISSUE,
            legendgroup="issue", showlegend=row == 0, line={"color": REFERENCE_COLOUR, "width": 14},
            marker=ends, hovertemplate="%{x:.2f} ms<extra></extra>",
        )  # fmt: skip
    chart.add_scatter(
        x=[bounds.port_ms for _, bounds in shown], y=list(range(len(shown))), mode="markers",
        name=PORT, cliponaxis=False, hovertemplate="%{x:.2f} ms<extra></extra>",
        marker={"symbol": "line-ns", "size": 11, "line": {"width": 4, "color": ink}},
    )  # fmt: skip
    if is_timed:
        chart.add_scatter(
            x=[kernel.ms for kernel, _ in shown], y=list(range(len(shown))), mode="markers",
            name="measured", cliponaxis=False, hovertemplate="%{x:.2f} ms<extra></extra>",
            marker={"symbol": "diamond", "size": 15, "color": ink},
        )  # fmt: skip
    rows.write_names(
        chart, [rows.Name(kernel_label(kernel), _words(kernel, bounds, is_timed), False)
                for kernel, bounds in shown], ink,
    )  # fmt: skip
    ticks = [str(tick) for tick in TICKS]
    rows.draw_axis(chart, ink, "milliseconds", type="log", tickvals=TICKS, ticktext=ticks)
    rows.place_legend(chart, ink, LEGEND_HEIGHT)
    return chart


def describe(comparison: Comparison, *, is_timed: bool = True) -> str:
    """The chart in words, for screen readers."""
    return "; ".join(
        f"{kernel_label(kernel)}: {_words(kernel, bounds, is_timed)}"
        for kernel, bounds in find_all(comparison)
    )


def _words(kernel: KernelResult, bounds: Bounds, is_timed: bool) -> str:
    """The prediction, and the measured time where it is shown."""
    predicted = format_milliseconds(bounds.predicted_ms)
    if not is_timed or not kernel.ms:
        return predicted
    return f"{predicted}, measured {format_milliseconds(kernel.ms)}"
