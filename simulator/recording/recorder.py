"""The steps of one block, recorded so that any of them is there at once, forward or back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, assert_never

import numpy as np

from simulator.language import tree
from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.number_types import numbers_held
from simulator.language.scopes import visible_variables
from simulator.language.visit import expressions_of, subexpressions, walk
from simulator.language.waiting import waits_for_grid
from simulator.launch import Dim3, Launch, ravel
from simulator.machine.budget import DEFAULT_SECONDS, LoopState, Progress
from simulator.machine.buffers import Address, Buffer, clip_offsets
from simulator.machine.group import Group
from simulator.machine.machine import Machine
from simulator.machine.masks import ALL, NONE, Mask, as_array
from simulator.machine.observer import Access, AccessKind, Fault, Observer, StepKind
from simulator.machine.schedule import Schedule
from simulator.machine.warp_syncs import WarpSyncs
from simulator.recording.recording import Evaluation, LoopPosition, Recording, Step, StepAccess
from simulator.recording.snapshots import Memory

MAX_STEPS = 20_000  # of one recording: more are too many to follow
MANY_ITERATIONS = 100  # of a loop: from here on the error asks whether it ever ends
MAX_BYTES = 2**28  # of all steps of one recording
COMING = 1024  # arrays, and evaluations, that may come again: a loop's


def record(
    kernel: tree.Kernel,
    launch: Launch,
    block: Dim3 = (0, 0, 0),
    schedule: Schedule = Schedule.LOCKSTEP,
    seed: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
    seconds: float = DEFAULT_SECONDS,
) -> Recording:
    """Record every step of one block, in lockstep or with its warps in the order of a schedule.

    block is in x, y, z; seed is what Schedule.RANDOM draws from; on_progress, if given, is called
    about once a second; seconds is the longest that it may take. Raises LaunchError for a block
    outside the grid, a launch that no GPU takes, or too large snapshots; SourceError for what
    cannot be executed or takes more than MAX_STEPS steps.

    >>> from simulator import Launch, compile_kernel, record
    >>> kernel = compile_kernel('''
    ... __global__ void twice(float* x) {
    ...     float value = x[threadIdx.x];
    ...     x[threadIdx.x] = 2 * value;
    ... }''', "twice")
    >>> launch = Launch((1, 1, 1), (4, 1, 1), {"x": np.arange(4, dtype=np.float32)})
    >>> load, store = record(kernel, launch).steps
    >>> load.line, load.registers["value"].tolist()
    (3, [0.0, 1.0, 2.0, 3.0])
    >>> store.outputs["x"].tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    recorder, is_cooperative = Recorder(), waits_for_grid(kernel.body)
    observer = OneBlock(recorder, ravel(block, launch.grid)) if is_cooperative else recorder
    machine = Machine(
        kernel, launch, [observer], schedule, seed, seconds, on_progress, by_block=is_cooperative
    )
    for axis, index, size in zip("xyz", block, launch.grid, strict=True):
        if not 0 <= index < size:
            raise LaunchError(
                f"Block {index} in {axis} is not in the grid, which has {size} there "
                f"(0 to {size - 1})."
            )
    arguments = machine.arguments | {  # arrays as the steps have them: a struct's as its cells
        name: buffer.contents() for name, buffer in machine.buffers.items()
    }
    machine.run(None if is_cooperative else np.array([ravel(block, launch.grid)]))
    return Recording(
        kernel, launch, arguments, block, tuple(recorder.steps), kernel.shared_memories,
        recorder.warp_syncs, recorder.bytes,
    )  # fmt: skip


