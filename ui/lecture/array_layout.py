"""Where a sheet has the arrays of a kernel that multiplies no matrices: in shelves, all legible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui.analysis.product_roles import Shape
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import ArrayName
from ui.lecture.cells import Cells, number_size, number_width
from ui.lecture.letters import Letters, text_width

ROW = 1.6  # of a number's height, a row of cells
SCALES = (1.8, 1.6, 1.4, 1.2, 1.1, 1.0)  # of the smallest cells
WRAPS = (32, 16, 8)  # cells in a row of an array that has only one
NARROW = 4  # cells in such a row where it would not be all in view otherwise
MAP_WRAP = 64  # cells in such a row where it is drawn without numbers
MAPS_SHARE = 0.24  # of the room's height, for arrays that do not fit with their numbers
LARGEST_DOT = 7.0  # pixels of a cell without a number
LABEL = 1.6  # of a name's height, from a shelf's top to its cells
WIDEST_HEAD = 5.0  # of a small letter's height: the width of a member's name
HEADS = 1.3  # of a small letter's height: the names of a struct's members
GAP = 0.8  # of a name's height, between two shelves


@dataclass(frozen=True, slots=True)
class Drawn:
    """An array that is to be drawn."""

    array: ArrayName
    shape: Shape  # rows and columns; of one row it is wrapped
    longest: int  # letters of its longest number
    members: tuple[str, ...] = ()  # the names of its columns, of structs

    @property
    def size(self) -> int:
        """Its elements."""
        return self.shape[0] * self.shape[1]


@dataclass(frozen=True, slots=True)
class Place:
    """An array's place: its rows and columns as they are drawn, and the cells that show them."""

    array: ArrayName
    size: int  # elements of the array
    shape: Shape  # rows and columns of the drawing, of which the cells show some or all
    is_wrapped: bool  # whether its rows are parts of one row
    cells: Cells
    letters: float  # pixels, the height of its numbers; 0 for none
    right: float  # where its name must end
    members: tuple[str, ...] = ()  # the names of its columns, of structs

    @property
    def is_whole(self) -> bool:
        """Whether all of it is in view."""
        return (self.cells.rows, self.cells.columns) == self.shape


@dataclass(frozen=True, slots=True)
class _Box:
    """What an array needs: rows and columns that are in view, and a cell's pixels."""

    drawn: Drawn
    shape: Shape
    view: Shape
    width: float
    height: float
    margin: float  # left of the cells, for the numbers of their rows
    name: float  # pixels that its name takes

    @property
    def across(self) -> float:
        return max(self.margin + self.view[1] * self.width, self.name)


