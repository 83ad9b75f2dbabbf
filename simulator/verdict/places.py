"""Cells that a kernel picks by what its arrays hold.

A scatter needs an array that holds each number once, a sparse matrix offsets that rise. Where such
arrays were filled with random digits, two threads may meet in a cell that a real input keeps apart:
that is no fault of the kernel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from simulator.language import tree
from simulator.language.ctype import ArrayOf, Pointer
from simulator.language.functions import ATOMIC_FUNCTIONS
from simulator.language.visit import (
    expressions_of,
    expressions_within,
    in_register,
    sources_of,
    subexpressions,
    walk,
)
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.observers.written_parameters import root_variable
from simulator.verdict.form import Contents, LaunchForm
from simulator.verdict.parameters import is_whole

# Where threads read what others write, as a histogram's, that is the kernel's: it needs atomics.
READ_RACES = (HazardKind.READ_AFTER_WRITE, HazardKind.WRITE_AFTER_READ)

# What a value comes from: a variable itself, or what the memory holds that it points to.
Origin = tuple[tree.Variable, bool]


@dataclass(frozen=True, slots=True)
class Place:
    """An access whose cell depends on what arrays of whole numbers hold."""

    line: int
    arrays: frozenset[str]  # that it may be an access of
    sources: frozenset[str]  # the parameters whose arrays' values pick the cell


@dataclass(frozen=True, slots=True)
class Places:
    """What picks cells in a kernel."""

    accesses: tuple[Place, ...]
    bounds: frozenset[str]  # the parameters whose arrays' values end loops

    def sources(self, form: LaunchForm, hazards: Iterable[Hazard]) -> dict[int, set[str]]:
        """The arrays whose drawn values pick the cells of hazards, by these hazards' numbers.

        Hazards that another drawing shows too, as far as the kernel's source tells, have none.
        """
        drawn = {one.name for one in form.arrays if one.contents is not Contents.ZEROS}
        known = list(hazards)
        raced = {one.array for one in known if one.kind in READ_RACES}
        found = {
            number: self._of(hazard) & drawn
            for number, hazard in enumerate(known)
            if hazard.kind in (HazardKind.OUT_OF_BOUNDS, HazardKind.UNINITIALIZED_READ)
            or (hazard.kind is HazardKind.WRITE_AFTER_WRITE and hazard.array not in raced)
        }
        return {number: sources for number, sources in found.items() if sources}

    def _of(self, hazard: Hazard) -> set[str]:
        """What picks the cells of a hazard; of an unset cell, what picks those that were set."""
        near = [one for one in self.accesses if hazard.array in one.arrays]
        here = [one for one in near if one.line in hazard.lines]
        if hazard.kind is HazardKind.UNINITIALIZED_READ:
            here = [] if here else near  # what adds to a cell that it picks needs one that is set
        return {source for one in here for source in one.sources}

    def picked_by(self, source: str) -> list[str]:
        """The arrays whose cells an array's values pick."""
        return sorted({name for one in self.accesses if source in one.sources
                       for name in one.arrays} - {source})  # fmt: skip


def find_places(kernel: tree.Kernel) -> Places:
    """What picks the cells of a kernel's accesses, as far as values flow through its variables."""
    origins = _origins(kernel)
    whole = {one for one in kernel.parameters
             if isinstance(one.ctype, Pointer) and is_whole(one.ctype.target)}  # fmt: skip

    def sources(expressions: Iterable[tree.Expression]) -> frozenset[str]:
        reached = sources_of(origins, (one for each in expressions for one in _values(each)))
        return frozenset(one.name for one, is_held in reached if is_held and one in whole)

    accesses: list[Place] = []
    bounds = frozenset[str]()
    for statement in walk(kernel.body):
        if isinstance(statement, tree.Loop) and statement.condition is not None:
            bounds |= sources([statement.condition])
        for root in expressions_of(statement):
            for one in subexpressions(root):
                if not isinstance(one, tree.Index | tree.Dereference):
                    continue
                inside = (one.base, one.index) if isinstance(one, tree.Index) else (one.pointer,)
                if picked := sources(inside):
                    reached = sources_of(origins, _values(inside[0]))
                    arrays = frozenset(of.name for of, _ in reached if _is_array(of))
                    accesses.append(Place(one.span.line, arrays, picked))
    return Places(tuple(accesses), bounds)


def lines_of_accesses(kernel: tree.Kernel, arrays: Collection[str]) -> list[int]:
    """The lines that read or write the arrays of parameters, by their names."""
    origins = _origins(kernel)
    found: set[int] = set()
    for one in expressions_within(kernel.body):
        if isinstance(one, tree.Index | tree.Dereference):
            base = one.base if isinstance(one, tree.Index) else one.pointer
            if any(of.name in arrays for of, _ in sources_of(origins, _values(base))):
                found.add(one.span.line)
    return sorted(found)


def _origins(kernel: tree.Kernel) -> dict[Origin, set[Origin]]:
    """What each variable, and the memory that it points to, gets its values from."""
    found: defaultdict[Origin, set[Origin]] = defaultdict(set)

    def note(target: tree.Variable, is_held: bool, values: Iterable[tree.Expression]) -> None:
        of = {one for value in values for one in _values(value)}
        found[target, is_held] |= of
        if not is_held and _is_array(target):  # a copy of a pointer: it points to what that does
            found[target, True] |= {(one, True) for one, _ in of}

    for statement in walk(kernel.body):
        if isinstance(statement, tree.Declare):
            cells, value = statement.cells or (), statement.value
            note(statement.variable, bool(cells), cells if value is None else (value,))
        for root in expressions_of(statement):
            for one in subexpressions(root):
                for lvalue, values in _stores(one):
                    target = root_variable(lvalue)
                    if target is not None:
                        is_held = not in_register(lvalue)
                        note(target, is_held, (*values, lvalue) if is_held else values)
    return found


def _stores(one: tree.Expression) -> Iterator[tuple[tree.Expression, tuple[tree.Expression, ...]]]:
    """What an expression itself stores to, and the values that this gets."""
    if isinstance(one, tree.Assign):
        yield one.lvalue, (one.value,)
    elif isinstance(one, tree.Increment):
        yield one.lvalue, ()
    elif isinstance(one, tree.Call) and one.function in ATOMIC_FUNCTIONS:
        yield tree.Dereference(one.ctype, one.span, one.arguments[0]), one.arguments[1:]


def _values(expression: tree.Expression) -> Iterator[Origin]:
    """What the value of an expression comes from, without what comes before it."""
    for one in subexpressions(expression):
        read: tree.Expression | None = None
        match one:
            case tree.Name(variable=variable):
                yield variable, False
            case tree.Inlined() if one.function.result is not None:
                yield one.function.result, False
            case tree.Load(lvalue=lvalue) | tree.Increment(lvalue=lvalue) if not in_register(
                lvalue
            ):
                read = lvalue
            case tree.Call(function=name, arguments=(first, *_)) if name in ATOMIC_FUNCTIONS:
                read = first
        held = root_variable(read) if read is not None else None
        if held is not None:
            yield held, True


def _is_array(variable: tree.Variable) -> bool:
    return isinstance(variable.ctype, Pointer | ArrayOf)