class Recorder(Observer):
    """Records each step of the one block that a machine runs."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.warp_syncs: tuple[WarpSyncs, ...] = ()  # as Recording has them
        # Of the step that is not finished:
        self._evaluations: list[Evaluation] = []
        self._accesses: list[StepAccess] = []
        # Of the kernel and launch:
        self._threads = 0  # of the block
        self._all_active = np.ones(0, np.bool_)  # bool [T], shared by steps that all threads run
        self._visible: dict[tree.Statement, tuple[tree.Variable, ...]] = {}
        self._statement_around: dict[
            tree.Expression, tree.Statement
        ] = {}  # see _statements_around_calls
        # The newest snapshots, which the next steps share as long as nothing changes:
        self._registers: dict[tree.Variable, Array] = {}
        self._by_name: Mapping[str, Array] = {}  # those of the variables that are visible
        self._shared, self._written = Memory(), Memory()
        self._outputs, self._stored = Memory(), Memory()
        # Some of what steps hold, so that what comes again is held once:
        self._arrays: dict[tuple[Any, ...], Array] = {}
        self._known: dict[tuple[Any, ...], Evaluation] = {}
        self._latest_active: tuple[Group | None, Mask, Array] = None, NONE, self._all_active
        self._bytes = 0  # of the steps, without what the memories count
        # What those were made from; the machine never writes to a value again, so that the same
        # object has the same contents.
        self._register_sources: dict[
            tuple[tree.Variable, int], Any
        ] = {}  # by a group's first thread
        self._last_writes: dict[Buffer, Access] = {}  # the newest write to each local array
        self._positions: dict[
            tree.Loop, tuple[Any, LoopPosition]
        ] = {}  # the variable's value with each

    def on_start(self, kernel: tree.Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Find which variables each statement can see."""
        self._threads = launch.threads
        self._all_active = np.ones(launch.threads, np.bool_)
        self._visible = visible_variables(kernel.body, kernel.parameters)
        self._statement_around = _statements_around_calls(kernel)

    def on_chunk(self, groups: list[Group]) -> None:
        """Record the shared arrays as they are before anything is written."""
        self.warp_syncs = tuple(group.warp_syncs for group in groups)
        for name, buffer in groups[0].shared.items():
            self._shared.update(name, buffer.contents())
            self._written.update(name, np.zeros(buffer.shape, np.bool_))

    def on_evaluation(
        self, group: Group, expression: tree.Expression, value: Any, mask: Mask
    ) -> None:
        """Record a subexpression's value."""
        array = value.buffer.name if isinstance(value, Address) else None
        active = self._active(group, mask)
        values = self._share(self._spread(group, value))
        key = (expression, id(values), id(active), array)  # arrays that evaluation keeps alive
        evaluation = self._known.get(key)
        if evaluation is None:
            evaluation = Evaluation(expression, values, active, array)
            self._bytes += sys.getsizeof(evaluation)
            if len(self._known) == COMING:
                self._known.clear()
            self._known[key] = evaluation
        self._evaluations.append(evaluation)

    def on_access(self, access: Access) -> None:
        """Record a load or store, and the memory after it."""
        group, buffer = access.group, access.buffer
        active = self._active(group, access.mask)
        offsets = self._spread(group, np.asarray(access.offsets, dtype=np.int64))
        values = self._spread(group, access.values)
        self._accesses.append(
            StepAccess(
                kind=access.kind,
                space=buffer.space,
                name=buffer.name,
                offsets=self._share(offsets),
                width=access.width,
                cell_bytes=buffer.element.size,
                values=self._share(values),
                active=active,
                expression=access.lvalue,
                in_bounds=active,
                targets=self._targets(access),
            )
        )
        if access.kind is AccessKind.LOAD:
            return
        match buffer.space:
            case tree.MemorySpace.SHARED:
                self._shared.update(buffer.name, buffer.contents())
                cells, lanes = access.cells()
                if access.unset is not None:
                    cells = cells[~access.unset[lanes]]
                self._written.mark(buffer.name, cells, buffer.shape)
            case tree.MemorySpace.GLOBAL:
                self._outputs.update(buffer.name, buffer.contents())
                self._stored.mark(buffer.name, access.cells()[0], buffer.shape)
            case tree.MemorySpace.LOCAL:
                self._last_writes[buffer] = access
            case tree.MemorySpace.CONSTANT:
                raise AssertionError("a kernel has written to constant memory")
            case _:
                assert_never(buffer.space)

    def _targets(self, access: Access) -> Array | None:
        if access.target is None:
            return None
        offsets = access.target.offset + access.target.buffer.offset
        return self._share(self._spread(access.group, np.asarray(offsets, dtype=np.int64)))

    def on_fault(self, fault: Fault) -> None:
        """Record an access that was dropped."""
        group = fault.group
        active = np.zeros(self._threads, np.bool_)
        active[group.threads] = fault.lanes
        offsets = self._spread(group, clip_offsets(fault.offsets))
        self._accesses.append(
            StepAccess(
                kind=fault.kind,
                space=fault.buffer.space,
                name=fault.buffer.name,
                offsets=self._share(offsets),
                width=fault.width,
                cell_bytes=fault.buffer.element.size,
                values=self._share(np.zeros(self._threads, fault.buffer.element.dtype)),
                active=self._share(active),
                expression=fault.lvalue,
                in_bounds=self._share(np.zeros(self._threads, np.bool_)),
            )
        )

    def see_others(self, buffers: Iterable[Buffer]) -> None:
        """Other blocks, for which the block waits, have written to global arrays."""
        for buffer in buffers:
            self._outputs.update(buffer.name, buffer.contents())

    def on_step(self, group: Group, kind: StepKind, statement: tree.Statement, mask: Mask) -> None:
        """A statement is done: record the state after it."""
        if (
            isinstance(statement, tree.Declare)
            and statement.variable.space is tree.MemorySpace.SHARED
        ):
            return
        if len(self.steps) >= MAX_STEPS:
            raise SourceError(_too_long_message(group), statement.span)
        loops = tuple(self._position(group, state) for state in group.loops)
        interval = group.interval if isinstance(group.interval, int) else int(group.interval[0])
        evaluations, accesses = self._take_finished(statement)
        step = Step(
            number=len(self.steps),
            kind=kind,
            statement=statement,
            loops=loops,
            interval=interval,
            warp_syncs=group.warp_syncs.count,
            active=self._active(group, mask),
            evaluations=evaluations,
            accesses=accesses,
            registers=self._snapshot(group, statement),
            shared=self._shared.contents(),
            written=self._written.contents(),
            outputs=self._outputs.contents(),
            stored=self._stored.contents(),
        )
        self.steps.append(step)
        self._bytes += sum(map(sys.getsizeof, (step, loops, evaluations, accesses, *accesses)))
        if self.bytes > MAX_BYTES:
            raise LaunchError(
                f"The recording takes more than {MAX_BYTES / 2**20:,.0f} MiB; choose smaller sizes."
            )

    @property
    def bytes(self) -> int:
        """The memory that the steps take."""
        written = self._written.bytes + self._stored.bytes
        return self._bytes + self._shared.bytes + self._outputs.bytes + written

    def _take_finished(
        self, statement: tree.Statement
    ) -> tuple[tuple[Evaluation, ...], tuple[StepAccess, ...]]:
        """Take what belongs to the step that ends.

        While a called function runs, its caller's expressions wait for the caller's own step.
        """
        around = self._statement_around
        if not around:  # as in most kernels: nothing waits
            evaluations, accesses = tuple(self._evaluations), tuple(self._accesses)
            self._evaluations, self._accesses = [], []
            return evaluations, accesses

        def is_finished(recorded: Evaluation | StepAccess) -> bool:
            return around.get(recorded.expression, statement) is statement

        evaluations = tuple(e for e in self._evaluations if is_finished(e))
        accesses = tuple(a for a in self._accesses if is_finished(a))
        self._evaluations = [e for e in self._evaluations if not is_finished(e)]
        self._accesses = [a for a in self._accesses if not is_finished(a)]
        return evaluations, accesses

    def _position(self, group: Group, state: LoopState) -> LoopPosition:
        """Where in a loop a group is; a new object only if its variable or iteration changed."""
        loop, variable = state.loop, state.loop.variable
        value = None if variable is None else group.frame[group.slot_of[variable]]
        value_before, position = self._positions.get(loop, (None, None))
        if position is None or value is not value_before or position.iteration != state.iteration:
            name = None if variable is None else variable.name
            position = LoopPosition(loop, state.iteration, name, _common_number(value))
            self._bytes += sys.getsizeof(position)
            self._positions[loop] = value, position
        return position

    def _snapshot(self, group: Group, statement: tree.Statement) -> Mapping[str, Array]:
        """Every visible variable's values by name: [T], or [T, ...] for a local array."""
        registers: dict[str, Array] = {}
        for variable in self._visible.get(statement, ()):
            buffer: Buffer | None = None
            if variable.space is tree.MemorySpace.LOCAL:
                address = group.arrays.get(variable)
                buffer = None if address is None else address.buffer
                source = None if buffer is None else self._last_writes.get(buffer, buffer)
            else:
                source = group.frame[group.slot_of[variable]]
            if source is None or isinstance(source, Address):
                continue
            key = (variable, group.threads[0])
            if self._register_sources.get(key) is not source:
                self._register_sources[key] = source
                if buffer is not None:
                    values = np.moveaxis(buffer.contents(), -1, 0)
                    values = numbers_held(variable.ctype, values)
                else:
                    values = self._spread(group, source)
                    if group.threads.size < self._threads:
                        values = values[group.threads]
                self._registers[variable] = self._share(self._merge(group, variable, values))
            registers[variable.name] = self._registers[variable]
        if not (
            len(registers) == len(self._by_name)
            and all(map(is_, registers.values(), self._by_name.values()))
            and registers.keys() == self._by_name.keys()
        ):
            self._by_name = registers
            self._bytes += sys.getsizeof(registers)
        return self._by_name

    def _merge(self, group: Group, variable: tree.Variable, values: Array) -> Array:
        """The values [T] of a variable, of which those of a group's threads are new."""
        if group.threads.size == self._threads:
            return values
        whole = self._registers.get(variable)
        if whole is None or whole.shape[1:] != values.shape[1:]:
            whole = np.zeros((self._threads, *values.shape[1:]), values.dtype)
        whole = whole.copy()
        whole[group.threads] = values
        return whole

    def _spread(self, group: Group, value: Any) -> Array:
        """A value as [T], or [T, components] for a short vector; 0 for other groups' threads."""
        if isinstance(value, Address):
            value = clip_offsets(value.offset)
        if isinstance(value, tuple):
            return np.stack([self._spread(group, component) for component in value], axis=-1)
        if value is None:
            return np.zeros(self._threads, np.int32)
        value = np.asarray(value)
        if group.threads.size == self._threads:
            return value if value.ndim else self._repeat(value)
        whole = np.zeros(self._threads, value.dtype)
        whole[group.threads] = value
        return whole

    def _active(self, group: Group, mask: Mask) -> Array:
        """A mask of a group's lanes as bool [T]."""
        if mask is ALL and group.threads.size == self._threads:
            return self._all_active
        latest_group, latest_mask, active = self._latest_active
        if group is latest_group and mask is latest_mask:
            return active
        active = as_array(mask, group.lanes)
        if group.threads.size < self._threads:
            whole = np.zeros(self._threads, np.bool_)
            whole[group.threads] = active
            active = whole
        active = self._share(active)
        self._latest_active = group, mask, active
        return active

    def _share(self, array: Array) -> Array:
        """An equal array that earlier steps have; else this one, which steps have from now on."""
        if array.strides == (0,):  # of _repeat
            return array
        key = (array.dtype, array.shape, array.tobytes())
        known = self._arrays.get(key)
        return self._take(key, array) if known is None else known

    def _repeat(self, value: Array) -> Array:
        """One number [] as a read-only array [T], whose entries are all that one.

        The same as np.broadcast_to, in a fraction of its time.
        """
        number = value.tobytes()
        key = (value.dtype, number)
        known = self._arrays.get(key)
        if known is None:
            repeated = np.ndarray((self._threads,), value.dtype, number, strides=(0,))
            known = self._take(key, repeated)
        return known

    def _take(self, key: tuple[Any, ...], array: Array) -> Array:
        """Count an array, which later steps share."""
        self._bytes += sys.getsizeof(array)
        if array.base is not None:
            self._bytes += sys.getsizeof(array.base)
        if len(self._arrays) == COMING:
            self._arrays.clear()
        self._arrays[key] = array
        return array


