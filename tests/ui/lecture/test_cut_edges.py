"""Torn edges, where an array goes on beyond the window of it that is drawn."""

from __future__ import annotations

import re

import pytest

from tests.ui.lecture.lectures import of_query, spread
from ui.drawing.look import Look
from ui.lecture.cells import Cells
from ui.lecture.cut_edges import torn_edges
from ui.lecture.product_stage import ProductStage

CELLS = Cells(100.0, 200.0, 20.0, 10.0, 4, 5)  # 100 to 200 across, 200 to 240 down
ROOMS = [Look(), Look(width=853, height=480, presenting=True), Look(width=390, height=844)]


def sides(path: str, cells: Cells) -> set[str]:
    """The sides of a window that have a torn edge, each all along it."""
    found = set()
    for line in path.split("M")[1:]:
        points = [tuple(map(float, point)) for point in re.findall(r"([\d.]+),([\d.]+)", line)]
        xs, ys = zip(*points, strict=True)
        if max(xs) - min(xs) < 5:
            found.add("left" if abs(xs[0] - cells.left) < 5 else "right")
            assert (min(ys), max(ys)) == pytest.approx((cells.top, cells.bottom), abs=0.1)
            assert min(abs(x - edge) for x in xs for edge in (cells.left, cells.right)) < 5
        else:
            found.add("top" if abs(ys[0] - cells.top) < 5 else "bottom")
            assert (min(xs), max(xs)) == pytest.approx((cells.left, cells.right), abs=0.1)
    return found


@pytest.mark.parametrize(
    ("start", "shape", "expected"),
    [
        ((0, 0), (4, 5), set()),
        ((0, 0), (9, 5), {"bottom"}),
        ((5, 0), (9, 5), {"top"}),
        ((0, 0), (4, 6), {"right"}),
        ((0, 1), (4, 6), {"left"}),
        ((2, 3), (9, 9), {"left", "right", "top", "bottom"}),
    ],
)
def test_the_sides_where_an_array_goes_on_are_torn(
    start: tuple[int, int], shape: tuple[int, int], expected: set[str]
) -> None:
    assert sides(torn_edges(CELLS, start, shape), CELLS) == expected


def test_an_array_that_ends_within_its_window_is_torn_beside_its_own_cells() -> None:
    path = torn_edges(CELLS, (3, 0), (4, 9))  # one row is left of it
    own = Cells(100.0, 200.0, 20.0, 10.0, 1, 5)
    assert sides(path, own) == {"top", "right"}


@pytest.mark.parametrize("look", ROOMS, ids=lambda look: f"{look.width}x{look.height}")
@pytest.mark.parametrize("size", [4, 64])
def test_a_board_is_torn_where_it_shows_a_part(size: int, look: Look) -> None:
    lecture = of_query(look, kernel="tiled", M=size, N=size, K=size, TILE=min(size, 16))
    torn = 0
    for step in spread(lecture.steps_of("acc +="), 8):
        for window, content in lecture.panel(ProductStage).windows(step):
            assert content is not None
            row, column = content.start
            rows, columns = content.shape
            drawn = {shape["path"] for shape in window.shapes(content) if "L" in shape["path"]}
            expected = {
                side for side, is_cut in (
                    ("left", column), ("right", column + window.cells.columns < columns),
                    ("top", row), ("bottom", row + window.cells.rows < rows),
                ) if is_cut
            }  # fmt: skip
            assert {side for path in drawn for side in sides(path, window.cells)} == expected
            torn += bool(expected)
    assert bool(torn) is (size == 64 or look.height == 480)
