"""What the simulator predicted beside what the hardware counted, as points and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import plotly.graph_objects as go

from gpu.predict import global_sectors, shared_wavefronts
from gpu.result import Comparison, KernelResult
from ui.gpu_charts import performance
from ui.palette import MEASURED_COLOUR

Count = Callable[[Mapping[str, int]], int | None]

COUNTS: Mapping[str, Count] = {
    "Global sectors": global_sectors,
    "Shared wavefronts": shared_wavefronts,
}
ROW = 44
MARKER_SIZE = 15


def counted(comparison: Comparison) -> list[KernelResult]:
    """The kernels that both the simulator and the hardware have counted."""
    return [
        kernel
        for kernel in comparison.kernels
        if kernel.simulated is not None and kernel.counters is not None
    ]


def predicted(kernel: KernelResult, what: str) -> int | None:
    """One of COUNTS by the simulator, None when a counter of it was not recorded."""
    return COUNTS[what](kernel.simulated or {})


def measured(kernel: KernelResult, what: str) -> int | None:
    """One of COUNTS by the hardware, None when a counter of it was not recorded."""
    return COUNTS[what](kernel.counters or {})


def beside(comparison: Comparison, what: str, ink: str = performance.INK) -> go.Figure:
    """One of COUNTS for each kernel, predicted (a ring) and measured (a diamond); logarithmic.

    An unknown count has no marker; the kernel's name on the axis says which is unknown.
    """
    shown = [kernel for kernel in counted(comparison) if predicted(kernel, what) != 0]
    rows = list(range(len(shown)))
    figure = go.Figure()
    for name, symbol, colour, values in (
        ("measured by the hardware", "diamond", MEASURED_COLOUR,
         [measured(kernel, what) for kernel in shown]),
        ("predicted by the simulator", "circle-open", ink,
         [predicted(kernel, what) for kernel in shown]),
    ):  # fmt: skip
        figure.add_scatter(
            x=values, y=rows, mode="markers", name=name,
            marker={"symbol": symbol, "size": MARKER_SIZE, "color": colour, "line": {"width": 3}},
            customdata=[performance.label(kernel) for kernel in shown],
            hovertemplate="%{customdata}: %{x:,}<extra>" + name + "</extra>",
        )  # fmt: skip
    font = {"size": performance.AXIS_SIZE, "color": ink}
    figure.update_xaxes(
        type="log", dtick=1, exponentformat="SI", title=f"{what.lower()} of one launch",
        tickfont=font, title_font=font,
    )  # fmt: skip
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=rows,
        ticktext=[f"{_axis_label(kernel, what)} " for kernel in shown],
        tickfont={"size": performance.LABEL_SIZE, "color": ink}, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=140 + ROW * max(1, len(shown)), margin={"l": 10, "r": 20, "t": 10, "b": 60},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom",
                "font": {"size": performance.AXIS_SIZE, "color": ink}},
    )  # fmt: skip
    return figure


def _axis_label(kernel: KernelResult, what: str) -> str:
    """The kernel's name, followed by which of its two counts are unknown."""
    counts = {"predicted": predicted(kernel, what), "measured": measured(kernel, what)}
    unknown = [f"{name} unknown" for name, count in counts.items() if count is None]
    return ", ".join([performance.label(kernel), *unknown])


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a kernel: each count predicted, measured, and the one over the other."""
    rows = []
    for kernel in counted(comparison):
        row = {"Kernel": performance.label(kernel)}
        for what in COUNTS:
            simulated, hardware = predicted(kernel, what), measured(kernel, what)
            row |= {
                f"{what}, predicted": performance.count(simulated),
                f"{what}, measured": performance.count(hardware),
                f"{what}, measured over predicted": _ratio(hardware, simulated),
            }
        rows.append(row)
    return rows


def _ratio(hardware: int | None, simulated: int | None) -> str:
    """Measured over predicted as a percentage, "–" when nothing was predicted."""
    if hardware is None or simulated is None:
        return "unknown"
    return f"{hardware / simulated:.1%}" if simulated else "–"


def description(comparison: Comparison, what: str) -> str:
    """The picture in words."""
    return "; ".join(
        f"{performance.label(kernel)}: {performance.count(predicted(kernel, what))} predicted, "
        f"{performance.count(measured(kernel, what))} measured"
        for kernel in counted(comparison)
    )
