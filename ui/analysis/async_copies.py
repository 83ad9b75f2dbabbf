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
from simulator.recording.snapshots import Memory
from ui.analysis.scene_model import SceneModel
from ui.analysis.tiles_of_k import NONE, copied_cells, waits_for_copies


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


def copied_from(recording: Recording) -> dict[str, str]:
    """The array that asynchronous copies into each shared array read: none of another array."""
    return {
        copied_cells(recording, access)[0]: access.name
        for step in recording.steps for access in step.accesses if access.targets is not None
    }  # fmt: skip
