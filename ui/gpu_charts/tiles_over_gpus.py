"""Tiles one level up: GPUs as blocks, their memories as shared memory, step by step.

Each GPU is drawn as a matrix product is in the lecture: its panel of B above its tile of C, its
panel of A to the left. A piece has the colour of the GPU that has it from the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from gpu.scale.plan import Band, Move, Piece, Plan, Product
from ui.drawing.palette import CHART_INKS, PALETTES, Palette
from ui.gpu_charts import rows

# In the width and the height of a GPU's square, from its upper left corner.
PANEL_TOP, PANEL_FOOT = 0.13, 0.31  # of B
PANEL_RIGHT = 0.2  # of A
TILE_LEFT, TILE_TOP = 0.26, 0.38  # of C
PITCH = 1.12  # from one GPU to the next
ARROW, LABEL = 0.25, 0.62  # of a piece: where its arrow and its label are
SQUARE = 300  # pixels of a GPU's height
LABEL_SIZE = 14  # pixels
MOST_ACROSS = 2  # GPUs beside each other whose parts of C have room for labels
NOTHING = "rgba(0,0,0,0)"  # no fill
MARGIN = {"l": 4, "r": 4, "t": 4, "b": 4}


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the figure; y grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float


def piece_label(piece: Piece) -> str:
    """The name of a piece: "A1" is the one of A that GPU 1 has from the beginning."""
    return f"{piece.matrix}{piece.owner}"


def held(plan: Plan, step: int) -> set[tuple[int, Piece]]:
    """Which GPU has which piece when a step begins."""
    own = {(piece.owner, piece) for one in plan.products() for piece in (one.a, one.b)}
    earlier = plan.steps[:step]
    return own | {(move.target, move.piece) for before in earlier for move in before.moves}


def draw_plan(plan: Plan, step: int, ink: str = rows.INK) -> go.Figure:
    """Draw a step, from 0: what each GPU has, what is on its way to it, and what it multiplies."""
    palette = PALETTES["dark" if ink == CHART_INKS["dark"] else "light"]
    has = held(plan, step)
    coming = {(move.target, move.piece) for move in plan.steps[step].moves}
    shapes, texts = [], []
    for gpu in range(plan.gpus):
        row, column = divmod(gpu, plan.across)
        corner = {"xanchor": "left", "yanchor": "top"}
        texts.append(_text(column * PITCH, row * PITCH, f"<b>GPU {gpu}</b>", ink) | corner)
        mine = [product for product in plan.products() if product.gpu == gpu]
        for piece in dict.fromkeys([one.a for one in mine] + [one.b for one in mine]):
            box = _piece_box(plan, gpu, piece)
            shapes.append(
                _piece_shape(box, piece, (gpu, piece) in has, (gpu, piece) in coming, palette)
            )
            if (gpu, piece) in has | coming:
                texts.append(_label(box, piece_label(piece), ink))
        for product in mine:
            box = _part_box(plan, product)
            when = next(at for at, one in enumerate(plan.steps) if product in one.products)
            shapes.append(_part_shape(box, when - step, palette))
            if when <= step and plan.across <= MOST_ACROSS:
                factors = f"{piece_label(product.a)}<br>× {piece_label(product.b)}"
                texts.append(_label(box, factors, ink))
    arrows = [
        _arrow(plan, move, palette.tile_edge(move.piece.owner)) for move in plan.steps[step].moves
    ]
    figure = go.Figure(go.Scatter(x=[], y=[]))  # without a trace Plotly draws no axes
    across, down = ((count - 1) * PITCH + 1 for count in (plan.across, plan.down))
    figure.update_xaxes(range=[-0.01, across + 0.01], visible=False, fixedrange=True)
    figure.update_yaxes(range=[down + 0.01, -0.01], visible=False, fixedrange=True)
    figure.update_layout(
        shapes=shapes, annotations=texts + arrows, height=round(SQUARE * down), margin=MARGIN,
        showlegend=False,
    )  # fmt: skip
    return figure


def describe_step(plan: Plan, step: int) -> str:
    """A step in words: the products that run and the pieces that move."""
    products, moves = plan.steps[step].products, plan.steps[step].moves
    each = max(sum(one.gpu == gpu for one in products) for gpu in range(plan.gpus))
    parts = "one part" if each == 1 else f"{each} parts"
    sentence = f"Step {step + 1} of {len(plan.steps)}: each GPU computes {parts} of its tile of C"
    if not step:
        sentence += " from the pieces that it has"
    if not moves:
        return f"{sentence}. Nothing moves any more."
    gigabytes = sum(plan.bytes_of(move.piece) for move in moves) / 1e9
    pieces = "one piece" if len(moves) == 1 else f"{len(moves)} pieces"
    return f"{sentence}, while {pieces}, {gigabytes:.2g} GB, go from GPU to GPU for the next step."


def _tile(plan: Plan, gpu: int) -> tuple[Band, Band]:
    """The rows and the columns of a GPU's tile of C."""
    mine = [product for product in plan.products() if product.gpu == gpu]
    a, b = [one.a.band for one in mine], [one.b.band for one in mine]
    return (
        Band(min(band.begin for band in a), max(band.end for band in a)),
        Band(min(band.begin for band in b), max(band.end for band in b)),
    )


