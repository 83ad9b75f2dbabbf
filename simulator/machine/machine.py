"""The machine: runs a launch in chunks of blocks, and each warp of them from barrier to barrier."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import OF_DTYPE, Array, ArrayOf, Pointer, Void
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel, MemorySpace, Variable
from simulator.language.waiting import has_grid_barrier_of_choice, waits_for_grid
from simulator.launch import BUDGET_BYTES, WARP_SIZE, Launch, check
from simulator.machine.budget import DEFAULT_SECONDS, Budget, Progress
from simulator.machine.buffers import Address, Buffer, global_buffer, pointer_buffer, shared_buffer
from simulator.machine.extern_memory import extern_type
from simulator.machine.group import Group
from simulator.machine.masks import ALL
from simulator.machine.observer import Observer, callbacks
from simulator.machine.occupancy import MULTIPROCESSORS, resident_blocks
from simulator.machine.printing import LaunchStopped
from simulator.machine.schedule import Schedule
from simulator.machine.statements import Program
from simulator.machine.team import Team, pass_grid_barrier

CHUNK_LANES = 8192  # lanes of a group: its arrays then stay in the processor's cache


class Machine:
    """One launch of a kernel.

    >>> from simulator import Launch, compile_kernel
    >>> kernel = compile_kernel("__global__ void k(int* A) { A[threadIdx.x] *= 2; }", "k")
    >>> launch = Launch((1, 1, 1), (4, 1, 1), {"A": np.arange(4, dtype=np.int32)})
    >>> machine = Machine(kernel, launch)
    >>> machine.run()
    >>> machine.results()["A"]
    array([0, 2, 4, 6], dtype=int32)
    """

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        observers: Sequence[Observer] = (),
        schedule: Schedule = Schedule.ASCENDING,
        seed: int = 0,
        seconds: float = DEFAULT_SECONDS,
        on_progress: Callable[[Progress], None] | None = None,
        by_block: bool = False,
    ) -> None:
        """A launch that has not run yet.

        observers are notified while it runs. seed determines the orders of Schedule.RANDOM. A run
        that takes more than `seconds` raises SourceError in its next loop; on_progress, if given,
        is called about once a second. by_block gives each block groups of its own, as an observer
        of one of them needs. Raises LaunchError for a launch that no GPU takes, SourceError for
        what cannot be executed.
        """
        self.kernel = kernel
        self.launch = launch
        self.observers = list(observers)
        self.schedule = Schedule(schedule)  # a plain "descending" is taken too
        self.arguments = check(kernel, launch)  # by parameter name
        self.buffers: dict[str, Buffer] = {}  # copies of the launch's arrays, by name
        self._tables: dict[str, Buffer] = {}  # of pointers that the launch gives, by array name
        self._parameters: dict[Variable, Buffer] = {}  # what each of them points to
        self._globals: dict[Variable, Address] = {}  # where __device__ and __constant__ ones start
        self._build_parameters()
        self._build_globals()
        dynamic = [memory for memory in kernel.shared_memories if memory.dynamic]
        self._extern_type = extern_type(kernel, dynamic[0]) if dynamic else None
        self.seconds = 0.0  # of the last run()
        self._random = np.random.default_rng(seed)
        self._program = Program(kernel, self.observers)
        self._is_cooperative = waits_for_grid(kernel.body)
        self._by_block = (
            by_block or self._program.takes_turns or has_grid_barrier_of_choice(kernel.body)
        )
        for name, table in self._tables.items():
            self._set_pointers(table, self.buffers[name])
        self._time_limit = seconds
        self._on_progress = on_progress
        self._budget = Budget(seconds, launch.blocks)  # of the present run

    def _build_parameters(self) -> None:
        """A buffer for each array that a parameter points to."""
        for parameter in self.kernel.parameters:
            if not isinstance(parameter.ctype, Pointer):
                continue
            name, target = parameter.name, parameter.ctype.target
            array = self.arguments[name]
            if isinstance(target, Pointer):
                table = self._parameters[parameter] = pointer_buffer(name, (len(array),))
                self.buffers[name] = table  # of null pointers
                if array.ndim > 1:
                    self._tables[name] = table
                    self.buffers[name] = global_buffer(name, array, target.target)
                continue
            if isinstance(target, Void):
                target = OF_DTYPE[array.dtype]
            self._parameters[parameter] = global_buffer(name, array, target)
            self.buffers[name] = self._parameters[parameter]

    def _build_globals(self) -> None:
        """A buffer for each array that the source declares in global or constant memory."""
        for known in self.kernel.globals:
            name, ctype = known.variable.name, known.variable.ctype
            assert isinstance(ctype, ArrayOf)
            if isinstance(ctype.innermost, Pointer):
                buffer = pointer_buffer(name, known.first.shape, known.space)
                if name in self.arguments:
                    self._tables[name] = buffer
                    target = ctype.innermost.target
                    self.buffers[name] = global_buffer(name, self.arguments[name], target)
            else:
                buffer = global_buffer(name, self.arguments[name], ctype, known.space)
                self.buffers[name] = buffer
            self._globals[known.variable] = Address(buffer, None, 0)

    def run(self, blocks: Array | None = None, budget: Budget | None = None) -> None:
        """Run the whole grid, or only the blocks int [n] of these linear numbers.

        budget is given where they are a part of a longer run: it is that run's.

        Raises SourceError, with its place in the text, for what cannot be executed.
        """
        begin = time.perf_counter()
        count = self.launch.blocks if blocks is None else blocks.size
        self._budget = budget or Budget(self._time_limit, count, self._on_progress)
        for notify in callbacks(self.observers, "on_start"):
            notify(self.kernel, self.launch, self.buffers)
        chunk = self.chunk_blocks()
        if self._is_cooperative:
            self._check_cooperative(count, chunk)
        with np.errstate(all="ignore"):
            try:
                for first in range(0, count, chunk):
                    if first:
                        self._budget.check()
                    numbers = np.arange(first, min(first + chunk, count))
                    together = numbers if blocks is None else blocks[numbers]
                    self._run_chunk(together)
                    self._budget.blocks_done += together.size
            except LaunchStopped:
                pass  # observers know why
        self.seconds = time.perf_counter() - begin

    def results(self, names: Container[str] | None = None) -> dict[str, Array]:
        """A copy of every array in global memory after the run, or of those named, by its name."""
        return {
            name: buffer.contents()
            .view(self.arguments[name].dtype)
            .reshape(self.arguments[name].shape)
            for name, buffer in self.buffers.items()
            if buffer.space is MemorySpace.GLOBAL and (names is None or name in names)
        }

    def _set_pointers(self, table: Buffer, rows: Buffer) -> None:
        """Let the pointers of a buffer point to the rows of an array, which all have one length."""
        offsets = np.arange(table.cells.size) * (rows.size // table.cells.size)
        span = self.kernel.body.span
        table.cells[:] = self._program.pointers.encode(Address(rows, offsets, 0), span)

    # Chunks ------------------------------------------------------------------------------------

    def chunk_blocks(self) -> int:
        """Blocks of a chunk, which run at once: as many as fit the cache and the memory budget."""
        threads = self.launch.threads
        shared_bytes = self.kernel.static_shared_bytes + self.launch.shared_bytes
        local_bytes = threads * sum(
            variable.ctype.size
            for variable in self._program.frame_slots
            if variable.space is MemorySpace.LOCAL
        )
        block_bytes = max(1, shared_bytes + local_bytes)
        if block_bytes > BUDGET_BYTES // 2:
            raise LaunchError(
                f"One block needs {block_bytes / 2**20:,.0f} MiB for its arrays; the simulator "
                f"takes up to {BUDGET_BYTES // 2 / 2**20:,.0f} MiB. Make them smaller."
            )
        fit_memory = max(1, BUDGET_BYTES // 4 // block_bytes)
        if self._program.takes_turns or self._is_cooperative:
            return min(fit_memory, _resident_blocks(self.launch, shared_bytes))
        return min(fit_memory, max(1, CHUNK_LANES // min(threads, WARP_SIZE)))

    def _check_cooperative(self, count: int, most: int) -> None:
        """LaunchError for blocks that wait for each other, but are more than run at once."""
        if count > most:
            raise LaunchError(
                f"{self.kernel.name} waits for the whole grid, so that all its blocks must run at "
                f"once: of {self.launch.threads:,} threads that is up to {most:,} blocks here (an "
                f"H100 with {MULTIPROCESSORS} multiprocessors), and the grid has {count:,}. Make "
                "the grid smaller, and let each thread do more in a loop."
            )

    def _run_chunk(self, blocks: Array) -> None:
        """Run blocks from start to end, all of them at once.

        Blocks whose threads wait for other blocks make progress in turns, each on its own.
        """
        size = 1 if self._by_block else blocks.size
        built = [
            self._build_groups(blocks[first : first + size])
            for first in range(0, blocks.size, size)
        ]
        groups = [group for team in built for group in team]
        for notify in callbacks(self.observers, "on_chunk"):
            notify(groups)
        for group in groups:
            group.code = self._program.start(group)
        teams = [Team(team, self.launch, self.observers) for team in built]
        running = teams
        while running:
            for team in running:
                team.run(self.schedule, self._random)
            running = [team for team in running if not team.has_ended]
            if running and all(team.waits_for_grid for team in running):
                pass_grid_barrier(teams, self.observers)
        for notify in callbacks(self.observers, "on_finish"):
            notify(groups)

    def _build_groups(self, blocks: Array) -> list[Group]:
        """A group for each warp of a block, over all the blocks; in lockstep a single one."""
        arrays = self._shared_arrays(blocks.size)
        threads = np.arange(self.launch.threads)
        size = threads.size if self.schedule is Schedule.LOCKSTEP else WARP_SIZE
        groups = []
        for first in range(0, threads.size, size):
            group = Group(
                launch=self.launch,
                blocks=blocks,
                threads=threads[first : first + size],
                slot_of=self._program.frame_slots,
                arrays={**arrays, **self._globals},
                shared={address.buffer.name: address.buffer for address in arrays.values()},
                memo_slots=self._program.memo_slots,
                budget=self._budget,
            )
            for parameter in self.kernel.parameters:
                slot = self._program.frame_slots[parameter]
                group.frame[slot] = self._parameter_value(parameter)
                group.declared_mask[slot] = group.assigned_mask[slot] = ALL
            groups.append(group)
        return groups

    def _shared_arrays(self, blocks: int) -> dict[Variable, Address]:
        """Where the shared arrays of a number of blocks start, all of them new.

        All extern arrays are one memory, whatever their names and types.
        """
        offsets = self.kernel.shared_offsets
        buffers: dict[Variable, Buffer] = {}
        dynamic: list[Buffer] = []  # one, or none
        for variable in self.kernel.shared_memories:
            ctype = self._extern_type if variable.dynamic else variable.ctype
            dynamic_bytes = self.launch.shared_bytes if variable.dynamic else None
            assert isinstance(ctype, ArrayOf)
            buffers[variable] = buffer = shared_buffer(
                variable.name, ctype, offsets[variable], blocks, dynamic_bytes
            )
            dynamic += [buffer] if variable.dynamic else []
        return {
            variable: Address(dynamic[0] if variable.dynamic else buffers[variable], None, 0)
            for variable in self.kernel.shared
        }

    def _parameter_value(self, parameter: Variable) -> Any:
        if isinstance(parameter.ctype, Pointer):
            return Address(self._parameters[parameter], None, 0)
        return self.arguments[parameter.name]


def _resident_blocks(launch: Launch, shared_bytes: int) -> int:
    """How many blocks an H200 executes at once, of which each has `shared_bytes`.

    A block that waits for one that is not among them waits for ever, as it does there.
    """
    return MULTIPROCESSORS * max(1, resident_blocks(launch.threads, shared_bytes)[0])
