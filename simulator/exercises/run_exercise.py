"""Runs a kernel at the sizes that an exercise is checked at."""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.exercises.evidence import Evidence, Run
from simulator.exercises.exercise import Exercise
from simulator.exercises.wording import size_text
from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.functions import SHUFFLES
from simulator.language.tree import Barrier, Call, Expression, Kernel
from simulator.launch import Launch, format_cell
from simulator.machine.group import Group
from simulator.machine.machine import Machine
from simulator.machine.masks import Mask
from simulator.machine.observer import Observer
from simulator.machine.schedule import Schedule
from simulator.number_format import format_number
from simulator.report import simulate
from simulator.verdict.launches import build_launch
from simulator.verdict.tasks import TASKS, wrong_cells

SECONDS = 10.0  # of a processor, that all launches of a check may take
LARGEST_VALUE = 9  # of the whole numbers in the inputs
UNWRITTEN = -77  # what results hold before the launch: no right value of any task
COOPERATIVE_SHUFFLE = "cg::shfl"  # how a group's shuffles begin


class UncheckedError(Exception):
    """Source whose kernel does not run to its end: a sentence, and the line that it is about."""

    def __init__(
        self, sentence: str, line: int | None = None, depends_on_machine: bool = False
    ) -> None:
        super().__init__(sentence)
        self.line = line  # from 1; None if unknown
        self.depends_on_machine = depends_on_machine  # whether another run may end otherwise


def line_of(error: LaunchError | SourceError) -> int | None:
    """The line of the text that an error is about, from 1, if known."""
    return error.span.line if isinstance(error, SourceError) and error.span else None


def gather(exercise: Exercise, kernel: Kernel) -> Evidence:
    """Run an exercise's kernel at all sizes that it is checked at. Raises UncheckedError.

    The inputs follow from the text, so that no text can hold the results of its own.
    """
    sizes = [size for one in exercise.requirements for size in one.launch_sizes]
    end = time.thread_time() + SECONDS
    runs = []
    numbers: Mapping[str, int] = {}
    try:
        for numbers in (*sizes, exercise.workload.counted_at):
            runs.append(_run(exercise, kernel, numbers, end - time.thread_time()))
        executions = _Executions(runs[-1].launch)
        # In lockstep, which is faster: the counts are the same in any order of the warps.
        order, left = Schedule.LOCKSTEP, end - time.thread_time()
        Machine(kernel, runs[-1].launch, [executions], order, seconds=left).run()
    except (LaunchError, SourceError) as error:
        raise _unchecked(error, numbers, time.thread_time() > end) from None
    return Evidence(kernel, tuple(runs), executions.barriers, executions.shuffles)


def _unchecked(
    error: LaunchError | SourceError, numbers: Mapping[str, int], is_late: bool
) -> UncheckedError:
    line = line_of(error)
    if not is_late:
        return UncheckedError(f"At {size_text(numbers)}: {error}", line, error.depends_on_machine)
    place = f", on line {line}" if line else ""
    return UncheckedError(
        f"At {size_text(numbers)}, the {SECONDS:g} seconds for all sizes ran out{place}. Does a "
        "loop never end, or does one thread do the work of many?",
        line,
        depends_on_machine=True,
    )


def _run(exercise: Exercise, kernel: Kernel, numbers: Mapping[str, int], seconds: float) -> Run:
    task = TASKS[exercise.form.task]
    launch = build_launch(kernel, exercise.form, numbers)
    arguments: dict[str, Any] = dict(launch.arguments)
    for name in task.arrays:
        seed = zlib.crc32(f"{name} {kernel.text}".encode(errors="replace"))
        arguments[name] = _contents(arguments[name], name in task.results, seed)
    launch = replace(launch, arguments=arguments)
    report = simulate(kernel, launch, seconds=seconds)
    inputs = {name: arguments[name] for name in task.arrays}
    for name, expected in task.expected(inputs, numbers).items():
        wrong = wrong_cells(report.arrays[name], expected, task.count_terms(numbers))
        if wrong.any():
            sentence = _wrong_sentence(name, report.arrays[name], expected, wrong)
            return Run(numbers, launch, report, sentence)
    return Run(numbers, launch, report, None)


def _contents(array: Array, is_result: bool, seed: int) -> Array:
    """An array like `array`: of inputs random whole numbers, of a result UNWRITTEN."""
    if is_result:
        return np.full_like(array, UNWRITTEN)
    random = np.random.default_rng((seed, *array.shape))
    filled: Array = random.integers(0, LARGEST_VALUE + 1, array.shape).astype(array.dtype)
    return filled


def _wrong_sentence(name: str, result: Array, expected: Array, wrong: Array) -> str:
    index = np.unravel_index(int(np.argmax(wrong)), expected.shape)
    value = result.reshape(-1)[: expected.size].reshape(expected.shape)[index]
    cell = format_cell(name, index)
    many = int(np.count_nonzero(wrong))
    count = f"{many:,} of {expected.size:,} elements are" if many > 1 else "Only this element is"
    if value == UNWRITTEN:
        return (
            f"{cell} is not written; it should be {format_number(expected[index])}. {count} wrong."
        )
    return (
        f"{cell} is {format_number(value)} but should be {format_number(expected[index])}. "
        f"{count} wrong."
    )


class _Executions(Observer):
    """Counts the barriers that a thread passes and its shuffles, by line: of all threads' mean."""

    def __init__(self, launch: Launch) -> None:
        self.barriers: dict[int, float] = {}
        self.shuffles: dict[int, float] = {}
        self._threads = launch.blocks * launch.threads

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        lanes = sum(group.lanes for group in groups)
        self._add(self.barriers, barrier.span.line, lanes)

    def on_evaluation(self, group: Group, expression: Expression, value: Any, mask: Mask) -> None:
        name = expression.function if isinstance(expression, Call) else ""
        if name in SHUFFLES or name.startswith(COOPERATIVE_SHUFFLE):
            lanes = group.lanes if mask is None else group.lanes_of(mask).size
            self._add(self.shuffles, expression.span.line, lanes)

    def _add(self, counts: dict[int, float], line: int, lanes: int) -> None:
        counts[line] = counts.get(line, 0.0) + lanes / self._threads
