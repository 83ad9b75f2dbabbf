"""Pictures whose cells are clicked: each button lies on the cell that its name says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ui.drawing.hit import GLOBAL, Hit
from ui.drawing.look import Look
from ui.drawing.viewport import PHONE, USUAL
from ui.lessons.cell_picture import CellPictureError, draw_cells
from ui.lessons.judge import cells
from ui.lessons.lesson import Kind, Question
from ui.lessons.parse import lessons
from ui.run.compute import load_drawing, load_model
from ui.run.standalone import parse_address

BUTTON = re.compile(  # transparent, also in a file, where no style of a page applies
    r'fill="transparent" role="button" aria-label="row (\d+), column (\d+)" '
    r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
)
QUESTIONS = [
    part.variants[-1] for lesson in lessons().values() for part in lesson.questions
    if part.variants[0].kind is Kind.CELL
]  # fmt: skip


@pytest.mark.parametrize("look", [USUAL, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
@pytest.mark.sample(3)
def test_each_button_lies_on_its_cell(question: Question, look: Look) -> None:
    view, (rows, columns) = question.picture, cells(question, {})
    assert view is not None
    svg = draw_cells(view, question.array, rows, columns, look)
    buttons = BUTTON.findall(svg)
    shown = list(map(float, re.findall(r'viewBox="([^"]+)"', svg)[0].split()))
    for _, _, *box in buttons:
        x, y, width, height = map(float, box)
        assert shown[0] <= x < x + width <= shown[0] + shown[2]
        assert shown[1] <= y < y + height <= shown[1] + shown[3]
    assert [(int(row), int(column)) for row, column, *_ in buttons] == [
        (row, column) for row in range(rows) for column in range(columns)
    ]
    drawing = load_drawing(view, look)
    shared = drawing.steps[0].shared.get(question.array)
    if shared is not None:  # alone in its picture: no scene has it there
        assert shared.shape == (rows, columns)
        return
    shape = load_model(view).shapes[question.array]
    down, across = shape[0] // rows, shape[1] // columns
    for row, column, *box in buttons:
        x, y, width, height = map(float, box)
        first, last = (
            drawing.hit(view.step, x + at * width, y + at * height) for at in (0.01, 0.99)
        )
        cell = int(row) * down * shape[1] + int(column) * across
        assert first == Hit(GLOBAL + question.array, cell)
        assert last == Hit(first.name, cell + (down - 1) * shape[1] + across - 1)


def test_a_picture_does_not_show_the_answers_thread_or_step() -> None:
    """What a question asks is not what its picture has in a frame."""
    for question in QUESTIONS:
        assert question.picture is not None
        assert question.view is not None
        assert replace(question.picture, z=(0, 0)) != replace(question.view, z=(0, 0))


@pytest.mark.parametrize(
    ("array", "rows", "columns", "said"),
    [("D", 4, 4, "no array D"), ("C", 3, 4, "C is 4 × 4, which 3 × 4 do not divide")],
)
def test_a_picture_without_such_cells_is_an_error(
    array: str, rows: int, columns: int, said: str
) -> None:
    view = parse_address("kernel=tiled&M=4&N=4&K=4&TILE=2")
    with pytest.raises(CellPictureError, match=said):
        draw_cells(view, array, rows, columns, USUAL)
