"""Rows of a chart, each under its name: a name never shortens the plot and no line crosses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from ui.drawing.palette import CHART_INKS, REFERENCE_COLOUR

INK = CHART_INKS["light"]  # text of the light theme, the default
LABEL_SIZE = 16  # pixels
AXIS_SIZE = 14  # pixels
ROW_HEIGHT = 54  # pixels from one row to the next
THICKNESS = 0.36  # of a bar, in rows
ABOVE = 11  # pixels from the middle of a row to the foot of its name
TOP = 0.7  # rows above the middle of the first one, for its name
BELOW = 0.35  # rows below the middle of the last one
MARGIN = {"l": 10, "r": 16, "t": 4, "b": 56}
LEGEND_HEIGHT = 46  # pixels: two lines on a phone
LEGEND = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0}


@dataclass(frozen=True, slots=True)
class Name:
    """What is above a row."""

    label: str
    text: str  # after the label, "" for none
    bold: bool  # whether the label is bold


def annotate(figure: go.Figure, notes: Sequence[go.layout.Annotation]) -> None:
    """Add annotations at once: figure.add_annotation copies those that are there for each."""
    figure.layout.annotations = (*figure.layout.annotations, *notes)


def axis_font(ink: str) -> dict[str, Any]:
    """The font of axes and legends."""
    return {"size": AXIS_SIZE, "color": ink}


def write(figure: go.Figure, x: float, y: float, text: str, ink: str, **placed: Any) -> None:
    """Write a text at a point of a chart, or as Plotly's `placed` says from there."""
    annotate(figure, [
        go.layout.Annotation(
            x=x, y=y, text=text, showarrow=False, borderpad=0, font=axis_font(ink), **placed
        )
    ])  # fmt: skip


def write_names(figure: go.Figure, names: Sequence[Name], ink: str) -> None:
    """Give the figure a row for each name, from the top, and write the names above the rows.

    The middle of row i is at y = i. The figure has the height that all rows need.
    """
    labels = [f"<b>{name.label}</b>" if name.bold else name.label for name in names]
    annotate(figure, [
        go.layout.Annotation(
            xref="paper", x=0, xanchor="left", y=row, yanchor="bottom", yshift=ABOVE,
            text=f"{label}: {name.text}" if name.text else label, showarrow=False, borderpad=0,
            align="left", font={"size": LABEL_SIZE, "color": ink},
        )
        for row, (name, label) in enumerate(zip(names, labels, strict=True))
    ])  # fmt: skip
    count = max(1, len(names))
    figure.update_yaxes(
        range=[count - 1 + BELOW, -TOP], visible=False, showgrid=False, zeroline=False
    )
    figure.update_layout(
        height=round(ROW_HEIGHT * (count - 1 + BELOW + TOP)) + MARGIN["t"] + MARGIN["b"],
        margin=MARGIN,
    )


def draw_axis(figure: go.Figure, ink: str, title: str = "", **axis: Any) -> None:
    """Draw the axis below the rows; `axis` has its ticks, range and type, as Plotly does."""
    font = axis_font(ink)
    figure.update_xaxes(
        title=title or None, tickfont=font, title_font=font, showgrid=False, ticks="outside",
        tickcolor=REFERENCE_COLOUR, zeroline=False, **axis,
    )  # fmt: skip


def place_legend(figure: go.Figure, ink: str, height: int = LEGEND_HEIGHT) -> None:
    """Place the legend above the rows, which keep their height: the figure grows by `height`."""
    figure.update_layout(
        height=figure.layout.height + height, margin=MARGIN | {"t": height},
        legend=LEGEND | {"font": axis_font(ink)},
    )  # fmt: skip
