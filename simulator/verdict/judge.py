"""Judges a kernel of one's own: runs it at several sizes, and says the one thing to do next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.number_format import format_number
from simulator.observers.findings import Hazard, HazardKind, Number
from simulator.report import Report, simulate
from simulator.verdict.form import ArrayArgument, LaunchForm, OwnKernel
from simulator.verdict.launches import build_launch
from simulator.verdict.next_step import next_step
from simulator.verdict.sizes import Trial, trials
from simulator.verdict.tasks import TASKS, Task, wrong_cells
from simulator.verdict.verdict import (
    CheckState,
    FoundHazard,
    SizeCheck,
    State,
    Verdict,
    WrongCell,
)

OWN_SECONDS = 10.0  # that the launch by the form's own sizes may take
ALL_SECONDS = 3.0  # that the other sizes may take together
OTHER_ORDER = Schedule.DESCENDING  # a second order of a block's warps, in which a race shows
STOPPING = frozenset({HazardKind.FAILED_ASSERTION, HazardKind.TRAP})


def judge(
    own: OwnKernel,
    kernel: Kernel,
    registers: int | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Verdict:
    """What is to be said of a kernel, by running it at several sizes.

    kernel is own's, compiled; registers are those of a thread as the compiler reports them, if
    they are known. on_progress, if given, is called with a sentence before each size. Raises
    LaunchError for a form that describes no launch.
    """
    task = task_of(own.form)
    runs = _Runs(kernel, own.form, task)
    begin = time.perf_counter()
    for number, trial in enumerate(trials(kernel, own.form, task.sizes if task else ())):
        left = OWN_SECONDS if not number else ALL_SECONDS - (time.perf_counter() - begin)
        if number and left <= 0:
            runs.skip(trial)
            continue
        if on_progress is not None:
            on_progress(f"Running at {size_text(trial.sizes)}.")
        runs.run(trial, left)
        if not number:
            begin = time.perf_counter()
    checks = tuple(runs.checks)
    hazards = tuple(runs.hazards.values())
    state = _state(checks, hazards)
    report = runs.report
    return Verdict(
        next_step=next_step(state, checks, hazards),
        state=state,
        checks=checks,
        hazards=hazards,
        counters=report.counters if report is not None else {},
        lines=report.lines if report is not None else {},
        neighbours=(),
        costliest=None,
        occupancy=None,
        notes=tuple(dict.fromkeys((*kernel.notes, *kernel.warnings, *runs.notes))),
    )


def task_of(form: LaunchForm) -> Task | None:
    """The task that a form names; None for none. Raises LaunchError for one that is not known."""
    if not form.task:
        return None
    task = TASKS.get(form.task)
    if task is None:
        raise LaunchError(f"{form.task!r} is no task; there are {', '.join(TASKS)}.")
    roles = dict(form.roles)
    arrays = {one.name for one in form.arguments if isinstance(one, ArrayArgument)}
    for role in (*task.arrays, *task.sizes):
        if role not in roles:
            raise LaunchError(f"The task {task.title} needs to know what {role} is.")
        if role in task.arrays and roles[role] not in arrays:
            raise LaunchError(f"{role} is to be {roles[role]!r}, which is no array of the form.")
    return task


def size_text(sizes: Mapping[str, int]) -> str:
    """Sizes as a sentence has them: "M = 8, N = 8, K = 8"."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "the form's own size"


