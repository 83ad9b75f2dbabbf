"""Runs counted loops with their loads made ahead: for many iterations at once, checked at once.

What an iteration then does by itself is its arithmetic. A loop whose loads may fault, or whose
counter differs between lanes, is left to run as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.counted_loops import CountedLoop
from simulator.language.ctype import Vector
from simulator.language.tree import MemorySpace
from simulator.machine.budget import LoopState
from simulator.machine.closures import AddressClosure, Closure, Run
from simulator.machine.gather import gather
from simulator.machine.group import Group
from simulator.machine.load_store import MemoryOperand, is_inside, pattern_of
from simulator.machine.masks import ALL, Mask
from simulator.machine.observer import AccessKind, Observer, Pattern, Sweep, SweptLoad

FEWEST = 4  # iterations that are worth it


@dataclass(frozen=True, slots=True, eq=False)
class SweptLoop:
    """A counted loop, compiled to run with its loads made ahead."""

    counted: CountedLoop
    slot: int  # of the counter, in Group.frame
    slots: tuple[int, ...]  # of all variables that must have a value before the loop
    bound: Closure
    places: tuple[tuple[AddressClosure, MemoryOperand], ...]  # of each of its loads
    body: Run  # reads Group.ahead
    has_counter: bool  # see Budget.check
    observers: Sequence[Observer]  # those of accesses

    def run(self, group: Group, state: LoopState, mask: Mask) -> bool:
        """Run all iterations for the lanes of a mask; False, with nothing done, if it cannot."""
        begin, frame = group.frame[self.slot], group.frame
        counts = self._counts(group, mask)
        if counts is None:
            return False
        loads = self._loads(group, mask, counts)
        frame[self.slot] = begin
        if loads is None:
            return False
        sweep = Sweep(group, mask, loads, counts.size - 1)
        left = [one for one in self.observers if not one.on_sweep(sweep)]
        rows = zip(*self._values(sweep), strict=True)
        for i, (count, row) in enumerate(zip(counts, rows, strict=False)):
            frame[self.slot], group.ahead = count, row
            if left:
                _notify(left, sweep, i)
            self.body(group, mask)
            state.iteration += 1
            group.budget.count(group.loops, self.has_counter)
        frame[self.slot], group.ahead = counts[-1], ()
        return True

    def _counts(self, group: Group, mask: Mask) -> Any:
        """The counter's values, with that after the loop: [iterations + 1]; None if unknown."""
        first, declared = group.frame[self.slot], group.declared_mask[self.slot]
        if isinstance(first, np.ndarray) or not (mask is ALL or mask is declared):
            return None
        for slot in self.slots:
            assigned = group.assigned_mask[slot]
            if assigned is not ALL and assigned is not mask:
                return None
        bound = self.bound(group, mask)
        if isinstance(bound, np.ndarray):
            return None
        count = self.counted.iterations(int(first), int(bound))
        if count is None or count < FEWEST:
            return None
        return (int(first) + self.counted.step * np.arange(count + 1)).astype(first.dtype)

    def _loads(self, group: Group, mask: Mask, counts: Any) -> tuple[SweptLoad, ...] | None:
        """The loads from the first iteration on; None if their addresses do not move evenly."""
        loads = []
        for address_of, operand in self.places:
            addresses = []
            for count in (counts[0], counts[1], counts[-2]):
                group.frame[self.slot] = count
                addresses.append(address_of(group, mask))
            first, second, last = addresses
            stride = second.base - first.base
            if (
                any(one.is_far for one in addresses)
                or any(one.buffer is not first.buffer for one in addresses)
                or any(one.lane_offsets is not first.lane_offsets for one in addresses)
                or last.base - first.base != stride * (counts.size - 2)
                or stride % operand.element.size
            ):
                return None
            pattern, base = pattern_of(group, first, operand, AccessKind.LOAD)
            for one in (base, base + last.base - first.base):
                if not _is_allowed(group, mask, pattern, one, operand):
                    return None
            loads.append(
                SweptLoad(
                    pattern, base, stride, operand.width, operand.element.size, operand.lvalue
                )
            )
        return tuple(loads)

    def _values(self, sweep: Sweep) -> Iterator[Iterator[Any]]:
        """Of each load what it reads in each iteration."""
        lane = _only_lane(sweep.group, sweep.mask)
        for load, (_, operand) in zip(sweep.loads, self.places, strict=True):
            cells = load.pattern.buffer.view(operand.element.dtype)
            if isinstance(operand.ctype, Vector):
                shifts = (i * load.pattern.step for i in range(operand.ctype.length))
                yield zip(*(_cells(sweep, load, cells, s, lane) for s in shifts), strict=True)
            else:
                yield _cells(sweep, load, cells, 0, lane)


def _only_lane(group: Group, mask: Mask) -> int | None:
    """The active lane, if there is only one."""
    if mask is ALL:
        return 0 if group.lanes == 1 else None
    lanes = group.lanes_of(mask)
    return int(lanes[0]) if lanes.size == 1 else None


def _is_allowed(
    group: Group, mask: Mask, pattern: Pattern, base: int, operand: MemoryOperand
) -> bool:
    """Whether all active lanes of an access are inside the array and aligned."""
    if is_inside(pattern, base, operand):
        return True
    if mask is ALL or pattern.lane_offsets is None or not pattern.aligned:
        return False
    if base % operand.alignment:
        return False
    active = pattern.lane_offsets[mask] + base
    return bool(active.min() >= 0 and active.max() <= pattern.buffer.size - operand.width)


def _notify(observers: Sequence[Observer], sweep: Sweep, iteration: int) -> None:
    """Notify observers of each load of an iteration, whose values Group.ahead has."""
    for load, values in zip(sweep.loads, sweep.group.ahead, strict=True):
        access = sweep.access(iteration, load, values)
        for observer in observers:
            observer.on_access(access)


def _cells(
    sweep: Sweep, load: SweptLoad, cells: Any, shift: int, lane: int | None
) -> Iterator[Any]:
    """Of each iteration the cells of a load, [lanes] or one number for all that are active."""
    index, pattern = load.first_index, load.pattern
    if isinstance(index, int) and pattern.buffer.space is MemorySpace.LOCAL:
        index = index + sweep.group.lane_numbers
    if isinstance(index, int) or lane is not None:
        start = (index if isinstance(index, int) else int(index[lane])) + shift
        return iter(cells.take(start + load.step * np.arange(sweep.iterations)))
    return gather(cells, pattern, index + shift, load.step, sweep.iterations)
