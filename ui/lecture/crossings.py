"""What crosses the border between the two places, and what fans out from one cell.

An arrow is drawn for each run of neighbouring cells that a warp moves between global memory and the
chip. Where threads read one cell, a line leads from it to each of them: from the chip that is
reuse, from global memory each of these reads goes all the way, in thin lines under its arrows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.scene_model import Phase, SceneModel
from ui.analysis.tiles_of_k import copied_cells
from ui.drawing.canvas import Shape, outline
from ui.drawing.motions import Box, Flight, Motion, Place
from ui.drawing.palette import Palette
from ui.drawing.paths import box, head, px
from ui.drawing.sheet import Panel
from ui.lecture.arrays import ArrayName, array_of
from ui.lecture.buffers_stage import BuffersStage
from ui.lecture.colours import mix
from ui.lecture.fragments_stage import FragmentsStage
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.product_stage import ProductStage
from ui.lecture.warp_rows import WarpRows

HEAD = 7.0  # pixels, of an arrow's head
BEND = 0.5  # of the way, where an arrow's curve has its handles
PALER = 0.4  # of the paper in a line's colour: a number that it crosses is still read
FRAME = 3.0  # pixels, from the focused thread's own sums to the frame around them
THIN = 1.0  # pixels, a line from global memory to a reader, which a load's arrow stands out from
MOST = 64  # values that travel at a step
Board = ProductStage | FragmentsStage
BOW = 0.25  # of a cell, how far a line to a reader bends aside
TIP = 7.0  # pixels, of its head
ASIDE = 0.02  # of a cell's width, where one from above ends: the numbers of cells above stay free


@dataclass(frozen=True, slots=True)
class Lane:
    """What one thread moves: from a cell to a cell, with the text that travels."""

    source: Place
    target: Box
    key: tuple[int, int]  # a number for the row of each end, by which neighbours are joined


class CrossingsPanel(Panel[Step]):
    """Arrows between global memory and the chip, and the fans of cells that threads share."""

    def __init__(
        self, model: SceneModel, palette: Palette, far: GlobalMemoryPanel,
        boards: Mapping[Board, Callable[[Step], bool]], gate: WarpRows | None,
        buffers: BuffersStage | None, is_below: bool,
    ) -> None:  # fmt: skip
        """boards says of each board at which steps it is shown; gate has the warps, if any.

        buffers has the tiles that take turns, if any do; is_below is whether the chip is below
        global memory, not beside it.
        """
        self._model, self._palette = model, palette
        self._far, self._boards, self._gate, self._buffers = far, boards, gate, buffers
        self._arrow = _arrow_down if is_below else _arrow

    def shapes(self, step: Step) -> list[Shape]:
        """The arrows of loads and of stores, and the lines from a shared cell to its readers."""
        palette = self._palette
        loads = stores = fans = far_fans = ""
        board = self._board(step)
        if board is not None:
            for access_kind, group in self._lanes(step, board):
                runs = list(_runs(group))
                path = "".join(
                    self._arrow(*run, number / len(runs) if number else 0.5 / len(runs))
                    for number, run in enumerate(runs)
                )
                if access_kind is AccessKind.LOAD:
                    loads += path
                else:
                    stores += path
            fans, far_fans = self._fans(step, board)
        border: list[Shape] = []
        if self._buffers is not None:
            border = [
                *self._ways_to_border(step, self._buffers, bool(loads)),
                *(self._buffers.border_shapes(step) if self._buffers.has_border else []),
            ]
            if board is None:
                border = [shape | {"path": "M0,0Z"} for shape in border]
        return [
            *border,
            outline(self._own_sums(step, board), palette.focus, 2),
            outline(far_fans, mix(palette.focus, palette.paper, PALER), THIN),
            *(outline(path, mix(colour, palette.paper, PALER), 2.5)
              for path, colour in (
                  (fans, palette.focus),
                  (loads, palette.phases[Phase.LOAD]),
                  (stores, palette.phases[Phase.STORE]),
              )),
        ]  # fmt: skip

    def _ways_to_border(
        self, step: Step, buffers: BuffersStage, is_loading: bool
    ) -> Iterator[Shape]:
        """Dotted arrows from tiles of matrices to the border, where their copies are.

        None at a step whose loads have arrows of their own.
        """
        for tiles in buffers.under_way(step):
            path, colour = "", self._palette.line
            for one in tiles:
                start = self._far.tile_box(one.matrix, one.tile)
                if start is not None and not is_loading:
                    path += box(*start) + self._arrow(start, one.box)
                    colour = self._palette.tile_edge(one.tile)
            yield outline(path, colour, 2, dash="dot")

    def motions(self, step: Step) -> list[Motion]:
        """The values of a warp, on their way."""
        board = self._board(step)
        if board is None:
            return []
        flights: list[Motion] = [
            Flight(lane.source.text, lane.source.middle, _middle(lane.target), lane.source.size,
                   lane.target)
            for _, group in self._lanes(step, board) for lane in group
        ]  # fmt: skip
        return flights[:MOST]

    def _board(self, step: Step) -> Board | None:
        return next((board for board, is_shown in self._boards.items() if is_shown(step)), None)

    def _lanes(self, step: Step, board: Board) -> Iterator[tuple[AccessKind, list[Lane]]]:
        """What the lanes of a warp move across the border, by access.

        It is the focused thread's warp, or the first that runs where that one does not.
        """
        running = np.unique(np.flatnonzero(step.active) // WARP_SIZE).tolist()
        own = self._model.thread // WARP_SIZE
        warp = own if own in running or not running else running[0]
        store = next(
            (one for one in step.accesses
             if one.kind is not AccessKind.LOAD and one.space is MemorySpace.SHARED), None
        )  # fmt: skip
        # By thread the first cell that it stores to.
        stored = {} if store is None else dict(reversed(_of_warp(store, warp)))
        for access in step.accesses:
            if access.space is not MemorySpace.GLOBAL or not self._far.has(access.name):
                continue
            group = []
            on_border = self._boxes_on_border(access)
            for thread, cell in _of_warp(access, warp):
                if on_border:
                    near = on_border.get((thread, cell))
                elif store is None:
                    near = board.sum_box(step, thread)
                    if near is None and board.has_own_sums:
                        near = self._lane_box(step, thread)
                elif thread in stored:
                    near = self._near_box(step, board, array_of(store), stored[thread])
                else:
                    near = None
                if near is None:
                    continue
                far = self._far.place(step, access.name, cell)
                row = cell // self._far.cells(access.name).columns
                if access.kind is AccessKind.LOAD:
                    group.append(Lane(far, near, (row, round(near[1]))))
                else:
                    source = Place(far.text, _middle(near), near, far.size)
                    group.append(Lane(source, far.box, (round(near[1]), row)))
            if group:
                yield access.kind, group

    def _near_box(self, step: Step, board: Board, array: ArrayName, cell: int) -> Box | None:
        """Where a cell of shared memory is: among the tiles that take turns, or on the board."""
        found = None if self._buffers is None else self._buffers.cell_box(array.name, cell)
        return board.cell_box(step, array, cell) if found is None else found

    def _boxes_on_border(self, access: StepAccess) -> dict[tuple[int, int], Box]:
        """Where an asynchronous copy's values are until they are waited for, by thread and cell."""
        if access.targets is None or self._buffers is None:
            return {}
        name, targets, cells, threads = copied_cells(self._model.recording, access)
        found = {}
        for thread, cell, target in zip(
            threads.tolist(), cells.tolist(), targets.tolist(), strict=True
        ):
            at = self._buffers.border_box(name, target)
            if at is not None:
                found[thread, cell] = at
        return found

    def _lane_box(self, step: Step, thread: int) -> Box | None:
        """Where a thread is among the warps, for what it loads into its registers."""
        return None if self._gate is None else self._gate.box(step, thread)

    def _own_sums(self, step: Step, board: Board | None) -> str:
        """A frame around the focused thread's own sums, and a line from its lane under them."""
        around = board.own_sums(step) if isinstance(board, ProductStage) else None
        if around is None:
            return ""
        left, top, right, bottom = around
        path = box(left - FRAME, top - FRAME, right + FRAME, bottom + FRAME)
        lane = self._lane_box(step, self._model.thread)
        if lane is not None and lane[1] > bottom + FRAME:
            x, _ = _middle(lane)
            end = min(max(x, left), right)
            path += f"M{px(x)},{px(lane[1])}L{px(end)},{px(bottom + FRAME)}"
        return path

    def _fans(self, step: Step, board: Board) -> tuple[str, str]:
        """Lines from each cell that the focused thread reads to all threads that read it now.

        Those from the chip, and those from global memory. A thread with sums of its own reads
        alone: a line leads from each of its factors to the sum.
        """
        near = far = ""
        thread = self._model.thread
        if isinstance(board, ProductStage) and board.own_sums(step) is not None:
            return "".join(_line(*ends) for ends in board.focused_factors(step)), ""
        for access in board.factor_accesses(step):
            if not (access.active[thread] and access.in_bounds[thread]):
                continue
            cells, threads = access.touched_cells()
            own = cells[threads == thread]
            if not own.size:
                continue
            cell = int(own[0])
            if access.space is MemorySpace.GLOBAL:
                start = (
                    self._far.place(step, access.name, cell).box
                    if self._far.has(access.name) else None
                )  # fmt: skip
            else:
                start = board.cell_box(step, array_of(access), cell)
            if start is None:
                continue
            for reader in np.unique(threads[cells == cell]).tolist():
                end = board.sum_box(step, reader)
                if end is not None and access.space is MemorySpace.GLOBAL:
                    far += self._arrow(start, end, ASIDE)
                elif end is not None:
                    near += _line(start, end)
        return near, far