@dataclass(slots=True)
class _Runs:
    """The launches that were made, and what they showed."""

    kernel: Kernel
    form: LaunchForm
    task: Task | None
    checks: list[SizeCheck] = field(default_factory=list)
    hazards: dict[tuple[HazardKind, tuple[int, ...]], FoundHazard] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    report: Report | None = None  # of the form's own sizes

    def skip(self, trial: Trial, seconds: float = 0.0) -> None:
        """Note a size for which no time is left; seconds were spent on it."""
        sentence = f"Not judged: the {ALL_SECONDS:g} seconds for further sizes were over."
        self._add(trial, CheckState.SKIPPED, seconds, sentence)

    def run(self, trial: Trial, seconds: float) -> None:
        """Launch the kernel at one size, in two orders of its warps."""
        begin = time.perf_counter()
        is_own = not self.checks
        try:
            launch = build_launch(self.kernel, self.form, trial.numbers)
            report = simulate(self.kernel, launch, seconds=seconds)
        except (LaunchError, SourceError) as error:
            spent = time.perf_counter() - begin
            is_late = not is_own and spent >= seconds
            if is_late:
                self.skip(trial, spent)
            else:
                self._add(trial, CheckState.STOPPED, spent, str(error))
            return
        if is_own:
            self.report = report
        self.notes += report.notes
        self._add_hazards(trial, report.hazards)
        wrong = self._compare(trial, launch, report.arrays, Schedule.ASCENDING)
        left = seconds - (time.perf_counter() - begin)
        if wrong is None and self.task is not None and launch.warps > 1 and left > 0:
            wrong = self._other_order(trial, launch, left)
        spent = time.perf_counter() - begin
        if self.task is None:
            self._add(trial, CheckState.UNCHECKED, spent, "It ran to its end.")
        elif wrong is None:
            self._add(trial, CheckState.RIGHT, spent, f"{self.task.title} is right.")
        else:
            self._add(trial, CheckState.WRONG, spent, wrong.sentence, wrong)

    def _add(
        self,
        trial: Trial,
        state: CheckState,
        seconds: float,
        sentence: str,
        wrong: WrongCell | None = None,
    ) -> None:
        self.checks.append(
            SizeCheck(
                sizes=tuple(trial.sizes.items()),
                numbers=tuple(trial.numbers.items()),
                state=state,
                is_ragged=trial.is_ragged,
                seconds=seconds,
                sentence=sentence,
                wrong=wrong,
            )
        )

    def _add_hazards(self, trial: Trial, hazards: tuple[Hazard, ...]) -> None:
        for hazard in hazards:
            key = (hazard.kind, hazard.lines)
            known = self.hazards.get(key)
            if known is None:
                known = FoundHazard(
                    hazard, tuple(trial.sizes.items()), tuple(trial.numbers.items()), 0
                )
            self.hazards[key] = replace(known, launches=known.launches + 1)

    def _other_order(self, trial: Trial, launch: Launch, seconds: float) -> WrongCell | None:
        machine = Machine(self.kernel, launch, [], OTHER_ORDER, seconds=seconds)
        try:
            machine.run()
        except (LaunchError, SourceError):
            return None
        return self._compare(trial, launch, machine.results(), OTHER_ORDER)

    def _compare(
        self, trial: Trial, launch: Launch, after: Mapping[str, Array], order: Schedule
    ) -> WrongCell | None:
        """The first wrong cell of a launch's results, if the task says what is right."""
        if self.task is None:
            return None
        names = dict(self.form.roles)
        before = {role: np.asarray(launch.arguments[names[role]]) for role in self.task.arrays}
        self._check_arrays(before, trial.sizes)
        for role, expected in self.task.expected(before, trial.sizes).items():
            result = after[names[role]]
            wrong = wrong_cells(result, expected, self.task.terms(trial.sizes))
            if wrong.any():
                return _wrong_cell(names[role], result, expected, wrong, order)
        return None

    def _check_arrays(self, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        """Raise LaunchError where an array is smaller than the task's."""
        assert self.task is not None
        for role, shape in self.task.arrays.items():
            needed = int(np.prod([int(one) if one.isdigit() else sizes[one] for one in shape]))
            if arrays[role].size < needed:
                raise LaunchError(
                    f"{dict(self.form.roles)[role]} has {arrays[role].size:,} elements; as {role} "
                    f"of {self.task.title} it needs {needed:,}."
                )


def _wrong_cell(
    name: str, result: Array, expected: Array, wrong: Array, order: Schedule
) -> WrongCell:
    index = tuple(int(one) for one in np.argwhere(wrong)[0])
    value = result.reshape(-1)[: expected.size].reshape(expected.shape)[index]
    count = int(np.count_nonzero(wrong))
    place = name + "".join(f"[{one}]" for one in index)
    cells = f"{count:,} of {expected.size:,} cells are wrong" if count > 1 else "Only it is wrong"
    return WrongCell(
        array=name,
        index=index,
        value=number(value),
        expected=number(expected[index]),
        wrong=count,
        cells=expected.size,
        order=str(order),
        block=None,
        thread=None,
        line=None,
        reads=(),
        sentence=f"{place} is {format_number(value)}, and should be "
        f"{format_number(expected[index])}. {cells}, with the warps in {order} order.",
    )


def number(value: object) -> Number:
    """A value of an array as JSON holds it: its name where it is not finite."""
    found = float(value)  # type: ignore[arg-type]
    return found if np.isfinite(found) else str(found)


def _state(checks: tuple[SizeCheck, ...], hazards: tuple[FoundHazard, ...]) -> State:
    states = {check.state for check in checks}
    if checks[0].state is CheckState.STOPPED or not states - {
        CheckState.STOPPED, CheckState.SKIPPED,
    }:  # fmt: skip
        return State.STOPPED
    if hazards:
        return State.HAZARD
    if states & {CheckState.WRONG, CheckState.STOPPED}:
        return State.WRONG
    return State.RIGHT if CheckState.RIGHT in states else State.UNCHECKED
