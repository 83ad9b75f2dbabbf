"""What the simulator predicted beside what the hardware counted, as points and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import plotly.graph_objects as go

from gpu.predict import global_sectors, shared_wavefronts
from gpu.result import Comparison, KernelResult
from ui import charts
from ui.palette import MEASURED_COLOUR

Count = Callable[[Mapping[str, int]], int]

COUNTS: Mapping[str, Count] = {
    "Global sectors": global_sectors,
    "Shared wavefronts": shared_wavefronts,
}
ROW = 44
MARKER_SIZE = 15


def counted(comparison: Comparison) -> list[KernelResult]:
    """The kernels that both the simulator and the hardware have counted."""
    return [kernel for kernel in comparison.kernels if kernel.simulated and kernel.counters]


def beside(comparison: Comparison, what: str, ink: str = charts.INK) -> go.Figure:
    """One of COUNTS for each kernel, predicted (a ring) and measured (a diamond); logarithmic."""
    count = COUNTS[what]
    shown = [kernel for kernel in counted(comparison) if count(kernel.simulated or {})]
    rows = list(range(len(shown)))
    figure = go.Figure()
    for name, symbol, colour, values in (
        ("measured by the hardware", "diamond", MEASURED_COLOUR,
         [count(kernel.counters or {}) for kernel in shown]),
        ("predicted by the simulator", "circle-open", ink,
         [count(kernel.simulated or {}) for kernel in shown]),
    ):  # fmt: skip
        figure.add_scatter(
            x=values, y=rows, mode="markers", name=name,
            marker={"symbol": symbol, "size": MARKER_SIZE, "color": colour, "line": {"width": 3}},
            customdata=[charts.label(kernel) for kernel in shown],
            hovertemplate="%{customdata}: %{x:,}<extra>" + name + "</extra>",
        )  # fmt: skip
    font = {"size": charts.AXIS_SIZE, "color": ink}
    figure.update_xaxes(
        type="log", dtick=1, exponentformat="SI", title=f"{what.lower()} of one launch",
        tickfont=font, title_font=font,
    )  # fmt: skip
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=rows,
        ticktext=[f"{charts.label(kernel)} " for kernel in shown],
        tickfont={"size": charts.LABEL_SIZE, "color": ink}, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=140 + ROW * max(1, len(shown)), margin={"l": 10, "r": 20, "t": 10, "b": 60},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom",
                "font": {"size": charts.AXIS_SIZE, "color": ink}},
    )  # fmt: skip
    return figure


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a kernel: each count predicted, measured, and the one over the other."""
    rows = []
    for kernel in counted(comparison):
        row = {"Kernel": charts.label(kernel)}
        for what, count in COUNTS.items():
            predicted, measured = count(kernel.simulated or {}), count(kernel.counters or {})
            row |= {
                f"{what}, predicted": f"{predicted:,}",
                f"{what}, measured": f"{measured:,}",
                f"{what}, measured over predicted": f"{measured / predicted:.1%}"
                if predicted
                else "–",
            }
        rows.append(row)
    return rows


def description(comparison: Comparison, what: str) -> str:
    """The picture in words."""
    count = COUNTS[what]
    return "; ".join(
        f"{charts.label(kernel)}: {count(kernel.simulated or {}):,} predicted, "
        f"{count(kernel.counters or {}):,} measured"
        for kernel in counted(comparison)
    )
