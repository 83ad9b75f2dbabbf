"""Where a stop's frames are: around what is drawn at the place that it marks."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ui.drawing.canvas import CLEAR, MONO
from ui.drawing.look import Look, Stage
from ui.drawing.palette import PALETTES
from ui.drawing.sheet import Rectangle
from ui.lecture.layout import areas_for
from ui.lecture.letters import mono_width, text_width
from ui.lecture.pair_layout import areas_for_pair
from ui.lessons.lesson import Mark

Figure = Mapping[str, Any]  # "data" and "layout" of a step, as Drawing.plain has them
EDGE = 4.0  # pixels from what is drawn to its frame's middle, and at least from the sheet's edge
LINE_EDGE = 1.0  # pixels above and below a line: other lines are near
LETTER_BOX = 1.2  # of a letter's height, with what hangs below the line
OVER_THE_WARPS = (Stage.BANKS, Stage.TENSOR)  # stages that are drawn where others have the warps

TAG = re.compile(r"<[^>]*>")
COMMAND = re.compile(r"([MLHV])([-\d.]+)(?:,([-\d.]+))?")


def find_frames(figure: Figure, look: Look, mark: Mark, is_pair: bool) -> list[Rectangle]:
    """The frames of a mark, of one scene or of two, around what a step has drawn there."""
    width, height = figure["layout"]["width"], figure["layout"]["height"]
    drawn = list(_boxes(figure))
    frames = []
    for area in _areas(figure, look, mark, is_pair):
        inner = [box for box in drawn if area.contains(*_middle(box)) and not _encloses(box, area)]
        around = _around(inner) if inner else area
        above = LINE_EDGE if mark is Mark.LINE else EDGE
        frames.append(
            Rectangle(
                max(EDGE, min(around.left, area.right) - EDGE),
                max(EDGE, max(around.top, area.top) - above),
                min(width - EDGE, min(around.right, area.right) + EDGE),
                min(height - EDGE, min(around.bottom, area.bottom) + above),
            )
        )
    return frames


def _areas(figure: Figure, look: Look, mark: Mark, is_pair: bool) -> list[Rectangle]:
    """Where a mark is, however much is drawn there."""
    meta = figure["layout"]["meta"]
    if not is_pair:
        areas = areas_for(look, meta["far_share"], meta["warps"], meta["clock"])
        if mark is Mark.LINE:
            return [_current_line(figure, areas.source, PALETTES[look.theme].current_line)]
        if mark is Mark.STAGE and look.stage in OVER_THE_WARPS:
            return [areas.whole_stage]
        area: Rectangle | None = getattr(areas, mark.value)
        return [areas.stage if area is None else area]
    pair = areas_for_pair(look, meta["clock_height"])
    if mark is Mark.TIMELINE:
        return [pair.timeline]
    if mark is Mark.COUNTS:
        return list(pair.counts)
    side = 0 if mark is Mark.LEFT else 1
    above, below = pair.headings[side], pair.counts[side]
    return [Rectangle(above.left, above.top, above.right, below.bottom)]


def _current_line(figure: Figure, source: Rectangle, colour: str) -> Rectangle:
    """The rows of the current line and of its values; the source where the line is not in it."""
    boxes = [
        box
        for shape in figure["layout"]["shapes"]
        if shape["fillcolor"] == colour
        for box in _subpaths(shape["path"])
    ] + [box for trace in figure["data"] if trace.get("meta") == "values" for box in _texts(trace)]
    inner = [box for box in boxes if source.contains(*_middle(box))]
    return _around(inner) if inner else source


def _boxes(figure: Figure) -> Iterator[Rectangle]:
    """A box around each thing that is drawn and can be seen."""
    layout = figure["layout"]
    for shape in layout["shapes"]:
        line = shape["line"]
        if shape["fillcolor"] != CLEAR or (line["width"] and line["color"] != CLEAR):
            yield from _subpaths(shape["path"])
    for trace in figure["data"]:
        if trace["type"] == "heatmap":
            (top, bottom), left = trace["y"], trace["x0"] - trace["dx"] / 2
            yield Rectangle(left, top, left + trace["z"].shape[1] * trace["dx"], bottom)
        else:
            yield from _texts(trace)
    title = layout["title"]
    size = title["font"]["size"]
    left, middle = title["x"] * layout["width"], (1 - title["y"]) * layout["height"]
    yield Rectangle(
        left, middle - size / 2, left + text_width(_letters(title["text"]), size), middle + size / 2
    )


def _subpaths(path: str) -> Iterator[Rectangle]:
    """A box around each closed or open line of a path."""
    for piece in path.split("M")[1:]:
        x, y = [], []
        for command, one, other in COMMAND.findall(f"M{piece}"):
            if command in "MLH":
                x.append(float(one))
            if command in "MLV":
                y.append(float(other or one))
        if max(x) > min(x) or max(y) > min(y):
            yield Rectangle(min(x), min(y), max(x), max(y))


def _texts(trace: Mapping[str, Any]) -> Iterator[Rectangle]:
    """A box around each text of a trace."""
    if trace["mode"] != "text":
        return
    font = trace["textfont"]
    sizes, colours = (
        one if isinstance(one, list) else itertools.repeat(one)
        for one in (font["size"], font["color"])
    )
    for text, x, y, size, colour in zip(
        trace["text"], trace["x"], trace["y"], sizes, colours, strict=False
    ):
        letters = _letters(text)
        if colour == CLEAR or not letters.strip():
            continue
        is_mono = font["family"] == MONO
        width = mono_width(len(letters), size) if is_mono else text_width(letters, size)
        left = {"middle right": x, "middle center": x - width / 2}.get(
            trace["textposition"], x - width
        )
        yield Rectangle(left, y - LETTER_BOX * size / 2, left + width, y + LETTER_BOX * size / 2)


def _letters(text: str) -> str:
    """A text without its markup."""
    return html.unescape(TAG.sub("", text))


def _middle(box: Rectangle) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def _encloses(box: Rectangle, area: Rectangle) -> bool:
    """Whether a box is around a whole area: a frame of what is there, and no part of it."""
    return (
        box.left <= area.left and area.right <= box.right
        and box.top <= area.top and area.bottom <= box.bottom
    )  # fmt: skip


def _around(boxes: list[Rectangle]) -> Rectangle:
    return Rectangle(
        min(box.left for box in boxes), min(box.top for box in boxes),
        max(box.right for box in boxes), max(box.bottom for box in boxes),
    )  # fmt: skip