class OneBlock(Observer):
    """Lets a recorder see one block of a launch whose blocks run beside each other.

    Of the others it sees what they have written by the time that all have waited for each other.
    """

    def __init__(self, recorder: Recorder, block: int) -> None:
        """block is its linear number in the grid."""
        self._recorder, self._block = recorder, block
        self._written: dict[str, Buffer] = {}  # global arrays that others have written to

    def _is_seen(self, group: Group) -> bool:
        return bool(group.blocks[0] == self._block)

    def on_start(self, kernel: tree.Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Pass it on."""
        self._recorder.on_start(kernel, launch, buffers)

    def on_chunk(self, groups: list[Group]) -> None:
        """Pass on the block's groups."""
        self._recorder.on_chunk([group for group in groups if self._is_seen(group)])

    def on_evaluation(
        self, group: Group, expression: tree.Expression, value: Any, mask: Mask
    ) -> None:
        """Pass on the block's."""
        if self._is_seen(group):
            self._recorder.on_evaluation(group, expression, value, mask)

    def on_access(self, access: Access) -> None:
        """Pass on the block's, and note which arrays others write to."""
        if self._is_seen(access.group):
            self._recorder.on_access(access)
        elif access.kind is not AccessKind.LOAD and access.buffer.space is tree.MemorySpace.GLOBAL:
            self._written[access.buffer.name] = access.buffer

    def on_fault(self, fault: Fault) -> None:
        """Pass on the block's."""
        if self._is_seen(fault.group):
            self._recorder.on_fault(fault)

    def on_step(self, group: Group, kind: StepKind, statement: tree.Statement, mask: Mask) -> None:
        """Pass on the block's."""
        if self._is_seen(group):
            self._recorder.on_step(group, kind, statement, mask)

    def on_barrier(self, barrier: tree.Barrier, groups: list[Group]) -> None:
        """Show what others have written where all blocks have waited for each other."""
        if barrier.of_grid:
            self._recorder.see_others(self._written.values())
            self._written.clear()


def _common_number(value: Any) -> int | None:
    """The whole number that a variable has in all threads; None if it has none, or several."""
    if value is None or isinstance(value, (tuple, Address)):
        return None
    numbers = np.asarray(value).reshape(-1)
    whole = numbers.dtype.kind in "iub" and (numbers == numbers[0]).all()
    return int(numbers[0]) if whole else None


def _too_long_message(group: Group) -> str:
    """Why a recording stops: the block takes too many steps, or a loop does not end."""
    message = f"The block takes more than {MAX_STEPS:,} steps; choose smaller sizes."
    longest = max(group.loops, key=lambda state: state.iteration, default=None)
    if longest is not None and longest.iteration >= MANY_ITERATIONS:
        line, count = longest.loop.span.line, longest.iteration
        message += (
            f" The loop of line {line} has run {count:,} times: does its condition ever fail?"
        )
    return message


def _statements_around_calls(kernel: tree.Kernel) -> dict[tree.Expression, tree.Statement]:
    """The statement of each expression whose statement calls a function that has steps."""
    found: dict[tree.Expression, tree.Statement] = {}
    for statement in walk(kernel.body):
        expressions = [s for e in expressions_of(statement) for s in subexpressions(e)]
        if any(isinstance(expression, tree.Inlined) for expression in expressions):
            found.update((expression, statement) for expression in expressions)
    return found
