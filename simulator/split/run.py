"""Runs a launch in parts, which another process, or several, execute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait

from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.budget import DEFAULT_SECONDS, Budget, Progress
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.report import Report, build_report, check_memory
from simulator.split.join import Join
from simulator.split.part import Part, PartTask, check_split

WAIT_SECONDS = 0.2  # between two looks at whether it is late, and at whether to stop

Submit = Callable[[PartTask], Future[Part]]  # has simulate_part run for the launch


class StoppedError(Exception):
    """A run was stopped by its caller."""


def simulate_in_parts(
    kernel: Kernel,
    launch: Launch,
    submit: Submit,
    at_once: int,
    most_parts: int,
    schedule: Schedule = Schedule.ASCENDING,
    seconds: float = DEFAULT_SECONDS,
    on_progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Report:
    """The report that `simulate` gives, from parts that others run.

    submit is called for a part's task, never with more than at_once on their way; the launch makes
    up to most_parts. seconds is the processor time of all its parts together: a part may take what
    those that are done have left when it begins. on_progress is called after each part, and about
    once a second; once `stop` is set, no more parts are begun, and StoppedError is raised. Raises
    NotSplitError for a launch whose blocks depend on each other, which `simulate` takes, and what
    that raises.
    """
    begin = time.perf_counter()
    schedule = Schedule(schedule)
    check_memory(kernel, launch)
    machine = Machine(kernel, launch, schedule=schedule)
    check_split(kernel, schedule)
    ranges = _ranges(launch.blocks, machine.chunk_blocks(), most_parts)
    join = Join(machine)
    budget = Budget(seconds, launch.blocks, on_progress, clock=lambda: join.seconds)
    running: dict[Future[Part], int] = {}  # by the part's number
    failed: dict[int, SourceError | LaunchError] = {}  # by the part's number
    begun = 0
    try:
        while begun < len(ranges) or running:
            while begun < len(ranges) and len(running) < at_once and not failed:
                if budget.is_over and running:
                    break  # these have more to say about where the time went
                if begun:
                    budget.check()
                done = budget.blocks_done
                task = PartTask(ranges[begun], schedule, seconds, budget.spent, done)
                running[submit(task)] = begun
                begun += 1
            if failed and all(number > min(failed) for number in running.values()):
                raise failed[min(failed)]  # where one process would have come to it
            for future in wait(running, WAIT_SECONDS, FIRST_COMPLETED).done:
                number = running.pop(future)
                join.add(number, part := future.result())
                budget.blocks_done += len(ranges[number])
                if part.error is not None:
                    failed[number] = part.error
            if stop is not None and stop.is_set():
                raise StoppedError
            if budget.is_late:
                budget.check()  # a part that hangs does not find this out itself
            budget.report()
    finally:
        for future in running:
            future.cancel()
    machine.seconds = time.perf_counter() - begin
    return build_report(kernel, launch, machine, join.counters, join.findings)


def _ranges(blocks: int, chunk: int, most: int) -> list[range]:
    """The blocks of each part: whole chunks, in up to `most` parts.

    >>> _ranges(blocks=20, chunk=4, most=3)
    [range(0, 8), range(8, 16), range(16, 20)]
    """
    size = chunk * -(-blocks // (chunk * most))
    return [range(first, min(first + size, blocks)) for first in range(0, blocks, size)]