def _of_warp(access: StepAccess, warp: int) -> list[tuple[int, int]]:
    """Each thread of a warp with the cell that it accesses."""
    cells, threads = access.touched_cells()
    chosen = threads // WARP_SIZE == warp
    return list(zip(threads[chosen].tolist(), cells[chosen].tolist(), strict=True))


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _runs(lanes: list[Lane]) -> Iterator[tuple[Box, Box]]:
    """The boxes around neighbouring cells at both ends, one pair for each run."""
    ordered = sorted(lanes, key=lambda lane: (*lane.key, lane.source.box[0]))
    run: list[Lane] = []
    for lane in ordered:
        if run and not (
            lane.key == run[-1].key and _are_neighbours(run[-1].source.box, lane.source.box)
            and _are_neighbours(run[-1].target, lane.target)
        ):  # fmt: skip
            yield _around(run)
            run = []
        run.append(lane)
    if run:
        yield _around(run)


def _are_neighbours(first: Box, second: Box) -> bool:
    return abs(second[0] - first[2]) < 0.5 * (first[2] - first[0]) or first == second


def _around(run: list[Lane]) -> tuple[Box, Box]:
    first, last = run[0], run[-1]
    return ((*first.source.box[:2], *last.source.box[2:]), (*first.target[:2], *last.target[2:]))


