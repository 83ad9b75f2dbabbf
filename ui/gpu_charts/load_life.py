"""A load's life over time: it is under way, and under it the other warps of a quarter work."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from gpu.cuda.microbenchmarks.latency import Latency
from ui.drawing.palette import COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows

WORK = 100  # instructions that a warp has before it needs what it loads, one a cycle
ROW = 30  # pixels from one row to the next
THICKNESS = 0.66  # of a bar, in rows
TICK = 0.42  # rows above and below a load's line, where a memory answers
MARGIN = {"l": 66, "r": 16, "t": 10, "b": 52}


def warps_needed(latency: Latency) -> int:
    """The warps with which a quarter always has an instruction to issue, those that wait too."""
    return math.ceil(latency.dram / WORK) + 1


def draw_load_life(latency: Latency, ink: str = rows.INK) -> go.Figure:
    """Draw a row for each warp, and under them which one the quarter issues from."""
    chart, count = go.Figure(), warps_needed(latency)
    end = (count + 1) * WORK
    for warp in range(count):
        issued = (warp + 1) * WORK
        _bar(chart, warp, issued - WORK, str(warp), warp == 0, ink)
        _bar(chart, count, issued - WORK, str(warp), warp == 0, ink)
        back = min(issued + latency.dram, end)
        colour = COMPARED_COLOUR if warp == 0 else REFERENCE_COLOUR
        chart.add_scatter(
            x=[issued, back], y=[warp, warp], mode="lines", showlegend=False, hoverinfo="skip",
            line={"color": colour, "width": 3, "dash": "dot"},
        )  # fmt: skip
    for row in (0, count):
        _bar(chart, row, count * WORK, "0", is_first=True, ink=ink)
    for name, cycles in (("L1", latency.l1), ("L2", latency.l2), ("DRAM", latency.dram)):
        at = WORK + cycles
        chart.add_scatter(
            x=[at, at], y=[-TICK, TICK], mode="lines", showlegend=False, hoverinfo="skip",
            line={"color": ink, "width": 2},
        )  # fmt: skip
        rows.write(chart, at, -1, f"{name} {cycles:.0f}", ink)
    rows.draw_axis(chart, ink, "cycles", range=[0, end], fixedrange=True)
    chart.update_yaxes(
        range=[count + 0.6, -1.5], tickvals=list(range(count + 1)),
        ticktext=[*(f"warp {warp}" for warp in range(count)), "<b>issues</b>"],
        tickfont=rows.axis_font(ink), showgrid=False, zeroline=False, fixedrange=True,
    )  # fmt: skip
    height = round(ROW * (count + 2.1)) + MARGIN["t"] + MARGIN["b"]
    return chart.update_layout(height=height, margin=MARGIN)


def describe(latency: Latency) -> str:
    """The picture in words, for screen readers."""
    count = warps_needed(latency)
    return (
        f"Warp 0 issues {WORK} instructions and asks for a value. L1 would answer after "
        f"{latency.l1:.0f} cycles, L2 after {latency.l2:.0f}, DRAM answers after "
        f"{latency.dram:.0f}. Meanwhile warps 1 to {count - 1} issue {WORK} instructions each, so "
        f"the quarter issues one in every cycle, and warp 0 goes on at cycle {count * WORK}."
    )


def _bar(chart: go.Figure, row: int, start: float, text: str, is_first: bool, ink: str) -> None:
    """Draw a warp's instructions from a cycle on, with its number."""
    colour = COMPARED_COLOUR if is_first else REFERENCE_COLOUR
    low, high = row - THICKNESS / 2, row + THICKNESS / 2
    chart.add_scatter(
        x=[start, start + WORK, start + WORK, start, start], y=[low, low, high, high, low],
        mode="lines", line={"color": colour, "width": 2}, hoverinfo="skip", showlegend=False,
        fill="toself" if is_first else None, fillcolor=f"{colour}44",
    )  # fmt: skip
    rows.write(chart, start + WORK / 2, row, text, ink)
