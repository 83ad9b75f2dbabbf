"""Barriers that some threads of a block reach and others do not."""

from __future__ import annotations

from simulator.language.ctype import Array
from simulator.language.tree import Barrier, Kernel
from simulator.language.waiting import barriers_at_the_end
from simulator.launch import Launch, unravel
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.observer import Observer
from simulator.observers.hazards.findings import Example, Findings, Hazard, loop_iterations
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.sentences import hazards


class DivergentBarriers(Observer):
    """Finds barriers that not all threads of a block reach."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._at_the_end: frozenset[Barrier] = frozenset()  # whoever does not reach them ends

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """See which barriers end the kernel."""
        self._at_the_end = barriers_at_the_end(kernel.body)

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, block_index: int, arrived: Array, ended: Array
    ) -> None:
        """Some threads of a block wait at a barrier that others do not reach."""
        kind, line, launch = HazardKind.DIVERGENT_BARRIER, barrier.span.line, group.launch
        block = unravel(int(group.blocks[block_index]), launch.grid)
        if not arrived.any():  # of a block that does not come to the grid's barrier
            message = hazards.absent_block(line, block, launch)
            example = Example(block, (0, 0, 0), None, None, None, ())
            self._findings.add((kind, line), Hazard(kind, (line,), None, None, message, 1, example))
            return
        present = arrived | ended
        if present.all() or barrier in self._at_the_end:
            note = hazards.ended_threads(barrier, block, launch, int((~arrived).sum()))
            self._findings.note(("ended", line), note)
            return
        waiting, missing = (
            unravel(int(threads.argmax()), launch.block) for threads in (arrived, ~present)
        )
        message = hazards.partial_barrier(barrier, block, missing, launch, int(arrived.sum()))
        example = Example(block, waiting, block, missing, None, loop_iterations(group))
        hazard = Hazard(kind, (line,), None, None, message, 1, example)
        self._findings.add((kind, line), hazard)
