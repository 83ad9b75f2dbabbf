"""Latency chart: measured cycles of each memory beside the numbers in notes on tiling."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import plotly.graph_objects as go

from gpu.cuda.microbenchmarks.latency import Latency
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import rows

NAMES: Mapping[str, str] = {
    "register": "Register", "shared": "Shared memory", "l1": "L1", "l2": "L2", "dram": "DRAM",
}  # fmt: skip
# Cycles in teaching notes: the smallest and the largest number that any of them has.
CLAIMS: Mapping[str, tuple[int, int]] = {
    "shared": (1, 10), "l1": (1, 5), "l2": (10, 20), "dram": (200, 500),
}  # fmt: skip


def draw_latencies(latency: Latency, ink: str = rows.INK) -> go.Figure:
    """Draw cycles of each memory: a diamond for measured, a grey bar for the notes; log scale."""
    measured = dataclasses.asdict(latency)
    row_of = {name: row for row, name in enumerate(NAMES)}
    chart = go.Figure()
    for index, (name, (least, most)) in enumerate(CLAIMS.items()):
        chart.add_scatter(
            x=[least, most], y=[row_of[name]] * 2, mode="lines", name="as tutorials often say",
            legendgroup="claims", showlegend=index == 0,
            line={"color": REFERENCE_COLOUR, "width": 14},
            hovertemplate=f"tutorials say {least} to {most} cycles<extra></extra>",
        )  # fmt: skip
    chart.add_scatter(
        x=list(measured.values()), y=[row_of[name] for name in measured], mode="markers",
        name="measured here", cliponaxis=False,
        marker={"symbol": "diamond", "size": 15, "color": ink},
        hovertemplate="%{x:,.1f} cycles<extra></extra>",
    )  # fmt: skip
    rows.write_names(
        chart,
        [
            rows.Name(title, f"{measured[name]:,.0f} cycles{_claim(name)}", False)
            for name, title in NAMES.items()
        ],
        ink,
    )
    rows.draw_axis(
        chart, ink, "cycles from request to value", type="log", range=[-0.05, 3.05],
        tickvals=[1, 10, 100, 1000], ticktext=["1", "10", "100", "1,000"],
    )  # fmt: skip
    rows.place_legend(chart, ink)
    return chart


def _claim(name: str) -> str:
    """What notes say of a memory, as it stands after the measured cycles."""
    return ", tutorials say {} to {}".format(*CLAIMS[name]) if name in CLAIMS else ""


def summarize(latency: Latency) -> str:
    """The sentence on what tiles save: the wait for DRAM beside that for shared memory."""
    return (
        f"A value from shared memory arrives after **{latency.shared:,.0f} cycles**, one from DRAM "
        f"after **{latency.dram:,.0f}**: {latency.dram / latency.shared:.0f} times as long."
    )


def describe(latency: Latency) -> str:
    """Describe the chart in words, for screen readers."""
    return "; ".join(
        f"{NAMES[name]}: {cycles:,.1f} cycles measured{_claim(name)}"
        for name, cycles in dataclasses.asdict(latency).items()
    )
