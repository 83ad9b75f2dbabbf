"""The two views of a side-by-side scene: which block, which thread, which names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator import LaunchError, Recording, catalogue
from simulator.launch import ravel, unravel
from ui.analysis.scene_model import stored_cell, writer
from ui.view import shown_kernel
from ui.view.view_url import View
from ui.view.what_if import SWITCHES

TOO_LONG = "This code is too long for two scenes beside each other: they compare it line by line."


def side_views(view: View, record: Callable[[View], Recording]) -> tuple[View, View]:
    """The views of both sides, neither with a comparison, at the block and thread of the same cell.

    It is the first cell of C that the left thread stores. Where it stores none, or nobody does on
    the right, the right block and thread are those with the left one's numbers, or the nearest.
    view has a comparison. record runs a view's block, whatever its thread and step, and may raise
    SourceError or LaunchError. Beside a user kernel it is the same block and thread.
    """
    assert view.comparison is not None
    comparison, left = view.comparison, replace(view, comparison=None)
    if view.user_kernel is not None:
        if not shown_kernel.is_plain(view.user_kernel.text):
            raise LaunchError(TOO_LONG)
        return left, replace(left, edits=comparison.edits, schedule=comparison.schedule)
    right = replace(
        left, kernel=comparison.kernel, defines=comparison.defines, edits=comparison.edits,
        schedule=comparison.schedule,
    )  # fmt: skip
    entry = catalogue()[right.kernel]
    grid, block = entry.shape(view.M, view.N, **dict(right.defines))
    right = replace(
        right, block=_nearest(left.block, grid), thread=_nearest(left.thread, block),
        z=(min(left.z[0], grid[2] - 1), 0),
    )  # fmt: skip
    recording = record(left)
    thread = min(ravel((*left.thread, 0), recording.launch.block), recording.launch.threads - 1)
    cell = stored_cell(recording, thread)
    if cell is None or cell >= view.M * view.N:
        return left, right
    rows, columns = entry.produces(**dict(right.defines))
    row, column = divmod(cell, view.N)
    beside = replace(right, block=(column // columns, row // rows))
    found = writer(record(beside), "C", cell)
    if found is None:
        return left, right
    x, y, _ = unravel(found, block)
    return left, replace(beside, thread=(x, y))


def _nearest(index: tuple[int, int], sizes: tuple[int, int, int]) -> tuple[int, int]:
    return min(index[0], sizes[0] - 1), min(index[1], sizes[1] - 1)


def side_names(left: View, right: View) -> tuple[str, str]:
    """Names that tell two views apart: their kernels, and what else differs.

    >>> side_names(View(kernel="naive", defines=()), View())
    ('naive', 'tiled')
    >>> side_names(View(), View(edits=("second-barrier",)))
    ('tiled', 'tiled, no second barrier')
    """
    texts = list(zip(_attributes(left), _attributes(right), strict=True))
    names = shown_kernel.short_name(left), shown_kernel.short_name(right)
    if left.kernel != right.kernel:
        texts = texts[1:]  # their macros have other meanings
    differing = [pair for pair in texts if pair[0] != pair[1]]
    return (
        ", ".join(filter(None, (names[0], *(mine for mine, _ in differing)))),
        ", ".join(filter(None, (names[1], *(its for _, its in differing)))),
    )


def _attributes(view: View) -> tuple[str, ...]:
    """What a view's name may say of it beside its kernel."""
    faults = {switch.edit.key for switch in SWITCHES if switch.edit.is_fault}
    macros = [f"{name} {value}" for name, value in view.defines]
    edits = [f"no {key}" if key in faults else key for key in view.edits]
    return " ".join(macros), ", ".join(edits).replace("-", " "), str(view.schedule)
