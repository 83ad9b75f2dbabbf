"""How the two branches of an if meet in a warp function: lanes wait for lanes of the other branch.

From Volta on, all lanes that a mask names, but those that have ended, must call the same function
with that mask; it need not be the same statement (CUDA C++ Programming Guide, warp shuffle and
warp vote functions, __syncwarp(); PTX ISA, bar.warp.sync and shfl.sync; an H100 gives values across
the branches). So each branch runs to its next call, and goes on once every lane there has met those
that it waits for. Lanes that never come are reported, and not waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import CType
from simulator.language.functions import MEETING_FUNCTIONS, SHUFFLES
from simulator.language.tree import Call, Declare, Evaluate, Function, If, Loop, Statement, Switch
from simulator.language.tree import Sequence as Block
from simulator.launch import WARP_SIZE
from simulator.machine.closures import ExpressionCompiler, Run, Waiting, as_generator
from simulator.machine.group import Arrived, Group, Meeting, Suspended
from simulator.machine.masks import ALL, NONE, Mask, as_array, narrow
from simulator.machine.observer import WarpFaultReason
from simulator.machine.warp_functions import register_of, result_of, source_lanes, take_from
from simulator.machine.warp_masks import FULL, Arrival, WarpMasks, find_arrival, sources_present

SYNC = "__syncwarp"
SHUFFLE_OPERANDS = 3  # the value, the lane or the offset, and the width, which may be left out


def branches_that_meet(body: Statement) -> tuple[Mapping[If, bool], frozenset[Statement]]:
    """The ifs with a warp function in either branch, and the statements that are such a call.

    An if maps to whether it is in no other of these. A function that is called within an
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
    """The statements within one that are a call of a warp function in which branches may meet."""
    if meeting_call(statement) is not None:
        yield statement
    for inner in _nested(statement):
        yield from _calls(inner)


def _nested(statement: Statement) -> tuple[Statement, ...]:
    """The statements directly within one, without those of functions in its expressions."""
    match statement:
        case Block(statements=statements) | Switch(body=statements):
            return statements
        case If(yes=yes, no=no):
            return (yes,) if no is None else (yes, no)
        case Loop(body=body, before_test=before):
            return (body,) if before is None else (before, body)
        case Function(body=body):
            return (body,)
        case _:
            return ()


def meeting_call(statement: Statement) -> Call | None:
    """The call of a warp function that a statement is, without more than its result's variable."""
    match statement:
        case (
            Evaluate(expression=Call(function=function) as call)
            | Declare(value=Call(function=function) as call)
        ) if function in MEETING_FUNCTIONS:
            return call
        case _:
            return None


def arrival_at(call: Call, compiler: ExpressionCompiler) -> Run:
    """What lanes yield that arrive at a warp function."""
    masks = WarpMasks(call, compiler)
    named, *others = [compiler.compile(a) for a in call.arguments] or [lambda group, mask: FULL]
    is_shuffle = call.function in SHUFFLES
    variable = register_of(call.arguments[1]) if is_shuffle else None

    def arrive(group: Group, mask: Mask) -> Meeting:
        names = group.spread(named(group, mask)).astype(np.uint32)
        set_lanes = mask
        if variable is not None:  # lanes that are not read from need no value
            assigned = group.assigned_mask[group.slot_of[variable]]
            set_lanes = mask if assigned is ALL or assigned is NONE else narrow(mask, assigned)
        operands = tuple(
            each(group, mask if number or set_lanes is NONE else set_lanes)
            for number, each in enumerate(others)
        )
        if is_shuffle and len(operands) < SHUFFLE_OPERANDS:
            operands = (*operands, WARP_SIZE)
        lanes = as_array(mask, group.lanes)
        return Meeting([Arrived(call, lanes, names, operands, masks.report)])

    return arrive


