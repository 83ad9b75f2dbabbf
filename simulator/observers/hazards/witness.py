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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError, Span, shorten
from simulator.language.tree import Kernel, MemorySpace
from simulator.language.waiting import waits_for_grid
from simulator.launch import Dim3, Launch, format_cell, format_index, ravel, unravel
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import (
    Example,
    Hazard,
    Number,
    Witness,
    cell_index,
    loop_iterations,
    name_cell,
)
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

    buffer: Buffer
    seen: Array  # bool [N], the thread did read
    offsets: Array  # int64 [N], bytes from the array's start
    values: Array  # [N], of a short vector the first component

    def cell(self, number: int) -> tuple[int, ...]:
        """The index of the cell that a thread reads."""
        return cell_index(self.buffer, int(self.offsets[number]) // self.buffer.element.size)

    def is_of(self, cell: tuple[int, ...] | None) -> Array:
        """Which threads read the cell of an index: bool [N]."""
        if cell is None:
            return np.zeros(self.seen.shape, np.bool_)
        number = np.ravel_multi_index(cell, self.buffer.shape or (1,))
        same: Array = self.offsets // self.buffer.element.size == number
        return same


@dataclass(frozen=True, slots=True)
class Outcome:
    """What some blocks read in one run, and the global arrays after it."""

    order: Order
    arrays: Mapping[str, Array]  # the global arrays afterwards, by parameter name
    reads: Mapping[LoadKey, Reading]
    writers: Mapping[str, Array]  # of these arrays' cells, the thread that wrote it last; -1

    # Threads are numbered over the blocks that ran, as those of a Reading.


@dataclass(frozen=True, slots=True)
class ReadDifference:
    """A thread that reads another value from the same cell than in the reference run."""

    number: int  # of the thread, as in a Reading
    thread: Dim3  # x, y, z in its block
    index: tuple[int, ...]  # of the cell, as C indexes its array
    cell: str  # as C writes it: "As[0][3]"
    value: Number
    reference: Number
    line: int


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """A cell of a global array that ends with another value than in the reference run."""

    cell: str  # as C writes it: "C[0][3]"
    value: Number
    reference: Number
    is_of_read: bool  # whether it was read, or written by the thread that read; or none read


class ReadRecorder(Observer):
    """Records what is read from some arrays at some lines, and who writes global arrays."""

    def __init__(self, launch: Launch, blocks: Sequence[int], wanted: set[tuple[int, str]]) -> None:
        self.found: dict[LoadKey, Reading] = {}
        self.writers: dict[str, Array] = {}  # as Outcome.writers
        self._launch = launch
        self._blocks = np.array(sorted(blocks))
        self._wanted = wanted  # lines and array names

    def on_access(self, access: Access) -> None:
        """Record a load's values beside those that other warps read by the same load."""
        line, array = access.lvalue.span.line, access.buffer.name
        if access.kind is not AccessKind.LOAD and access.buffer.space is MemorySpace.GLOBAL:
            cells, lanes = access.cells()
            writers = self.writers.get(array)
            if writers is None:
                writers = self.writers[array] = np.full(access.buffer.cells.size, -1)
            writers[cells] = self._numbers(access.group)[lanes]
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
                buffer=access.buffer,
                seen=np.zeros(count, np.bool_),
                offsets=np.zeros(count, np.int64),
                values=np.zeros(count, values.dtype),
            )
        numbers = self._numbers(group)
        active = group.spread(True if access.mask is None else access.mask)
        reading.seen[numbers[active]] = True
        reading.offsets[numbers[active]] = offsets[active]
        reading.values[numbers[active]] = values[active]

    def _numbers(self, group: Group) -> Array:
        """Of each lane the number of its thread."""
        block = np.searchsorted(self._blocks, np.repeat(group.blocks, group.threads.size))
        numbers: Array = block * self._launch.threads + np.tile(group.threads, group.block_count)
        return numbers


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
        # No order of warps shows a race within one.
        if hazard.kind in RACES and not hazard.example.within_warp:
            blocks = _blocks_to_run(hazard.example, launch)
            races_by_blocks.setdefault(blocks, []).append(number)
    for blocks, numbers in races_by_blocks.items():
        wanted = {(line, hazards[n].array or "") for n in numbers for line in hazards[n].lines}
        read_at = Counter((_line_of_read(hazards[n]), hazards[n].array) for n in numbers)
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
                one = found[number]
                if not _is_settled(one):
                    is_alone = read_at[_line_of_read(one), one.array] == 1
                    found[number] = _add_witness(one, outcome, reference, launch, is_alone)
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
    return Outcome(order, arrays, reads.found, reads.writers)


def _is_settled(hazard: Hazard) -> bool:
    """Whether nothing better can be found: an order that makes a result wrong is known."""
    return hazard.witness is not None and hazard.witness.output is not None


