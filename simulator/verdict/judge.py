"""Judges a user kernel: runs it at several sizes, and says the one thing to do next."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from simulator.language.errors import LaunchError, SourceError, list_names
from simulator.language.tree import Kernel
from simulator.sentences import verdicts
from simulator.verdict.choose_next_step import next_step
from simulator.verdict.experiment import MayNeverEndError
from simulator.verdict.form import Contents, LaunchForm, UserKernel
from simulator.verdict.likely_task import find_likely_task
from simulator.verdict.limited import limit
from simulator.verdict.mend import mend
from simulator.verdict.neighbours import neighbours
from simulator.verdict.one_block import limit_of_one_block
from simulator.verdict.overflow import narrow_indices, overflow
from simulator.verdict.parameters import in_layout
from simulator.verdict.places import find_places
from simulator.verdict.probe import Probe
from simulator.verdict.reference import find_reference
from simulator.verdict.residency import occupancy
from simulator.verdict.runs import ALL_SECONDS, Runs
from simulator.verdict.sizes import Trial, trials
from simulator.verdict.tasks import FACTOR, OTHER_PRODUCTS, PRODUCT, PRODUCT_ROLES, TASKS, Task
from simulator.verdict.traffic import costliest_line, line_traffic
from simulator.verdict.verdict import (
    CheckState,
    CounterRow,
    FoundHazard,
    LineCost,
    SizeCheck,
    State,
    Verdict,
)

OWN_SECONDS = 6.0  # of a processor, that the launch by the form's own sizes may take


def judge(
    user_kernel: UserKernel,
    kernel: Kernel,
    registers: int | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Verdict:
    """What is to be said of a kernel, by running it at several sizes.

    kernel is own's, compiled; registers are those of a thread as the compiler reports them, if
    they are known. on_progress, if given, is called with a sentence before each size. Raises
    LaunchError for a form that describes no launch.
    """
    task = task_of(user_kernel.form)
    runs = Runs(kernel, user_kernel.form, task, find_reference(kernel) if task is None else None)
    planned = trials(kernel, user_kernel.form, task.sizes if task else ())
    _run_all(runs, planned, on_progress)
    if _state(tuple(runs.checks), tuple(runs.hazards.values())) is State.RIGHT:
        runs.run_fractions(planned[0], ALL_SECONDS)
    checks, hazards = tuple(runs.checks), tuple(runs.hazards.values())
    state = _state(checks, hazards)
    form_notes = (*_renamed(user_kernel.form), *_places(user_kernel.form, kernel))
    limits, mended, nearest = "", None, ""
    if state in (State.WRONG, State.HAZARD):
        limits = limit_of_one_block(kernel, user_kernel.form, checks, hazards)
        mended = None if limits else mend(runs, planned)
        if not limits and (mended is None or not mended.is_of_guard):
            limits = limit(kernel, user_kernel.form, planned[0].tiles, checks, hazards)
        state = State.LIMITED if limits else state
    elif state is State.UNCHECKED and not runs.drawn and not form_notes:
        nearest, mended = find_likely_task(runs, planned[0])
    rows, costliest = _costs(runs, planned[0], task)
    fits = occupancy(kernel, runs.launch, registers) if runs.launch is not None else None
    report = runs.report
    others = () if kernel.shared else rows
    too_large = overflow(kernel)
    title = runs.title or ""
    change = f"{mended.sentence} {mended.why}".rstrip() if mended is not None else ""
    return Verdict(
        repair=mended,
        next_step=(
            limits
            or nearest
            or change
            or (runs.drawn if state is State.UNCHECKED else "")
            or next_step(state, checks, hazards, costliest, others, fits, title)
            + _computed_instead(user_kernel.form, kernel, checks)
        )
        + _asked(user_kernel.form, state)
        + (f" {too_large}" if too_large else ""),
        state=state,
        checks=checks,
        hazards=hazards,
        counters=report.counters if report is not None else {},
        lines=report.lines if report is not None else {},
        neighbours=rows,
        costliest=costliest,
        occupancy=fits,
        notes=_notes(kernel, form_notes, runs),
    )


def _run_all(runs: Runs, planned: list[Trial], on_progress: Callable[[str], None] | None) -> None:
    """Run a kernel at each of some sizes, of which the first is the form's own, in limited time."""
    begin = time.thread_time()
    for number, trial in enumerate(planned):
        left = OWN_SECONDS if not number else ALL_SECONDS - (time.thread_time() - begin)
        if left <= 0:
            runs.skip(trial)
            continue
        if on_progress is not None:
            on_progress(verdicts.running(trial.sizes))
        runs.run(trial, left)
        if runs.checks[0].state is CheckState.STOPPED:
            break  # other sizes would tell the same, later
        if not number:
            begin = time.thread_time()


