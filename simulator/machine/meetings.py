"""How the two branches of an if meet at __syncwarp(): lanes wait for lanes of the other branch.

From Volta on, all lanes that a mask names, but those that have ended, must execute a __syncwarp()
with that mask; it need not be the same statement (CUDA C++ Programming Guide, __syncwarp(); PTX
ISA, bar.warp.sync). So each branch runs to its next __syncwarp(), and both go on once every lane
there has met those that it waits for. Lanes that never come are reported, and not waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from simulator.language.tree import (
    Call,
    Evaluate,
    Function,
    If,
    Loop,
    Statement,
    Switch,
)
from simulator.language.tree import Sequence as Block
from simulator.machine.closures import Closure, ExpressionCompiler, Run, Waiting, as_generator
from simulator.machine.group import Arrived, Group, Meeting, Suspended
from simulator.machine.masks import NONE, Mask, as_array
from simulator.machine.warp_masks import Arrival, WarpMasks, find_arrival


def branches_that_meet(body: Statement) -> tuple[Mapping[If, bool], frozenset[Statement]]:
    """The ifs with a __syncwarp() in either branch, and the statements that are such a call.

    An if maps to whether it stands in no other of these. A function that is called within an
    expression is not looked at: its lanes are waited for there.
    """
    ifs: dict[If, bool] = {}
    calls: set[Statement] = set()

    def find(statement: Statement, is_outermost: bool) -> None:
        if isinstance(statement, If) and statement.no is not None:
            branches = [list(_calls(branch)) for branch in (statement.yes, statement.no)]
            if all(branches):
                ifs[statement] = is_outermost
                calls.update(*branches)
                is_outermost = False
        for inner in _nested(statement):
            find(inner, is_outermost)

    find(body, True)
    return ifs, frozenset(calls)


def _calls(statement: Statement) -> Iterator[Statement]:
    """The statements within one that are a call of __syncwarp()."""
    match statement:
        case Evaluate(expression=Call(function="__syncwarp")):
            yield statement
        case _:
            for inner in _nested(statement):
                yield from _calls(inner)


def _nested(statement: Statement) -> tuple[Statement, ...]:
    """The statements directly within one, without those of functions in its expressions."""
    match statement:
        case Block(statements=statements) | Switch(body=statements):
            return statements
        case If(yes=yes, no=no):
            return (yes,) if no is None else (yes, no)
        case Loop(body=body):
            return (body,)
        case Function(body=body):
            return (body,)
        case _:
            return ()


def arrival_at(call: Call, named: Closure, compiler: ExpressionCompiler) -> Run:
    """What lanes yield that arrive at a __syncwarp(); named gives their masks."""
    masks = WarpMasks(call, compiler)

    def arrive(group: Group, mask: Mask) -> Meeting:
        names = group.spread(named(group, mask)).astype(np.uint32)
        return Meeting([Arrived(as_array(mask, group.lanes), names, masks.report)])

    return arrive


def run_to_meetings(
    branches: Sequence[tuple[Run, bool, Mask]], group: Group, is_outermost: bool
) -> Waiting:
    """Both branches of an if, each for its lanes; gives the lanes that go on after each.

    Of a branch the closure, whether threads wait in it, and its lanes.
    """
    depth, after = group.depth(), [NONE, NONE]
    running: list[tuple[int, Waiting, Suspended]] = [
        (number, (run if waits else as_generator(run))(group, mask), ([], [], [], []))
        for number, (run, waits, mask) in enumerate(branches)
        if mask is not NONE
    ]
    while running:
        still_running = []
        arrived: list[Arrived] = []
        for number, branch, suspended in running:
            group.resume(suspended)
            try:
                wait = next(branch)
                while not isinstance(wait, Meeting):
                    yield wait
                    wait = next(branch)
            except StopIteration as end:
                after[number] = end.value
                continue
            arrived += wait.arrived
            still_running.append((number, branch, group.suspend(depth)))
        running = still_running
        if not running:
            break
        arrival = _join(group, arrived)
        if arrival.faults and not is_outermost:
            yield Meeting(arrived)  # the others may come from a branch of an if around this one
        else:
            _settle(group, arrived, arrival)
    return tuple(after)


def _join(group: Group, arrived: Sequence[Arrived]) -> Arrival:
    """Which lanes have met."""
    lanes, names = np.zeros(group.lanes, np.bool_), np.zeros(group.lanes, np.uint32)
    for one in arrived:
        lanes |= one.lanes
        names[one.lanes] = one.names[one.lanes]
    return find_arrival(group, lanes, names)


def _settle(group: Group, arrived: Sequence[Arrived], arrival: Arrival) -> None:
    """Let the lanes go on: their accesses are ordered, and those that waited in vain reported."""
    group.warp_syncs.add(arrival.peers)
    for reason, lanes, others in arrival.faults:
        for one in arrived:
            one.report(reason, group, lanes & one.lanes, others)
