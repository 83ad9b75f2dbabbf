"""Compiles statements to closures, which take the active lanes and give those that go on.

A construct with a barrier within it is a generator that yields the barrier (see Waiting). Loops,
switches and functions are written as generators only; one without a barrier runs as a plain call.
Sequences and ifs have a plain form of their own: a generator costs about a microsecond, and inner
loops run these most often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np

from simulator.language import tree
from simulator.language.counted_loops import counted_loop
from simulator.language.ctype import ArrayOf
from simulator.language.errors import SourceError, Span
from simulator.language.functions import CLOCKS
from simulator.language.loop_ends import (
    deciding_variables,
    has_counter,
    is_endless,
    is_never_negative,
)
from simulator.language.visit import calls, declared_variables, inner_statements, strip_casts
from simulator.language.waiting import is_waiting, needs_all_lanes, spins
from simulator.machine.budget import CLOCK_INTERVAL, LoopState
from simulator.machine.buffers import Address, local_buffer
from simulator.machine.clocks import count_steps
from simulator.machine.closures import Closure, Run, Waiting, as_generator, without_barrier
from simulator.machine.control_flow import (
    break_,
    continue_,
    enter_function,
    enter_loop,
    enter_switch,
    join_continued,
    leave_function,
    leave_loop,
    leave_switch,
    return_,
)
from simulator.machine.expressions import Evaluator
from simulator.machine.group import Group
from simulator.machine.masks import ALL, NONE, Mask, narrow, negate, union
from simulator.machine.meetings import arrival_at, branches_that_meet, meeting_call, run_to_meetings
from simulator.machine.observer import Observer, StepKind, callbacks, overriding
from simulator.machine.pointers import PointerMemory
from simulator.machine.printing import LaunchStopped
from simulator.machine.registers import PassOn, blend
from simulator.machine.reinterpretation import reinterpreted_arrays
from simulator.machine.sweeps import SweptLoop
from simulator.machine.turns import Part, hold_back, offer, run_branches, run_function, run_parts

# Iterations after which a loop's registers are compared with those of the next one.
STALL_CHECKS = frozenset({1, 64, 4096})


class Program:
    """A kernel compiled for some observers.

    frame_slots numbers its variables, memo_slots is how many entries Group.memo needs.
    """

    def __init__(self, kernel: tree.Kernel, observers: list[Observer]) -> None:
        # A function's variables are declared once for each of its calls: dict drops the repeats.
        variables = dict.fromkeys([*kernel.parameters, *declared_variables(kernel.body)])
        self.frame_slots: Mapping[tree.Variable, int] = {v: i for i, v in enumerate(variables)}
        self._evaluator = Evaluator(
            self.frame_slots, observers, self._called_in_expression, kernel.contractions
        )
        self._contractions = kernel.contractions
        self._on_step = callbacks(observers, "on_step")
        self._observers_of_accesses = overriding(observers, "on_access")
        self._reinterpreted = reinterpreted_arrays(kernel.body)
        self._counts_steps = calls(kernel.body, CLOCKS)
        # Whether each step, or each expression, is to be executed on its own.
        self._steps_apart = bool(
            self._on_step or self._counts_steps or callbacks(observers, "on_evaluation")
        )
        self._waiting: dict[tree.Statement, bool] = {}  # results of _waits
        # Whether loops wait for other threads, so that each warp of each block must take turns.
        self.takes_turns = spins(kernel.body)
        # The ifs whose branches meet in warp functions; with turns, each branch waits for itself.
        self._meeting_ifs, self._meetings = (
            ({}, frozenset()) if self.takes_turns else branches_that_meet(kernel.body)
        )
        run = self._compile(kernel.body)
        self._run = run if self._waits(kernel.body) else as_generator(run)
        self.memo_slots = self._evaluator.memo_slots

    @property
    def pointers(self) -> PointerMemory:
        """Loads and stores of pointers."""
        return self._evaluator.pointers

    def start(self, group: Group) -> Waiting:
        """The group's execution, from the kernel's first statement with all lanes active."""
        waiting: Waiting = self._run(group, ALL)
        return waiting

    def _called_in_expression(self, function: tree.Function) -> Run:
        """The closure of a function that is called within an expression."""
        if self._waits(function):
            raise SourceError(
                f"Threads wait in {function.name} for others: call it in a statement of its own.",
                function.span,
            )
        return self._compile(function)

    def _waits(self, statement: tree.Statement) -> bool:
        if statement not in self._waiting:
            self._waiting[statement] = (
                isinstance(statement, tree.Barrier)
                or statement in self._meetings
                or (self._spins(statement) and isinstance(statement, tree.Loop))
                or any(self._waits(inner) for inner in inner_statements(statement))
            )
        return self._waiting[statement]

    def _spins(self, statement: tree.Statement) -> bool:
        """Whether a loop within a statement waits for another thread."""
        return self.takes_turns and spins(statement)

    def _finish(self, run: Callable[[Group, Mask], Waiting], statement: tree.Statement) -> Run:
        """The closure of a construct: its generator, or a plain call if it has no barrier."""
        return run if self._waits(statement) else without_barrier(run)

    def _notifying(self, run: Run, kind: StepKind, statement: tree.Statement) -> Run:
        """A closure that counts a step, and notifies observers of it, after each run."""
        if self._counts_steps:
            run = count_steps(run)
        if not self._on_step:
            return run
        notifications = self._on_step

        def notifying(group: Group, mask: Mask) -> Any:
            try:
                result = run(group, mask)
            except LaunchStopped:
                for notify in notifications:
                    notify(group, kind, statement, mask)
                raise
            for notify in notifications:
                notify(group, kind, statement, mask)
            return result

        return notifying

    def _compile_step(
        self, expression: tree.Expression, kind: StepKind, statement: tree.Statement
    ) -> Run:
        """The closure of an expression that is a step of a statement."""
        return self._notifying(self._evaluator.compile(expression), kind, statement)

    def _compile(self, statement: tree.Statement) -> Run:
        match statement:
            case tree.Declare() | tree.Evaluate() if statement in self._meetings:
                return self._meeting(statement)
            case tree.Declare():
                return self._notifying(self._declare(statement), StepKind.RUN, statement)
            case tree.Evaluate(expression=expression):
                return self._notifying(self._evaluate(expression), StepKind.RUN, statement)
            case tree.Barrier():
                return self._barrier(statement)
            case tree.Sequence():
                return self._sequence(statement)
            case tree.If():
                return self._if(statement)
            case tree.Loop():
                return self._loop(statement)
            case tree.Break():
                return self._notifying(break_, StepKind.RUN, statement)
            case tree.Continue():
                return self._notifying(continue_, StepKind.RUN, statement)
            case tree.Return():
                return self._notifying(return_, StepKind.RUN, statement)
            case tree.Switch():
                return self._switch(statement)
            case tree.Function():
                return self._function(statement)
            case _:
                assert_never(statement)

    def _compile_part(self, statement: tree.Statement | None) -> tuple[Run, bool]:
        """The closure of a part of a construct, whose lanes go on together; whether it waits."""
        if statement is None:
            return _do_nothing, False
        run = self._compile(statement)
        return _held_back(run) if self._spins(statement) else run, self._waits(statement)

    # Simple statements -------------------------------------------------------------------------

    def _evaluate(self, expression: tree.Expression) -> Run:
        value = self._evaluator.compile(expression)

        def evaluate(group: Group, mask: Mask) -> Mask:
            value(group, mask)
            return mask

        return evaluate

    def _meeting(self, statement: tree.Declare | tree.Evaluate) -> Run:
        """A call of a warp function to which lanes of another branch may come."""
        call = meeting_call(statement)
        assert call is not None
        arrive = self._notifying(arrival_at(call, self._evaluator), StepKind.RUN, statement)
        take_result: Run = _do_nothing
        if isinstance(statement, tree.Declare):
            slot = self.frame_slots[statement.variable]
            take_result = self._declare_as(slot, lambda group, mask: group.met, statement.span)

        def wait(group: Group, mask: Mask) -> Waiting:
            meeting = arrive(group, mask)
            yield meeting
            group.met = meeting.arrived[0].result
            take_result(group, mask)
            return mask

        return wait

    def _declare(self, statement: tree.Declare) -> Run:
        variable = statement.variable
        slot = self.frame_slots[variable]
        if variable.space is tree.MemorySpace.SHARED:
            return lambda group, mask: mask
        if variable.space is tree.MemorySpace.LOCAL:
            return self._declare_array(statement)
        if statement.value is None:
            return self._declare_unset(slot)
        value, pass_on = self._evaluator.compile_copy(statement.value, variable)
        return self._declare_as(slot, value, statement.span, pass_on)

    def _declare_as(
        self, slot: int, value: Closure, span: Span, pass_on: PassOn | None = None
    ) -> Run:
        """A declaration with a first value."""
        if self.takes_turns:
            return self._declare_for_some(slot, value, span)

        def declare(group: Group, mask: Mask) -> Mask:
            group.frame[slot] = value(group, mask)
            group.declared_mask[slot] = mask
            group.assigned_mask[slot] = ALL
            if pass_on is not None:
                pass_on(group, mask)
            return mask

        return declare

    def _declare_for_some(self, slot: int, value: Closure, span: Span) -> Run:
        """A declaration that leaves the variable as it is in lanes that are elsewhere."""

        def declare(group: Group, mask: Mask) -> Mask:
            new, old = value(group, mask), group.frame[slot]
            apart = mask is not ALL and old is not None
            if isinstance(new, Address) and apart and new.buffer is not old.buffer:
                apart = False  # pointers into two arrays cannot be in one variable
            group.frame[slot] = blend(mask, new, old, span) if apart else new
            group.declared_mask[slot] = NONE
            group.assigned_mask[slot] = union(group.assigned_mask[slot], mask)
            return mask

        return declare

    def _declare_unset(self, slot: int) -> Run:
        if self.takes_turns:
            return _do_nothing  # other lanes may hold a value

        def declare(group: Group, mask: Mask) -> Mask:
            group.frame[slot] = None
            group.declared_mask[slot] = mask
            group.assigned_mask[slot] = NONE
            return mask

        return declare

    def _declare_array(self, statement: tree.Declare) -> Run:
        variable, ctype = statement.variable, statement.variable.ctype
        assert isinstance(ctype, ArrayOf)
        by_lane = variable in self._reinterpreted
        memory = self._evaluator.memory_of(ctype.innermost)
        initializers = statement.cells or ()
        values = [self._evaluator.compile(initializer) for initializer in initializers]
        element = ctype.innermost
        operands = [self._evaluator.operand(initializer, element) for initializer in initializers]
        turns = self.takes_turns

        def declare(group: Group, mask: Mask) -> Mask:
            if not (turns and variable in group.arrays):
                buffer = local_buffer(variable.name, ctype, group.lanes, by_lane)
                group.arrays[variable] = Address(buffer, None, 0)
            buffer = group.arrays[variable].buffer
            for i, (value, operand) in enumerate(zip(values, operands, strict=True)):
                address = Address(buffer, None, i * element.size)
                memory.store(group, mask, address, operand, value(group, mask))
            return mask

        return declare

    def _barrier(self, barrier: tree.Barrier) -> Run:
        vote = barrier.vote
        predicate = None if vote is None else self._evaluator.compile(vote.predicate)
        take_result: Run = _do_nothing
        if vote is not None:
            slot = self.frame_slots[vote.result]
            take_result = self._declare_as(slot, lambda group, mask: group.vote, barrier.span)

        def arrive(group: Group, mask: Mask) -> None:
            if predicate is not None:
                group.vote = predicate(group, mask)

        arrive_step = self._notifying(arrive, StepKind.BARRIER, barrier)

        def wait(group: Group, mask: Mask) -> Waiting:
            arrive_step(group, mask)
            yield barrier, mask
            take_result(group, mask)
            return mask

        return wait

    # Control flow --------------------------------------------------------------------------------

    def _sequence(self, sequence: tree.Sequence) -> Run:
        if len(sequence.statements) == 1:
            return self._compile(sequence.statements[0])
        if self._spins(sequence):
            return self._sequence_with_turns(sequence)
        body = [(self._compile(s), self._waits(s)) for s in sequence.statements]
        for number in range(CLOCK_INTERVAL, len(body), CLOCK_INTERVAL):
            body[number] = (_watched(body[number][0]), body[number][1])
        runs = [run for run, _ in body]

        def run(group: Group, mask: Mask) -> Mask:
            for statement in runs:
                mask = statement(group, mask)
                if mask is NONE:
                    break
            return mask

        def waiting_run(group: Group, mask: Mask) -> Waiting:
            for statement, waits in body:
                mask = (yield from statement(group, mask)) if waits else statement(group, mask)
                if mask is NONE:
                    break
            return mask

        return waiting_run if self._waits(sequence) else run

    def _sequence_with_turns(self, sequence: tree.Sequence) -> Run:
        parts = [
            Part(self._compile(s), self._waits(s), self._spins(s), needs_all_lanes(s))
            for s in sequence.statements
        ]
        return lambda group, mask: run_parts(parts, group, mask)

    def _if(self, statement: tree.If) -> Run:
        condition = self._compile_step(statement.condition, StepKind.TEST, statement)
        yes, yes_waits = self._compile(statement.yes), self._waits(statement.yes)
        no: Run = _do_nothing
        no_waits = False
        if statement.no is not None:
            no, no_waits = self._compile(statement.no), self._waits(statement.no)

        def split(group: Group, mask: Mask) -> tuple[Mask, Mask]:
            chosen = condition(group, mask)
            return narrow(mask, chosen), narrow(mask, negate(chosen))

        def run(group: Group, mask: Mask) -> Mask:
            yes_mask, no_mask = split(group, mask)
            after_yes = NONE if yes_mask is NONE else yes(group, yes_mask)
            after_no = NONE if no_mask is NONE else no(group, no_mask)
            return _join(mask, (yes_mask, no_mask), (after_yes, after_no))

        def waiting_run(group: Group, mask: Mask) -> Waiting:
            yes_mask, no_mask = split(group, mask)
            after_yes = after_no = NONE
            if yes_mask is not NONE:
                after_yes = (yield from yes(group, yes_mask)) if yes_waits else yes(group, yes_mask)
            if no_mask is not NONE:
                after_no = (yield from no(group, no_mask)) if no_waits else no(group, no_mask)
            return _join(mask, (yes_mask, no_mask), (after_yes, after_no))

        def turns(group: Group, mask: Mask) -> Waiting:
            branches = []
            masks, closures = split(group, mask), ((yes, yes_waits), (no, no_waits))
            for active, (branch, waits) in zip(masks, closures, strict=True):
                if active is not NONE:
                    generator = branch if waits else as_generator(branch)
                    branches.append(generator(group, active))
            return run_branches(branches, group)

        def meet(group: Group, mask: Mask) -> Waiting:
            masks = split(group, mask)
            branches = [(yes, yes_waits, masks[0]), (no, no_waits, masks[1])]
            after = yield from run_to_meetings(branches, group, self._meeting_ifs[statement])
            return _join(mask, masks, after)

        if statement in self._meeting_ifs:
            return meet
        if self._spins(statement):
            return turns
        return waiting_run if self._waits(statement) else run

    def _loop(self, loop: tree.Loop) -> Run:
        if is_endless(loop):

            def refuse(group: Group, mask: Mask) -> Any:
                why = "nothing in its body leaves it"
                if loop.condition is not None and is_never_negative(strip_casts(loop.condition)):
                    why = "what is compared with 0 has no sign, so that it is never below"
                raise SourceError(f"This loop never ends: {why}.", loop.span)

            return refuse
        start = _do_nothing if loop.start is None else self._compile(loop.start)
        test = self._loop_test(loop)
        prepare, preparing_waits = self._compile_part(loop.before_test)
        body, waits = self._compile_part(loop.body)
        end_iteration = self._loop_end(loop)
        swept = self._swept_loop(loop)
        turns = self.takes_turns and is_waiting(loop)
        check_stall = self._stall_check(loop)

        def run(group: Group, mask: Mask) -> Waiting:
            returned = group.returns[-1]
            state = enter_loop(group, loop)
            start(group, mask)
            active, finished = mask, NONE
            if swept is not None and swept.run(group, state, mask):
                active, finished = NONE, mask
            while active is not NONE:
                if loop.test_first or state.iteration:
                    if preparing_waits:
                        yield from prepare(group, active)
                    else:
                        prepare(group, active)
                    active, failed = test(group, active)
                    finished = union(finished, failed)
                    if active is NONE:
                        break
                    if failed is NONE:
                        check_stall(group, state)
                active = (yield from body(group, active)) if waits else body(group, active)
                active = end_iteration(group, state, active)
                if turns and active is not NONE:  # other threads run after each iteration
                    finished, group.breaks[-1] = union(finished, group.breaks[-1]), NONE
                    finished = yield from offer(finished)
            after = leave_loop(group, finished)
            # Unless lanes returned, all that entered leave: the same mask lets memos hold.
            return mask if not turns and group.returns[-1] is returned else after

        return self._finish(run, loop)

    def _swept_loop(self, loop: tree.Loop) -> SweptLoop | None:
        """The loop with its loads made ahead; None where that cannot be, or steps are observed."""
        if self._steps_apart or self.takes_turns:
            return None
        counted = counted_loop(loop, self._contractions)
        if counted is None:
            return None
        places = tuple(self._evaluator.place(load) for load in counted.loads)
        with self._evaluator.reading_ahead(counted.loads):
            body = self._compile(loop.body)
        return SweptLoop(
            counted=counted,
            slot=self.frame_slots[counted.counter],
            slots=tuple(self.frame_slots[variable] for variable in counted.variables),
            bound=self._evaluator.compile(counted.bound),
            places=places,
            body=body,
            has_counter=has_counter(loop),
            observers=self._observers_of_accesses,
        )

    def _loop_test(self, loop: tree.Loop) -> Callable[[Group, Mask], tuple[Mask, Mask]]:
        """The lanes for which a loop's condition holds, and those for which it fails."""
        if loop.condition is None:
            return lambda group, active: (active, NONE)
        condition = self._compile_step(loop.condition, StepKind.TEST, loop)

        def test(group: Group, active: Mask) -> tuple[Mask, Mask]:
            chosen = condition(group, active)
            if not isinstance(chosen, np.ndarray):
                return (active, NONE) if chosen else (NONE, active)
            holds = narrow(active, chosen)
            return holds, NONE if holds is active else narrow(active, negate(chosen))

        return test

    def _stall_check(self, loop: tree.Loop) -> Callable[[Group, LoopState], None]:
        """What ends a launch with a loop that never ends, since its registers no longer change."""
        deciding = deciding_variables(loop)
        if deciding is None:
            return lambda group, state: None
        slots = [self.frame_slots[variable] for variable in deciding.variables]

        def check(group: Group, state: LoopState) -> None:
            before, is_due = state.before, state.iteration in STALL_CHECKS
            if before is None and not is_due:
                return
            now = [group.frame[slot] for slot in slots]
            state.before = now if is_due else None
            if before is None or not all(map(np.array_equal, before, now)):
                return
            names = " or ".join(variable.name for variable in deciding.tested)
            why = f"its condition stays true, since nothing in it changes {names}"
            if deciding.are_changed:
                times = state.iteration - 1
                after = f"{times:,} iteration{'s' * (times > 1)}"
                why = f"after {after} {names} no longer changes, so its condition stays true"
            raise SourceError(f"This loop never ends: {why}.", loop.span)

        return check

    def _loop_end(self, loop: tree.Loop) -> Callable[[Group, LoopState, Mask], Mask]:
        """The end of an iteration: lanes of a continue join, the loop advances."""
        advance: Closure = _do_nothing
        if loop.advance is not None:
            advance = self._compile_step(loop.advance, StepKind.ADVANCE, loop)
        counted = has_counter(loop)

        def end_iteration(group: Group, state: LoopState, active: Mask) -> Mask:
            active = join_continued(group, active)
            if active is not NONE:
                advance(group, active)
            state.iteration += 1
            group.budget.count(group.loops, counted)
            return active

        return end_iteration

    def _switch(self, switch: tree.Switch) -> Run:
        """Lanes enter the body at their label and fall through to a break."""
        selector = self._compile_step(switch.selector, StepKind.TEST, switch)
        body = [self._compile_part(statement) for statement in switch.body]

        def run(group: Group, mask: Mask) -> Waiting:
            entering, skipping = _split_by_label(switch, mask, selector(group, mask))
            enter_switch(group)
            active: Mask = NONE
            for (statement, waits), entered in zip(body, entering, strict=True):
                active = union(active, entered)
                if active is NONE:
                    continue
                active = (
                    (yield from statement(group, active)) if waits else statement(group, active)
                )
            return leave_switch(group, union(active, skipping))

        return self._finish(run, switch)

    def _function(self, function: tree.Function) -> Run:
        """The called function's body: lanes that return wait at its end for the others."""
        parameters = [self._compile_part(parameter) for parameter in function.parameters]
        body, waits = self._compile(function.body), self._waits(function.body)
        slot = None if function.result is None else self.frame_slots[function.result]
        turns, spinning = self.takes_turns, self._spins(function)

        def run(group: Group, mask: Mask) -> Waiting:
            for parameter, parameter_waits in parameters:
                if parameter_waits:
                    yield from parameter(group, mask)
                else:
                    parameter(group, mask)
            enter_function(group)
            if slot is not None and not turns:
                group.frame[slot] = None
                group.declared_mask[slot], group.assigned_mask[slot] = mask, NONE
            after = mask
            if spinning:
                after = yield from run_function(body(group, mask), group, mask)
            elif waits:
                yield from body(group, mask)
            else:
                body(group, mask)
            leave_function(group)
            return after

        return self._finish(run, function)


