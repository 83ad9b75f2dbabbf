"""What a recording tells beyond its steps: loops, phases, tiles, and who reads which cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator import Recording, Step
from simulator.language.tree import Barrier, Loop, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.observers.findings import Hazard
from simulator.recording.navigation import Position, positions
from simulator.recording.recording import StepAccess
from ui.intervals import unordered

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """A recording as the scene shows it, for one focused thread.

    outer and inner are the loops that position steps: the outermost one that most of them are in,
    and the one directly within it.
    phases names what each step is: load, compute, barrier, store or other. tiles maps a global
    array to the outer iteration that first reads each of its cells for this block, -1 where none
    does. tile is the rows and columns of C that a block produces, and the depth of K that it takes
    at a time, for a kernel that has tiles; hazards are those of the whole launch. unordered has for
    each step the cells that race or were never written, as unordered() finds them.
    positions are those of the steps in their loops; rounds tells how often a loop goes round, by
    the position of the loops around it.
    """

    recording: Recording
    thread: int
    outer: Loop | None
    inner: Loop | None
    phases: tuple[str, ...]
    tiles: dict[str, Array]
    tile: tuple[int, int, int] | None
    hazards: tuple[Hazard, ...]
    unordered: tuple[Mapping[str, Array], ...]
    positions: tuple[Position, ...]
    rounds: Mapping[tuple[Position, Loop], int]

    @property
    def iterations(self) -> int:
        """How many outer iterations the block runs."""
        found = [outer_iteration(self, step) for step in self.recording.steps]
        return max((t for t in found if t is not None), default=0) + 1

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of A, B and C."""
        arguments = self.recording.arguments
        M, N, K = (int(arguments[name]) for name in "MNK")
        return {"A": (M, K), "B": (K, N), "C": (M, N)}


def tell(
    recording: Recording,
    thread: int,
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
) -> Story:
    """Read a recording once for all that its panels ask."""
    outer = _longest(recording, None)
    inner = _longest(recording, outer) if outer is not None else None
    where = positions(recording)
    story = Story(
        recording, thread, outer, inner, tuple(_phase(step, inner) for step in recording.steps),
        {}, tile, hazards, unordered(recording), where, _rounds(where),
    )  # fmt: skip
    for name, (rows, columns) in story.shapes.items():
        if name != "C":
            story.tiles[name] = np.full(rows * columns, -1)
    for step in recording.steps:
        iteration = outer_iteration(story, step)
        for access in step.accesses:
            if (
                access.kind is AccessKind.LOAD
                and access.space is MemorySpace.GLOBAL
                and access.name in story.tiles
            ):
                cells = cells_of(access)
                tiles = story.tiles[access.name]
                if outer is not None and inner is not None and iteration is not None:
                    fresh = cells[tiles[cells] < 0]
                    tiles[fresh] = iteration
                elif iteration is not None:
                    tiles[cells[tiles[cells] < 0]] = 0
    return story


def _longest(recording: Recording, around: Loop | None) -> Loop | None:
    """The outermost loop that most steps are in; directly within another where one is given."""
    steps: Counter[Loop] = Counter()
    for step in recording.steps:
        nest = [position.loop for position in step.loops]
        if around is not None:
            nest = nest[1:] if nest and nest[0] is around else []
        if nest:
            steps[nest[0]] += 1
    return steps.most_common(1)[0][0] if steps else None


def focus_cell(story: Story) -> tuple[int, int] | None:
    """Row and column of the first cell of C that the focused thread stores, if it stores any."""
    for step in story.recording.steps:
        for access in step.accesses:
            if (
                access.kind is AccessKind.STORE
                and access.name == "C"
                and access.active[story.thread]
            ):
                cell = int(access.offsets[story.thread]) // access.element_bytes
                return divmod(cell, story.shapes["C"][1])
    return None


def cells_of(access: StepAccess, thread: int | None = None) -> Array:
    """The cells, counted from the array's start, that active threads (or one) touch."""
    cells, threads = access.touched_cells()
    return np.unique(cells if thread is None else cells[threads == thread])


def _phase(step: Step, inner: Loop | None) -> str:
    if isinstance(step.statement, Barrier):
        return "barrier"
    kinds = {(a.kind, a.space) for a in step.accesses}
    within = inner is not None and any(position.loop is inner for position in step.loops)
    if (AccessKind.STORE, MemorySpace.GLOBAL) in kinds:
        return "store"
    if (AccessKind.LOAD, MemorySpace.GLOBAL) in kinds and not within and inner is not None:
        return "load"
    if within or (kinds and inner is None):
        return "compute"
    return "other"


def outer_iteration(story: Story, step: Step) -> int | None:
    """Which iteration of the outer loop a step is in, from 0, or None outside it."""
    found = iteration(story, step, story.outer)
    return None if found is None else found[0]


def iteration(story: Story, step: Step, loop: Loop | None) -> tuple[int, int] | None:
    """Which iteration of a loop a step is in, from 0, and of how many; None outside it."""
    position = story.positions[step.number]
    for depth, (one, number) in enumerate(position):
        if one is loop:
            return number, story.rounds[position[:depth], one]
    return None


def _rounds(positions_: tuple[Position, ...]) -> dict[tuple[Position, Loop], int]:
    found: dict[tuple[Position, Loop], int] = {}
    for position in positions_:
        for depth, (loop, number) in enumerate(position):
            run = position[:depth], loop
            found[run] = max(found.get(run, 0), number + 1)
    return found


def writer(recording: Recording, name: str, cell: int, step: int | None = None) -> int | None:
    """The thread that last wrote a cell of an array up to a step (or ever); else the first to."""
    steps = recording.steps
    last = len(steps) - 1 if step is None else step
    for one in (*reversed(steps[: last + 1]), *steps[last + 1 :]):
        for access in one.accesses:
            if access.kind is AccessKind.LOAD or access.name != name:
                continue
            cells, threads = access.touched_cells()
            found = threads[cells == cell]
            if found.size:
                return int(found[-1])
    return None
