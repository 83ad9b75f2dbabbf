"""Why a race matters: an order of warps, or of blocks, under which it gives a wrong value.

What a kernel without its race would compute is not known, but one run stands in for it: the block
in lockstep, every statement finished by all threads before the next begins. Were the missing
barriers put in, the kernel would give the same under every order, and lockstep is one of them,
in which barriers change nothing. So an order whose result differs from lockstep's is wrong
wherever barriers are what is missing. Blocks have no barrier between them: there two orders that
differ are named, and neither is right.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Expression, Kernel
from simulator.launch import Dim3, Launch, ravel, unravel
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.findings import (
    KINDS,
    Example,
    Hazard,
    HazardKind,
    Number,
    Witness,
    iterations,
    point,
)

SEEDS = 6  # random orders that are tried
PATIENCE = 1.0  # seconds for all orders of all hazards; one block rarely takes a tenth of it
ORDER_PHRASES: Mapping[str, str] = {
    Schedule.ASCENDING: "the warps in ascending order",
    Schedule.DESCENDING: "the warps in descending order",
}
ORDERS = (
    (Schedule.ASCENDING, 0),
    (Schedule.DESCENDING, 0),
    *((Schedule.RANDOM, seed) for seed in range(SEEDS)),
)
# A read's line and array, its expression, which has one identity in all runs of a kernel, and the
# iterations of the loops around it.
ReadKey = tuple[int, str, Expression, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: the arrays it left, and what threads read, by place in the text and iteration."""

    arrays: Mapping[str, Array]
    reads: Mapping[ReadKey, Reading]


@dataclass(slots=True)
class Reading:
    """What each thread [blocks * threads] read at one place: where it read at all, cell, value."""

    seen: Array
    offsets: Array
    values: Array


class Reads(Observer):
    """Keeps what is read from some arrays at some lines."""

    def __init__(self, launch: Launch, blocks: Sequence[int], wanted: set[tuple[int, str]]) -> None:
        self.found: dict[ReadKey, Reading] = {}
        self._launch = launch
        self._blocks = np.array(sorted(blocks))
        self._wanted = wanted

    def on_access(self, access: Access) -> None:
        """Keep a load's values beside those that other warps read at the same place."""
        line, name = access.lvalue.span.line, access.buffer.name
        if access.kind is not AccessKind.LOAD or (line, name) not in self._wanted:
            return
        group, threads = access.group, self._launch.threads
        whole = self._blocks.size * threads
        first = access.values[0] if isinstance(access.values, tuple) else access.values
        values, offsets = group.spread(first), group.spread(access.offsets)
        key = (line, name, access.lvalue, iterations(group))
        reading = self.found.get(key)
        if reading is None:
            reading = self.found[key] = Reading(
                np.zeros(whole, np.bool_), np.zeros(whole, np.int64), np.zeros(whole, values.dtype)
            )
        block = np.searchsorted(self._blocks, np.repeat(group.blocks, group.threads.size))
        places = block * threads + np.tile(group.threads, group.block_count)
        active = group.spread(True if access.mask is None else access.mask)
        reading.seen[places[active]] = True
        reading.offsets[places[active]] = offsets[active]
        reading.values[places[active]] = values[active]


def witnessed(kernel: Kernel, launch: Launch, hazards: Sequence[Hazard]) -> tuple[Hazard, ...]:
    """The hazards, each race with a Witness where one of the orders tried gives one.

    Runs the blocks of each race's example again, for PATIENCE seconds in all.
    """
    found = list(hazards)
    end = time.perf_counter() + PATIENCE
    by_blocks: dict[tuple[int, ...], list[int]] = {}
    for number, hazard in enumerate(hazards):
        if hazard.kind in KINDS.values():
            by_blocks.setdefault(_blocks(hazard.example, launch), []).append(number)
    for blocks, numbers in by_blocks.items():
        # Expressions of one kernel have one identity, so that runs can be laid side by side.
        wanted = {(line, hazards[n].array or "") for n in numbers for line in hazards[n].lines}
        reference: tuple[str, Outcome] | None = None
        for name, schedule, seed, order in _orders(blocks, launch):
            if time.perf_counter() > end or all(_settled(found[n]) for n in numbers):
                break
            try:
                left = max(0.0, end - time.perf_counter())
                outcome = _run(kernel, launch, schedule, seed, order, wanted, left)
            except (SourceError, LaunchError):
                continue  # an order under which the kernel does not come to its end
            if reference is None:
                reference = (name, outcome)
                continue
            for number in numbers:
                if not _settled(found[number]):
                    found[number] = _compared(found[number], name, outcome, reference, launch)
    return tuple(found)


def _blocks(example: Example, launch: Launch) -> tuple[int, ...]:
    """The blocks to run, by number: one, or the two that race; the first for an unknown one."""
    one = ravel(example.block, launch.grid)
    other = 0 if example.other_block is None else ravel(example.other_block, launch.grid)
    if other == one and example.other_block is None:
        other = launch.blocks - 1
    return tuple(sorted({one, other}))


