"""A picture of one multiprocessor with the blocks of a kernel that fit, and what allows no more."""

from __future__ import annotations

import plotly.graph_objects as go

from compiler.occupancy import CardOccupancy
from ui.drawing.palette import CHART_INKS, DARK, LIGHT
from ui.gpu_charts import rows

NAMES = {
    "threads": ("places for warps", ""), "registers": ("registers", ""),
    "shared memory": ("shared memory", " KB"), "blocks": ("places for blocks", ""),
}  # fmt: skip
KB = 1024


def draw_residency(found: CardOccupancy, ink: str = rows.INK) -> go.Figure:
    """Draw a row for each thing that blocks take, filled by as many blocks as are there at once."""
    palette = LIGHT if ink == CHART_INKS["light"] else DARK
    shares = [100 * of_block / of_all for of_block, of_all in _taken(found).values()]
    chart = go.Figure()
    for parity, fill in enumerate(palette.tiles[:2]):  # in turn, so that blocks can be counted
        filled = [
            (row, block * share, share)
            for row, share in enumerate(shares)
            for block in range(parity, found.blocks, 2)
        ]
        chart.add_bar(
            x=[share for *_, share in filled], y=[row for row, *_ in filled], orientation="h",
            base=[begin for _, begin, _ in filled], width=rows.THICKNESS, marker_color=fill,
            marker_line={"color": palette.paper, "width": 1}, showlegend=False,
            hovertemplate="a block takes %{x:.1f}%<extra></extra>",
        )  # fmt: skip
    chart.add_scatter(
        x=[100] * len(shares), y=list(range(len(shares))), mode="markers", showlegend=False,
        hoverinfo="skip", cliponaxis=False,
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": ink}},
    )  # fmt: skip
    rows.write_names(
        chart, [rows.Name(NAMES[name][0], text, name == found.limit)
                for name, text in _texts(found).items()], ink,
    )  # fmt: skip
    rows.draw_axis(chart, ink, range=[0, 102], ticksuffix="%", fixedrange=True)
    chart.update_layout(barmode="overlay", showlegend=False)
    return chart


def describe(found: CardOccupancy) -> str:
    """The picture in words, for screen readers."""
    listed = "; ".join(f"{NAMES[name][0]}: {text}" for name, text in _texts(found).items())
    blocks = f"{found.blocks} block{'s' * (found.blocks != 1)}"
    return f"A multiprocessor ({found.cards}) holds {blocks} at once; {listed}."


def _taken(found: CardOccupancy) -> dict[str, tuple[int, int]]:
    return {name: found.takes[name] for name in NAMES if name in found.takes}


def _texts(found: CardOccupancy) -> dict[str, str]:
    """Of each thing how much all blocks take; of that which limits them, that it does."""
    texts = {}
    for name, (of_block, of_all) in _taken(found).items():
        unit, scale = NAMES[name][1], KB if name == "shared memory" else 1
        full = ": no more fit" if name == found.limit else ""
        texts[name] = f"{found.blocks * of_block / scale:,g} of {of_all / scale:,g}{unit}{full}"
    return texts
