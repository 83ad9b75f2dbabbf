"""clock(), clock64() and __nanosleep(): a thread's time is the number of its steps.

It is the same whatever order the warps run in, and on every machine; a GPU counts cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.functions import CLOCKS, SLEEP
from simulator.language.tree import Call
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler, Run
from simulator.machine.group import Group
from simulator.machine.masks import ALL, Mask


def count_steps(run: Run) -> Run:
    """A step's closure that counts it, for the threads that execute it."""

    def counting(group: Group, mask: Mask) -> Any:
        result = run(group, mask)
        group.steps = group.steps + (1 if mask is ALL else mask)
        return result

    return counting


def _sleep(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Takes no time, as CUDA allows: a sleep is between none and twice what is asked for."""
    duration = compiler.compile(call.arguments[0])

    def sleep(group: Group, mask: Mask) -> Any:
        duration(group, mask)
        return np.int32(0)

    return sleep


CLOCK_CALLS: Mapping[str, CompileCall] = {
    # The number of steps that each thread has executed.
    **dict.fromkeys(CLOCKS, lambda call, compiler: lambda group, mask: group.steps),
    SLEEP: _sleep,
}
