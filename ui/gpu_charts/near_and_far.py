"""A picture of near and far: a kitchen, a shelf and a warehouse, as far away as memories are."""

from __future__ import annotations

import plotly.graph_objects as go

from gpu.cuda.device import Device
from gpu.cuda.microbenchmarks.latency import Latency
from ui.drawing.palette import BASE_COLOUR, COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows

HEIGHT = 284  # pixels
MARGIN = {"l": 50, "r": 56, "t": 4, "b": 128}  # pixels: the words are below the road
UNDER = 14  # pixels from the road to the words
STEP = 5  # pixels across a dot of the road
# Drawings in pixels from the place on the road that they are on, x to the right, y upwards.
KITCHEN = "M-26,0V26M26,0V26M-34,26H34V32H-34Z M-14,32V46H10V32 M10,42H22"
SHELF = (
    "M-30,0V84H30V0M-30,4H30M-30,30H30M-30,56H30"
    "M-22,4V20H-6V4M2,4V24H20V4M-18,30V46H0V30M6,30V50H22V30M-24,56V72H-10V56M-2,56V76H18V56"
)
WAREHOUSE = (
    "M-48,0V92L0,124L48,92V0ZM-20,0V48H20V0M0,0V48"
    "M-38,62H-22V78H-38ZM-8,62H8V78H-8ZM22,62H38V78H22ZM-38,14H-26V40H-38ZM26,14H38V40H26Z"
)


def draw_near_and_far(latency: Latency, device: Device, ink: str = rows.INK) -> go.Figure:
    """Draw a road in proportion to cycles, a dot for each trip to shared memory that it is long."""
    chart = go.Figure()
    dots = [latency.shared * trip for trip in range(1, int(latency.dram / latency.shared) + 1)]
    chart.add_scatter(
        x=dots, y=[0] * len(dots), mode="markers", hoverinfo="skip", showlegend=False,
        cliponaxis=False, marker={"size": STEP, "color": REFERENCE_COLOUR},
    )  # fmt: skip
    sizes = {
        "shared": f"{device.shared_bytes_per_block / 2**10:.0f} KB",
        "l2": f"{device.l2_bytes / 2**20:.0f} MB",
        "dram": f"{device.memory_bytes / 2**30:.0f} GB",
    }
    for place, name, memory, path, colour in (
        ("Kitchen", "shared", "shared<br>memory", KITCHEN, COMPARED_COLOUR),
        ("Shelf", "l2", "L2<br>cache", SHELF, BASE_COLOUR),
        ("Warehouse", "dram", "DRAM,<br>global", WAREHOUSE, ink),
    ):
        cycles = getattr(latency, name)
        chart.add_shape(
            type="path", path=path, xref="paper", yref="paper", xsizemode="pixel",
            ysizemode="pixel", xanchor=cycles / latency.dram, yanchor=0,
            line={"color": colour, "width": 2.5},
        )  # fmt: skip
        words = f"<b>{place}</b><br>{memory}<br>{cycles:.0f} cycles<br>{sizes[name]}"
        rows.write(chart, cycles, 0, words, ink, yshift=-UNDER, yanchor="top")
    hand = f"in hand:<br>register,<br>{latency.register:.0f} cycles"
    rows.write(chart, latency.shared, 0, hand, ink, yshift=60, yanchor="bottom")
    chart.update_xaxes(visible=False, range=[0, latency.dram], fixedrange=True)
    chart.update_yaxes(visible=False, range=[0, 1], fixedrange=True)
    return chart.update_layout(height=HEIGHT, margin=MARGIN)


def describe(latency: Latency, device: Device) -> str:
    """The picture in words, for screen readers."""
    return (
        f"A road whose distances are waiting times. In hand, a register: {latency.register:.0f} "
        f"cycles. In the kitchen, shared memory: {latency.shared:.0f} cycles, "
        f"{device.shared_bytes_per_block / 2**10:.0f} KB. On a shelf further away, the L2 cache: "
        f"{latency.l2:.0f} cycles, {device.l2_bytes / 2**20:.0f} MB. In the warehouse, DRAM: "
        f"{latency.dram:.0f} cycles, {device.memory_bytes / 2**30:.0f} GB."
    )
