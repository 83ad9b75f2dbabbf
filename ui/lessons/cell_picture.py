"""The picture of a question for a cell: an array as a scene draws it, each cell of it a button."""

from __future__ import annotations

import html
from typing import Any

from simulator import Step
from simulator.language.tree import MemorySpace
from ui.drawing.canvas import CLEAR, SANS
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.drawing.sheet import Rectangle
from ui.drawing.svg import crop, draw_svg
from ui.drawing.viewport import is_phone
from ui.lecture.array_layout import LABEL
from ui.lecture.arrays import ArrayReader
from ui.lecture.arrays_panel import ArraysPanel
from ui.lecture.cells import Cells
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.lecture_sheet import LectureSheet
from ui.lecture.letters import letters_for
from ui.lessons.picture import figure_at_step
from ui.run.compute import load_drawing, load_model
from ui.view.view_url import View

SMALLEST = 24  # pixels of a button that a finger meets
MARGIN = 4  # pixels around what is cut out
SCALE = 3  # at most, of what is cut out
WIDE, TALL = (900.0, 520.0), (400.0, 1000.0)  # pixels for shared arrays: on a phone the latter


class CellPictureError(ValueError):
    """Why a picture has no cells to click, a sentence."""


def draw_cells(view: View, array: str, rows: int, columns: int, look: Look) -> str:
    """Draw an array at a view's step as SVG, with rows x columns buttons over its cells.

    A button of fewer rows and columns than the array has covers a tile of it. A shared array is
    alone; a matrix is beside the others, as in global memory, or alone where a finger would
    miss its buttons. A job of the worker process that has the view. Raises SourceError, LaunchError
    or CellPictureError.
    """
    drawing = load_drawing(view, look)
    step = drawing.steps[min(view.step, len(drawing.steps) - 1)]
    if array in step.shared:
        figure, cells = _shared_array(view, step, array, look)
        place = _around(cells, LABEL * letters_for(look).name)
    else:
        sheet = drawing.sheet
        assert isinstance(sheet, LectureSheet)  # of one scene
        far = next((one for one in sheet.panels if isinstance(one, GlobalMemoryPanel)), None)
        if far is None or not far.has(array):
            raise CellPictureError(f"The scene shows no array {array}.")
        figure, cells = figure_at_step(view, look), far.cells(array)
        is_small = is_phone(look) and columns * SMALLEST > cells.columns * cells.width
        place = _around(cells, 0) if is_small or sheet.areas.far is None else sheet.areas.far
    if cells.rows % rows or cells.columns % columns:
        raise CellPictureError(
            f"{array} is {cells.rows} × {cells.columns}, which {rows} × {columns} do not divide."
        )
    svg = crop(draw_svg(figure), place, MARGIN, SCALE)
    return svg.replace("</svg>", f"{_buttons(cells, rows, columns, array)}</svg>")


def describe(view: View) -> str:
    """Which block and thread a picture is drawn for, a sentence."""
    return f"The picture is drawn for block {view.block}, thread {view.thread}."


def _shared_array(view: View, step: Step, array: str, look: Look) -> tuple[dict[str, Any], Cells]:
    """The figure of the shared arrays, each whole, and the cells of one of them."""
    model, letters, palette = load_model(view), letters_for(look), PALETTES[look.theme]
    width, height = TALL if is_phone(look) else WIDE
    margin = Rectangle(letters.name, letters.name, width - letters.name, height - letters.name)
    panel = ArraysPanel(model, palette, letters, margin, ArrayReader(model), (MemorySpace.SHARED,))
    cells = next(
        (
            window.cells for window, content in panel.windows(step)
            if content is not None and content.array.name == array
            and content.shape == (window.cells.rows, window.cells.columns)
        ),
        None,
    )  # fmt: skip
    if cells is None:
        raise CellPictureError(f"The picture has no room for the whole of {array}.")
    font = {"family": SANS, "size": letters.name, "color": CLEAR}
    layout = {
        "width": width, "height": height, "paper_bgcolor": palette.paper,
        "title": {"text": "", "x": 0.0, "y": 1.0, "font": font}, "shapes": panel.shapes(step),
    }  # fmt: skip
    return {"data": [*panel.static(), *panel.changing(step)], "layout": layout}, cells


def _around(cells: Cells, above: float) -> Rectangle:
    """The cells with so many pixels above them, for the array's name."""
    return Rectangle(cells.left, cells.top - above, cells.right, cells.bottom)


def _buttons(cells: Cells, rows: int, columns: int, array: str) -> str:
    """A button over each cell or tile, in the order of memory."""
    down, across = cells.rows // rows, cells.columns // columns
    drawn = ""
    for row in range(rows):
        for column in range(columns):
            left, top, right, bottom = cells.box(row * down, column * across, down, across)
            drawn += (
                f'<rect class="cell" fill="transparent" role="button" '
                f'aria-label="row {row}, column {column}" '
                f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
                f'height="{bottom - top:.1f}"/>\n'
            )
    name = html.escape(f"Cells of {array}: the arrow keys move, Enter picks one")
    return f'<g class="cells" role="group" aria-label="{name}">\n{drawn}</g>'
