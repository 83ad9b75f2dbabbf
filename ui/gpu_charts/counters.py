"""Predicted and measured counters: the simulator's beside the hardware's, as chart and table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import plotly.graph_objects as go

from gpu.predict import global_sectors, shared_wavefronts
from gpu.result import Comparison, KernelResult
from ui.gpu_charts import performance
from ui.palette import MEASURED_COLOUR

CountFunction = Callable[[Mapping[str, int]], int | None]

COUNTS: Mapping[str, CountFunction] = {
    "Global sectors": global_sectors,
    "Shared wavefronts": shared_wavefronts,
}
ROW_HEIGHT = 44  # pixels
MARKER_SIZE = 15  # pixels


def profiled_kernels(comparison: Comparison) -> list[KernelResult]:
    """The kernels that have simulated counters and hardware counters."""
    return [
        kernel
        for kernel in comparison.kernels
        if kernel.simulated is not None and kernel.counters is not None
    ]


def predicted_count(kernel: KernelResult, count: str) -> int | None:
    """The simulator's value of an entry of COUNTS, None if a counter of it was not recorded."""
    return COUNTS[count](kernel.simulated or {})


def measured_count(kernel: KernelResult, count: str) -> int | None:
    """The hardware's value of an entry of COUNTS, None if a counter of it was not recorded."""
    return COUNTS[count](kernel.counters or {})


def draw_counts(comparison: Comparison, count: str, ink: str = performance.INK) -> go.Figure:
    """Draw an entry of COUNTS for each kernel: predicted a ring, measured a diamond; log scale.

    An unknown count has no marker; the kernel's name on the axis says which is unknown.
    """
    shown = [
        kernel for kernel in profiled_kernels(comparison) if predicted_count(kernel, count) != 0
    ]
    rows = list(range(len(shown)))
    figure = go.Figure()
    for name, symbol, colour, values in (
        ("measured by the hardware", "diamond", MEASURED_COLOUR,
         [measured_count(kernel, count) for kernel in shown]),
        ("predicted by the simulator", "circle-open", ink,
         [predicted_count(kernel, count) for kernel in shown]),
    ):  # fmt: skip
        figure.add_scatter(
            x=values, y=rows, mode="markers", name=name,
            marker={"symbol": symbol, "size": MARKER_SIZE, "color": colour, "line": {"width": 3}},
            customdata=[performance.kernel_label(kernel) for kernel in shown],
            hovertemplate="%{customdata}: %{x:,}<extra>" + name + "</extra>",
        )  # fmt: skip
    font = {"size": performance.AXIS_SIZE, "color": ink}
    figure.update_xaxes(
        type="log", dtick=1, exponentformat="SI", title=f"{count.lower()} of one launch",
        tickfont=font, title_font=font,
    )  # fmt: skip
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=rows,
        ticktext=[f"{_axis_label(kernel, count)} " for kernel in shown],
        tickfont={"size": performance.LABEL_SIZE, "color": ink}, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=140 + ROW_HEIGHT * max(1, len(shown)), margin={"l": 10, "r": 20, "t": 10, "b": 60},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom",
                "font": {"size": performance.AXIS_SIZE, "color": ink}},
    )  # fmt: skip
    return figure


def _axis_label(kernel: KernelResult, count: str) -> str:
    """The kernel's name, followed by which of its two counts are unknown."""
    counts = {
        "predicted": predicted_count(kernel, count),
        "measured": measured_count(kernel, count),
    }
    unknown = [f"{name} unknown" for name, count in counts.items() if count is None]
    return ", ".join([performance.kernel_label(kernel), *unknown])


def build_table(comparison: Comparison) -> list[dict[str, str]]:
    """Build a row for each kernel: each count predicted, measured, and measured over predicted."""
    rows = []
    for kernel in profiled_kernels(comparison):
        row = {"Kernel": performance.kernel_label(kernel)}
        for count in COUNTS:
            simulated, hardware = predicted_count(kernel, count), measured_count(kernel, count)
            row |= {
                f"{count}, predicted": performance.format_count(simulated),
                f"{count}, measured": performance.format_count(hardware),
                f"{count}, measured over predicted": _ratio(hardware, simulated),
            }
        rows.append(row)
    return rows


def _ratio(hardware: int | None, simulated: int | None) -> str:
    """Measured over predicted as a percentage, "–" when nothing was predicted."""
    if hardware is None or simulated is None:
        return "unknown"
    return f"{hardware / simulated:.1%}" if simulated else "–"


def describe(comparison: Comparison, count: str) -> str:
    """Describe the chart in words, for screen readers."""
    return "; ".join(
        f"{performance.kernel_label(kernel)}: "
        f"{performance.format_count(predicted_count(kernel, count))} predicted, "
        f"{performance.format_count(measured_count(kernel, count))} measured"
        for kernel in profiled_kernels(comparison)
    )