def _held_back(body: Run) -> Run:
    """A statement whose lanes wait for the others once they have finished it."""
    return lambda group, mask: hold_back(body(group, mask))


def _watched(run: Run) -> Run:
    """A closure before which the time is checked: there may be no loop that does."""

    def watched(group: Group, mask: Mask) -> Any:
        group.budget.check(group.loops)
        return run(group, mask)

    return watched


def _do_nothing(group: Group, mask: Mask) -> Mask:
    """Stands for a statement or expression that a construct does not have."""
    return mask


def _join(mask: Mask, before: tuple[Mask, Mask], after: tuple[Mask, Mask]) -> Mask:
    """The lanes that go on after an if: those after its two branches.

    If these are the same as before the branches, it is the mask itself, so that memos hold.
    """
    unchanged = after[0] is before[0] and after[1] is before[1]
    return mask if unchanged else union(*after)


def _split_by_label(switch: tree.Switch, mask: Mask, value: Any) -> tuple[list[Mask], Mask]:
    """The lanes that enter a switch at each statement of its body, and those that skip it."""
    entering: list[Mask] = [NONE] * len(switch.body)
    remaining, default = mask, None
    for label, position in switch.labels:
        if label is None:
            default = position
            continue
        equal = value == label
        entering[position] = union(entering[position], narrow(remaining, equal))
        remaining = narrow(remaining, negate(equal))
    if default is None:
        return entering, remaining
    entering[default] = union(entering[default], remaining)
    return entering, NONE
