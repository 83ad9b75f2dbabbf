"""The views in which the findings of a verdict are seen to happen."""

from __future__ import annotations

from dataclasses import replace

from simulator.machine.schedule import Schedule
from simulator.verdict.form import UserKernel, with_fractions
from simulator.verdict.verdict import FoundHazard, SizeCheck
from ui.user_kernel.draft import at_numbers
from ui.view.view_url import SCHEDULES, View


def hazard_view(user_kernel: UserKernel, found: FoundHazard) -> View:
    """The view of a launch that shows a hazard; ui.run.displayed_hazard finds the step in it."""
    return View(user_kernel=at_numbers(user_kernel, found.numbers))


def wrong_view(user_kernel: UserKernel, check: SizeCheck) -> View:
    """The view of the thread that stored the wrong cell of a check."""
    cell = check.wrong
    assert cell is not None
    assert cell.block is not None
    assert cell.thread is not None
    schedule = Schedule(cell.order) if cell.order in SCHEDULES else Schedule.LOCKSTEP
    shown = at_numbers(user_kernel, check.numbers)
    if check.has_fractions:
        shown = replace(shown, form=with_fractions(shown.form))
    return View(
        user_kernel=shown, block=cell.block[:2], thread=cell.thread[:2],
        z=(cell.block[2], cell.thread[2]), schedule=schedule,
    )  # fmt: skip
