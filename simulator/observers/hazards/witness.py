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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError, Span, shorten
from simulator.language.tree import Kernel, MemorySpace
from simulator.language.waiting import waits_for_grid
from simulator.launch import Dim3, Launch, format_cell, format_index, ravel, unravel
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Example, Hazard, Number, Witness, loop_iterations
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.sentences import hazards as sentences

SEEDS = 6  # random orders that are tried
MAX_SECONDS = 1.0  # of a processor, for all orders of all hazards; a block rarely takes a tenth


@dataclass(frozen=True, slots=True)
class Order:
    """An order in which some blocks of a launch, and the warps of each, can run."""

    name: str  # as Witness.order has it
    schedule: Schedule  # of each block's warps
    seed: int  # what Schedule.RANDOM draws from
    blocks: tuple[int, ...]  # linear block numbers, run one after the other


@dataclass(frozen=True, slots=True)
class LoadKey:
    """Which loads are compared between runs: one expression in one iteration of its loops."""

    line: int  # of the text, from 1
    array: str
    span: Span  # of the lvalue that is read: the same in every run, whatever the order
    iterations: tuple[int, ...]  # of each loop around it, from 0, outermost first


@dataclass(frozen=True, slots=True)
class Reading:
    """What each thread read by one load: N threads of the blocks that ran, by block number."""

    seen: Array  # bool [N], the thread did read
    offsets: Array  # int64 [N], bytes from the array's start
    values: Array  # [N], of a short vector the first component


@dataclass(frozen=True, slots=True)
class Outcome:
    """What some blocks read in one run, and the global arrays after it."""

    order: Order
    arrays: Mapping[str, Array]  # the global arrays afterwards, by parameter name
    reads: Mapping[LoadKey, Reading]


@dataclass(frozen=True, slots=True)
class ReadDifference:
    """A thread that reads another value from the same cell than in the reference run."""

    thread: Dim3  # x, y, z in its block
    value: Number
    reference: Number
    line: int


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """A cell of a global array that ends with another value than in the reference run."""

    cell: str  # as C writes it: "C[0][3]"
    value: Number
    reference: Number


class ReadRecorder(Observer):
    """Records what is read from some arrays at some lines."""

    def __init__(self, launch: Launch, blocks: Sequence[int], wanted: set[tuple[int, str]]) -> None:
        self.found: dict[LoadKey, Reading] = {}
        self._launch = launch
        self._blocks = np.array(sorted(blocks))
        self._wanted = wanted  # lines and array names

    def on_access(self, access: Access) -> None:
        """Record a load's values beside those that other warps read by the same load."""
        line, array = access.lvalue.span.line, access.buffer.name
        if access.kind is not AccessKind.LOAD or (line, array) not in self._wanted:
            return
        group, threads = access.group, self._launch.threads
        first = access.values[0] if isinstance(access.values, tuple) else access.values
        values, offsets = group.spread(first), group.spread(access.offsets)
        key = LoadKey(line, array, access.lvalue.span, loop_iterations(group))
        reading = self.found.get(key)
        if reading is None:
            count = self._blocks.size * threads
            reading = self.found[key] = Reading(
                seen=np.zeros(count, np.bool_),
                offsets=np.zeros(count, np.int64),
                values=np.zeros(count, values.dtype),
            )
        block = np.searchsorted(self._blocks, np.repeat(group.blocks, group.threads.size))
        numbers = block * threads + np.tile(group.threads, group.block_count)
        active = group.spread(True if access.mask is None else access.mask)
        reading.seen[numbers[active]] = True
        reading.offsets[numbers[active]] = offsets[active]
        reading.values[numbers[active]] = values[active]


def find_witnesses(kernel: Kernel, launch: Launch, hazards: Sequence[Hazard]) -> tuple[Hazard, ...]:
    """The hazards, each race with a Witness where one of the orders tried gives one.

    Runs the blocks of each race's example again, for MAX_SECONDS in all. Blocks that wait for the
    whole grid cannot run alone: there is no witness then.
    """
    found = list(hazards)
    if waits_for_grid(kernel.body):
        return tuple(found)
    deadline = time.thread_time() + MAX_SECONDS
    races_by_blocks: dict[tuple[int, ...], list[int]] = {}  # numbers of hazards
    for number, hazard in enumerate(hazards):
        if hazard.kind in RACES:
            blocks = _blocks_to_run(hazard.example, launch)
            races_by_blocks.setdefault(blocks, []).append(number)
    for blocks, numbers in races_by_blocks.items():
        wanted = {(line, hazards[n].array or "") for n in numbers for line in hazards[n].lines}
        reference: Outcome | None = None
        for order in _orders(blocks, launch):
            seconds = deadline - time.thread_time()
            if seconds < 0 or all(_is_settled(found[n]) for n in numbers):
                break
            try:
                outcome = _run(kernel, launch, order, wanted, seconds)
            except (SourceError, LaunchError):
                continue  # an order under which the kernel does not come to its end
            if reference is None:
                reference = outcome
                continue
            for number in numbers:
                if not _is_settled(found[number]):
                    found[number] = _add_witness(found[number], outcome, reference, launch)
    return tuple(found)


