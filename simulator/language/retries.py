"""Which plain reads only begin a try of atomicCAS that is repeated until it succeeds.

The CUDA C++ Programming Guide makes an atomic of any operation so (Atomic Functions):

    unsigned long long old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, f(assumed));
    } while (assumed != old);

The plain read of *address is ordered with no other thread's atomicCAS, and need not be: if what it
gives is stale, the atomicCAS fails, changes nothing, and is tried again. What the loop leaves in
memory and in variables is the same whatever the read gives. That is the rule here: on every path
the value read goes nowhere but into the operands of one atomicCAS, which expects that very value,
and into the test of whether it succeeded; if it failed, nothing is stored and no barrier is passed
until the same atomicCAS is tried again with a value that it has returned, or that is read anew.
Once it has succeeded, the value was that of the cell.

How often a thread tries may depend on the read: under contention that is never determined.

A read may also tell that nothing is to be done, as in `while (old < v) { … }` around an atomicCAS,
an atomic maximum: the thread then does what it would have done a moment earlier, and the rule
holds if nothing but the loop depends on it, such as the value that the function returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import assert_never

from simulator.language import tree
from simulator.language.ctype import BOOL, CType, Scalar
from simulator.language.functions import ARITHMETIC_FUNCTIONS, ATOMIC_SCOPES, BIT_CASTS, FENCES
from simulator.language.visit import (
    AssignedVariables,
    expressions_of,
    in_register,
    operands,
    subexpressions,
    walk,
)

COMPARE_AND_SWAP = frozenset(f"atomicCAS{scope}" for scope in ATOMIC_SCOPES)
MAX_STEPS = 20_000  # statements and expressions looked at for one read; beyond it, the rule fails


def retried_reads(body: tree.Statement) -> frozenset[tree.Expression]:
    """The lvalues of a kernel's plain reads whose values only begin a try of an atomicCAS."""
    return frozenset(read for read in _candidates(body) if _Walk(read, body).holds())


def _candidates(body: tree.Statement) -> set[tree.Expression]:
    """The lvalues in memory whose values may become the expected operand of an atomicCAS."""
    statements = list(walk(body))
    roots = [root for statement in statements for root in expressions_of(statement)]
    expressions = [inner for root in roots for inner in subexpressions(root)]
    calls = [e for e in expressions if isinstance(e, tree.Call) and e.function in COMPARE_AND_SWAP]
    waiting = [call.arguments[1] for call in calls]
    if not waiting:
        return set()
    values: dict[tree.Variable, list[tree.Expression]] = {}
    for statement in statements:
        if isinstance(statement, tree.Declare) and statement.value is not None:
            values.setdefault(statement.variable, []).append(statement.value)
    for expression in expressions:
        if isinstance(expression, tree.Assign) and isinstance(expression.lvalue, tree.Name):
            values.setdefault(expression.lvalue.variable, []).append(expression.value)
    found: set[tree.Expression] = set()
    known: set[tree.Variable] = set()
    while waiting:
        for expression in subexpressions(waiting.pop()):
            match expression:
                case tree.Load(lvalue=lvalue, ctype=Scalar()) if not in_register(lvalue):
                    found.add(lvalue)
                case (
                    tree.Name(variable=variable)
                    | tree.Inlined(function=tree.Function(result=variable))
                ):
                    if variable is not None and variable not in known:
                        known.add(variable)
                        waiting += values.get(variable, [])
                case _:
                    pass
    return found


class _Value(Enum):
    """How a value depends on the read that is looked at."""

    FREE = auto()  # not at all
    COPY = auto()  # what was read, bit for bit
    DERIVED = auto()  # computed from that
    ANSWER = auto()  # what the atomicCAS has returned, bit for bit
    OF_ANSWER = auto()  # computed from that
    WON = auto()  # whether the atomicCAS has succeeded
    LOST = auto()  # whether it has failed
    SPENT = auto()  # from a read whose try has failed, or from elsewhere: of no use