def _across(plan: Plan, gpu: int, columns: Band) -> tuple[float, float]:
    """Where some columns of a GPU's tile begin and end in x."""
    whole, left = _tile(plan, gpu)[1], gpu % plan.across * PITCH + TILE_LEFT
    scale = (1 - TILE_LEFT) / whole.extent
    return left + scale * (columns.begin - whole.begin), left + scale * (columns.end - whole.begin)


def _down(plan: Plan, gpu: int, lines: Band) -> tuple[float, float]:
    """Where some rows of a GPU's tile begin and end in y."""
    whole, top = _tile(plan, gpu)[0], gpu // plan.across * PITCH + TILE_TOP
    scale = (1 - TILE_TOP) / whole.extent
    return top + scale * (lines.begin - whole.begin), top + scale * (lines.end - whole.begin)


def _piece_box(plan: Plan, gpu: int, piece: Piece) -> Box:
    """A piece in the panel of a GPU."""
    row, column = divmod(gpu, plan.across)
    if piece.matrix == "A":
        y0, y1 = _down(plan, gpu, piece.band)
        return Box(column * PITCH, y0, column * PITCH + PANEL_RIGHT, y1)
    x0, x1 = _across(plan, gpu, piece.band)
    return Box(x0, row * PITCH + PANEL_TOP, x1, row * PITCH + PANEL_FOOT)


def _part_box(plan: Plan, product: Product) -> Box:
    """A part of C in the tile of its GPU."""
    x0, x1 = _across(plan, product.gpu, product.b.band)
    y0, y1 = _down(plan, product.gpu, product.a.band)
    return Box(x0, y0, x1, y1)


def _piece_shape(
    box: Box, piece: Piece, there: bool, coming: bool, palette: Palette
) -> dict[str, Any]:
    """A piece that is there, on its way or neither."""
    fill = palette.tiles[piece.owner % len(palette.tiles)] if there else NOTHING
    edge = palette.tile_edge(piece.owner) if there or coming else palette.line
    return _rectangle(box, fill, edge, 3 if coming else 1, "dash" if coming else "solid")


def _part_shape(box: Box, when: int, palette: Palette) -> dict[str, Any]:
    """A part of C: computed now (0), in a step before (below 0) or later."""
    if when == 0:
        return _rectangle(box, palette.focus_fill, palette.focus, 3)
    return _rectangle(box, palette.done if when < 0 else palette.cell, palette.line)


def _arrow(plan: Plan, move: Move, colour: str) -> dict[str, Any]:
    """A move, from the piece at its owner to its place at the target."""
    source = _piece_box(plan, move.piece.owner, move.piece)
    target = _piece_box(plan, move.target, move.piece)
    forward = move.target > move.piece.owner
    if move.piece.matrix == "A":
        y = source.y0 + ARROW * (source.y1 - source.y0)
        start = (source.x1 if forward else source.x0, y)
        end = (target.x0 if forward else target.x1, y)
    else:
        x = source.x0 + ARROW * (source.x1 - source.x0)
        start = (x, source.y1 if forward else source.y0)
        end = (x, target.y0 if forward else target.y1)
    return {
        "x": end[0], "y": end[1], "ax": start[0], "ay": start[1], "axref": "x", "ayref": "y",
        "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 3, "arrowcolor": colour,
    }  # fmt: skip


def _rectangle(
    box: Box, fill: str, line: str, width: int = 1, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "rect", "x0": box.x0, "y0": box.y0, "x1": box.x1, "y1": box.y1, "layer": "below",
        "fillcolor": fill, "line": {"color": line, "width": width, "dash": dash},
    }  # fmt: skip


def _label(box: Box, text: str, ink: str) -> dict[str, Any]:
    """A text in a box, beside where an arrow may cross it."""
    x, y = box.x0 + LABEL * (box.x1 - box.x0), box.y0 + LABEL * (box.y1 - box.y0)
    return _text(x, y, text, ink)


def _text(x: float, y: float, text: str, ink: str) -> dict[str, Any]:
    return {
        "x": x, "y": y, "text": text, "showarrow": False, "borderpad": 0,
        "font": {"size": LABEL_SIZE, "color": ink},
    }  # fmt: skip
