"""The views in which the findings of a verdict are seen to happen."""

from __future__ import annotations

from simulator.machine.schedule import Schedule
from simulator.verdict.form import OwnKernel
from simulator.verdict.verdict import FoundHazard, Named, WrongCell
from ui.draft import at_numbers
from ui.view_url import SCHEDULES, View


def hazard_view(own: OwnKernel, found: FoundHazard) -> View:
    """The view of a launch that shows a hazard; ui.told_hazard finds the step in it."""
    return View(own=at_numbers(own, found.numbers))


def wrong_view(own: OwnKernel, numbers: Named, cell: WrongCell) -> View:
    """The view of the thread that stored a wrong cell."""
    assert cell.block is not None
    assert cell.thread is not None
    schedule = Schedule(cell.order) if cell.order in SCHEDULES else Schedule.LOCKSTEP
    return View(
        own=at_numbers(own, numbers), block=cell.block[:2], thread=cell.thread[:2],
        z=(cell.block[2], cell.thread[2]), schedule=schedule,
    )  # fmt: skip
