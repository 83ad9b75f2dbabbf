"""Where the clock is read: the phases of a kernel, found in its outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from gpu.trace.trace import Kind, Level
from simulator.frontend.outline import Body, Form, Outline, Outlined, Work

NAMES = {
    Kind.LOAD: "copy",
    Kind.BARRIER: "wait",
    Kind.COMPUTE: "inner loop",
    Kind.STORE: "store",
    Kind.OTHER: "before the loop",
}
WITHOUT_LOOP = "whole kernel"
LONGEST_NAME = 60  # letters of a statement's code


@dataclass(frozen=True, slots=True)
class Place:
    """A phase of the code: what a read of the clock begins."""

    number: int  # its index
    name: str
    kind: Kind
    first_line: int
    last_line: int
    in_tile: bool  # whether it is in the loop over tiles
    whole: int | None = None  # of one iteration of an inner loop, the number of that loop's place


@dataclass(frozen=True, slots=True)
class Read:
    """A read of the clock that the code gets."""

    line: int  # it is put before what is there
    column: int  # in bytes, from 1
    place: int  # number of the place that begins
    begins_tile: bool = False
    of_iteration: bool = False  # of an inner loop, in one tile


@dataclass(frozen=True, slots=True)
class Places:
    """The phases of a kernel and where they begin. The kernel itself begins with the first one."""

    places: tuple[Place, ...]
    reads: tuple[Read, ...]  # in the order in which they were found
    braces: tuple[Body, ...]  # bodies that get braces
    functions: frozenset[str]  # keys of those through which the trace is passed
    notes: tuple[str, ...] = ()  # sentences on waits that are no places


class _Where(Enum):
    """What the code that is walked is part of."""

    OUTSIDE = auto()  # of a loop over tiles
    TILE = auto()  # an iteration of it
    INNER = auto()  # the loop in it that multiplies and waits in between


@dataclass(slots=True)
class _Group:
    """Statements one after another that are one phase; `opens`: the last one is looked into."""

    kind: Kind | None  # None: bookkeeping
    statements: list[Outlined]
    opens: bool = False


@dataclass(slots=True)
class _Walk:
    """Finds the places of one kernel."""

    outline: Outline
    level: Level
    has_product: bool
    has_loop: bool
    places: list[Place] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    braces: list[Body] = field(default_factory=list)
    entered: set[str] = field(default_factory=set)
    current: int | None = None  # the place that is known to be under way
    is_after: bool = False  # whether the loop over tiles is over
    begins_tile: bool = False  # whether the next read begins a tile
    inner: int | None = None  # the place of the inner loop that is looked into

    def body(self, body: Body, where: _Where) -> None:
        """Find the places in a body."""
        for group in self._groups(body, where):
            if group.opens:
                self._open(body, group, where)
            else:
                self._enter(body, group, where)

    def _groups(self, body: Body, where: _Where) -> list[_Group]:
        """The statements of a body by phases; bookkeeping goes with what it leads to."""
        groups: list[_Group] = []
        waiting: list[Outlined] = []
        for statement in body.statements:
            kind, opens = self._kind(statement, where), self._opens(statement, where)
            if kind is None and not opens:
                waiting.append(statement)
                continue
            last = groups[-1] if groups else None
            if last and not opens and not last.opens and self._joins(last, kind, where):
                last.statements += [*waiting, statement]
            else:
                groups.append(_Group(kind, [*waiting, statement], opens))
            waiting = []
        if waiting and groups and not groups[-1].opens:
            groups[-1].statements += waiting
        elif waiting and not groups:
            groups.append(_Group(Kind.LOAD, waiting))
        return groups

    def _joins(self, group: _Group, kind: Kind | None, where: _Where) -> bool:
        is_one = self.level is Level.PHASES or where is not _Where.TILE or kind is Kind.BARRIER
        return is_one and group.kind is kind

    def _kind(self, statement: Outlined, where: _Where) -> Kind | None:
        """What a statement is for; None for bookkeeping."""
        work = self.outline.work_of(statement)
        if _only_waits(work):
            return Kind.BARRIER
        match where:
            case _Where.OUTSIDE:
                return Kind.COMPUTE if self._is_main_loop(statement) else Kind.OTHER
            case _Where.TILE if Work.MULTIPLIES in work:
                return Kind.COMPUTE
            case _Where.TILE:
                return Kind.LOAD if Work.MEMORY in work else None
            case _Where.INNER:
                return Kind.COMPUTE

    def _is_main_loop(self, statement: Outlined) -> bool:
        """Whether it is a loop that does the kernel's work."""
        return statement.form is Form.LOOP and (
            not self.has_product or Work.MULTIPLIES in self.outline.work_of(statement)
        )

    def _opens(self, statement: Outlined, where: _Where) -> bool:
        """Whether there are places within a statement."""
        work = self.outline.work_of(statement)
        if _only_waits(work) or not (statement.bodies or self._entered_by(statement)):
            return False
        if where is not _Where.OUTSIDE:
            return Work.WAITS in work
        if statement.form is Form.LOOP:
            return Work.WAITS in work or (
                self._is_main_loop(statement)
                and self.has_product
                and any(self._is_main_loop(one) for one in self._inside(statement))
            )
        return Work.WAITS in work or any(map(self._is_main_loop, self._inside(statement)))

    def _inside(self, statement: Outlined) -> Iterator[Outlined]:
        return (one for one in self.outline.nested(statement) if one is not statement)

    def _entered_by(self, statement: Outlined) -> list[str]:
        """The functions that a statement calls, through which a trace can be passed."""
        return [call.function for call in statement.calls if self._can_enter(call.function)]

    def _can_enter(self, function: str) -> bool:
        closed = through(self.outline, {function})
        functions = self.outline.functions
        return function in functions and not any(
            functions[one].is_declared_before or not functions[one].has_parameters for one in closed
        )

    def _open(self, body: Body, group: _Group, where: _Where) -> None:
        """Find the places within the last statement of a group."""
        statement = group.statements[-1]
        if statement.form is Form.LOOP and where is _Where.OUTSIDE:
            self.current, self.begins_tile = None, True
            self.body(statement.bodies[0], _Where.TILE)
            self.current, self.is_after, self.begins_tile = None, True, False
        elif statement.form is Form.LOOP and group.kind is Kind.COMPUTE:
            self._inner_loop(body, group, where)
        elif statement.form is Form.LOOP:
            self._lead(body, statement, where)
            self.current = None
            self.body(statement.bodies[0], where)
            self.current = None
        elif statement.bodies:
            self._lead(body, statement, where)
            self._branches(statement, where)
        else:
            self._lead(body, statement, where)
            self._functions(statement, where)

    def _lead(self, body: Body, statement: Outlined, where: _Where) -> None:
        """Read the clock before a statement where a tile begins with it."""
        if self.begins_tile:
            self._enter(body, _Group(Kind.LOAD, [statement]), where)

    def _inner_loop(self, body: Body, group: _Group, where: _Where) -> None:
        """An inner loop within which threads wait: what is no wait in it is one place."""
        loop = group.statements[-1].bodies[0]
        outermost = where is _Where.TILE
        if outermost:
            self.inner = self._enter(body, group, where)
            self._iterations(loop, self.inner)
        self.body(loop, _Where.INNER)
        if self.current != self.inner and self.inner is not None:
            self._read_at_end(loop, self.inner)
        self.current = self.inner

    def _iterations(self, loop: Body, whole: int) -> None:
        """Read the clock at each iteration of an inner loop, if statements are asked for."""
        if self.level is Level.STATEMENTS and loop.statements:
            place = replace(self.places[whole], number=len(self.places), whole=whole)
            self.places.append(place)
            self._read(loop, loop.statements[0], place.number, of_iteration=True)

    def _branches(self, statement: Outlined, where: _Where) -> None:
        start, ends = (self.current, self.is_after), []
        for body in statement.bodies:
            self.current, self.is_after = start
            self.body(body, where)
            if not (body.statements and body.statements[-1].returns):
                ends.append((self.current, self.is_after))
        if statement.form is Form.BRANCH and len(statement.bodies) == 1:
            ends.append(start)
        self.current = ends[0][0] if len({current for current, _ in ends}) == 1 else None
        self.is_after = any(is_after for _, is_after in ends)

    def _functions(self, statement: Outlined, where: _Where) -> None:
        for function in self._entered_by(statement):
            if function not in self.entered:
                self.entered.add(function)
                self.body(self.outline.functions[function].body, where)
        self.current = None
        self.is_after = self.is_after or any(map(self._is_main_loop, self._inside(statement)))

    def _enter(self, body: Body, group: _Group, where: _Where) -> int:
        """The number of the place that a group is, which begins before its first statement."""
        kind = group.kind or Kind.LOAD
        if where is _Where.OUTSIDE and kind is Kind.OTHER and self.is_after:
            kind = Kind.STORE
        known = self._under_way(kind, where)
        first, last = group.statements[0].span.line, group.statements[-1].span.end_line
        if known is not None:
            place = self.places[known]
            if where is _Where.OUTSIDE:
                self.places[known] = replace(place, last_line=max(last, place.last_line))
        else:
            known = len(self.places)
            in_tile = where is not _Where.OUTSIDE
            name = self._name(group, kind, where)
            self.places.append(Place(known, name, kind, first, last, in_tile))
        if known != self.current:
            if known:  # the kernel itself begins with the first
                self._read(body, group.statements[0], known)
            self.current = known
        if kind is Kind.COMPUTE and where is _Where.TILE and not group.opens:
            loops = [one for one in _own(group.statements[-1]) if self._is_main_loop(one)]
            for loop in loops[:1]:
                self._iterations(loop.bodies[0], known)
        if kind is Kind.COMPUTE and where is _Where.OUTSIDE:
            self.is_after = True
        return known

    def _under_way(self, kind: Kind, where: _Where) -> int | None:
        """The place that a group goes on with: the inner loop's, or what is around the loop."""
        if where is _Where.INNER and kind is Kind.COMPUTE:
            return self.inner
        if where is _Where.OUTSIDE and kind in (Kind.OTHER, Kind.STORE):
            current = self.current
            return current if current is not None and self.places[current].kind is kind else None
        return None

    def _name(self, group: _Group, kind: Kind, where: _Where) -> str:
        if self.level is Level.STATEMENTS and where is _Where.TILE and kind is not Kind.BARRIER:
            span = group.statements[-1].span
            lines = self.outline.text.split("\n")[span.line - 1 : span.end_line]
            code = next((one for one in map(str.strip, lines) if not one.startswith("#")), "")
            return code if len(code) <= LONGEST_NAME else f"{code[: LONGEST_NAME - 1]}…"
        return NAMES[kind] if self.has_loop or kind is not Kind.OTHER else WITHOUT_LOOP

    def _read(
        self, body: Body, statement: Outlined, place: int, of_iteration: bool = False
    ) -> None:
        begins_tile = self.begins_tile and not of_iteration
        span = statement.span
        self.reads.append(Read(span.line, span.column, place, begins_tile, of_iteration))
        self.begins_tile = self.begins_tile and not begins_tile
        if not body.in_braces and body not in self.braces:
            self.braces.append(body)

    def _read_at_end(self, body: Body, place: int) -> None:
        if body.in_braces:
            span = body.span
            self.reads.append(Read(span.end_line, span.end_column - 1, place))


