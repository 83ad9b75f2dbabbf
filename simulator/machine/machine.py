"""The machine: a grid's blocks in chunks, their warps run to the next barrier one after another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from simulator.language.ctype import Array, ArrayOf, Pointer
from simulator.language.errors import LaunchError
from simulator.language.tree import Barrier, Kernel, MemorySpace, Variable
from simulator.launch import BUDGET_BYTES, WARP_SIZE, Launch, check
from simulator.machine.buffers import Address, Buffer, element_of, global_buffer, shared_buffer
from simulator.machine.group import ALL, Group, Mask, as_array
from simulator.machine.observer import Observer, overrides
from simulator.machine.statements import Program

CHUNK_LANES = 8192  # lanes of a warp number over a chunk's blocks: arrays of it stay in cache


class Schedule(StrEnum):
    """In which order a block's warps run to their next barrier.

    RANDOM draws anew for each stretch between barriers; LOCKSTEP runs all threads as one.
    """

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"
    LOCKSTEP = "lockstep"


SCHEDULES = (Schedule.ASCENDING, Schedule.DESCENDING, Schedule.RANDOM)  # of whole launches


class Machine:
    """One launch of a kernel, watched by observers.

    seed is what Schedule.RANDOM draws from. A loop is stopped once `seconds` are over, if given.
    """

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        observers: Sequence[Observer] = (),
        schedule: Schedule = Schedule.ASCENDING,
        seed: int = 0,
        seconds: float | None = None,
    ) -> None:
        self.allowed = seconds
        self._deadline: float | None = None
        self.kernel = kernel
        self.launch = launch
        self.observers = list(observers)
        self.schedule = schedule
        self.arguments = check(kernel, launch)
        self.buffers: dict[str, Buffer] = {}
        for parameter in kernel.parameters:
            if isinstance(parameter.ctype, Pointer):
                self.buffers[parameter.name] = global_buffer(
                    parameter.name,
                    self.arguments[parameter.name],
                    element_of(parameter.ctype.target),
                )
        self._random = np.random.default_rng(seed)
        self._program = Program(kernel, self.observers)
        self.seconds = 0.0

    def run(self, blocks: Array | None = None) -> None:
        """Run the whole grid, or the blocks of these linear numbers alone."""
        begun = time.perf_counter()
        self._deadline = None if self.allowed is None else begun + self.allowed
        chosen = np.arange(self.launch.blocks) if blocks is None else blocks
        for observer in self.observers:
            observer.on_start(self.kernel, self.launch, self.buffers)
        with np.errstate(all="ignore"):
            for start in range(0, chosen.size, self._chunk()):
                self._run_chunk(chosen[start : start + self._chunk()])
        self.seconds = time.perf_counter() - begun

    def results(self) -> dict[str, Array]:
        """Every global array as the launch has left it, by parameter name."""
        return {name: buffer.contents() for name, buffer in self.buffers.items()}

    def _chunk(self) -> int:
        """Blocks of a chunk: as many as keep arrays in cache and memory within its budget."""
        threads = self.launch.threads
        shared = self.kernel.static_shared_bytes + self.launch.shared_bytes
        local = threads * sum(
            v.ctype.size for v in self._program.slots if v.space is MemorySpace.LOCAL
        )
        per_block = max(1, shared + local)
        if per_block > BUDGET_BYTES // 2:
            raise LaunchError(
                f"One block needs {per_block / 2**20:,.0f} MiB for its arrays; the simulator "
                f"takes up to {BUDGET_BYTES // 2 / 2**20:,.0f} MiB. Make them smaller."
            )
        wanted = max(1, CHUNK_LANES // min(threads, WARP_SIZE))
        return max(1, min(wanted, BUDGET_BYTES // 4 // per_block))

    def _run_chunk(self, blocks: Array) -> None:
        groups = self._groups(blocks)
        for observer in self.observers:
            observer.on_chunk(groups)
        for group in groups:
            group.code = self._program.start(group)
        running = list(groups)
        while running:
            for group in self._order(running):
                self._advance(group)
            running = [group for group in running if group.waiting is not None]
            if running:
                self._pass_barrier(running, groups)
        for observer in self.observers:
            observer.on_finish(groups)

    def _groups(self, blocks: Array) -> list[Group]:
        threads = np.arange(self.launch.threads)
        size = threads.size if self.schedule == Schedule.LOCKSTEP else WARP_SIZE
        arrays: dict[Variable, Address] = {}
        for variable, start in self.kernel.shared_offsets.items():
            assert isinstance(variable.ctype, ArrayOf)
            dynamic = self.launch.shared_bytes if variable.dynamic else None
            buffer = shared_buffer(variable.name, variable.ctype, start, blocks.size, dynamic)
            arrays[variable] = Address(buffer, None, 0)
        groups = []
        for first in range(0, threads.size, size):
            group = Group(
                self.launch,
                blocks,
                threads[first : first + size],
                self._program.slots,
                self._program.memos,
            )
            group.deadline = self._deadline
            group.arrays.update(arrays)
            group.shared = {variable.name: a.buffer for variable, a in arrays.items()}
            for parameter in self.kernel.parameters:
                slot = self._program.slots[parameter]
                group.frame[slot] = self._argument(parameter)
                group.declared[slot] = group.given[slot] = ALL
            groups.append(group)
        return groups

    def _argument(self, parameter: Variable) -> Any:
        if isinstance(parameter.ctype, Pointer):
            return Address(self.buffers[parameter.name], None, 0)
        return self.arguments[parameter.name]

    def _order(self, groups: list[Group]) -> list[Group]:
        match self.schedule:
            case Schedule.DESCENDING:
                return groups[::-1]
            case Schedule.RANDOM:
                return [groups[i] for i in self._random.permutation(len(groups))]
            case _:
                return list(groups)

    def _advance(self, group: Group) -> None:
        """Run a group that may go on to its next barrier, or to its end."""
        if group.waiting is not None and not group.released:
            return
        group.released = False
        assert group.code is not None
        try:
            group.waiting = next(group.code)
        except StopIteration:
            group.waiting = None

    def _pass_barrier(self, running: list[Group], groups: list[Group]) -> None:
        """Let those go on that wait at the earliest barrier; report who did not reach it.

        In a correct kernel all threads of a block wait at the same barrier. Where some wait at
        another one, or have ended, the hardware's behaviour is undefined (CUDA C++ Programming
        Guide, __syncthreads); here those at the barrier that comes first in the text go on.
        """
        barriers = [group.waiting[0] for group in running if group.waiting is not None]
        barrier = min(barriers, key=lambda waiting: waiting.span)
        at = [g for g in running if g.waiting is not None and g.waiting[0] is barrier]
        masks: list[Mask] = [g.waiting[1] for g in at if g.waiting is not None]
        whole = len(at) == len(groups) and all(mask is ALL for mask in masks)
        if not whole:
            self._report_partial(barrier, at, masks, groups)
        for observer in self.observers:
            if overrides(observer, "on_barrier"):
                observer.on_barrier(barrier, at)
        passed = None if whole else self._arrived_blocks(at, masks)
        for group in groups:
            group.interval = _next_interval(group, passed)
        for group in at:
            group.released = True

    def _arrived(self, at: list[Group], masks: list[Mask], groups: list[Group]) -> Array:
        """Which threads of each block of the chunk are at the barrier: [blocks, threads]."""
        arrived = np.zeros((groups[0].block_count, self.launch.threads), np.bool_)
        for group, mask in zip(at, masks, strict=True):
            shape = (group.block_count, group.threads.size)
            arrived[:, group.threads] = as_array(mask, group.lanes).reshape(shape)
        return arrived

    def _arrived_blocks(self, at: list[Group], masks: list[Mask]) -> Array:
        """Which blocks of the chunk have a thread at the barrier: [blocks]."""
        blocks = np.zeros(at[0].block_count, np.bool_)
        for group, mask in zip(at, masks, strict=True):
            blocks |= as_array(mask, group.lanes).reshape(group.block_count, -1).any(axis=1)
        return blocks

    def _report_partial(
        self, barrier: Barrier, at: list[Group], masks: list[Mask], groups: list[Group]
    ) -> None:
        arrived = self._arrived(at, masks, groups)
        partial = arrived.any(axis=1) & ~arrived.all(axis=1)
        for slot in np.flatnonzero(partial):
            for observer in self.observers:
                observer.on_partial_barrier(barrier, at[0], int(slot), arrived[slot])


def _next_interval(group: Group, passed: Array | None) -> Any:
    """A group's barrier interval after a barrier that `passed` [blocks], or all, have passed."""
    if passed is None:
        return group.interval + 1
    lanes = np.repeat(passed, group.threads.size).astype(np.int64)
    interval = group.interval + lanes
    return int(interval[0]) if (interval == interval[0]).all() else interval
