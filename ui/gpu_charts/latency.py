"""Latency chart: measured cycles of each memory beside the numbers in notes on tiling."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import plotly.graph_objects as go

from gpu.microbenchmarks.latency import Latency
from ui.gpu_charts import performance
from ui.palette import MEASURED_COLOUR, REFERENCE_COLOUR

NAMES: Mapping[str, str] = {
    "register": "Register", "shared": "Shared memory", "l1": "L1", "l2": "L2", "dram": "DRAM",
}  # fmt: skip
# Cycles in teaching notes: the smallest and the largest number that any of them has.
CLAIMS: Mapping[str, tuple[int, int]] = {
    "shared": (1, 10), "l1": (1, 5), "l2": (10, 20), "dram": (200, 500),
}  # fmt: skip


def draw_latencies(latency: Latency, ink: str = performance.INK) -> go.Figure:
    """Draw cycles of each memory: a diamond for measured, a grey bar for the notes; log scale."""
    measured = dataclasses.asdict(latency)
    rows = {name: row for row, name in enumerate(NAMES)}
    chart = go.Figure()
    for index, (name, (least, most)) in enumerate(CLAIMS.items()):
        chart.add_scatter(
            x=[least, most], y=[rows[name]] * 2, mode="lines", name="as notes often say",
            legendgroup="claims", showlegend=index == 0,
            line={"color": REFERENCE_COLOUR, "width": 16},
            hovertemplate=f"notes say {least} to {most} cycles<extra></extra>",
        )  # fmt: skip
    chart.add_scatter(
        x=list(measured.values()), y=[rows[name] for name in measured], mode="markers+text",
        name="measured here", cliponaxis=False,
        marker={"symbol": "diamond", "size": 16, "color": MEASURED_COLOUR,
                "line": {"width": 1.5, "color": ink}},
        text=[f"   {cycles:,.0f} cycles" for cycles in measured.values()],
        textposition="middle right", textfont={"size": performance.LABEL_SIZE, "color": ink},
        hoverinfo="skip",
    )  # fmt: skip
    font = {"size": performance.AXIS_SIZE, "color": ink}
    chart.update_xaxes(
        type="log", range=[-0.1, 4], tickvals=[1, 10, 100, 1000, 10000],
        ticktext=["1", "10", "100", "1,000", "10,000"], tickfont=font,
        title="cycles from asking to having, one load after another", title_font=font,
    )  # fmt: skip
    chart.update_yaxes(
        autorange="reversed", automargin=True, tickvals=list(rows.values()), zeroline=False,
        ticktext=[f"{name} " for name in NAMES.values()],
        tickfont={"size": performance.LABEL_SIZE, "color": ink},
    )  # fmt: skip
    chart.update_layout(
        height=380, margin={"l": 10, "r": 20, "t": 10, "b": 60},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom",
                "font": {"size": performance.AXIS_SIZE, "color": ink}},
    )  # fmt: skip
    return chart


def build_table(latency: Latency) -> list[dict[str, str]]:
    """Build a row for each memory: measured cycles, and the range in the notes."""
    return [
        {
            "Where": NAMES[name],
            "Measured, cycles": f"{cycles:,.1f}",
            "Notes say, cycles": "{} to {}".format(*CLAIMS[name]) if name in CLAIMS else "–",
        }
        for name, cycles in dataclasses.asdict(latency).items()
    ]


def describe(latency: Latency) -> str:
    """Describe the chart in words, for screen readers."""
    return "; ".join(
        f"{row['Where']}: {row['Measured, cycles']} cycles measured, notes say "
        f"{row['Notes say, cycles']}"
        for row in build_table(latency)
    )
