"""Statements as closures: each takes a group and its active lanes and gives those that go on.

A statement that contains a barrier is a generator; it yields the barrier with the lanes that
wait there, and goes on when the machine lets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from simulator.language.ctype import ArrayOf
from simulator.language.errors import SourceError
from simulator.language.tree import (
    Barrier,
    Break,
    Continue,
    Declare,
    Evaluate,
    Function,
    If,
    Kernel,
    Loop,
    MemorySpace,
    Return,
    Sequence,
    Statement,
    Switch,
    Variable,
)
from simulator.language.visit import declared_variables, inner_statements
from simulator.machine.addresses import Closure
from simulator.machine.buffers import Address, local_buffer
from simulator.machine.control_flow import Run, Waiting, as_generator, leave_by, return_
from simulator.machine.expressions import Evaluator
from simulator.machine.group import ALL, NONE, Group, LoopState, Mask, narrow, union
from simulator.machine.loop_limits import check_loop, counted, endless
from simulator.machine.observer import Observer, StepKind, overrides


class Program:
    """A kernel ready to run: `start(group)` gives its generator; frames have `slots` variables."""

    def __init__(self, kernel: Kernel, observers: list[Observer]) -> None:
        variables = [*kernel.parameters, *declared_variables(kernel.body)]
        # A shared array stands once in each call of the function that declares it.
        self.slots: Mapping[Variable, int] = {v: i for i, v in enumerate(dict.fromkeys(variables))}
        self._evaluator = Evaluator(self.slots, observers, self._inlined, kernel.contractions)
        self._step = [o.on_step for o in observers if overrides(o, "on_step")]
        self._barriers: dict[Statement, bool] = {}
        body = self._compile(kernel.body)
        self._run = body if self._has_barrier(kernel.body) else as_generator(body)
        self.memos = self._evaluator.memos

    def start(self, group: Group) -> Waiting:
        """The group's execution, from the kernel's first statement with all lanes active."""
        waiting: Waiting = self._run(group, ALL)
        return waiting

    def _inlined(self, function: Function) -> Run:
        """A function called within an expression."""
        if self._has_barrier(function):
            raise SourceError(
                f"{function.name} contains __syncthreads(): call it in a statement of its own.",
                function.span,
            )
        return self._compile(function)

    def _has_barrier(self, statement: Statement) -> bool:
        if statement not in self._barriers:
            self._barriers[statement] = isinstance(statement, Barrier) or any(
                self._has_barrier(inner) for inner in inner_statements(statement)
            )
        return self._barriers[statement]

    def _told(self, run: Run, kind: StepKind, statement: Statement) -> Run:
        """The closure, telling observers of steps when it has run."""
        if not self._step:
            return run
        tellers = self._step

        def told(group: Group, mask: Mask) -> Any:
            result = run(group, mask)
            for tell in tellers:
                tell(group, kind, statement, mask)
            return result

        return told

    def _compile(self, statement: Statement) -> Run:
        match statement:
            case Declare():
                return self._told(self._declare(statement), StepKind.RUN, statement)
            case Evaluate(expression=expression):
                value = self._evaluator.compile(expression)

                def evaluate(group: Group, mask: Mask) -> Mask:
                    value(group, mask)
                    return mask

                return self._told(evaluate, StepKind.RUN, statement)
            case Barrier():
                return self._barrier(statement)
            case Sequence(statements=statements):
                return self._sequence(statements)
            case If():
                return self._if(statement)
            case Loop():
                return self._loop(statement)
            case Break():
                return self._told(leave_by("breaks"), StepKind.RUN, statement)
            case Continue():
                return self._told(leave_by("continues"), StepKind.RUN, statement)
            case Return():
                return self._told(return_, StepKind.RUN, statement)
            case Switch():
                return self._switch(statement)
            case Function():
                return self._function(statement)
            case _:
                assert_never(statement)

    def _function(self, function: Function) -> Run:
        """The called function's body; who returns waits at its end for the others."""
        parameters = [self._compile(parameter) for parameter in function.parameters]
        body, waits = self._compile(function.body), self._has_barrier(function.body)
        slot = None if function.result is None else self.slots[function.result]

        def enter(group: Group, mask: Mask) -> None:
            for parameter in parameters:
                parameter(group, mask)
            group.returns.append(NONE)
            if slot is not None:
                group.frame[slot] = None
                group.declared[slot], group.given[slot] = mask, NONE

        def run(group: Group, mask: Mask) -> Mask:
            enter(group, mask)
            body(group, mask)
            group.returns.pop()
            return mask

        def waiting_run(group: Group, mask: Mask) -> Waiting:
            enter(group, mask)
            yield from body(group, mask)
            group.returns.pop()
            return mask

        return waiting_run if waits else run

    def _switch(self, switch: Switch) -> Run:
        """Threads enter the body at their label and fall through to a break."""
        selector = self._told(self._evaluator.compile(switch.selector), StepKind.TEST, switch)
        body = [(self._compile(s), self._has_barrier(s)) for s in switch.body]

        def enter(group: Group, mask: Mask) -> tuple[list[Mask], Mask]:
            """Who enters at each position, and who at none."""
            value = selector(group, mask)
            entering: list[Mask] = [NONE] * len(body)
            left, default = mask, None
            for label, position in switch.labels:
                if label is None:
                    default = position
                    continue
                equal = value == label
                entering[position] = union(entering[position], narrow(left, equal))
                left = narrow(left, ~equal if hasattr(equal, "shape") else not equal)
            if default is not None:
                entering[default] = union(entering[default], left)
                left = NONE
            group.breaks.append(NONE)
            return entering, left

        def waiting_run(group: Group, mask: Mask) -> Waiting:
            entering, left = enter(group, mask)
            active: Mask = NONE
            for (run, waits), more in zip(body, entering, strict=True):
                active = union(active, more)
                if active is not NONE:
                    active = (yield from run(group, active)) if waits else run(group, active)
            return union(union(active, left), group.breaks.pop())

        if any(waits for _, waits in body):
            return waiting_run

        def run(group: Group, mask: Mask) -> Mask:
            # Without a barrier inside, the generator runs to its end at once.
            code = waiting_run(group, mask)
            while True:
                try:
                    next(code)
                except StopIteration as end:
                    return end.value

        return run

    def _declare(self, statement: Declare) -> Run:
        variable = statement.variable
        slot = self.slots[variable]
        if variable.space is MemorySpace.SHARED:
            return lambda group, mask: mask
        if variable.space is MemorySpace.LOCAL:
            return self._declare_array(statement)
        value = None if statement.value is None else self._evaluator.compile(statement.value)

        def declare(group: Group, mask: Mask) -> Mask:
            group.frame[slot] = None if value is None else value(group, mask)
            group.declared[slot] = mask
            group.given[slot] = NONE if value is None else ALL
            return mask

        return declare

    def _declare_array(self, statement: Declare) -> Run:
        variable, memory = statement.variable, self._evaluator.memory
        ctype = variable.ctype
        assert isinstance(ctype, ArrayOf)
        cells = [self._evaluator.compile(cell) for cell in statement.cells or ()]
        size = ctype.innermost.size
        slots = [self._evaluator.memo() for _ in cells]

        def declare(group: Group, mask: Mask) -> Mask:
            buffer = local_buffer(variable.name, ctype, group.lanes)
            group.arrays[variable] = Address(buffer, None, 0)
            for i, (cell, lvalue) in enumerate(zip(cells, statement.cells or (), strict=True)):
                address = Address(buffer, None, i * size)
                value = cell(group, mask)
                memory.store(group, mask, address, ctype.innermost, lvalue, slots[i], value)
            return mask

        return declare

    def _barrier(self, barrier: Barrier) -> Run:
        tellers = self._step

        def wait(group: Group, mask: Mask) -> Waiting:
            for tell in tellers:
                tell(group, StepKind.BARRIER, barrier, mask)
            yield barrier, mask
            return mask

        return wait

    def _sequence(self, statements: tuple[Statement, ...]) -> Run:
        if len(statements) == 1:
            return self._compile(statements[0])
        parts = [(self._compile(s), self._has_barrier(s)) for s in statements]
        if not any(waits for _, waits in parts):
            runs = [run for run, _ in parts]

            def sequence(group: Group, mask: Mask) -> Mask:
                for run in runs:
                    mask = run(group, mask)
                    if mask is NONE:
                        break
                return mask

            return sequence

        def waiting_sequence(group: Group, mask: Mask) -> Waiting:
            for run, waits in parts:
                mask = (yield from run(group, mask)) if waits else run(group, mask)
                if mask is NONE:
                    break
            return mask

        return waiting_sequence

    def _if(self, statement: If) -> Run:
        condition: Closure = self._told(
            self._evaluator.compile(statement.condition), StepKind.TEST, statement
        )
        yes = self._compile(statement.yes)
        no = self._compile(statement.no) if statement.no else (lambda group, mask: mask)
        yes_waits = self._has_barrier(statement.yes)
        no_waits = statement.no is not None and self._has_barrier(statement.no)

        def split(group: Group, mask: Mask) -> tuple[Mask, Mask]:
            chosen = condition(group, mask)
            inverse = ~chosen if hasattr(chosen, "shape") else not chosen
            return narrow(mask, chosen), narrow(mask, inverse)

        if not (yes_waits or no_waits):

            def branch(group: Group, mask: Mask) -> Mask:
                for_yes, for_no = split(group, mask)
                after = yes(group, for_yes) if for_yes is not NONE else NONE
                other = no(group, for_no) if for_no is not NONE else NONE
                whole = after is for_yes and other is for_no
                return mask if whole else union(after, other)

            return branch

        def waiting_branch(group: Group, mask: Mask) -> Waiting:
            for_yes, for_no = split(group, mask)
            after = other = NONE
            if for_yes is not NONE:
                after = (yield from yes(group, for_yes)) if yes_waits else yes(group, for_yes)
            if for_no is not NONE:
                other = (yield from no(group, for_no)) if no_waits else no(group, for_no)
            whole = after is for_yes and other is for_no
            return mask if whole else union(after, other)

        return waiting_branch

    def _loop(self, loop: Loop) -> Run:
        start = self._compile(loop.start) if loop.start else None
        condition = None
        if loop.condition is not None:
            condition = self._told(self._evaluator.compile(loop.condition), StepKind.TEST, loop)
        advance = None
        if loop.advance is not None:
            advance = self._told(self._evaluator.compile(loop.advance), StepKind.ADVANCE, loop)
        body, waits = self._compile(loop.body), self._has_barrier(loop.body)
        has_counter, never_ends = counted(loop), endless(loop)

        def enter(group: Group, mask: Mask) -> LoopState:
            state = LoopState(loop)
            group.loops.append(state)
            group.breaks.append(NONE)
            group.continues.append(NONE)
            if start is not None:
                start(group, mask)
            return state

        def test(group: Group, active: Mask) -> tuple[Mask, Mask]:
            """Who stays in the loop, and who leaves."""
            if condition is None:
                return active, NONE
            chosen = condition(group, active)
            if not hasattr(chosen, "shape") or not chosen.shape:
                return (active, NONE) if chosen else (NONE, active)
            stay = narrow(active, chosen)
            return stay, NONE if stay is active else narrow(active, ~chosen)

        def turn(group: Group, state: LoopState, active: Mask) -> Mask:
            """The end of one iteration: those who skipped the rest join, the loop advances."""
            active = union(active, group.continues[-1])
            group.continues[-1] = NONE
            if active is not NONE and advance is not None:
                advance(group, active)
            state.iteration += 1
            if never_ends and active is not NONE:
                raise SourceError("This loop never ends: nothing within it leaves it.", loop.span)
            check_loop(state, has_counter, group.deadline)
            return active

        def leave(group: Group, mask: Mask, left: Mask, returned: Mask) -> Mask:
            group.loops.pop()
            group.continues.pop()
            left = union(left, group.breaks.pop())
            # All that came in leave, unless some returned: the same mask lets memos hold.
            return mask if group.returns[-1] is returned else left

        if not waits:

            def run(group: Group, mask: Mask) -> Mask:
                returned = group.returns[-1]
                state, active, left = enter(group, mask), mask, NONE
                while active is not NONE:
                    if loop.test_first or state.iteration:
                        active, gone = test(group, active)
                        left = union(left, gone)
                        if active is NONE:
                            break
                    active = turn(group, state, body(group, active))
                return leave(group, mask, left, returned)

            return run

        def waiting_run(group: Group, mask: Mask) -> Waiting:
            returned = group.returns[-1]
            state, active, left = enter(group, mask), mask, NONE
            while active is not NONE:
                if loop.test_first or state.iteration:
                    active, gone = test(group, active)
                    left = union(left, gone)
                    if active is NONE:
                        break
                active = turn(group, state, (yield from body(group, active)))
            return leave(group, mask, left, returned)

        return waiting_run
