"""Changes of a kernel's source that mend what a verdict found; each was run before it is proposed.

Single changes that often mend a kernel are tried in turn: a barrier between two accesses, another
size in a guard or an index, a quotient that is rounded up. The first one with which the kernel is
right and without hazards wherever it was not is the one thing to do next.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from simulator.language import tree
from simulator.language.ctype import Scalar
from simulator.language.errors import Fix, LaunchError, SourceError, Span
from simulator.language.tree import Sequence as Statements
from simulator.language.visit import (
    expressions_of,
    expressions_within,
    inner_statements,
    strip_casts,
    subexpressions,
    walk,
)
from simulator.launch import WARP_SIZE, ravel
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.observers.written_parameters import root_variable
from simulator.sentences import changes
from simulator.size_expression import rounded_up
from simulator.verdict.form import LaunchForm
from simulator.verdict.launches import build_without_arrays, known_values
from simulator.verdict.overflow import first_too_large, is_int, text_at
from simulator.verdict.parameters import vector_length

SECONDS = 5.0  # of a processor, for all changes together
MOST = 60  # changes that are tried
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of a text, in the imperative, and why."""

    sentence: str  # "Add `__syncthreads();` after the loop of line 20."
    why: str  # "" where the sentence says it
    fixes: tuple[Fix, ...]  # in the order of the text
    is_of_guard: bool = False  # whether it changes a condition that is there


def repairs(
    kernel: tree.Kernel, form: LaunchForm, hazards: Sequence[Hazard], is_ragged: bool
) -> Iterator[Repair]:
    """Changes that may mend a kernel with some hazards, the likeliest first.

    is_ragged: it fails at sizes that no tile divides alone. Without a task, by which a change is
    known to keep what is meant, they are those of barriers, atomics and starts.
    """
    known = _Text(kernel, form)
    races = [one for one in hazards if one.kind in RACES]
    groups = [known.atomics(races), *map(known.barriers, races), known.starts(hazards)]
    if not form.task:
        yield from itertools.chain(*groups)
        return
    outside = [one for one in hazards if one.kind is HazardKind.OUT_OF_BOUNDS]
    groups.append(known.wider(outside))
    if is_ragged:
        groups += [known.rounded_up(), known.compared(), known.guards(outside), known.last_warp()]
    groups += [known.swapped_axes(), known.compared(), known.sizes(), known.last_warp()]
    if not is_ragged:
        groups += [known.rounded_up(), known.guards(outside)]
    groups.append(known.barriers_anywhere())
    seen: set[tuple[Fix, ...]] = set()
    for one in itertools.chain(*groups):
        if one.fixes not in seen:
            seen.add(one.fixes)
            yield one


def apply(text: str, fixes: Sequence[Fix]) -> str:
    """Source with changes, which do not overlap."""
    lines = text.split("\n")
    for fix in sorted(fixes, key=lambda one: (one.span.line, one.span.column), reverse=True):
        span = fix.span
        head = lines[span.line - 1].encode()[: span.column - 1].decode(errors="ignore")
        tail = lines[span.end_line - 1].encode()[span.end_column - 1 :].decode(errors="ignore")
        lines[span.line - 1 : span.end_line] = (head + fix.text + tail).split("\n")
    return "\n".join(lines)


def first_that_mends(changes: Iterator[Repair], mends: Callable[[Repair], bool]) -> Repair | None:
    """The first change that mends a kernel, as a function of the change tells; None for none.

    The function may raise SourceError and LaunchError, where a kernel is none any more.
    """
    end = time.thread_time() + SECONDS
    for change in itertools.islice(changes, MOST):
        if time.thread_time() > end:
            return None
        try:
            if mends(change):
                return change
        except (SourceError, LaunchError):
            continue
    return None


def rounded_down(kernel: tree.Kernel, form: LaunchForm) -> list[tuple[int, str]]:
    """The quotients of sizes that a kernel rounds down, by line and text.

    K / 4 vectors of four in a row are not one: rounded up, they would pass the row's end.
    """
    text, length = _Text(kernel, form), vector_length(kernel)
    return [
        (one.span.line, text_at(kernel, one.span))
        for one in text.quotients()
        if not isinstance(divisor := strip_casts(one.right), tree.Literal)
        or divisor.value != length
    ]


