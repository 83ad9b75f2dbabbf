"""CUDA's functions that touch memory or other lanes, each with what compiles a call of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.errors import SourceError
from simulator.language.functions import BLOCK_VOTES, FENCES
from simulator.language.tree import Call
from simulator.machine.async_copies import ASYNC_COPIES
from simulator.machine.atomics import ATOMICS
from simulator.machine.clocks import CLOCK_CALLS
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.fragments import FRAGMENT_CALLS
from simulator.machine.group import Group
from simulator.machine.masks import Mask
from simulator.machine.matrix_instructions import MATRIX_CALLS
from simulator.machine.observer import callbacks
from simulator.machine.output_functions import OUTPUT_CALLS
from simulator.machine.printing import PRINTING
from simulator.machine.random_calls import RANDOM_CALLS
from simulator.machine.shared_addresses import SHARED_ADDRESSES
from simulator.machine.thread_groups import GROUP_CALLS
from simulator.machine.warp_functions import WARP_CALLS


def _fence(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Notifies observers: every access of the machine is complete before the next."""
    notifications = callbacks(compiler.observers, "on_fence")
    of_the_block = call.function == "__threadfence_block"

    def fence(group: Group, mask: Mask) -> Any:
        for notify in notifications:
            notify(group, mask, of_the_block)
        return np.int32(0)

    return fence


def _vote_in_expression(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Refuses a vote of the block that the frontend has left in an expression."""
    raise SourceError(
        f"Threads wait in {call.function} for others: call it in a statement of its own.", call.span
    )


INTRINSICS: Mapping[str, CompileCall] = {
    **ATOMICS,
    **WARP_CALLS,
    **GROUP_CALLS,
    **dict.fromkeys(FENCES, _fence),
    **dict.fromkeys(BLOCK_VOTES, _vote_in_expression),
    **ASYNC_COPIES,
    **SHARED_ADDRESSES,
    **CLOCK_CALLS,
    **PRINTING,
    **OUTPUT_CALLS,
    **FRAGMENT_CALLS,
    **MATRIX_CALLS,
    **RANDOM_CALLS,
}