def _only_waits(work: frozenset[Work]) -> bool:
    return work == {Work.WAITS}


def find_places(outline: Outline, level: Level) -> Places:
    """The places of a kernel at a level. The first one begins with the kernel."""
    whole = Outlined(outline.kernel.body.span, Form.BLOCK, bodies=(outline.kernel.body,))
    has_product = Work.MULTIPLIES in outline.work_of(whole)
    has_loop = any(one.form is Form.LOOP for one in outline.nested(whole))
    walk = _Walk(outline, level, has_product, has_loop)
    statements = outline.kernel.body.statements
    span = outline.kernel.body.span
    first = statements[0].span if statements else span
    name = NAMES[Kind.OTHER] if has_loop else WITHOUT_LOOP
    walk.places.append(Place(0, name, Kind.OTHER, first.line, first.end_line, False))
    walk.current = 0
    walk.body(outline.kernel.body, _Where.OUTSIDE)
    functions = frozenset(through(outline, walk.entered))
    called = {call.function for one in outline.nested(whole) for call in one.calls}
    notes = tuple(
        f"Waits in {outline.functions[key].name} count as part of what calls it: the function "
        "itself cannot be traced, because it has no parameters or is declared before it is defined."
        for key in sorted(called - functions)
        if key in outline.functions and _waits_and_works(outline, key)
    )
    return Places(tuple(walk.places), tuple(walk.reads), tuple(walk.braces), functions, notes)


def _waits_and_works(outline: Outline, function: str) -> bool:
    """Whether threads wait in a function, and do more there."""
    body = outline.functions[function].body
    work = outline.work_of(Outlined(body.span, Form.BLOCK, bodies=(body,)))
    return Work.WAITS in work and not _only_waits(work)


def through(outline: Outline, functions: set[str]) -> set[str]:
    """The functions, and all that call them, or call what calls them."""
    found = set(functions)
    while True:
        more = {
            key
            for key, function in outline.functions.items()
            for statement in function.body.statements
            for one in _own(statement)
            for call in one.calls
            if call.function in found
        }
        if more <= found:
            return found
        found |= more


def _own(statement: Outlined) -> Iterator[Outlined]:
    """A statement and what it nests in the same function."""
    yield statement
    for body in statement.bodies:
        for inner in body.statements:
            yield from _own(inner)


def own_statements(body: Body) -> Iterator[Outlined]:
    """All statements of a function."""
    for statement in body.statements:
        yield from _own(statement)
