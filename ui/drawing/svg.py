"""A picture as SVG, of its figure alone: no browser draws it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ui.drawing.canvas import CLEAR, Shape, Trace
from ui.drawing.sheet import Rectangle

# What a figure's texts have beside letters and entities, and what stands for it in SVG.
MARKUP = {
    r"<b>": '<tspan font-weight="bold">',
    r"<span style='color:(#\w+)'>": r'<tspan fill="\1">',
    r"<span style='font-size:(\d+)px'>": r'<tspan font-size="\1">',
    r"</(b|span)>": "</tspan>",
}
SIZE = re.compile(r' width="[\d.]+" height="[\d.]+"\s+viewBox="[^"]*"')
ANCHORS = {"middle left": "end", "middle center": "middle", "middle right": "start"}
# Of a font's size: how far its baseline is below the middle, as Plotly has it.
TEXT_DROP, TITLE_DROP = 0.25, 0.35


def draw_svg(figure: Mapping[str, Any]) -> str:
    """Write a sheet's figure, plain "data" and "layout", as SVG: the step that it begins with."""
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
        *(_cells(trace) for trace in figure["data"] if trace["type"] == "heatmap"),
        *(_lines(trace) for trace in figure["data"] if trace.get("mode") == "lines"),
        *(_texts(trace) for trace in figure["data"] if trace.get("mode") == "text"),
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


def crop(svg: str, place: Rectangle, margin: float, scale: float = 1) -> str:
    """Show only a part of a picture of draw_svg, with a margin in pixels; make it larger."""
    left, top = max(0, place.left - margin), max(0, place.top - margin)
    width, height = place.right + margin - left, place.bottom + margin - top
    size = f'width="{scale * width:g}" height="{scale * height:g}"'
    return SIZE.sub(f' {size} viewBox="{left:g} {top:g} {width:g} {height:g}"', svg, count=1)


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


def _cells(trace: Trace) -> str:
    """Rows of cells, of a grid or of a timeline; those of one colour that touch are one."""
    width, gap = trace["dx"], trace["xgap"]
    colours = [colour for _, colour in trace["colorscale"][::2]]
    left = trace["x0"] - width / 2
    drawn = ""
    for row, values in enumerate(trace["z"].tolist()):
        if "y0" in trace:
            height = trace["dy"]
            top = trace["y0"] + (row - 0.5) * height + trace["ygap"] / 2
            bottom = top + height - trace["ygap"]
        else:
            top, bottom = trace["y"]
        apart = range(len(values)) if gap else values
        for _, group in groupby(range(len(values)), apart.__getitem__):
            columns = list(group)
            drawn += (
                f'<rect x="{left + columns[0] * width + gap / 2:.1f}" y="{top:.1f}" '
                f'width="{len(columns) * width - gap:.1f}" height="{bottom - top:.1f}" '
                f'fill="{colours[values[columns[0]]]}"/>\n'
            )
    return drawn


def _lines(trace: Trace) -> str:
    """Lines, each up to a None."""
    points = list(zip(trace["x"], trace["y"], strict=True))
    path = "".join(
        f"{'L' if i and points[i - 1][0] is not None else 'M'}{x:g},{y:g}"
        for i, (x, y) in enumerate(points)
        if x is not None
    )
    colour, width = trace["line"]["color"], trace["line"]["width"]
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>\n'


def _texts(trace: Trace) -> str:
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
