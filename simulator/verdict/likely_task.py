"""The task that a kernel likely computes, where its results match none: a question, no verdict."""

from __future__ import annotations

import numpy as np

from simulator.language.ctype import Pointer
from simulator.language.errors import LaunchError, SourceError
from simulator.launch import Launch
from simulator.observers.written_parameters import written_parameters
from simulator.report import Report
from simulator.sentences import verdicts
from simulator.verdict.experiment import Run, Touches
from simulator.verdict.fit import Fit, fits
from simulator.verdict.form import LaunchForm
from simulator.verdict.mend import mend
from simulator.verdict.parameters import Shape, numbers_of, recognise
from simulator.verdict.repair import Repair
from simulator.verdict.runs import Runs
from simulator.verdict.sizes import Trial, trials
from simulator.verdict.tasks import TASKS

NEAREST = 2  # tasks that are named
ALIKE = 0.5  # of a result's cells, below which it is not a task's but for a mistake
TRIED = 3  # sizes at which a kernel is run as what its name says
SECONDS = 1.0  # of a processor, for each


def find_likely_task(runs: Runs, planned: Trial) -> tuple[str, Repair | None]:
    """The sentence that names a kernel's likely task, and the change with which it computes that.

    ("", None) where nothing indicates one. runs are those of the form's own sizes, without a task.
    """
    report, launch = runs.report, runs.launch
    if report is None or launch is None:
        return "", None
    named = recognise(runs.kernel)
    if named is not None:
        change = _change(runs, named)
        if change is not None:
            return verdicts.would_compute(TASKS[named.task].title, change.sentence), change
    titles = [TASKS[named.task].title] if named is not None else []
    near = _near(runs, planned, launch, report)
    if near and near[0].agreement == 1.0:
        return verdicts.holds(near[0].task.title), None
    titles = list(dict.fromkeys((*titles, *(fit.task.title for fit in near))))[:NEAREST]
    if not titles:
        return "", None
    return verdicts.is_most_like(titles), None


def _change(runs: Runs, named: Shape) -> Repair | None:
    """A change with which a kernel computes what its name and its parameters say."""
    numbers = {one.name: one for one in runs.form.numbers}
    arguments = tuple(numbers.get(one.name, one) for one in named.arguments)
    form = LaunchForm(
        runs.form.grid, runs.form.block, runs.form.shared_bytes, arguments, named.task, named.roles
    )
    task = TASKS[named.task]
    again = Runs(runs.kernel, form, task)
    try:
        planned = trials(runs.kernel, form, task.sizes)[:TRIED]
        for trial in planned:
            again.run(trial, SECONDS)
    except (LaunchError, SourceError):
        return None
    return mend(again, planned)


def _near(runs: Runs, planned: Trial, launch: Launch, report: Report) -> list[Fit]:
    """The tasks that most of the results agree with, or a single one in shape."""
    kernel = runs.kernel
    pointers = [one.ctype for one in kernel.parameters if isinstance(one.ctype, Pointer)]
    if None in map(numbers_of, pointers):
        return []
    touches = Touches()
    touches.cells = {name: int(np.size(array)) for name, array in report.arrays.items()}
    touches.stored = written_parameters(kernel) & report.arrays.keys()
    found = fits(kernel, runs.form, [(planned.sizes, Run(launch, touches, report.arrays))])
    return [
        fit
        for fit in found
        if fit.agreement >= ALIKE or fit.task.arrays[fit.task.results[0]] == ("1", "1")
    ]
