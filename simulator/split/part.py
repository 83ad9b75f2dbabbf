"""A part of a launch: some of its blocks, run without the others."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Pointer
from simulator.language.errors import LaunchError, SourceError
from simulator.language.functions import PRINT, STOPS
from simulator.language.tree import Assign, Kernel
from simulator.language.visit import calls, expressions_within, in_register
from simulator.language.waiting import spins, waits_for_grid
from simulator.launch import Launch
from simulator.machine.budget import Budget, Progress
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.counters import Counters
from simulator.observers.hazards.findings import Findings
from simulator.observers.hazards.observers import hazard_observers
from simulator.split.cells import Cells, TouchedCells


class NotSplitError(Exception):
    """Why one process has to run a whole launch: a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"One process runs this launch: {reason}.")


@dataclass(frozen=True, slots=True)
class PartTask:
    """Blocks to run: whole chunks of the machine, so that these are the same as in one process."""

    blocks: range  # their linear numbers
    schedule: Schedule
    seconds: float  # of processors, that the whole run may take
    spent: float  # seconds of these that its parts had taken when this one began
    blocks_done: int  # of the whole run


@dataclass(frozen=True, slots=True)
class Part:
    """What some blocks did."""

    seconds: float  # of a processor that it took
    counters: Counters
    findings: Findings
    cells: Mapping[str, Cells]  # by name, of each array that the kernel may write
    is_complete: bool  # whether no other array in global memory was written
    error: SourceError | LaunchError | None  # what ended it; the rest is then what was until there


def check_split(kernel: Kernel, schedule: Schedule) -> None:
    """Raise NotSplitError where blocks depend on those before them by more than their cells."""
    if schedule is Schedule.RANDOM:
        raise NotSplitError("one series of random numbers orders the warps of all its blocks")
    if spins(kernel.body):
        raise NotSplitError("its threads wait for each other in loops")
    if waits_for_grid(kernel.body):
        raise NotSplitError("its blocks wait for each other")
    if calls(kernel.body, {PRINT}):
        raise NotSplitError("its threads print")
    if calls(kernel.body, STOPS):
        raise NotSplitError("a thread may end it, by assert() or __trap()")
    if _stores_pointers(kernel):
        raise NotSplitError("its threads store pointers, whose numbers depend on what ran before")


def _stores_pointers(kernel: Kernel) -> bool:
    """Whether a kernel writes pointers to memory."""
    return any(
        isinstance(expression, Assign)
        and isinstance(expression.lvalue.ctype, Pointer)
        and not in_register(expression.lvalue)
        for expression in expressions_within(kernel.body)
    )


def simulate_part(
    kernel: Kernel,
    launch: Launch,
    task: PartTask,
    on_progress: Callable[[Progress], None] | None = None,
) -> Part:
    """Run a part of a launch, as if there were no other.

    on_progress, if given, is called about once a second. Raises LaunchError and SourceError only
    for what is wrong before anything runs.
    """
    part = _simulate(kernel, launch, task, on_progress)
    gc.collect()  # a machine refers to itself: the arrays of many would pile up
    return part


def _simulate(
    kernel: Kernel, launch: Launch, task: PartTask, on_progress: Callable[[Progress], None] | None
) -> Part:
    counters, findings, cells = Counters(), Findings(), TouchedCells()
    observers = [counters, *hazard_observers(findings), cells]
    machine = Machine(kernel, launch, observers, task.schedule)
    budget = Budget(
        task.seconds, launch.blocks, on_progress, spent=task.spent, blocks_done=task.blocks_done
    )
    error: SourceError | LaunchError | None = None
    try:
        machine.run(np.array(task.blocks), budget)
    except (SourceError, LaunchError) as found:
        error = found.with_traceback(None)  # a traceback would keep all that has run
    return Part(
        seconds=budget.spent - task.spent,
        counters=counters,
        findings=findings,
        cells=cells.by_array,
        is_complete=cells.is_complete,
        error=error,
    )
