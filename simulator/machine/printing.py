"""printf, and what ends a launch: assert, __trap() and __brkpt()."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.functions import PRINT, STOPS
from simulator.language.print_format import format_text, parse_format
from simulator.language.tree import Call
from simulator.machine.buffers import Address
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import Mask, as_array
from simulator.machine.observer import Stop, callbacks


class LaunchStopped(Exception):  # noqa: N818 -- no error: the kernel itself ends its launch
    """A thread has ended the launch: no thread goes on."""


def printer(call: Call) -> Callable[[Sequence[Any]], str]:
    """What gives the text of a call of printf from one thread's values of its arguments."""
    pieces = parse_format(call.texts[0])
    return lambda values: format_text(pieces, [_plain(value) for value in values], call.texts)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _print(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Notifies observers of the lanes that print; gives how many arguments there are."""
    arguments = [compiler.compile(argument) for argument in call.arguments]
    notifications, text_of = callbacks(compiler.observers, "on_print"), printer(call)
    count = np.int32(len(arguments))

    def write(group: Group, mask: Mask) -> Any:
        values = [argument(group, mask) for argument in arguments]
        if notifications:
            lanes = np.flatnonzero(as_array(mask, group.lanes))

            def text(lane: int) -> str:
                return text_of([_of_lane(value, lane) for value in values])

            for notify in notifications:
                notify(group, call, lanes, text)
        return count

    return write


def _of_lane(value: Any, lane: int) -> Any:
    """One lane's part of a value; a pointer's as &A[3]."""
    if isinstance(value, Address):
        offset = value.offset[lane] if np.ndim(value.offset) else value.offset
        return pointer_text(value.buffer.name, int(offset), value.buffer.element.size)
    return value[lane] if isinstance(value, np.ndarray) and value.ndim else value


def pointer_text(name: str, offset: int, size: int) -> str:
    """How %p prints a pointer, as no array has an address here: the cell that it points to."""
    return f"&{name}[{offset // max(1, size)}]"


def _stop(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Ends the launch if the condition of an assert fails, or there is none."""
    conditions = [compiler.compile(argument) for argument in call.arguments]
    notifications = callbacks(compiler.observers, "on_stop")

    def stop(group: Group, mask: Mask) -> Any:
        lanes: Array = as_array(mask, group.lanes)
        for condition in conditions:
            lanes = lanes & (group.spread(condition(group, mask)) == 0)
        if not lanes.any():
            return np.int32(0)
        for notify in notifications:
            notify(Stop(group, call, lanes))
        raise LaunchStopped

    return stop


PRINTING: Mapping[str, CompileCall] = {PRINT: _print, **dict.fromkeys(STOPS, _stop)}