class _Phase(Enum):
    """How far a thread is with a try."""

    IDLE = auto()  # nothing was read, or the atomicCAS has succeeded
    READ = auto()
    TRIED = auto()  # whether the atomicCAS succeeded has not been tested
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class _State:
    """A thread's state on one path."""

    phase: _Phase = _Phase.IDLE
    values: frozenset[tuple[tree.Variable, _Value]] = frozenset()  # of variables that are not FREE
    tried: tree.Call | None = None  # the atomicCAS
    # The conditions by which the read has decided what the thread does, until paths join again.
    decided: frozenset[tree.Expression] = frozenset()

    def get(self, variable: tree.Variable) -> _Value:
        return dict(self.values).get(variable, _Value.FREE)

    def set(self, variable: tree.Variable, value: _Value) -> _State:
        values = dict(self.values)
        values.pop(variable, None)
        if value is not _Value.FREE:
            values[variable] = value
        return replace(self, values=frozenset(values.items()))

    def turn(self, phase: _Phase, *, spend: Iterable[_Value]) -> _State:
        """Another phase; the variables of some kinds of value are SPENT."""
        spent = set(spend)
        values = {(name, _Value.SPENT if v in spent else v) for name, v in self.values}
        return replace(self, phase=phase, values=frozenset(values))


READ_VALUES = (_Value.COPY, _Value.DERIVED)


class _OtherUseError(Exception):
    """What was read is used otherwise."""


@dataclass(slots=True)
class _Flow:
    """The states in which a statement is left."""

    normal: set[_State] = field(default_factory=set)
    breaks: set[_State] = field(default_factory=set)
    continues: set[_State] = field(default_factory=set)
    returns: set[_State] = field(default_factory=set)

    def add_abnormal(self, other: _Flow) -> None:
        self.breaks |= other.breaks
        self.continues |= other.continues
        self.returns |= other.returns


