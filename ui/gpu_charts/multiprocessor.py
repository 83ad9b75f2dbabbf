"""A picture of one multiprocessor: four quarters, and the one port to L1 and shared memory."""

from __future__ import annotations

import plotly.graph_objects as go

from gpu.bounds import BANKS, QUARTERS
from gpu.cuda.microbenchmarks.limits import Limits
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import rows

HEIGHT = 400  # pixels
GAP = 0.03  # between two quarters, of the width
# Tops and bottoms of the boxes, of the height: quarters, the port, L1, L2, DRAM.
QUARTER, PORT, NEAR, L2, DRAM = (0.63, 1.0), (0.53, 0.63), (0.37, 0.53), (0.18, 0.32), (0.0, 0.13)
PORT_SIDES = (0.42, 0.58)  # as narrow as one wavefront


def draw_multiprocessor(limits: Limits, ink: str = rows.INK) -> go.Figure:
    """Draw what a multiprocessor has once and four times, above the memories that all share."""
    latency, best = limits.latency, limits.ceilings
    chart = go.Figure()
    each = (1 - GAP * (QUARTERS - 1)) / QUARTERS
    for number in range(QUARTERS):
        left = number * (each + GAP)
        _box(chart, (left, left + each), QUARTER, ink, [
            f"<b>quarter {number}</b>", "issues 1", "instruction", "a cycle", "registers in",
            f"{BANKS} banks",
        ])  # fmt: skip
    _box(chart, PORT_SIDES, PORT, ink, ["<b>1 port</b>"])
    _box(chart, (0, 1), NEAR, ink, [
        "<b>L1 and shared memory</b>: 1 wavefront a cycle",
        f"shared after {latency.shared:.0f} cycles, L1 after {latency.l1:.0f}",
    ])  # fmt: skip
    for name, place, cycles, rate in (
        ("L2", L2, latency.l2, best.l2_gb_s), ("DRAM", DRAM, latency.dram, best.dram_gb_s),
    ):  # fmt: skip
        _box(chart, (0, 1), place, REFERENCE_COLOUR, [
            f"<b>{name}</b>, shared by all multiprocessors",
            f"after {cycles:.0f} cycles, {rate:,.0f} GB/s for all",
        ], ink)  # fmt: skip
    for axis in (chart.update_xaxes, chart.update_yaxes):
        axis(visible=False, range=[-0.01, 1.01], fixedrange=True)
    return chart.update_layout(height=HEIGHT, margin={"l": 4, "r": 4, "t": 4, "b": 4})


def describe(limits: Limits) -> str:
    """The picture in words, for screen readers."""
    return (
        f"A multiprocessor has {QUARTERS} quarters. Each issues an instruction a cycle, and has "
        f"registers in {BANKS} banks. All share one port to L1 and shared memory, which serves one "
        f"wavefront a cycle. Below are L2, after {limits.latency.l2:.0f} cycles, and DRAM, after "
        f"{limits.latency.dram:.0f}."
    )


def _box(
    chart: go.Figure, sides: tuple[float, float], place: tuple[float, float], colour: str,
    lines: list[str], ink: str = "",
) -> None:  # fmt: skip
    """Draw a box with its lines in the middle."""
    (left, right), (low, high) = sides, place
    chart.add_scatter(
        x=[left, right, right, left, left], y=[low, low, high, high, low], mode="lines",
        line={"color": colour, "width": 2}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    rows.write(chart, sum(sides) / 2, sum(place) / 2, "<br>".join(lines), ink or colour)
