"""The steps of one block, recorded so that any of them is there at once, forward or back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.scopes import visible_variables
from simulator.language.tree import (
    Declare,
    Expression,
    Inlined,
    Kernel,
    Loop,
    MemorySpace,
    Statement,
    Variable,
)
from simulator.language.visit import expressions_of, subexpressions, walk
from simulator.launch import Dim3, Launch, ravel
from simulator.machine.buffers import Address, Buffer, clip_offsets
from simulator.machine.group import Group, LoopState
from simulator.machine.machine import Machine
from simulator.machine.masks import ALL, Mask, as_array
from simulator.machine.observer import Access, AccessKind, Fault, Observer, StepKind
from simulator.machine.schedule import Schedule
from simulator.recording.recording import Evaluation, LoopPosition, Recording, Step, StepAccess

MAX_STEPS = 20_000  # of one recording; beyond it a class has lost the thread
SUSPECT = 100  # rounds of a loop, before it is asked whether it ever ends
MAX_SNAPSHOT = 2**28  # bytes that all snapshots of one recording may take


def record(
    kernel: Kernel,
    launch: Launch,
    block: Dim3 = (0, 0, 0),
    schedule: Schedule = Schedule.LOCKSTEP,
    seed: int = 0,
) -> Recording:
    """Every step of one block, its threads in lockstep or its warps in the order of a schedule.

    block is in x, y, z. Raises LaunchError for a block outside the grid or a launch that no GPU
    takes, SourceError for what cannot be executed or takes more than MAX_STEPS steps.
    """
    for axis, index, size in zip("xyz", block, launch.grid, strict=True):
        if not 0 <= index < size:
            raise LaunchError(
                f"Block {index} in {axis} is not in the grid, which has {size} there "
                f"(0 to {size - 1})."
            )
    recorder = Recorder()
    machine = Machine(kernel, launch, [recorder], schedule, seed)
    machine.run(np.array([ravel(block, launch.grid)]))
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in machine.arguments.items()
    }
    return Recording(kernel, launch, arguments, block, tuple(recorder.steps), kernel.shared)


class Recorder(Observer):
    """Listens to the machine run one block and keeps its steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._evaluations: list[Evaluation] = []
        self._accesses: list[StepAccess] = []
        self._threads = 0
        self._visible: dict[Statement, tuple[Variable, ...]] = {}
        self._enclosing: dict[Expression, Statement] = {}
        self._everyone = np.ones(0, np.bool_)
        self._turns: dict[Loop, tuple[Any, LoopPosition]] = {}
        self._kept: dict[Any, Any] = {}
        self._last: dict[Buffer, Access] = {}  # that changed an array of a thread's own
        self._registers: dict[Variable, Array] = {}
        self._shared: dict[str, Array] = {}
        self._written: dict[str, Array] = {}
        self._outputs: dict[str, Array] = {}
        self._stored: dict[str, Array] = {}
        self._bytes = 0

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Learn which variables each statement can see."""
        self._threads = launch.threads
        self._everyone = np.ones(launch.threads, np.bool_)
        self._visible = visible_variables(kernel.body, kernel.parameters)
        self._enclosing = _around_calls(kernel)

    def on_chunk(self, groups: list[Group]) -> None:
        """Keep the shared arrays as they are before anything was written."""
        for name, buffer in groups[0].shared.items():
            self._shared[name] = buffer.contents()
            self._written[name] = np.zeros(buffer.shape, np.bool_)

    def on_evaluation(self, group: Group, expression: Expression, value: Any, mask: Mask) -> None:
        """Keep a subexpression's value."""
        array = value.buffer.name if isinstance(value, Address) else None
        active = self._active(group, mask)
        self._evaluations.append(Evaluation(expression, self._spread(group, value), active, array))

    def on_access(self, access: Access) -> None:
        """Keep a load or store, and what it left in memory."""
        group, buffer = access.group, access.buffer
        active = self._active(group, access.mask)
        self._accesses.append(
            StepAccess(
                access.kind,
                buffer.space,
                buffer.name,
                self._spread(group, np.asarray(access.offsets, dtype=np.int64)),
                access.width,
                self._spread(group, access.values),
                active,
                access.lvalue,
                active,
            )
        )
        if access.kind is AccessKind.LOAD:
            return
        if buffer.space is MemorySpace.SHARED:
            self._shared[buffer.name] = self._copy(buffer.contents())
            written = self._written[buffer.name].copy()
            written.reshape(-1)[access.cells()[0]] = True
            self._written[buffer.name] = self._copy(written)
        elif buffer.space is MemorySpace.GLOBAL:
            before = self._stored.get(buffer.name)
            self._outputs[buffer.name] = self._copy(buffer.contents())
            stored = np.zeros(buffer.shape, np.bool_) if before is None else before.copy()
            stored.reshape(-1)[access.cells()[0]] = True
            self._stored[buffer.name] = self._copy(stored)
        else:
            self._last[buffer] = access

    def on_fault(self, fault: Fault) -> None:
        """Keep an access that was dropped."""
        group = fault.group
        active = np.zeros(self._threads, np.bool_)
        active[group.threads] = fault.lanes
        zeros = np.zeros(self._threads, fault.buffer.element.dtype)
        offsets = self._spread(group, clip_offsets(fault.offsets))
        self._accesses.append(
            StepAccess(
                fault.kind, fault.buffer.space, fault.buffer.name, offsets, fault.width, zeros,
                active, fault.lvalue, np.zeros(self._threads, np.bool_),
            )
        )  # fmt: skip

    def on_step(self, group: Group, kind: StepKind, statement: Statement, mask: Mask) -> None:
        """A statement is done: keep how everything stands."""
        if isinstance(statement, Declare) and statement.variable.space is MemorySpace.SHARED:
            return
        if len(self.steps) >= MAX_STEPS:
            raise SourceError(_too_long(group), statement.span)
        loops = tuple(self._position(group, state) for state in group.loops)
        interval = group.interval if isinstance(group.interval, int) else int(group.interval[0])
        evaluations, accesses = self._finished(statement)
        step = Step(
            number=len(self.steps),
            kind=kind,
            statement=statement,
            loops=loops,
            interval=interval,
            active=self._active(group, mask),
            evaluations=evaluations,
            accesses=accesses,
            registers=self._snapshot(group, statement),
            shared=dict(self._shared),
            written=dict(self._written),
            outputs=dict(self._outputs),
            stored=dict(self._stored),
        )
        self.steps.append(step)

    def _finished(
        self, statement: Statement
    ) -> tuple[tuple[Evaluation, ...], tuple[StepAccess, ...]]:
        """What belongs to the step that ends; the rest waits for the statement around a call."""
        around = self._enclosing

        def waits(expression: Expression) -> bool:
            return around.get(expression, statement) is not statement

        evaluations = tuple(p for p in self._evaluations if not around or not waits(p.expression))
        accesses = tuple(a for a in self._accesses if not around or not waits(a.expression))
        self._evaluations = [p for p in self._evaluations if around and waits(p.expression)]
        self._accesses = [a for a in self._accesses if around and waits(a.expression)]
        return evaluations, accesses

    def _position(self, group: Group, state: LoopState) -> LoopPosition:
        """Where in a loop a group is; found anew only where its variable or iteration differs."""
        loop = state.loop
        variable = loop.variable
        held = None if variable is None else group.frame[group.slot_of[variable]]
        before, position = self._turns.get(loop, (None, None))
        if position is None or held is not before or position.iteration != state.iteration:
            name = None if variable is None else variable.name
            position = LoopPosition(loop, state.iteration, name, _common(held))
            self._turns[loop] = held, position
        return position

    def _snapshot(self, group: Group, statement: Statement) -> Mapping[str, Array]:
        """Every visible variable's values, one a thread of the block."""
        registers: dict[str, Array] = {}
        for variable in self._visible.get(statement, ()):
            if variable.space is MemorySpace.LOCAL:
                address = group.arrays.get(variable)
                buffer = None if address is None else address.buffer
                held = None if buffer is None else self._last.get(buffer, buffer)
            else:
                buffer, held = None, group.frame[group.slot_of[variable]]
            if held is None or isinstance(held, Address):
                continue
            key = (variable, group.threads[0])
            if self._kept.get(key) is not held:
                self._kept[key] = held
                if buffer is not None:
                    values = np.moveaxis(buffer.contents(), -1, 0)
                else:
                    values = self._spread(group, held)[group.threads]
                self._registers[variable] = self._merge(group, variable, values)
            registers[variable.name] = self._registers[variable]
        return registers

    def _merge(self, group: Group, variable: Variable, values: Array) -> Array:
        """The values of a group's threads, beside what the block's other threads hold."""
        if group.threads.size == self._threads:
            return self._copy(values)
        whole = self._registers.get(variable)
        if whole is None or whole.shape[1:] != values.shape[1:]:
            whole = np.zeros((self._threads, *values.shape[1:]), values.dtype)
        whole = whole.copy()
        whole[group.threads] = values
        return self._copy(whole)

    def _spread(self, group: Group, value: Any) -> Array:
        """A value as one number (or vector) a thread of the block."""
        if isinstance(value, Address):
            value = clip_offsets(value.offset)
        if isinstance(value, tuple):
            return np.stack([self._spread(group, part) for part in value], axis=-1)
        if value is None:
            return np.zeros(self._threads, np.int32)
        value = np.asarray(value)
        if group.threads.size == self._threads:
            return value if value.ndim else _repeated(value, self._threads)
        whole = np.zeros(self._threads, value.dtype)
        whole[group.threads] = value
        return whole

    def _active(self, group: Group, mask: Mask) -> Array:
        if mask is ALL and group.threads.size == self._threads:
            return self._everyone
        active = as_array(mask, group.lanes)
        if group.threads.size == self._threads:
            return active
        whole = np.zeros(self._threads, np.bool_)
        whole[group.threads] = active
        return whole

    def _copy(self, array: Array) -> Array:
        """A snapshot, counted against the budget of one recording."""
        self._bytes += array.nbytes
        if self._bytes > MAX_SNAPSHOT:
            raise LaunchError(
                f"The recording takes more than {MAX_SNAPSHOT / 2**20:,.0f} MiB; "
                "choose smaller matrices."
            )
        return array