def place_arrays(
    arrays: Sequence[Drawn], area: Rectangle, letters: Letters
) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Places of arrays with their numbers, and above them of those that are not all in view.

    The latter are whole, small, and without numbers. Where the room is too small for windows of
    some arrays, they are left out, the last first.
    """
    choices = [(scale, wrap) for wraps in (WRAPS, (NARROW,)) for scale in SCALES for wrap in wraps]
    for scale, wrap in choices:
        boxes = [_box(drawn, letters, scale, wrap) for drawn in arrays]
        found = _shelve(boxes, area, letters)
        if found is not None:
            return found, ()
    strip = Rectangle(area.left, area.top, area.right, area.top + MAPS_SHARE * area.height)
    maps = _maps(arrays, strip, letters)
    top = max((place.cells.bottom for place in maps), default=area.top) + GAP * letters.name
    under = Rectangle(area.left, top, area.right, area.bottom)
    for shown in (arrays[:count] for count in range(len(arrays), 0, -1)):
        found = _windows(shown, under, letters)
        if found is not None:
            parts = {place.array for place in found if not place.is_whole}
            strip = Rectangle(area.left, area.top, area.right, top - GAP * letters.name)
            return found, _maps([one for one in shown if one.array in parts], strip, letters)
    return (), maps


def _box(drawn: Drawn, letters: Letters, scale: float, wrap: int) -> _Box:
    """An array with all its cells."""
    shape = wrapped(drawn, wrap)
    height = ROW * letters.number * scale
    width = max(height, number_width(drawn.longest, letters.number) * scale)
    heads = [text_width(name, letters.small, True) + 4 for name in drawn.members]
    width = max([width, *(min(each, WIDEST_HEAD * letters.small) for each in heads)])
    is_wrapped = (drawn.shape[0] == 1 and shape[0] > 1) or bool(drawn.members)
    margin = text_width(str(drawn.size), letters.small) + 6 if is_wrapped else 0.0
    name = text_width(drawn.array.name, letters.name, True) + letters.name
    return _Box(drawn, shape, shape, width, height, margin, name)


def wrapped(drawn: Drawn, wrap: int) -> Shape:
    """Rows and columns of an array as it is drawn.

    >>> from simulator.language.tree import MemorySpace
    >>> wrapped(Drawn(ArrayName("x", MemorySpace.GLOBAL), (1, 40), 2), 16)
    (3, 16)
    """
    rows, columns = drawn.shape
    if rows > 1 or columns <= wrap or drawn.members:
        return rows, max(1, columns)
    return -(-columns // wrap), wrap


def _windows(
    arrays: Sequence[Drawn], area: Rectangle, letters: Letters
) -> tuple[Place, ...] | None:
    """Places of windows with as many rows of each array as there is room for; None if for none."""
    boxes = []
    for drawn in arrays:
        every = [_box(drawn, letters, 1.0, wrap) for wrap in (*WRAPS, NARROW)]
        box = next((box for box in every if box.across <= area.width), every[-1])
        columns = max(1, int((area.width - box.margin) / box.width))
        boxes.append(_with_view(box, box.shape[0], min(box.shape[1], columns)))
    most = max((box.view[0] for box in boxes), default=1)
    for rows in range(most, 0, -1):
        low = [_with_view(box, min(rows, box.view[0]), box.view[1]) for box in boxes]
        found = _shelve(low, area, letters)
        if found is not None:
            return found
    return None


def _with_view(box: _Box, rows: int, columns: int) -> _Box:
    return _Box(box.drawn, box.shape, (rows, columns), box.width, box.height, box.margin, box.name)


def _shelve(boxes: Sequence[_Box], area: Rectangle, letters: Letters) -> tuple[Place, ...] | None:
    """Boxes side by side, and in as many shelves as they need; None if the room is too small."""
    label, gap = LABEL * letters.name, GAP * letters.name
    places = []
    top = area.top
    for shelf in _shelves(boxes, area.width, 1.5 * letters.name):
        x = area.left
        has_members = any(box.drawn.members for box in shelf)
        heads = HEADS * letters.small if has_members else 0.0
        apart = (area.width - sum(box.across for box in shelf)) / max(1, len(shelf))
        for box in shelf:
            cells = Cells(x + box.margin, top + label + heads, box.width, box.height, *box.view)
            end = x + box.across + apart
            if cells.right > area.right + 1:
                return None
            size = number_size(cells, box.drawn.longest, letters.number)
            places.append(
                Place(box.drawn.array, box.drawn.size, box.shape, box.margin > 0, cells, size,
                      min(end - 6, area.right), box.drawn.members)
            )  # fmt: skip
            x = end
        top += label + heads + max(box.view[0] * box.height for box in shelf) + gap
    return tuple(places) if top - gap <= area.bottom + 1 else None


def _shelves(boxes: Sequence[_Box], width: float, gap: float) -> Iterator[list[_Box]]:
    """As many boxes in each shelf as it is wide."""
    shelf: list[_Box] = []
    for box in boxes:
        if shelf and sum(one.across + gap for one in shelf) + box.across > width:
            yield shelf
            shelf = []
        shelf.append(box)
    if shelf:
        yield shelf


def _maps(arrays: Sequence[Drawn], area: Rectangle, letters: Letters) -> tuple[Place, ...]:
    """Every array side by side, without numbers, all with cells of one size."""
    label, gap = 1.3 * letters.small, letters.name
    shapes = [wrapped(drawn, MAP_WRAP) for drawn in arrays]
    each = area.width / max(1, len(arrays))
    size = min(
        (each - gap) / max((columns for _, columns in shapes), default=1),
        (area.height - label) / max((rows for rows, _ in shapes), default=1), LARGEST_DOT,
    )  # fmt: skip
    places = []
    for i, (drawn, shape) in enumerate(zip(arrays, shapes, strict=True)):
        left = area.left + i * each
        cells = Cells(left, area.top + label, size, size, *shape)
        right = left + each - gap
        places.append(Place(drawn.array, drawn.size, shape, False, cells, 0.0, right))
    return tuple(places)