def _orders(
    blocks: tuple[int, ...], launch: Launch
) -> list[tuple[str, Schedule, int, tuple[int, ...]]]:
    """Name, schedule, seed and blocks of each run; the first is what others are held against."""
    if len(blocks) == 1:
        runs: list[tuple[str, Schedule, int, tuple[int, ...]]] = [
            ("lockstep", Schedule.LOCKSTEP, 0, blocks)
        ]
        for schedule, seed in ORDERS:
            name = f"random, seed {seed}" if schedule is Schedule.RANDOM else schedule
            runs.append((name, schedule, seed, blocks))
        return runs
    first, second = (point(unravel(block, launch.grid)) for block in blocks)
    return [
        (f"block {first} before block {second}", Schedule.LOCKSTEP, 0, blocks),
        (f"block {second} before block {first}", Schedule.LOCKSTEP, 0, blocks[::-1]),
    ]


def _run(
    kernel: Kernel,
    launch: Launch,
    schedule: Schedule,
    seed: int,
    blocks: tuple[int, ...],
    wanted: set[tuple[int, str]],
    seconds: float,
) -> Outcome:
    """Some blocks of a launch, one after the other; each may take `seconds`."""
    reads = Reads(launch, blocks, wanted)
    machine = Machine(kernel, launch, [reads], schedule, seed, seconds)
    for block in blocks:
        machine.run(np.array([block]))
    return Outcome(machine.results(), reads.found)


def _settled(hazard: Hazard) -> bool:
    """Whether nothing better can be found: an order that makes a result wrong is known."""
    return hazard.witness is not None and hazard.witness.output is not None


def _compared(
    hazard: Hazard, name: str, outcome: Outcome, reference: tuple[str, Outcome], launch: Launch
) -> Hazard:
    """The hazard with a witness, where a run differs from the reference in what it is about."""
    other, expected = reference
    read = _other_read(hazard, outcome, expected, launch)
    if read is None and hazard.kind is not HazardKind.WRITE_AFTER_WRITE:
        return hazard
    output = _other_output(outcome.arrays, expected.arrays)
    if output is None and (read is None or hazard.witness is not None):
        return hazard
    witness = Witness(
        order=name,
        against=other,
        thread=None if read is None else read[0],
        read=None if read is None else read[1],
        read_against=None if read is None else read[2],
        output=None if output is None else output[0],
        value=None if output is None else output[1],
        value_against=None if output is None else output[2],
        said=_said(name, other, read, output),
    )
    return replace(hazard, wrong_order=name, witness=witness)


def _said(
    name: str,
    other: str,
    read: tuple[Dim3, Number, Number, int] | None,
    output: tuple[str, Number, Number] | None,
) -> str:
    """The witness in a sentence."""
    seed = name.rpartition(" ")[2]
    order = ORDER_PHRASES.get(name, name)
    order = f"the warps in random order (seed {seed})" if "seed" in name else order
    facts = []
    if read is not None:
        facts.append(
            f"thread {point(read[0])} reads {_short(read[1])} instead of {_short(read[2])} at "
            f"line {read[3]}"
        )
    if output is not None:
        facts.append(f"{output[0]} becomes {_short(output[1])} instead of {_short(output[2])}")
    end = "" if other == "lockstep" else ", as it is the other way round"
    return f"With {order}, {', and '.join(facts)}{end}."


def _short(number: Number) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _number(value: Any) -> Number:
    """A NumPy number as JSON can hold it: what is not finite becomes its name."""
    number: float = value.item()
    return number if np.isfinite(number) else str(number)


def _other_read(
    hazard: Hazard, outcome: Outcome, expected: Outcome, launch: Launch
) -> tuple[Dim3, Number, Number, int] | None:
    """The first thread that reads another value from the same cell: thread, values, line."""
    lines = {
        HazardKind.READ_AFTER_WRITE: hazard.lines[-1:],
        HazardKind.WRITE_AFTER_READ: hazard.lines[:1],
    }
    for key, reading in expected.reads.items():
        mine = outcome.reads.get(key)
        if mine is None or key[1] != hazard.array or key[0] not in lines.get(hazard.kind, ()):
            continue
        both = mine.seen & reading.seen & (mine.offsets == reading.offsets)
        differs = both & _differ(mine.values, reading.values)
        if differs.any():
            at = int(differs.argmax())
            thread = unravel(at % launch.threads, launch.block)
            return thread, _number(mine.values[at]), _number(reading.values[at]), key[0]
    return None


def _other_output(
    arrays: Mapping[str, Array], expected: Mapping[str, Array]
) -> tuple[str, Number, Number] | None:
    """The first cell of a global array that two runs leave different: name and values."""
    for name, array in arrays.items():
        differs = _differ(array, expected[name])
        if differs.any():
            at = np.unravel_index(int(differs.argmax()), differs.shape)
            cell = name + "".join(f"[{int(i)}]" for i in at)
            return cell, _number(array[at]), _number(expected[name][at])
    return None


def _differ(left: Any, right: Any) -> Array:
    """Where two arrays of one shape differ; NaN equals NaN."""
    differs: Array = (left != right) & ~((left != left) & (right != right))
    return differs