def _arrow_down(source: Box, target: Box, share: float = 0.5) -> str:
    """An arrow from one box down to another, or up to one above it, at a share of their widths.

    Arrows of several rows, one above the other, so are beside each other: the first within a
    column, the others along the borders between columns, which leaves the numbers free.
    """
    x, end_x = (box[0] + share * (box[2] - box[0]) for box in (source, target))
    is_down = target[1] >= source[1]
    y, end_y = (source[3], target[1]) if is_down else (source[1], target[3])
    side = -1 if is_down else 1
    bend = BEND * abs(end_y - y)
    stop = end_y + side * HEAD
    return (
        f"M{px(x)},{px(y)}C{px(x)},{px(y - side * bend)},{px(end_x)},{px(stop + side * bend)},"
        f"{px(end_x)},{px(stop)}"
    ) + head(end_x, stop, end_x, end_y, HEAD)


def _arrow(source: Box, target: Box, share: float = 0.5) -> str:
    """An arrow from the edge of one box to the facing edge of another, with a head."""
    y, end_y = (source[1] + source[3]) / 2, (target[1] + target[3]) / 2
    is_right = target[0] >= source[2]
    x, end_x = (source[2], target[0]) if is_right else (source[0], target[2])
    side = -1 if is_right else 1
    bend = BEND * abs(end_x - x)
    stop = end_x + side * HEAD
    return (
        f"M{px(x)},{px(y)}C{px(x - side * bend)},{px(y)},{px(stop + side * bend)},{px(end_y)},"
        f"{px(stop)},{px(end_y)}"
    ) + head(stop, end_y, end_x, end_y, HEAD)


def _line(source: Box, target: Box) -> str:
    """A line from the edge of a cell to that of another, which leaves the numbers between free.

    To a cell beside it the line passes below the row, to one below it left of the column.
    """
    if source == target:
        return ""
    width, height = target[2] - target[0], target[3] - target[1]
    (x, y), (end_x, end_y) = _middle(source), _middle(target)
    if abs(end_y - y) <= abs(end_x - x):
        y, end_y = source[3], target[3]
        aside = max(y, end_y) + BOW * height
        bends = (x, aside), (end_x, aside)
    else:
        x, end_x = source[0], target[0]
        aside = min(x, end_x) - BOW * width
        bends = (aside, y), (aside, end_y)
    (first_x, first_y), (second_x, second_y) = bends
    return (
        f"M{px(x)},{px(y)}C{px(first_x)},{px(first_y)},{px(second_x)},{px(second_y)},"
        f"{px(end_x)},{px(end_y)}" + head(second_x, second_y, end_x, end_y, TIP)
    )
