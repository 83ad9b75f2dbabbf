"""The hazard shown above the scene, and the view that demonstrates it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator import Report
from simulator.launch import ravel
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from ui.analysis.right_values import RightValues
from ui.analysis.wrong_access import find_wrong_access
from ui.run.compute import load_recording, load_right, load_sides, recording_key, scene_step
from ui.run.follow_click import focus_on_thread
from ui.view.view_url import SCHEDULES, View, follow, from_query, to_query


@dataclass(frozen=True, slots=True)
class DisplayedHazard:
    """A hazard, and the scene that it occurs in."""

    hazard: Hazard
    side: int  # 0, or 1 for the scene on the right


def select_hazard(reports: Sequence[Report]) -> DisplayedHazard | None:
    """The hazard to show above the scene: the most severe one of the first side that has any.

    An access outside its array may end a launch on a GPU; a race with a witness gives wrong values.
    """
    for side, report in enumerate(reports):
        if report.hazards:
            most = max(
                report.hazards,
                key=lambda one: (one.kind is HazardKind.OUT_OF_BOUNDS, one.witness is not None),
            )
            return DisplayedHazard(most, side)
    return None


def hazardous_view(view: View, displayed: DisplayedHazard) -> View:
    """The view at a hazard: the thread that its witness names, in its order of the warps.

    Of a hazard without such a witness it is the example's thread, in the side's own order. On the
    right of two scenes, the left thread of the same cell gets the focus.
    """
    hazard, side = displayed.hazard, load_sides(view)[displayed.side]
    witness, example = hazard.witness, hazard.example
    block, thread, schedule = example.block, example.thread, side.schedule
    if witness is not None and witness.thread is not None and witness.order in SCHEDULES:
        thread, schedule = witness.thread, Schedule(witness.order)
    z = block[2], thread[2]
    side = replace(side, block=block[:2], thread=thread[:2], z=z, schedule=schedule)
    if displayed.side:
        view = _focus_on_right_thread(view, side)
        side = load_sides(view)[1]
    else:
        shown = replace(view, block=block[:2], thread=thread[:2], z=z, schedule=schedule)
        beside = None if view.comparison is None else follow(view.comparison, view, shown)
        view = replace(shown, comparison=beside)
    step = _find_hazard(side, hazard.lines, example.iterations, witness is not None)
    return replace(view, step=scene_step(view, step, displayed.side))


def view_at_line(view: View, line: int) -> View:
    """The view at the last step at which its thread is at a line; at the first, if it never is."""
    recording = load_recording(recording_key(view))
    thread = ravel(view.thread_index, recording.launch.block)
    there = [step.number for step in recording.steps if step.line == line and step.active[thread]]
    return replace(view, step=scene_step(view, there[-1] if there else 0))


def _focus_on_right_thread(view: View, right: View) -> View:
    """The view of two scenes whose right one has the focus and the schedule of another view.

    The left one's schedule goes along where both had the same. Where the thread stores no cell of
    C, as one beyond its edges, that is so if a left one of the same numbers does not either.
    """
    comparison = view.comparison
    assert comparison is not None
    left = right.schedule if view.schedule == comparison.schedule else view.schedule
    view = replace(view, schedule=left, comparison=replace(comparison, schedule=right.schedule))
    recording = load_recording(recording_key(right))
    thread = ravel(right.thread_index, recording.launch.block)
    same_numbers = replace(view, block=right.block, thread=right.thread, z=right.z)
    if view.user_kernel is not None:
        return same_numbers
    by_cell = focus_on_thread(view, recording, thread, 1)
    for candidate in (by_cell, from_query(to_query(same_numbers))[0]):
        shown = load_sides(candidate)[1]
        if (shown.block, shown.thread) == (right.block, right.thread):
            return candidate
    return by_cell


def _find_hazard(
    view: View, lines: tuple[int, ...], iterations: tuple[int, ...], is_shown: bool
) -> int:
    """The step at which the view's thread meets a hazard of some lines.

    Of one that is_shown by a witness it is the first at which the thread reads a wrong value, else
    the first in some iterations of its loops, else the first at all; 0 if there is none.
    """
    recording, right = load_recording(recording_key(view)), load_right(view)
    thread = ravel(view.thread_index, recording.launch.block)
    met = [step for step in recording.steps if step.line in lines and step.active[thread]]
    if is_shown and right is not None:
        values = RightValues(recording, right)
        for step in met:
            wrong = find_wrong_access(recording, values, step, thread)
            if wrong is not None and not wrong.is_harmless:
                return step.number
    there = [step for step in met if tuple(one.iteration for one in step.loops) == iterations]
    return next((step.number for step in (*there, *met)), 0)