def _notes(kernel: Kernel, of_form: tuple[str, ...], runs: Runs) -> tuple[str, ...]:
    """What else is to be said of a kernel and its form, each sentence once."""
    found = (*of_form, *narrow_indices(kernel), *kernel.notes, *kernel.warnings)
    return tuple(dict.fromkeys((*found, *runs.notes.values())))


def _places(form: LaunchForm, kernel: Kernel) -> Iterator[str]:
    """A sentence for each array that holds places instead of random digits."""
    places = [one for one in form.arrays if one.contents in (Contents.SHUFFLED, Contents.RISING)]
    found = find_places(kernel) if places else None
    for one in places:
        arrays = found.picked_by(one.name) if found is not None else []
        if arrays:
            is_shuffled = one.contents is Contents.SHUFFLED
            yield verdicts.filled_by_places(one.name, is_shuffled, arrays)


def _renamed(form: LaunchForm) -> Iterator[str]:
    """A sentence where a kernel calls one size of a product what others call another."""
    roles = {role: what for role, what in form.roles if role in "MNK"}
    if any(what.upper() in roles and what.upper() != role for role, what in roles.items()):
        names = list_names([verdicts.role(role, what) for role, what in roles.items()])
        yield verdicts.renamed(names)


def _computed_instead(form: LaunchForm, kernel: Kernel, checks: tuple[SizeCheck, ...]) -> str:
    """A sentence on which other product a wrong one is; "" where it is none."""
    is_struct = any("." in what for _, what in form.roles)
    if checks[0].state is not CheckState.WRONG or form.task != PRODUCT or is_struct:
        return ""
    for name in OTHER_PRODUCTS:
        shape = in_layout(kernel, name, form.roles)
        other = replace(form, task=name, arguments=shape.arguments)
        try:
            if Probe(kernel, other).block_is_right(is_patient=False):
                return f" {verdicts.computes_instead(TASKS[name].title, name)}"
        except MayNeverEndError:
            return ""
    return ""


def _asked(form: LaunchForm, state: State) -> str:
    """A question about the arrays whose size nothing tells; "" without any."""
    seen = [one for one in form.arrays if one.is_seen]
    if not seen or state is not State.UNCHECKED:
        return ""
    return f" {verdicts.asks_for_cells([one.name for one in seen])}"


def task_of(form: LaunchForm) -> Task | None:
    """The task that a form names; None for none. Raises LaunchError where its roles are not set."""
    if not form.task:
        return None
    task = TASKS.get(form.task)
    if task is None:
        raise LaunchError(f"{form.task!r} is not a task; the tasks are {', '.join(TASKS)}.")
    roles = dict(form.roles)
    arrays = {one.name for one in form.arrays}
    for role in (*task.arrays, *task.sizes, *((FACTOR,) if task.has_factor else ())):
        if role not in roles:
            raise LaunchError(f"The task {task.title} needs to know what {role} is.")
        if role in task.arrays and roles[role] not in arrays:
            raise LaunchError(f"{role} is {roles[role]!r}, which is not an array of the form.")
    return task


def _state(checks: tuple[SizeCheck, ...], hazards: tuple[FoundHazard, ...]) -> State:
    states = {check.state for check in checks}
    if checks[0].state is CheckState.STOPPED:
        return State.STOPPED
    if hazards:
        return State.HAZARD
    if states & {CheckState.WRONG, CheckState.STOPPED}:
        return State.WRONG
    return State.RIGHT if CheckState.RIGHT in states else State.UNCHECKED


def _costs(
    runs: Runs, first: Trial, task: Task | None
) -> tuple[tuple[CounterRow, ...], LineCost | None]:
    """The table of counters and the costliest line of the launch by the form's own sizes."""
    if runs.report is None or runs.launch is None:
        return (), None
    rows: tuple[CounterRow, ...] = ()
    if task is not None and task.name in PRODUCT_ROLES:
        M, N, K = (first.sizes[PRODUCT_ROLES[task.name][role]] for role in "MNK")
        tile = min(M, first.tiles["M"]) * min(N, first.tiles["N"])
        rows = neighbours(runs.report.counters, runs.report.lines, (M, N, K), tile)
    try:
        places = line_traffic(runs.kernel, runs.launch, ALL_SECONDS)
    except (LaunchError, SourceError):
        return rows, None
    return rows, costliest_line(places)
