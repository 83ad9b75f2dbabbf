"""Asynchronous copies that have begun and that nobody has waited for yet, step by step.

What such a copy brings is not in shared memory until the thread that began it has waited for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator import Recording
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from simulator.recording.snapshots import Memory
from ui.analysis.scene_model import SceneModel
from ui.analysis.tiles_of_k import NONE, waits_for_copies


def copies_under_way(model: SceneModel) -> list[Mapping[str, Array]]:
    """For each step and shared array the tile that is on its way into each cell: int [cells].

    NONE for a cell into which no copy is under way after the step. A value that is of no tile of A
    or B counts as tile 0.
    """
    recording = model.recording
    under_way = Memory()
    for name, values in recording.steps[0].shared.items() if recording.steps else ():
        under_way.update(name, np.full(values.size, NONE))
    by_step: list[Mapping[str, Array]] = []
    for step in recording.steps:
        for access in step.accesses:
            if access.targets is not None:
                name, cells, sources, _ = copied_cells(recording, access)
                changed = under_way.contents()[name].copy()
                tiles = model.tiles.get(access.name)
                changed[cells] = 0 if tiles is None else np.maximum(tiles[sources], 0)
                under_way.update(name, changed)
            elif (
                access.space is MemorySpace.SHARED and access.kind is AccessKind.STORE
                and waits_for_copies(step.statement)
            ):  # fmt: skip
                changed = under_way.contents()[access.name].copy()
                changed[access.touched_cells()[0]] = NONE
                under_way.update(access.name, changed)
        by_step.append(under_way.contents())
    return by_step


def copied_cells(recording: Recording, load: StepAccess) -> tuple[str, Array, Array, Array]:
    """The shared array that an asynchronous copy goes to, its cells, those it reads, and threads.

    Cells are elements, counted from their array's start, in the order of threads: int [m] each. A
    cell beyond the shared array's end is left out.
    """
    assert load.targets is not None
    sources, threads = load.touched_cells()
    held = recording.steps[0].shared
    starts = {
        variable.name: start
        for variable, start in recording.kernel.shared_offsets.items() if variable.name in held
    }  # fmt: skip
    first = int(load.targets[threads].min()) if threads.size else 0
    name = max((one for one in starts if starts[one] <= first), key=lambda one: starts[one])
    each = max(1, load.width // load.cell_bytes)
    cells = (load.targets[threads] - starts[name]) // load.cell_bytes
    cells += np.arange(threads.size) % each
    inside = cells < held[name].size
    return name, cells[inside], sources[inside], threads[inside]


def copied_from(recording: Recording) -> dict[str, str]:
    """The array that asynchronous copies into each shared array read: none of another array."""
    return {
        copied_cells(recording, access)[0]: access.name
        for step in recording.steps for access in step.accesses if access.targets is not None
    }  # fmt: skip