def _common(held: Any) -> int | None:
    """The whole number that all threads hold in a variable, None where there is no such."""
    if held is None or isinstance(held, (tuple, Address)):
        return None
    numbers = np.asarray(held).reshape(-1)
    whole = numbers.dtype.kind in "iub" and (numbers == numbers[0]).all()
    return int(numbers[0]) if whole else None


def _repeated(value: Array, count: int) -> Array:
    """One number [] as [count] of it, all in the same place: not to be written to.

    What np.broadcast_to gives, in a fraction of its time.
    """
    repeated = np.ndarray((count,), value.dtype, value, strides=(0,))
    repeated.flags.writeable = False
    return repeated


def _too_long(group: Group) -> str:
    """Why a recording stops: the block has much to do, or a loop does not end."""
    said = f"The block takes more than {MAX_STEPS:,} steps; choose smaller matrices."
    most = max(group.loops, key=lambda state: state.iteration, default=None)
    if most is not None and most.iteration >= SUSPECT:
        said += (
            f" The loop of line {most.loop.span.line} has gone round {most.iteration:,} times: "
            "does its condition ever fail?"
        )
    return said


def _around_calls(kernel: Kernel) -> dict[Expression, Statement]:
    """The statement of each expression that stands beside a called function's steps."""
    found: dict[Expression, Statement] = {}
    for statement in walk(kernel.body):
        inside = [p for e in expressions_of(statement) for p in subexpressions(e)]
        if any(isinstance(part, Inlined) for part in inside):
            found.update((part, statement) for part in inside)
    return found