def run_to_meetings(
    branches: Sequence[tuple[Run, bool, Mask]], group: Group, is_outermost: bool
) -> Waiting:
    """Both branches of an if, each for its lanes; gives the lanes that go on after each.

    Of a branch the closure, whether threads wait in it, and its lanes.
    """
    depth, after = group.depth(), [NONE, NONE]
    running: dict[int, tuple[Waiting, Suspended]] = {
        number: ((run if waits else as_generator(run))(group, mask), ([], [], [], []))
        for number, (run, waits, mask) in enumerate(branches)
        if mask is not NONE
    }
    waiting: dict[int, list[Arrived]] = {}  # branches whose lanes have arrived
    while running:
        for number, (branch, suspended) in list(running.items()):
            if number in waiting:
                continue
            group.resume(suspended)
            try:
                wait = next(branch)
                while not isinstance(wait, Meeting):
                    yield wait
                    wait = next(branch)
            except StopIteration as end:
                after[number] = end.value
                del running[number]
                continue
            waiting[number] = wait.arrived
            running[number] = branch, group.suspend(depth)
        if not running:
            break
        arrived = [one for each in waiting.values() for one in each]
        arrival = _join(group, arrived)
        ready = [n for n, each in waiting.items() if not _lacks_lanes(each, arrival)]
        if not (ready or is_outermost):
            yield Meeting(arrived)  # the others may come from a branch of an if around this one
            waiting.clear()
            continue
        for number in ready or list(waiting):
            _settle(group, waiting.pop(number), arrived, arrival)
    return tuple(after)


def _kind(one: Arrived) -> tuple[str, tuple[CType, ...]]:
    """What tells apart the functions that lanes have come to: the name, and the value's type."""
    return one.call.function, tuple(argument.ctype for argument in one.call.arguments[1:2])


def _join(group: Group, arrived: Sequence[Arrived]) -> Arrival:
    """Which lanes have met."""
    kinds = list(dict.fromkeys(map(_kind, arrived)))
    lanes, names = np.zeros(group.lanes, np.bool_), np.zeros(group.lanes, np.uint32)
    kind = np.full(group.lanes, -1)
    for one in arrived:
        lanes |= one.lanes
        names[one.lanes] = one.names[one.lanes]
        kind[one.lanes] = kinds.index(_kind(one))
    return find_arrival(group, lanes, names, kind)


def _lacks_lanes(arrived: Sequence[Arrived], arrival: Arrival) -> bool:
    """Whether a lane still waits for one that has not come."""
    missing = arrival.missing
    return missing is not None and any((missing[one.lanes] != 0).any() for one in arrived)


def _settle(
    group: Group, going: Sequence[Arrived], arrived: Sequence[Arrived], arrival: Arrival
) -> None:
    """Let lanes go on: they get their results, and those that waited in vain are reported.

    going are some of those that have arrived.
    """
    for reason, lanes, others in arrival.faults:
        for one in going:
            one.report(reason, group, lanes & one.lanes, others)
    syncing = np.zeros(group.lanes, np.bool_)
    for one in going:
        if one.call.function == SYNC:
            syncing |= one.lanes
        else:
            alike = [other for other in arrived if _kind(other) == _kind(one)]
            one.result = _result(group, one, alike, arrival)
    if syncing.any():
        peers = np.full(group.lanes, FULL) if arrival.peers is None else arrival.peers
        is_full = arrival.peers is None and syncing.all()
        group.warp_syncs.add(None if is_full else np.where(syncing, peers, np.uint32(0)))


def _result(group: Group, one: Arrived, alike: Sequence[Arrived], arrival: Arrival) -> Any:
    """What the lanes of a call get; alike are all calls of its function, itself among them."""
    values, *rest = (
        _merge(group, alike, [other.operands[number] for other in alike])
        for number in range(len(one.operands))
    )
    name = one.call.function
    if name not in SHUFFLES:
        return result_of(group, name, arrival.peers, values)
    source = source_lanes(group, name, *rest)
    present, unexpected = sources_present(arrival, source)
    one.report(WarpFaultReason.ABSENT_SOURCE, group, unexpected & one.lanes, source)
    return take_from(group, values, np.where(present, source, group.warp_lanes))


def _merge(group: Group, alike: Sequence[Arrived], values: Sequence[Any]) -> Any:
    """Values of several calls as one [lanes], for each lane that of its own call."""
    if isinstance(values[0], tuple):  # half2
        return tuple(_merge(group, alike, each) for each in zip(*values, strict=True))
    merged = group.spread(values[0])
    for one, value in zip(alike[1:], values[1:], strict=True):
        merged = np.where(one.lanes, group.spread(value), merged)
    return merged