def _add_witness(
    hazard: Hazard, outcome: Outcome, reference: Outcome, launch: Launch, is_alone: bool
) -> Hazard:
    """The hazard with a witness, where a run differs from the reference in what it is about.

    is_alone: no other race is of the same array and the same line that reads.
    """
    read = _find_read_difference(hazard, outcome, reference, launch, is_alone)
    if read is None and hazard.kind is not HazardKind.WRITE_AFTER_WRITE:
        return hazard
    output = _find_output_difference(hazard, read, outcome, reference)
    if output is None and (read is None or hazard.witness is not None):
        return hazard
    differences = []
    if read is not None:
        thread = format_index(read.thread, launch.block)
        differences.append(
            sentences.other_read(thread, read.cell, read.value, read.reference, read.line)
        )
    if output is not None:
        differences.append(sentences.other_result(output.cell, output.value, output.reference))
    follows = output is None or output.is_of_read
    sentence = sentences.witness(outcome.order.name, reference.order.name, differences, follows)
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


def _line_of_read(hazard: Hazard) -> int:
    """The line of a race that reads; 0 where none does."""
    accesses = RACES[hazard.kind]
    if AccessKind.LOAD not in accesses:
        return 0
    return hazard.lines[0 if accesses[0] is AccessKind.LOAD else -1]


def _find_read_difference(
    hazard: Hazard, outcome: Outcome, reference: Outcome, launch: Launch, is_alone: bool
) -> ReadDifference | None:
    """A thread that reads another value from the same cell, by a load of the race.

    It reads the cell of the race's example, or, where no other race can be what it shows, any.
    """
    line = _line_of_read(hazard)
    if not line:
        return None
    fallback: ReadDifference | None = None
    for key, expected in reference.reads.items():
        found = outcome.reads.get(key)
        if found is None or (key.array, key.line) != (hazard.array, line):
            continue
        both = found.seen & expected.seen & (found.offsets == expected.offsets)
        different = both & _is_different(found.values, expected.values)
        of_example = different & found.is_of(hazard.example.cell)
        if of_example.any():
            return _read_difference(key, found, expected, int(of_example.argmax()), launch)
        if is_alone and fallback is None and different.any():
            fallback = _read_difference(key, found, expected, int(different.argmax()), launch)
    return fallback


def _read_difference(
    key: LoadKey, found: Reading, expected: Reading, number: int, launch: Launch
) -> ReadDifference:
    """What a thread, by its number in both readings, reads."""
    index = found.cell(number)
    return ReadDifference(
        number=number,
        thread=unravel(number % launch.threads, launch.block),
        index=index,
        cell=name_cell(found.buffer, index),
        value=_json_number(found.values[number]),
        reference=_json_number(expected.values[number]),
        line=key.line,
    )


def _find_output_difference(
    hazard: Hazard, read: ReadDifference | None, outcome: Outcome, reference: Outcome
) -> OutputDifference | None:
    """A cell of a global array that two runs leave different, the most telling there is."""
    for is_of_read, name, cells in _telling_outputs(hazard, read, outcome, reference):
        if cells.any():
            index = np.unravel_index(int(cells.argmax()), cells.shape)
            value, expected = outcome.arrays[name][index], reference.arrays[name][index]
            return OutputDifference(
                format_cell(name, index), _json_number(value), _json_number(expected), is_of_read
            )
    return None


def _telling_outputs(
    hazard: Hazard, read: ReadDifference | None, outcome: Outcome, reference: Outcome
) -> Iterator[tuple[bool, str, Array]]:
    """Cells that two runs leave different, of one array at a time: bool in its shape.

    First the cell that was read, or that the race is about; then those that the thread wrote which
    read; then all, but of a race without a read in a global array only that array's. Each with
    whether the race itself is what changes them, as OutputDifference has it.
    """
    different = {
        name: _is_different(array, reference.arrays[name]) for name, array in outcome.arrays.items()
    }
    here = different.get(hazard.array or "") if hazard.space is MemorySpace.GLOBAL else None
    about = hazard.example.cell if read is None else read.index
    if here is not None and hazard.array is not None and about is not None:
        cell = np.zeros_like(here)
        cell[about] = here[about]
        yield True, hazard.array, cell
    if read is not None:
        for name, writers in outcome.writers.items():
            cells = different[name]
            is_own = (writers[: cells.size] == read.number).reshape(cells.shape)
            yield True, name, cells & is_own
    for name, cells in different.items():
        if read is not None or here is None or name == hazard.array:
            yield read is None, name, cells


def _json_number(value: Any) -> Number:
    """A NumPy number as JSON can hold it: one that is not finite becomes its name."""
    number: float = value.item()
    return number if np.isfinite(number) else str(number)


def _is_different(left: Any, right: Any) -> Array:
    """Where two arrays of one shape differ; NaN equals NaN.

    >>> _is_different(np.array([1, np.nan, np.nan]), np.array([2, np.nan, 0])).tolist()
    [True, False, True]
    """
    different: Array = (left != right) & ~((left != left) & (right != right))
    return different
