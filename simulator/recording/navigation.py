"""How far one press of a key goes: a beat, a statement, an iteration of a loop, or to a barrier.

All steps of a recording are known, so that a move in either direction is a look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from typing import assert_never

from simulator.language import tree
from simulator.machine.observer import StepKind
from simulator.recording.recording import Recording, Step
from simulator.recording.statements import (
    address_variables,
    adds_product,
    computes,
    is_notable,
    target,
)


class Granularity(StrEnum):
    """At which steps a move stops."""

    BEAT = "beat"  # at what a teacher would point at: see beats
    STATEMENT = "statement"  # at every step
    INNER = "inner"  # where an iteration of the innermost loop begins, and where the loop ends
    OUTER = "outer"  # where one of the outermost loop begins, and where that loop ends
    BARRIER = "barrier"  # at a barrier's own step, at which threads wait


# The loops that a step belongs to, outermost first, each with its iteration from 0.
Position = tuple[tuple[tree.Loop, int], ...]


def boundaries(
    recording: Recording,
    granularity: Granularity,
    known_positions: tuple[Position, ...] | None = None,
) -> tuple[int, ...]:
    """The numbers of the steps at which a granularity stops, ascending.

    The first is 0; only the first beat may come later. A barrier is one step in lockstep, and one
    for each warp where warps run one after another.

    known_positions is positions(recording), where that has been computed.
    """
    steps = recording.steps
    match granularity:
        case Granularity.BEAT:
            return beats(recording, known_positions or positions(recording))
        case Granularity.STATEMENT:
            return tuple(range(len(steps)))
        case Granularity.BARRIER:
            barriers = (step.number for step in steps if step.kind is StepKind.BARRIER)
            return tuple(sorted({*([0] if steps else []), *barriers}))
        case Granularity.INNER:
            return _changes(known_positions or positions(recording))
        case Granularity.OUTER:
            loops = known_positions or positions(recording)
            return _changes([position[:1] for position in loops])
        case _:
            assert_never(granularity)


def beats(recording: Recording, known_positions: Sequence[Position]) -> tuple[int, ...]:
    """The numbers of the steps at which something happens that a teacher would point at, ascending.

    A kernel is mostly bookkeeping: declarations, counters, tests of loops, arithmetic of addresses.
    Who follows the tiles is interested in none of it, and would press a key three times for one
    product. So a step is a beat if it

    - accesses memory other than registers and a thread's own arrays: global, shared, constant;
    - is a barrier, or another wait or exchange between threads, or prints (NOTABLE in statements);
    - multiplies on a tensor core, or adds a product to a sum.

    Bookkeeping belongs to the beat after it. But a loop that computes in registers alone, as that
    of a Mandelbrot set, must not be one jump: an iteration of any loop without a beat ends with
    one, at the last step of it that computes something other than an address. Where a recording
    has no beat at all, each statement is one that is no bookkeeping; where it has none of these,
    each step is one.

    known_positions is positions(recording).
    """
    steps = recording.steps
    rule = _Rule(address_variables(recording.kernel))
    found = {step.number for step in steps if rule.is_notable(step)}
    if not found:
        found = {step.number for step in steps if rule.is_no_bookkeeping(step)}
        return tuple(sorted(found)) or tuple(range(len(steps)))
    for depth in range(max(map(len, known_positions)), 0, -1):
        outer = [position[:depth] for position in known_positions]
        for position, group in groupby(range(len(steps)), outer.__getitem__):
            numbers = tuple(group)
            if len(position) == depth and found.isdisjoint(numbers):
                found.update([n for n in numbers if rule.computes(steps[n])][-1:])
    return tuple(sorted(found))


class _Rule:
    """What a step is, by the variables that addresses are computed from."""

    def __init__(self, addresses: frozenset[tree.Variable]) -> None:
        self._addresses = addresses
        # Of statements, most of which have many steps:
        self._notable: dict[tuple[tree.Statement, StepKind], bool] = {}
        self._computing: dict[tree.Statement, bool] = {}

    def is_notable(self, step: Step) -> bool:
        """Whether it is a beat by itself."""
        if any(access.space is not tree.MemorySpace.LOCAL for access in step.accesses):
            return True
        key = step.statement, step.kind
        if key not in self._notable:
            self._notable[key] = (
                isinstance(step.statement, tree.Barrier)
                or is_notable(*key)
                or (adds_product(step.statement) and not self._is_address(step.statement))
            )
        return self._notable[key]

    def computes(self, step: Step) -> bool:
        """Whether it computes a value that is no address."""
        statement = step.statement
        if statement not in self._computing:
            self._computing[statement] = computes(statement) and not self._is_address(statement)
        return step.kind is StepKind.RUN and self._computing[statement]

    def is_no_bookkeeping(self, step: Step) -> bool:
        """Whether it computes, and is neither a declaration nor a counter's ++."""
        match step.statement:
            case tree.Declare() | tree.Evaluate(expression=tree.Increment()):
                return False
            case _:
                return self.computes(step)

    def _is_address(self, statement: tree.Statement) -> bool:
        return target(statement) in self._addresses


def positions(recording: Recording) -> tuple[Position, ...]:
    """For each step the loops that it belongs to, and the iteration of each.

    The advance that leads to an iteration belongs to it; the test that ends a loop, and the advance
    before that, belong to what follows.
    """
    steps = recording.steps
    found: list[Position] = [()] * len(steps)
    for step in reversed(steps):
        loops = tuple((position.loop, position.iteration) for position in step.loops)
        if step.kind is StepKind.ADVANCE and loops:
            after = step.number + 1
            # The loop's test follows directly, if it has one.
            if after < len(steps) and steps[after].statement is step.statement:
                loops = found[after]
            else:
                loop, iteration = loops[-1]
                loops = (*loops[:-1], (loop, iteration + 1))
        elif _ends_loop(step):
            loops = loops[:-1]
        found[step.number] = loops
    return tuple(found)


def _changes(keys: Sequence[object]) -> tuple[int, ...]:
    """The indices at which a key differs from the key before it."""
    return tuple(i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1])


def _ends_loop(step: Step) -> bool:
    """Whether a step is a loop's test that no active thread passes."""
    if step.kind is not StepKind.TEST or not isinstance(step.statement, tree.Loop):
        return False
    condition = step.statement.condition
    for evaluation in step.evaluations:
        if evaluation.expression is condition:
            return not (evaluation.values[evaluation.active] != 0).any()
    return False
