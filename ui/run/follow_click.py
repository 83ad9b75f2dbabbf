"""What a click on the scene leads to: another focus, or another step."""

from __future__ import annotations

from dataclasses import replace

from simulator import Recording, catalogue
from simulator.launch import unravel
from ui.analysis.find_step import next_access, next_execution
from ui.analysis.scene_model import stored_cell, writer
from ui.drawing.hit import GLOBAL, SHARED
from ui.drawing.look import Look
from ui.run.compute import (
    load_drawing,
    load_navigation,
    load_recording,
    load_sides,
    recording_key,
    scene_step,
    step_of_side,
)
from ui.view.view_url import View
from ui.view.what_if import with_element_type


def follow_click(view: View, look: Look, x: float, y: float) -> View:
    """The view after a click at a place of its scene, in pixels; the same if nothing is there.

    A thread gets the focus, and so does the writer of a cell of C or of shared memory. For a cell
    of A or B it is a thread that reads it, at the next step at which one does; for another array in
    global memory one that reads or writes it. A line is run to its next execution. On the right of
    two scenes, the left thread of the same cell gets the focus.
    """
    hit = load_drawing(view, look).hit(view.step, x, y)
    if hit is None:
        return view
    side = load_sides(view)[hit.side]
    recording = load_recording(recording_key(side))
    step = step_of_side(view, hit.side)
    if hit.name == "thread":
        return focus_on_thread(view, recording, hit.index, hit.side)
    if hit.name == "line":
        found = next_execution(recording, hit.index, step)
        return view if found is None else replace(view, step=scene_step(view, found, hit.side))
    if hit.name.startswith(SHARED):
        thread = writer(recording, hit.name.removeprefix(SHARED), hit.index, step)
        return view if thread is None else focus_on_thread(view, recording, thread, hit.side)
    name = hit.name.removeprefix(GLOBAL)
    if side.user_kernel is None and name == "C":
        return _focus_on_cell(view, hit.index)
    touched = next_access(recording, name, hit.index, step, side.user_kernel is None)
    if touched is None:
        return view
    view = focus_on_thread(view, recording, touched[1], hit.side)
    return replace(view, step=scene_step(view, touched[0], hit.side))


def focus_on_thread(view: View, recording: Recording, thread: int, side: int) -> View:
    """The view with the focus on a thread of a side's recording, or the left one of its cell.

    Both sides of a user kernel have the same threads.
    """
    if side and view.user_kernel is None:
        cell = stored_cell(recording, thread)
        return view if cell is None else _focus_on_cell(view, cell)
    x, y, z = unravel(thread, recording.launch.block)
    return replace(view, thread=(x, y), z=(view.z[0], z))


def _focus_on_cell(view: View, cell: int) -> View:
    """The view with the focus on the thread that writes a cell of C, counted row by row."""
    entry = with_element_type(catalogue()[view.kernel], view.edits)
    rows, columns = entry.produces(**dict(view.defines))
    row, column = divmod(cell, view.N)
    view = replace(view, block=(column // columns, row // rows))
    recording = load_recording(recording_key(view))
    thread = writer(recording, "C", cell)
    if thread is not None:
        view = focus_on_thread(view, recording, thread, 0)
    return replace(view, step=min(view.step, load_navigation(view)["steps"] - 1))