class _Walk:
    """Follows all paths through a kernel, for the sake of one plain read."""

    def __init__(self, read: tree.Expression, body: tree.Statement) -> None:
        self._read = read
        self._body = body
        self._assigned = AssignedVariables()
        self._steps = 0

    def holds(self) -> bool:
        """Whether the value read is used for nothing but tries of an atomicCAS."""
        try:
            flow = self._join(self._body, _State(), self._run(self._body, _State()))
        except _OtherUseError:
            return False
        ends = flow.normal | flow.returns
        return all(state.phase in (_Phase.IDLE, _Phase.READ) for state in ends)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise _OtherUseError

    # Statements ------------------------------------------------------------------------------

    def _run(self, statement: tree.Statement, state: _State) -> _Flow:
        self._step()
        match statement:
            case tree.Declare(variable=variable, value=value, cells=cells):
                if value is not None:
                    given = self._evaluate(value, state)
                    return _Flow({after.set(variable, new) for new, after in given})
                paths = self._evaluate_all(cells or (), state)
                for values, after in paths:
                    self._need(_computed(values), _Value.FREE)
                    if cells:
                        self._effect(after)
                return _Flow({after.set(variable, _Value.FREE) for _, after in paths})
            case tree.Evaluate(expression=expression):
                return _Flow({after for _, after in self._evaluate(expression, state)})
            case tree.Barrier():
                self._effect(state)
                return _Flow({state})
            case tree.Sequence(statements=statements):
                return self._run_all(statements, {state})
            case tree.If():
                return self._join(statement, state, self._if(statement, state))
            case tree.Loop():
                return self._join(statement, state, self._loop(statement, state))
            case tree.Switch():
                return self._join(statement, state, self._switch(statement, state))
            case tree.Function():
                return _Flow({after for _, after in self._call(statement, state)})
            case tree.Break():
                return _Flow(breaks={state})
            case tree.Continue():
                return _Flow(continues={state})
            case tree.Return():
                return _Flow(returns={state})
            case _:
                assert_never(statement)

    def _run_all(self, statements: Iterable[tree.Statement], states: set[_State]) -> _Flow:
        """Statements one after another."""
        flow = _Flow(states)
        for statement in statements:
            flow.normal = self._run_each(statement, flow.normal, flow)
        return flow

    def _run_each(self, statement: tree.Statement, states: set[_State], flow: _Flow) -> set[_State]:
        """The states after a statement; those that leave it otherwise are added to a flow."""
        after: set[_State] = set()
        for state in states:
            one = self._run(statement, state)
            after |= one.normal
            flow.add_abnormal(one)
        return after

    def _if(self, statement: tree.If, state: _State) -> _Flow:
        flow = _Flow()
        for holds, chosen in self._test(statement.condition, state):
            branch = statement.yes if holds else statement.no
            flow.normal |= {chosen} if branch is None else self._run_each(branch, {chosen}, flow)
        return flow

    def _loop(self, loop: tree.Loop, state: _State) -> _Flow:
        outside = _Flow()
        heads = {state} if loop.start is None else self._run_each(loop.start, {state}, outside)
        entered: set[_State] = set()  # in front of the body
        tested: set[_State] = set()  # in front of the condition
        bodies = set() if loop.test_first else heads
        tests = heads if loop.test_first else set()
        while bodies or tests:
            for each in tests - tested:
                for holds, after in self._test(loop.condition, each):
                    (bodies if holds else outside.normal).add(after)
            tested |= tests
            inside = _Flow()
            ends: set[_State] = set()
            for each in bodies - entered:
                ends |= self._run_each(loop.body, {each}, inside)
            entered |= bodies
            outside.normal |= inside.breaks
            outside.returns |= inside.returns
            tests, bodies = ends | inside.continues, set()
            if loop.advance is not None:
                tests = {after for each in tests for _, after in self._evaluate(loop.advance, each)}
            tests -= tested
        return outside

    def _switch(self, switch: tree.Switch, state: _State) -> _Flow:
        flow = _Flow()
        for value, chosen in self._evaluate(switch.selector, state):
            self._need(value, _Value.FREE)
            if all(label is not None for label, _ in switch.labels):
                flow.normal.add(chosen)
            for _, start in switch.labels:
                inner = self._run_all(switch.body[start:], {chosen})
                flow.add_abnormal(inner)
                flow.normal |= inner.normal
        flow.normal |= flow.breaks
        flow.breaks = set()
        return flow

    def _call(self, function: tree.Function, state: _State) -> list[tuple[_Value, _State]]:
        """The value of a function, and the states after it."""
        inner = self._run_all((*function.parameters, function.body), {state})
        ends = _Flow(inner.normal | inner.returns)
        ends = self._join(function, state, ends)
        result = function.result
        return [(_Value.FREE if result is None else s.get(result), s) for s in ends.normal]

    def _join(self, statement: tree.Statement, before: _State, flow: _Flow) -> _Flow:
        """Where the paths that the read has chosen from within a statement are one again."""
        others = flow.breaks | flow.continues | flow.returns
        decided = {state for state in flow.normal if state.decided}
        if statement is self._body:  # nothing comes after it
            decided |= {state for state in others if state.decided}
        elif before.decided or any(state.decided for state in others):
            return flow
        for state in decided:
            if state.phase in (_Phase.TRIED, _Phase.FAILED):
                raise _OtherUseError
            joined = replace(state, decided=frozenset())
            for variable in self._assigned.in_statement(statement):
                joined = joined.set(variable, _Value.DERIVED)
            flow.normal.remove(state) if state in flow.normal else flow.returns.remove(state)
            flow.normal.add(joined)
        return flow

    # Conditions ------------------------------------------------------------------------------

    def _test(self, condition: tree.Expression | None, state: _State) -> list[tuple[bool, _State]]:
        """Whether a condition may hold, and the state on each path."""
        match condition:
            case None:
                return [(True, state)]
            case tree.Cast(operand=operand):
                return self._test(operand, state)
            case tree.Unary(operator="!", operand=operand):
                return [(not holds, after) for holds, after in self._test(operand, state)]
            case tree.Logical(operator=operator, left=left, right=right):
                found = []
                for holds, after in self._test(left, state):
                    goes_on = holds == (operator == "&&")
                    found += self._test(right, after) if goes_on else [(holds, after)]
                return found
            case _:
                paths = self._evaluate(condition, state)
                return [
                    path for value, after in paths for path in self._split(condition, value, after)
                ]

    def _split(
        self, condition: tree.Expression, value: _Value, state: _State
    ) -> list[tuple[bool, _State]]:
        """The paths after a condition of a value."""
        match value:
            case _Value.FREE:
                pass
            case _Value.WON | _Value.LOST:
                won = value is _Value.WON
                if state.phase is _Phase.FAILED:
                    return [(not won, state)]
                self._need(state.phase, _Phase.TRIED)
                failed = state.turn(_Phase.FAILED, spend=READ_VALUES)
                succeeded = replace(state, phase=_Phase.IDLE, values=frozenset())
                return [(won, succeeded), (not won, failed)]
            case _Value.ANSWER | _Value.OF_ANSWER:
                if condition in state.decided:
                    # It asks of the answer what it asked of the read: as if that had been atomic.
                    state = state.turn(_Phase.IDLE, spend=READ_VALUES)
                    free = {(name, v) for name, v in state.values if v is _Value.SPENT}
                    state = replace(state, values=frozenset(free))
            case _Value.COPY | _Value.DERIVED:
                self._need(state.phase, _Phase.READ)
                state = replace(state, decided=state.decided | {condition})
            case _Value.SPENT:
                raise _OtherUseError
            case _:
                assert_never(value)
        return [(True, state), (False, state)]

    # Expressions -----------------------------------------------------------------------------

    def _evaluate(self, expression: tree.Expression, state: _State) -> list[tuple[_Value, _State]]:
        """The value of an expression, and the state after it, on each path through it."""
        self._step()
        match expression:
            case tree.Literal() | tree.Builtin():
                return [(_Value.FREE, state)]
            case tree.Name(variable=variable):
                return [(state.get(variable), state)]
            case tree.Load(lvalue=lvalue):
                return self._load(lvalue, state)
            case tree.AddressOf(lvalue=lvalue):
                return [(_Value.FREE, after) for after in self._place(lvalue, state)]
            case tree.Index() | tree.Dereference() | tree.FieldOf():
                return [(_Value.FREE, after) for after in self._place(expression, state)]
            case tree.Member(base=base):
                return [(_computed([value]), after) for value, after in self._evaluate(base, state)]
            case tree.Cast(operand=operand, ctype=ctype):
                exact = _keeps_all_bits(operand.ctype, ctype)
                kept = _Value if exact else (_Value.WON, _Value.LOST)
                return [
                    (value if value in kept else _computed([value]), after)
                    for value, after in self._evaluate(operand, state)
                ]
            case tree.Unary(operator=operator, operand=operand):
                flip = {_Value.WON: _Value.LOST, _Value.LOST: _Value.WON} if operator == "!" else {}
                return [
                    (flip.get(value, _computed([value])), after)
                    for value, after in self._evaluate(operand, state)
                ]
            case tree.Binary(operator=operator, left=left, right=right):
                return [
                    (_compared(operator, values, after), after)
                    for values, after in self._evaluate_all((left, right), state)
                ]
            case tree.Logical(left=left, right=right):
                return self._lazily(left, (right,), state)
            case tree.Conditional(condition=condition, yes=yes, no=no):
                return self._lazily(condition, (yes, no), state)
            case tree.Comma(first=first, second=second):
                paths = self._evaluate_all((first, second), state)
                return [(values[-1], after) for values, after in paths]
            case tree.Assign():
                return self._assign(expression, state)
            case tree.Increment(lvalue=lvalue):
                return self._store(lvalue, _computed([self._old(lvalue, state)]), state)
            case tree.Call():
                return self._call_of_cuda(expression, state)
            case tree.Inlined(function=function):
                return self._call(function, state)
            case _:
                assert_never(expression)

    def _evaluate_all(
        self, expressions: Iterable[tree.Expression], state: _State
    ) -> list[tuple[list[_Value], _State]]:
        """The values of expressions, one evaluated after another."""
        paths: list[tuple[list[_Value], _State]] = [([], state)]
        for expression in expressions:
            paths = [
                ([*values, value], after)
                for values, reached in paths
                for value, after in self._evaluate(expression, reached)
            ]
        return paths

    def _lazily(
        self, first: tree.Expression, others: tuple[tree.Expression, ...], state: _State
    ) -> list[tuple[_Value, _State]]:
        """&&, || and ?: as a value; what may not be evaluated must leave the state as it is."""
        found = []
        for value, after in self._evaluate(first, state):
            values = [value]
            for other in others:
                for chosen, left in self._evaluate(other, after):
                    self._need(left, after)
                    values.append(chosen)
            found.append((_computed(values), after))
        return found

    def _load(self, lvalue: tree.Expression, state: _State) -> list[tuple[_Value, _State]]:
        if in_register(lvalue):
            return self._evaluate(lvalue, state)
        if lvalue is self._read:
            return [(_Value.COPY, self._read_again(one)) for one in self._place(lvalue, state)]
        return [(_Value.FREE, after) for after in self._place(lvalue, state)]

    def _read_again(self, state: _State) -> _State:
        """The read itself: what came of it before is of no use any more."""
        waits = state.decided and state.phase is _Phase.READ  # until another thread has written
        if waits or state.phase is _Phase.TRIED:
            raise _OtherUseError
        return state.turn(_Phase.READ, spend=_Value)

    def _place(self, lvalue: tree.Expression, state: _State) -> list[_State]:
        """The states after the address of an lvalue, which must be free."""
        if isinstance(lvalue, tree.Name):
            return [state]
        found = []
        for values, after in self._evaluate_all(operands(lvalue), state):
            for value in values:
                self._need(value, _Value.FREE)
            found.append(after)
        return found

    def _assign(self, assign: tree.Assign, state: _State) -> list[tuple[_Value, _State]]:
        found = []
        for value, after in self._evaluate(assign.value, state):
            new = value
            if assign.operator:
                new = _computed([self._old(assign.lvalue, after), value])
            found += self._store(assign.lvalue, new, after)
        return found

    def _old(self, lvalue: tree.Expression, state: _State) -> _Value:
        return state.get(lvalue.variable) if isinstance(lvalue, tree.Name) else _Value.FREE

    def _store(
        self, lvalue: tree.Expression, value: _Value, state: _State
    ) -> list[tuple[_Value, _State]]:
        if isinstance(lvalue, tree.Name) and in_register(lvalue):
            return [(value, state.set(lvalue.variable, value))]
        self._need(value, _Value.FREE)
        places = self._place(lvalue, state)
        if not in_register(lvalue):
            for after in places:
                self._effect(after)
        return [(value, after) for after in places]

    def _call_of_cuda(self, call: tree.Call, state: _State) -> list[tuple[_Value, _State]]:
        found = []
        for values, after in self._evaluate_all(call.arguments, state):
            if call.function in COMPARE_AND_SWAP:
                found.append(self._compare_and_swap(call, values, after))
            elif call.function in BIT_CASTS:
                found.append((values[0], after))
            elif call.function in ARITHMETIC_FUNCTIONS or call.function.startswith("make_"):
                found.append((_computed(values), after))
            else:
                if call.function not in FENCES:
                    self._effect(after)
                for value in values:
                    self._need(value, _Value.FREE)
                found.append((_Value.FREE, after))
        return found

    def _compare_and_swap(
        self, call: tree.Call, values: list[_Value], state: _State
    ) -> tuple[_Value, _State]:
        address, expected, desired = values
        self._need(address, _Value.FREE)
        if state.tried is not call and (state.tried is not None and state.decided):
            raise _OtherUseError
        if expected is _Value.COPY and desired in (_Value.FREE, *READ_VALUES):
            self._need(state.phase, _Phase.READ)
            return _Value.ANSWER, replace(state, phase=_Phase.TRIED, tried=call)
        known = (_Value.FREE, _Value.ANSWER, _Value.OF_ANSWER)
        if expected not in known or desired not in known:
            raise _OtherUseError
        if state.tried is not call:
            self._effect(state)
        elif state.phase is _Phase.FAILED:  # tried again, with what an atomic has given
            return _Value.FREE, replace(state, phase=_Phase.IDLE, values=frozenset())
        elif state.phase is _Phase.TRIED:
            raise _OtherUseError
        return _Value.FREE, state

    # What may not be -------------------------------------------------------------------------

    def _effect(self, state: _State) -> None:
        """Something that others see is done: whether it is must not depend on the read."""
        if state.decided or state.phase in (_Phase.TRIED, _Phase.FAILED):
            raise _OtherUseError

    def _need(self, found: object, wanted: object) -> None:
        if found != wanted:
            raise _OtherUseError


def _computed(values: Iterable[_Value]) -> _Value:
    """The value of an operation on values."""
    kinds = set(values) - {_Value.FREE}
    if not kinds:
        return _Value.FREE
    if kinds <= set(READ_VALUES):
        return _Value.DERIVED
    return _Value.OF_ANSWER if kinds <= {_Value.ANSWER, _Value.OF_ANSWER} else _Value.SPENT


def _compared(operator: str, values: list[_Value], state: _State) -> _Value:
    """The value of a binary operation: of a comparison, perhaps whether the try succeeded."""
    tells = {"==": _Value.WON, "!=": _Value.LOST}.get(operator)
    pair = {_Value.COPY, _Value.ANSWER}
    if tells is not None and set(values) == pair and state.phase is _Phase.TRIED:
        return tells
    return _computed(values)


def _keeps_all_bits(source: CType, target: CType) -> bool:
    """Whether different values of a type stay different in another."""
    if source == target:
        return True
    if not isinstance(source, Scalar) or not isinstance(target, Scalar):
        return False
    whole = source.is_integer and target.is_integer and target != BOOL
    return whole and target.size >= source.size
