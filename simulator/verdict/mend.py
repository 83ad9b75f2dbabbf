"""The change of a kernel that mends what its launches showed, if one is found by trying."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.verdict.guards import has_guard
from simulator.verdict.repair import Repair, apply, first_that_mends, repairs
from simulator.verdict.runs import EXPLAINED, Runs
from simulator.verdict.sizes import Trial
from simulator.verdict.variants import compile_variant
from simulator.verdict.verdict import CheckState

FAILED = (CheckState.WRONG, CheckState.STOPPED)
MOST_FAILED, MOST_OTHERS = 3, 2  # sizes at which a change is tried
SECONDS = 1.0  # of a processor, that a launch with a change may take


def mend(runs: Runs, planned: Sequence[Trial]) -> Repair | None:
    """A change with which a kernel is right and without hazards where it was not.

    One that guards no edge and fails in whole tiles is to be right at these. runs are of the first
    of the planned sizes. Takes some seconds at most.
    """
    kernel = runs.kernel
    checks = list(zip(planned, runs.checks, strict=False))
    shown = {one.sizes for one in runs.hazards.values()}
    failed = [trial for trial, one in checks if one.state in FAILED or one.sizes in shown]
    others = [
        trial
        for trial, one in checks
        if one.state is not CheckState.SKIPPED and trial not in failed
    ]
    if not has_guard(kernel, runs.form) and not all(one.is_ragged for one in failed):
        failed = [one for one in failed if not one.is_ragged]
        others = [one for one in others if not one.is_ragged]
    if not failed:
        return None  # what is wrong is in the values, not at a place
    right = CheckState.UNCHECKED if runs.title is None else CheckState.RIGHT

    def mends(change: Repair) -> bool:
        mended = compile_variant(apply(kernel.text, change.fixes), kernel.name)
        again = Runs(mended, runs.form, runs.task, runs.reference, explained=EXPLAINED)
        for trial in (*failed[:MOST_FAILED], *others[:MOST_OTHERS]):
            again.run(trial, SECONDS)
            if again.hazards or again.checks[-1].state not in (right, CheckState.SKIPPED):
                return False
        return True

    hazards = [one.hazard for one in runs.hazards.values()]
    is_ragged = all(one.is_ragged for one in failed)
    return first_that_mends(repairs(kernel, runs.form, hazards, is_ragged), mends)