def _blocks_to_run(example: Example, launch: Launch) -> tuple[int, ...]:
    """The numbers of the one or two blocks that race.

    Where the other block is not known, it is the grid's first, or its last beside the first.
    """
    block = ravel(example.block, launch.grid)
    if example.other_block is not None:
        other = ravel(example.other_block, launch.grid)
    else:
        other = launch.blocks - 1 if block == 0 else 0
    return tuple(sorted({block, other}))


def _orders(blocks: tuple[int, ...], launch: Launch) -> Iterator[Order]:
    """The orders to try; the first that runs to its end is the reference for the others."""
    if len(blocks) == 1:
        for schedule in (Schedule.LOCKSTEP, Schedule.ASCENDING, Schedule.DESCENDING):
            yield Order(schedule.value, schedule, 0, blocks)
        for seed in range(SEEDS):
            name = f"{Schedule.RANDOM}, seed {seed}"
            yield Order(name, Schedule.RANDOM, seed, blocks)
        return
    for first, second in (blocks, blocks[::-1]):
        names = [
            format_index(unravel(block, launch.grid), launch.grid) for block in (first, second)
        ]
        name = f"block {names[0]} before block {names[1]}"
        yield Order(name, Schedule.LOCKSTEP, 0, (first, second))


def _run(
    kernel: Kernel, launch: Launch, order: Order, wanted: set[tuple[int, str]], seconds: float
) -> Outcome:
    """Run an order's blocks, one after the other; each may take `seconds`."""
    reads = ReadRecorder(launch, order.blocks, wanted)
    machine = Machine(kernel, launch, [reads], order.schedule, order.seed, seconds)
    for block in order.blocks:
        machine.run(np.array([block]))
    arrays = {
        name: buffer.contents()
        for name, buffer in machine.buffers.items()
        if buffer.space is MemorySpace.GLOBAL
    }
    return Outcome(order, arrays, reads.found)


def _is_settled(hazard: Hazard) -> bool:
    """Whether nothing better can be found: an order that makes a result wrong is known."""
    return hazard.witness is not None and hazard.witness.output is not None


def _add_witness(hazard: Hazard, outcome: Outcome, reference: Outcome, launch: Launch) -> Hazard:
    """The hazard with a witness, where a run differs from the reference in what it is about."""
    read = _find_read_difference(hazard, outcome, reference, launch)
    if read is None and hazard.kind is not HazardKind.WRITE_AFTER_WRITE:
        return hazard
    output = _find_output_difference(outcome.arrays, reference.arrays)
    if output is None and (read is None or hazard.witness is not None):
        return hazard
    differences = []
    if read is not None:
        thread = format_index(read.thread, launch.block)
        differences.append(sentences.other_read(thread, read.value, read.reference, read.line))
    if output is not None:
        differences.append(sentences.other_result(output.cell, output.value, output.reference))
    sentence = sentences.witness(outcome.order.name, reference.order.name, differences)
    witness = Witness(
        order=outcome.order.name,
        against=reference.order.name,
        thread=None if read is None else read.thread,
        read=None if read is None else read.value,
        read_against=None if read is None else read.reference,
        output=None if output is None else output.cell,
        value=None if output is None else output.value,
        value_against=None if output is None else output.reference,
        sentence=shorten(sentence),
    )
    return replace(hazard, witness=witness)


def _find_read_difference(
    hazard: Hazard, outcome: Outcome, reference: Outcome, launch: Launch
) -> ReadDifference | None:
    """The first thread that reads another value from the same cell, by a load of the race."""
    accesses = RACES[hazard.kind]
    if AccessKind.LOAD not in accesses:
        return None  # no read takes part
    line = hazard.lines[0 if accesses[0] is AccessKind.LOAD else -1]
    for key, expected in reference.reads.items():
        found = outcome.reads.get(key)
        if found is None or (key.array, key.line) != (hazard.array, line):
            continue
        both = found.seen & expected.seen & (found.offsets == expected.offsets)
        different = both & _is_different(found.values, expected.values)
        if different.any():
            first = int(different.argmax())
            return ReadDifference(
                thread=unravel(first % launch.threads, launch.block),
                value=_json_number(found.values[first]),
                reference=_json_number(expected.values[first]),
                line=line,
            )
    return None


def _find_output_difference(
    arrays: Mapping[str, Array], reference: Mapping[str, Array]
) -> OutputDifference | None:
    """The first cell of a global array that two runs leave different."""
    for name, array in arrays.items():
        expected = reference[name]
        different = _is_different(array, expected)
        if different.any():
            index = np.unravel_index(int(different.argmax()), different.shape)
            cell = format_cell(name, index)
            return OutputDifference(cell, _json_number(array[index]), _json_number(expected[index]))
    return None


def _json_number(value: Any) -> Number:
    """A NumPy number as JSON can hold it: one that is not finite becomes its name."""
    number: float = value.item()
    return number if np.isfinite(number) else str(number)


def _is_different(left: Any, right: Any) -> Array:
    """Where two arrays of one shape differ; NaN equals NaN."""
    different: Array = (left != right) & ~((left != left) & (right != right))
    return different
