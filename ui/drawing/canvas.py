"""The sheet that every panel draws on: one pair of axes counted in pixels, and its primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.number_format import format_short

# Streamlit brings the first of each; where it does not, what a machine has.
MONO = "'Source Code Pro', ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
SANS = "'Source Sans', 'Source Sans Pro', 'Source Sans 3', 'DejaVu Sans', Arial, sans-serif"

SPACE = "\u00a0"
CLEAR = "rgba(0,0,0,0)"

Trace = dict[str, Any]
Shape = dict[str, Any]


def outline(
    path: str,
    colour: str,
    width: float = 3,
    fill: str = CLEAR,
    layer: str = "above",
    dash: str = "solid",
) -> Shape:
    """A highlight or a fill, above or below all traces; an empty path is invisible."""
    return {
        "type": "path", "path": path or "M0,0Z",
        "line": {"color": colour, "width": width, "dash": dash}, "fillcolor": fill, "layer": layer,
    }  # fmt: skip


def colour_scale(colours: Sequence[str]) -> dict[str, Any]:
    """A heatmap's attributes that give cell value i the colour `colours[i]`."""
    count = len(colours)
    scale = []
    for i, colour in enumerate(colours):
        scale += [[i / count, colour], [(i + 1) / count, colour]]
    return {"zmin": -0.5, "zmax": count - 0.5, "colorscale": scale, "showscale": False}


def words(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    size: float | Sequence[float],
    colour: str | Sequence[str],
    align: str = "middle center",
    family: str = MONO,
    **attributes: Any,
) -> Trace:
    """Texts at points (x, y) of the sheet, in pixels.

    An empty text becomes a space that does not break: Plotly creates no node for an empty text, and
    the script that shows a step writes into existing nodes.
    """
    return {
        "type": "scatter", "mode": "text", "x": [x for x, _ in points],
        "y": [y for _, y in points], "text": [text or SPACE for text in texts],
        "textposition": align,
        "textfont": {"size": size, "color": colour, "family": family}, "hoverinfo": "skip",
        "cliponaxis": False, **attributes,
    }  # fmt: skip


def labels(
    points: Sequence[tuple[float, float]], texts: Sequence[str], size: float,
    colour: str | Sequence[str], align: str = "middle right", **attributes: Any,
) -> Trace:  # fmt: skip
    """Texts in the letters of sentences, as words: to the right of their points."""
    return words(points, texts, size, colour, align, SANS, **attributes)


def paragraph(
    left: float, top: float, lines: Sequence[str], most: int, size: float, colour: str
) -> Trace:
    """Lines of words, of which there is room for so many, from a place of the sheet down."""
    points = [(left, top + size * (0.8 + 1.35 * i)) for i in range(most)]
    return labels(points, [*lines, *[""] * most][:most], size, colour)


def number(value: Any) -> str:
    """A number as short as a cell needs it."""
    return format_short(value)