class _Text:
    """A kernel's source, and the changes of it."""

    def __init__(self, kernel: tree.Kernel, form: LaunchForm) -> None:
        self._kernel = kernel
        self._lines = kernel.text.split("\n")
        self._form = form
        parameters = {one.name: one.ctype for one in kernel.parameters}
        self._sizes = [
            name for name, ctype in parameters.items()
            if isinstance(ctype, Scalar) and not ctype.is_float and ctype.size > 1
        ]  # fmt: skip
        self._arrays = {one.name: (one.rows, one.columns) for one in form.arrays}

    def _text(self, span: Span) -> str:
        return text_at(self._kernel, span)

    def _expressions(self) -> tuple[tree.Expression, ...]:
        return expressions_within(self._kernel.body)

    def _binaries(self, *operators: str) -> Iterator[tree.Binary]:
        for one in self._expressions():
            if isinstance(one, tree.Binary) and one.operator in operators:
                yield one

    # Races ----------------------------------------------------------------------------------------

    def atomics(self, races: Sequence[Hazard]) -> Iterator[Repair]:
        """An atomic where threads add to one cell."""
        lines = {race.lines[0] for race in races if len(set(race.lines)) == 1}
        for statement in walk(self._kernel.body):
            if not isinstance(statement, tree.Evaluate) or statement.span.line not in lines:
                continue
            one = strip_casts(statement.expression)
            amount = ""
            if isinstance(one, tree.Increment):
                amount, target = str(one.delta), one.lvalue
            elif isinstance(one, tree.Assign) and one.operator == "+":
                amount, target = self._text(one.value.span), one.lvalue
            elif isinstance(one, tree.Assign) and one.operator == "":
                value = strip_casts(one.value)
                target = one.lvalue
                place = self._text(target.span)
                if isinstance(value, tree.Binary) and value.operator == "+" and place:
                    sides = [self._text(side.span) for side in (value.left, value.right)]
                    amount = next((other for side, other in (sides, sides[::-1])
                                   if side == place), "")  # fmt: skip
            place = self._text(target.span) if amount else ""
            if amount and place:
                address = place[1:] if place.startswith("*") else f"&{place}"
                change = f"atomicAdd({address}, {amount})"
                yield Repair(
                    *changes.use_atomic(change, statement.span.line), (Fix(one.span, change),)
                )

    def barriers(self, race: Hazard) -> Iterator[Repair]:
        """A barrier between two accesses of a race in shared memory."""
        thread, other = race.example.thread, race.example.other_thread
        if race.space is not tree.MemorySpace.SHARED or other is None:
            return
        block = self._block()
        warps = {ravel(one, block) // WARP_SIZE for one in (thread, other)}
        first, second = race.lines[0], race.lines[-1]
        is_warp = math.prod(block) <= WARP_SIZE  # a block of one: others may have more
        calls = ["__syncthreads", "__syncwarp"] if is_warp else ["__syncwarp", "__syncthreads"]
        for call in calls if len(warps) == 1 else ["__syncthreads"]:
            for sequence, in_branch in _sequences(self._kernel.body, False):
                if in_branch and call == "__syncthreads":
                    continue
                place = next((one for one in sequence if _covers(one, first)), None)
                if place is None or not any(_covers(one, second) for one in sequence):
                    continue
                yield from self._barrier_after(place, call, race)

    def barriers_anywhere(self) -> Iterator[Repair]:
        """A barrier after any statement with an access of shared memory, outside of branches."""
        if not self._kernel.shared:
            return
        for sequence, in_branch in _sequences(self._kernel.body, False):
            for place in () if in_branch else sequence:
                if not isinstance(place, tree.Declare):
                    yield from self._barrier_after(place, "__syncthreads", None)

    def _barrier_after(
        self, place: tree.Statement, call: str, race: Hazard | None
    ) -> Iterator[Repair]:
        line = place.span.end_line
        whole = self._lines[line - 1]
        first = self._lines[place.span.line - 1]
        indent = first[: len(first) - len(first.lstrip())]
        end = len(whole.encode()) + 1
        is_loop = isinstance(place, tree.Loop)
        lines = (race.lines[0], race.lines[-1]) if race is not None else None
        yield Repair(
            *changes.add_barrier(call, place.span.line if is_loop else line, is_loop, lines),
            (Fix(Span(line, end, line, end), f"\n{indent}{call}();"),),
        )

    def _block(self) -> tuple[int, int, int]:
        return build_without_arrays(self._kernel, self._form).block

    # Values ---------------------------------------------------------------------------------------

    def starts(self, hazards: Sequence[Hazard]) -> Iterator[Repair]:
        """A value for a variable that has none."""
        names = {one.array for one in hazards if one.kind is HazardKind.UNINITIALIZED_READ}
        for statement in walk(self._kernel.body):
            if not isinstance(statement, tree.Declare) or statement.value is not None:
                continue
            name = statement.variable.name
            line = self._lines[statement.span.line - 1]
            if name not in names or not isinstance(statement.variable.ctype, Scalar):
                continue
            at = line.find(f"{name};")
            if at >= 0:
                column = len(line[: at + len(name)].encode()) + 1
                number = statement.span.line
                yield Repair(
                    *changes.start(name, number),
                    (Fix(Span(number, column, number, column), " = 0"),),
                )

    # Sizes ----------------------------------------------------------------------------------------

    def rounded_up(self) -> Iterator[Repair]:
        """A quotient of a size that is rounded up."""
        for one in self.quotients():
            left, right = self._text(one.left.span), self._text(one.right.span)
            change = rounded_up(left, right)
            yield Repair(
                *changes.round_up(change, left, right, one.span.line), (Fix(one.span, change),)
            )

    def quotients(self) -> Iterator[tree.Binary]:
        """Sizes that are divided."""
        for one in self._binaries("/"):
            if self._text(one.left.span) in self._sizes and self._text(one.right.span):
                yield one

    def compared(self) -> Iterator[Repair]:
        """Another size, or another comparison, in a guard."""
        for one in self._binaries(*COMPARISONS):
            left, right = self._text(one.left.span), self._text(one.right.span)
            if not left or not right or not {left, right} & set(self._sizes):
                continue
            was = f"{left} {one.operator} {right}"
            for size in self._sizes:
                if size in (left, right):
                    continue
                sides = (left, size) if right in self._sizes else (size, right)
                yield self._guard(one, was, f"{sides[0]} {one.operator} {sides[1]}", False)
            yield self._guard(one, was, f"{left} {COMPARISONS[one.operator]} {right}", True)

    def _guard(self, one: tree.Binary, was: str, change: str, is_same_size: bool) -> Repair:
        words = changes.write_guard(change, was, one.span.line, is_same_size=is_same_size)
        return Repair(*words, (Fix(one.span, change),), is_of_guard=True)

    def sizes(self) -> Iterator[Repair]:
        """Another size in an index."""
        for one in self._binaries("*", "%", "/"):
            for side in (one.left, one.right):
                was = self._text(side.span)
                if was not in self._sizes:
                    continue
                for size in self._sizes:
                    if size != was:
                        words = changes.write_size(size, was, self._text(one.span), side.span.line)
                        yield Repair(*words, (Fix(side.span, size),))

    def swapped_axes(self) -> Iterator[Repair]:
        """x for y and y for x, in indices of threads and blocks."""
        places: dict[Span, tree.Builtin] = {}
        for one in self._expressions():
            if isinstance(one, tree.Builtin) and self._text(one.span) == f"{one.name}.{one.axis}":
                places[one.span] = one
        lines = sorted({span.line for span in places})
        pairs = [{first, second} for first, second in itertools.pairwise(lines)]
        for where in (set(lines), *pairs, *({line} for line in lines)):
            for names in (("threadIdx", "blockIdx", "blockDim"), ("threadIdx",), ("blockIdx",)):
                fixes = tuple(
                    Fix(span, f"{one.name}.{'y' if one.axis == 'x' else 'x'}")
                    for span, one in sorted(
                        places.items(), key=lambda each: (each[0].line, each[0].column)
                    )
                    if span.line in where and one.name in names and one.axis in "xy"
                )
                if len({fix.text[-1] for fix in fixes}) < 2:
                    continue
                found = list(dict.fromkeys(fix.span.line for fix in fixes))
                repaired = [name for name in names if any(name in fix.text for fix in fixes)]
                yield Repair(*changes.swap_axes(repaired, found), fixes)
        indices = {one.axis for one in places.values() if one.name.endswith("Idx")}
        for one in self._expressions():
            if isinstance(one, tree.Builtin) and one.axis in "xy":
                text = self._text(one.span)
                axis = "y" if one.axis == "x" else "x"
                other = f"{one.name}.{axis}"
                has_axis = one.name.endswith("Idx") or axis in indices
                if text == f"{one.name}.{one.axis}" and has_axis:
                    words = changes.write_axis(other, text, one.span.line)
                    yield Repair(*words, (Fix(one.span, other),))

    def last_warp(self) -> Iterator[Repair]:
        """A number of warps that is rounded up."""
        for one in self._binaries("/", ">>"):
            by = strip_casts(one.right)
            is_warp = isinstance(by, tree.Literal) and by.value == (
                32 if one.operator == "/" else 5
            )
            left = self._text(one.left.span)
            if is_warp and isinstance(strip_casts(one.left), tree.Builtin) and left:
                change = f"({left} + 31) / 32"
                words = changes.round_up_warps(change, one.span.line)
                yield Repair(*words, (Fix(one.span, f"({change})"),))

    def wider(self, outside: Sequence[Hazard]) -> Iterator[Repair]:
        """A product of whole numbers with 64 bits."""
        if not any("element -" in one.message for one in outside):
            return
        for one in self._binaries("*"):
            if is_int(one) and self._text(one.span):
                left, right = self._text(one.left.span), self._text(one.right.span)
                words = changes.widen(left, right, one.span.line, self._passes_at(one))
                yield Repair(*words, (Fix(one.span, f"(long long){left} * {right}"),))

    def _passes_at(self, product: tree.Binary) -> tuple[str, int] | None:
        """A factor, and its first value at which a product is too large for an int, if known."""
        known = known_values(self._kernel, self._form)
        left, right = self._text(product.left.span), self._text(product.right.span)
        for factor, other in ((left, right), (right, left)):
            if known.get(other, 0) > 1:
                return factor, first_too_large(known[other])
        return None

    def guards(self, outside: Sequence[Hazard]) -> Iterator[Repair]:
        """Conditions around the accesses that leave their arrays."""
        lines = {(line, one.array) for one in outside for line in one.lines}
        fixes: list[Fix] = []
        for statement in walk(self._kernel.body):
            for root in expressions_of(statement):
                for one in subexpressions(root):
                    fix = self._guarded(statement, one, lines)
                    if fix is not None and fix not in fixes:
                        fixes.append(fix)
        if fixes:
            fixes.sort(key=lambda fix: (fix.span.line, fix.span.column))
            numbers = list(dict.fromkeys(fix.span.line for fix in fixes))
            yield Repair(*changes.guard(fixes[0].text.strip(), numbers), tuple(fixes))

    def _guarded(
        self, statement: tree.Statement, one: tree.Expression, lines: set[tuple[int, str | None]]
    ) -> Fix | None:
        is_store = isinstance(one, tree.Assign)
        target = one.lvalue if isinstance(one, tree.Assign | tree.Load) else None
        target = strip_casts(target) if target is not None else None
        if not isinstance(target, tree.Index):
            return None
        variable = root_variable(target)
        if variable is None or (target.span.line, variable.name) not in lines:
            return None
        condition = self._inside(variable.name, target.index)
        place = self._text(target.span)
        if not condition or not place:
            return None
        if is_store:
            start = statement.span
            return Fix(
                Span(start.line, start.column, start.line, start.column), f"if ({condition}) "
            )
        return Fix(target.span, f"({condition} ? {place} : 0)")

    def _inside(self, array: str, index: tree.Expression) -> str:
        """The condition for which an index is inside its array; "" where that is not known."""
        rows, columns = self._arrays.get(array, ("", ""))
        index = strip_casts(index)
        if rows == "1":
            whole = self._text(index.span)
            return f"{whole} < {columns}" if whole and columns in self._sizes else ""
        if not isinstance(index, tree.Binary) or index.operator != "+":
            return ""
        for product, along in ((index.left, index.right), (index.right, index.left)):
            product = strip_casts(product)
            if not isinstance(product, tree.Binary) or product.operator != "*":
                continue
            for down, size in ((product.left, product.right), (product.right, product.left)):
                if self._text(size.span) == columns:
                    row, column = self._text(down.span), self._text(along.span)
                    if row and column:
                        return f"{row} < {rows} && {column} < {columns}"
        return ""


def _sequences(
    statement: tree.Statement, in_branch: bool
) -> Iterator[tuple[Sequence[tree.Statement], bool]]:
    """The sequences of statements, innermost first, and whether a condition is around each."""
    inside = in_branch or isinstance(statement, tree.If | tree.Switch)
    for inner in inner_statements(statement):
        yield from _sequences(inner, inside)
    if isinstance(statement, Statements):
        yield statement.statements, in_branch


def _covers(statement: tree.Statement, line: int) -> bool:
    return statement.span.line <= line <= statement.span.end_line
