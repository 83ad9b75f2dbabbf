"""What a launch takes of a processor, estimated from its text and arguments before it runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from simulator.language import tree
from simulator.language.ctype import Scalar
from simulator.language.visit import (
    expressions_of,
    expressions_within,
    inner_statements,
    strip_casts,
)
from simulator.launch import WARP_SIZE, Launch, flatten_arguments
from simulator.machine.machine import CHUNK_LANES

HEAVY_SECONDS = 3.0  # from here on processes that share a launch win more than their start takes
UNKNOWN_ITERATIONS = 32  # of a loop whose iterations depend on values of arrays, or on more
TURN_SECONDS = 3e-5  # for a warp of a chunk of blocks to execute a statement
LANE_SECONDS = 1e-8  # for each thread of it

OPERATORS: Mapping[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "<<": lambda left, right: left * 2**right,
    ">>": lambda left, right: left // 2**right,
}
FUNCTIONS: Mapping[str, Callable[..., float]] = {"min": min, "max": max}


def estimate_seconds(kernel: tree.Kernel, launch: Launch) -> float:
    """Seconds of a processor that simulating a launch takes, mostly within a factor of five.

    Every thread is taken to execute what the first one of the first block does, and both sides of
    each condition; a loop that does not simply count repeats UNKNOWN_ITERATIONS times.

    >>> from simulator import Launch, compile_kernel
    >>> kernel = compile_kernel('''__global__ void k(float* x, int n) {
    ...     for (int i = 0; i < n; ++i) x[blockIdx.x] += i;
    ... }''')
    >>> def seconds(n):
    ...     return estimate_seconds(kernel, Launch((1024, 1, 1), (256, 1, 1), {"x": 0, "n": n}))
    >>> seconds(10) < HEAVY_SECONDS < seconds(10_000)
    True
    """
    statements = _Count(kernel, launch).of(kernel.body)
    warp = min(launch.threads, WARP_SIZE)
    turns = launch.warps * -(-launch.blocks // (CHUNK_LANES // warp))
    return statements * (turns * TURN_SECONDS + launch.blocks * launch.threads * LANE_SECONDS)


class _Count:
    """Counts the statements that a thread executes."""

    def __init__(self, kernel: tree.Kernel, launch: Launch) -> None:
        self._sizes = {"blockDim": launch.block, "gridDim": launch.grid}
        given = flatten_arguments(kernel, launch.arguments)
        self._values: dict[tree.Variable, float] = {
            one: float(given[one.name])
            for one in kernel.parameters
            if isinstance(one.ctype, Scalar) and one.name in given
        }
        self._changed = {
            one.lvalue.variable
            for one in expressions_within(kernel.body)
            if isinstance(one, (tree.Assign, tree.Increment)) and isinstance(one.lvalue, tree.Name)
        }
        for variable in self._changed:
            self._values.pop(variable, None)

    def of(self, statement: tree.Statement) -> float:
        """The statements that a thread executes of one, itself included."""
        if isinstance(statement, tree.Loop):
            return self._of_loop(statement)
        if isinstance(statement, tree.Declare) and statement.value is not None:
            value = self._value(statement.value)
            if value is not None and statement.variable not in self._changed:
                self._values[statement.variable] = value
        own = 1 if expressions_of(statement) else 0
        return own + sum(map(self.of, inner_statements(statement)))

    def _of_loop(self, loop: tree.Loop) -> float:
        before = 0.0 if loop.start is None else self.of(loop.start)
        counter, middle, iterations = loop.variable, None, float(UNKNOWN_ITERATIONS)
        if counter is not None:
            first = self._first(loop.start, counter)
            step = self._step(loop.advance, counter)
            if first is not None and step is not None:
                iterations = self._iterations(loop.condition, counter, first, step)
                middle = first + step * iterations / 2
        with self._known(counter, middle):
            inner = sum(self.of(one) for one in inner_statements(loop) if one is not loop.start)
        return before + iterations * (1 + inner)

    def _iterations(
        self, condition: tree.Expression | None, counter: tree.Variable, first: float, step: float
    ) -> float:
        """How often a loop repeats whose counter begins at `first` and moves by `step`."""
        test = None if condition is None else strip_casts(condition)
        if not isinstance(test, tree.Binary):
            return UNKNOWN_ITERATIONS
        distances = []  # between the two sides, in the first iteration and in the second
        for value in (first, first + step):
            with self._known(counter, value):
                left, right = self._value(test.left), self._value(test.right)
            if left is None or right is None:
                return UNKNOWN_ITERATIONS
            distances.append(right - left)
        moved = distances[0] - distances[1]
        return max(distances[0] / moved, 0.0) if moved else UNKNOWN_ITERATIONS

    def _first(self, start: tree.Statement | None, counter: tree.Variable) -> float | None:
        """The value that a loop's first clause gives its counter."""
        while isinstance(start, tree.Sequence) and start.statements:
            start = start.statements[0]
        match start:
            case tree.Declare(variable=variable, value=value) if variable is counter:
                return None if value is None else self._value(value)
            case tree.Evaluate(expression=tree.Assign(operator="", value=value)):
                return self._value(value)
            case _:
                return None

    def _step(self, advance: tree.Expression | None, counter: tree.Variable) -> float | None:
        """By how much a loop's third clause moves its counter."""
        match advance:
            case tree.Increment(lvalue=tree.Name(variable=variable), delta=delta) if (
                variable is counter
            ):
                return delta
            case tree.Assign(
                lvalue=tree.Name(variable=variable), operator="+" | "-" as sign, value=value
            ) if variable is counter:
                return self._value(tree.Unary(value.ctype, value.span, sign, value))
            case _:
                return None

    @contextmanager
    def _known(self, variable: tree.Variable | None, value: float | None) -> Iterator[None]:
        """Let a variable have a value meanwhile."""
        if variable is None or value is None:
            yield
            return
        self._values[variable] = value
        yield
        del self._values[variable]

    def _value(self, expression: tree.Expression) -> float | None:
        """What an expression is for the first thread; None if that is not known."""
        match expression:
            case tree.Literal(value=value):
                return float(value)
            case tree.Builtin(name="warpSize"):
                return WARP_SIZE
            case tree.Builtin(name=name, axis=axis):
                return self._sizes[name]["xyz".index(axis)] if name in self._sizes else 0
            case tree.Load(lvalue=tree.Name(variable=variable)):
                return self._values.get(variable)
            case tree.Cast(operand=operand) | tree.Unary(operator="+", operand=operand):
                return self._value(operand)
            case tree.Unary(operator="-", operand=operand):
                return self._applied(operator.neg, operand)
            case tree.Binary(operator=name, left=left, right=right) if name in OPERATORS:
                return self._applied(OPERATORS[name], left, right)
            case tree.Call(function=name, arguments=arguments) if name in FUNCTIONS:
                return self._applied(FUNCTIONS[name], *arguments)
            case _:
                return None

    def _applied(self, function: Callable[..., float], *operands: tree.Expression) -> float | None:
        values = [self._value(operand) for operand in operands]
        if None in values:
            return None
        try:
            return function(*values)
        except (ArithmeticError, ValueError):
            return None
