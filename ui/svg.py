"""A lecture's picture as SVG, of its figure alone: no browser draws it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ui.panels.canvas import CLEAR, Shape, Trace

# What a figure's texts have beside letters and entities, and what stands for it in SVG.
MARKUP = {
    r"<b>": '<tspan font-weight="bold">',
    r"<span style='color:(#\w+)'>": r'<tspan fill="\1">',
    r"</(b|span)>": "</tspan>",
}
ANCHORS = {"middle left": "end", "middle center": "middle", "middle right": "start"}
# Of a font's size: how far its baseline is below the middle, as Plotly has it.
TEXT_DROP, TITLE_DROP = 0.25, 0.35


def draw_svg(figure: Mapping[str, Any]) -> str:
    """Write a lecture's figure, plain "data" and "layout", as SVG: the step that it begins with."""
    layout = figure["layout"]
    width, height, title = layout["width"], layout["height"], layout["title"]
    by_layer = {"below": "", "above": ""}
    for shape in layout["shapes"]:
        by_layer[shape["layer"]] += _path(shape)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}">\n<style>text {{ white-space: pre }}</style>\n'
        f'<rect width="{width:g}" height="{height:g}" fill="{layout["paper_bgcolor"]}"/>\n',
        by_layer["below"],
        *(_columns(trace) for trace in figure["data"] if trace["type"] == "heatmap"),
        *(_texts(trace) for trace in figure["data"] if trace["type"] == "scatter"),
        by_layer["above"],
        _text(
            title["text"],
            title["x"] * width,
            (1 - title["y"]) * height + TITLE_DROP * title["font"]["size"],
            "start",
            title["font"],
        ),
        "</svg>\n",
    ]
    return "".join(parts)


def _path(shape: Shape) -> str:
    line, fill = shape["line"], shape["fillcolor"]
    width = line["width"] if line["color"] != CLEAR else 0
    if shape["path"] == "M0,0Z" or (fill == CLEAR and not width):
        return ""
    dots = f' stroke-dasharray="{max(width, 3):g}"' if line["dash"] == "dot" else ""
    return (
        f'<path d="{shape["path"]}" fill="{"none" if fill == CLEAR else fill}" '
        f'stroke="{line["color"] if width else "none"}" stroke-width="{width:g}"{dots}/>\n'
    )


def _columns(trace: Trace) -> str:
    """A row of columns; those of one colour that touch are one."""
    [values], (top, bottom), width = trace["z"].tolist(), trace["y"], trace["dx"]
    colours = [colour for _, colour in trace["colorscale"][::2]]
    left, gap = trace["x0"] - width / 2, trace["xgap"]
    key = (lambda i: i) if gap else (lambda i: values[i])
    drawn = ""
    for _, group in groupby(range(len(values)), key):
        columns = list(group)
        drawn += (
            f'<rect x="{left + columns[0] * width + gap / 2:.1f}" y="{top:.1f}" '
            f'width="{len(columns) * width - gap:.1f}" height="{bottom - top:.1f}" '
            f'fill="{colours[values[columns[0]]]}"/>\n'
        )
    return drawn


def _texts(trace: Trace) -> str:
    assert trace["mode"] == "text"
    font, anchor = trace["textfont"], ANCHORS[trace["textposition"]]
    count = len(trace["text"])
    fonts = zip(_each(font["size"], count), _each(font["color"], count), strict=True)
    rows = zip(trace["text"], trace["x"], trace["y"], fonts, strict=True)
    return "".join(
        _text(
            text,
            x,
            y + TEXT_DROP * size,
            anchor,
            {"family": font["family"], "size": size, "color": colour},
        )
        for text, x, y, (size, colour) in rows
    )


def _each(value: Any, count: int) -> Sequence[Any]:
    return value if isinstance(value, list) else [value] * count


def _text(text: str, x: float, y: float, anchor: str, font: Mapping[str, Any]) -> str:
    """A text whose baseline is at y."""
    if font["color"] == CLEAR or not text.strip():
        return ""
    for found, written in MARKUP.items():
        text = re.sub(found, written, text)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'font-family="{html.escape(font["family"])}" font-size="{font["size"]:g}" '
        f'fill="{font["color"]}">{text}</text>\n'
    )
