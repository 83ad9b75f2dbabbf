"""A wrong access in words: what the thread reads or stores, and what belongs there."""

from __future__ import annotations

import math
from collections.abc import Mapping

from simulator.launch import format_index, unravel
from simulator.sentences.cells import cell_name, row_and_column
from ui.analysis.right_values import Fate
from ui.analysis.scene_model import SceneModel
from ui.analysis.wrong_access import Fault, WrongAccess
from ui.drawing.canvas import number

# Of a value that belongs in a cell, what its thread does: "which thread (0, 0) …".
FATES: Mapping[Fate, str] = {
    Fate.COMING: "has not written yet",
    Fate.LOST: "wrote and which has been overwritten",
    Fate.OTHER: "should have written",
    Fate.NEVER: "does not write",
}


def describe_wrong_access(model: SceneModel, wrong: WrongAccess, tile: int) -> tuple[str, ...]:
    """Several wordings, the longest first.

    tile is where the value in the cell is from, counted along K from 0; -1 for none.
    """
    match wrong.fault:
        case Fault.OUTSIDE:
            return _outside(model, wrong)
        case Fault.MISALIGNED:
            verb = "reads" if wrong.is_load else "writes"
            offset, width = int(wrong.access.offsets[model.thread]), wrong.access.width
            return (
                f"⚠ {verb} {width} bytes of {wrong.access.name} at byte {offset}, which is not "
                f"a multiple of {width}: the access is dropped.",
            )
        case Fault.STRAY:
            return _stray(model, wrong)
        case Fault.UNSET:
            read = f"⚠ reads {_cell(model, wrong)}, which has no value yet"
            here = f"{read}: here it is {number(wrong.value)}; on a GPU it may be anything"
            return _with_right(model, (here, read, "⚠ reads what has no value"), wrong)
        case Fault.VALUE if wrong.is_load:
            read = f"⚠ reads {number(wrong.value)}"
            of_tile = (f"{read}, from tile {tile + 1}",) if tile >= 0 else ()
            return _with_right(model, (*of_tile, read), wrong)
        case _:
            return (f"⚠ {_right(wrong)} belongs there.",)


def _outside(model: SceneModel, wrong: WrongAccess) -> tuple[str, ...]:
    array = wrong.access.name
    where = f"{array}[{wrong.cell}], but {array} has {wrong.size} elements"
    if not wrong.is_load:
        return (
            f"⚠ writes {where}: here the store is dropped, but a GPU overwrites what lies there.",
            f"⚠ writes {where}: the store is dropped.",
        )
    read = f"⚠ reads {where}"
    return (
        f"{read}: here it is {number(wrong.value)}; on a GPU it may be anything"
        f"{_instead(model, wrong)}.",
        f"{read}: here {number(wrong.value)}{_instead(model, wrong)}.",
        f"{read}: here {number(wrong.value)}.",
    )


def _stray(model: SceneModel, wrong: WrongAccess) -> tuple[str, ...]:
    cell, thread = _cell(model, wrong), model.thread
    where = row_and_column(model.recording, wrong.access, thread)
    value = number(wrong.value)
    if not wrong.is_load:
        text = f"⚠ stores {value} in {cell}{where}, which is not its cell"
        return (f"{text}: it should store nothing.", f"{text}.", f"⚠ {cell} is not its cell.")
    text = f"⚠ reads {cell} = {value}"
    return (
        f"{text}{where}, beyond the edge of what it copies{_instead(model, wrong)}.",
        f"{text}{where}{_instead(model, wrong)}.",
        f"{text}{_instead(model, wrong)}.",
    )


def _instead(model: SceneModel, wrong: WrongAccess) -> str:
    """What belongs into the cell that the value goes to; "" if that is not known."""
    if wrong.right is None or wrong.target is None:
        return ""
    target = cell_name(model.recording, wrong.target, model.thread)
    return f"; {_right(wrong)} belongs in {target}"


def _with_right(
    model: SceneModel, readings: tuple[str, ...], wrong: WrongAccess
) -> tuple[str, ...]:
    """Readings, each with what belongs in the cell and why it is not there; then without why."""
    belongs = "" if wrong.right is None else f"; {_right(wrong)} belongs there"
    why = ""
    if wrong.writer is not None:
        block = model.recording.launch.block
        thread = f"thread {format_index(unravel(wrong.writer, block), block)}"
        why = f", which {thread} {FATES[wrong.fate]}" if belongs else f"; {thread} writes it later"
    elif not belongs:
        why = ", and no thread writes it later"
    return (
        *(f"{read}{belongs}{why}." for read in readings),
        *(f"{read}{belongs}." for read in readings if why),
    )


def _cell(model: SceneModel, wrong: WrongAccess) -> str:
    return cell_name(model.recording, wrong.access, model.thread)


def _right(wrong: WrongAccess) -> str:
    return number(math.nan if wrong.right is None else wrong.right)
