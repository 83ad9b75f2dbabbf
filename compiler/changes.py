"""What the compiler did to a line: how its machine code differs from what the source says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from compiler.loops import find_loops, innermost
from compiler.machine_code import Group, Instruction, MachineCode
from simulator.language.ctype import Vector
from simulator.language.tree import Assign, Barrier, Function, Increment, Kernel, Load, Statement
from simulator.language.tree import Loop as SourceLoop
from simulator.language.visit import expressions_of, in_register, inner_statements, subexpressions

MULTIPLY_ADDS = ("FFMA", "DFMA", "HFMA2", "FFMA2")
LOADS = (Group.LOAD, Group.SHARED_LOAD)
STORES = (Group.STORE, Group.SHARED_STORE)


class ChangeKind(StrEnum):
    """A kind of change."""

    UNROLLED = "unrolled"
    MERGED = "merged"
    FUSED = "fused"
    HOISTED = "hoisted"
    AFTER_BARRIER = "moved after a barrier"
    BEFORE_BARRIER = "moved before a barrier"
    DELETED = "deleted"
    WIDE = "vectorised"
    SPILLED = "spilled"
    LOCAL = "in local memory"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that the compiler did to a line."""

    kind: ChangeKind
    count: int  # how many times, or how many instructions
    sentence: str


@dataclass(slots=True)
class Line:
    """What the source says on a line."""

    loop: int | None = None  # the line of the innermost loop around it
    statement: range = range(0)  # the lines of the statement that it is of
    is_barrier: bool = False
    in_function: bool = False  # whether the kernel calls it, so that lines are not in its order
    multiply_adds: int = 0  # sums with a product
    loads: list[int] = field(default_factory=list)  # bytes of each load from an array
    stores: list[int] = field(default_factory=list)
    vectors: list[int] = field(default_factory=list)  # of these, those of short vectors


def changes(code: MachineCode, kernel: Kernel) -> Mapping[int, tuple[Change, ...]]:
    """What was done to each line of a kernel's source whose machine code is `code`."""
    source = source_lines(kernel)
    loops = find_loops(code.instructions)
    placed: dict[int, dict[int | None, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, one in enumerate(code.instructions):
        if one.line is not None:
            loop = innermost(loops, number)
            placed[one.line][None if loop is None else loop.head].append(number)
    barriers = [line for line, said in source.items() if said.is_barrier and not said.in_function]
    found: dict[int, tuple[Change, ...]] = {}
    for line, said in sorted(source.items()):
        made: list[Change] = []
        if line in placed:
            made += _in_place(code.instructions, placed[line], said)
            made += _hoisted(code.instructions, placed[line], said, line)
            beside = [one for one in barriers if source[one].loop == said.loop]
            if said.loop != line and not said.in_function:  # a loop's own line has two ends
                made += _moved(code.instructions, placed, line, beside)
            made += _local(code, line)
        elif not any(one in placed for one in said.statement):
            made.append(Change(ChangeKind.DELETED, 1, "No instruction of this line remains."))
        if made:
            found[line] = tuple(made)
    return found


def source_lines(kernel: Kernel) -> Mapping[int, Line]:
    """Each line that computes something, with what it says."""
    found: dict[int, Line] = defaultdict(Line)
    _read(kernel.body, None, False, found)
    for one in kernel.contractions.sums:
        if one.span.line in found:
            found[one.span.line].multiply_adds += 1
    return found


def _read(
    statement: Statement, loop: int | None, in_function: bool, found: dict[int, Line]
) -> None:
    """Note what a statement, and those in it, say of their lines."""
    inside = statement.span.line if isinstance(statement, SourceLoop) else loop
    within = in_function or isinstance(statement, Function)
    if isinstance(statement, Barrier):
        found[statement.span.line].is_barrier = True
    roots = expressions_of(statement)
    expressions = [each for root in roots for each in subexpressions(root)]
    of_statement = {one.span.line for one in expressions}
    if roots or isinstance(statement, Barrier):
        of_statement.add(statement.span.line)
    for line in of_statement:
        said = found[line]
        said.loop, said.in_function = inside, within
        said.statement = range(min(of_statement), max(of_statement) + 1)
    for one in expressions:
        said, accessed = found[one.span.line], []
        if isinstance(one, Load) and not in_register(one.lvalue):
            said.loads.append(one.ctype.size)
            accessed.append(one.ctype)
        if isinstance(one, Assign | Increment) and not in_register(one.lvalue):
            said.stores.append(one.lvalue.ctype.size)
            accessed.append(one.lvalue.ctype)
            if isinstance(one, Increment) or one.operator:
                said.loads.append(one.lvalue.ctype.size)
        said.vectors += [ctype.size for ctype in accessed if isinstance(ctype, Vector)]
    for inner in inner_statements(statement):
        _read(inner, inside, within, found)


def _in_place(
    code: Sequence[Instruction], placed: Mapping[int | None, list[int]], said: Line
) -> Iterator[Change]:
    """What was done where the line's instructions are most."""
    stretches = [[code[number] for number in numbers] for numbers in placed.values()]
    here = max(stretches, key=len)
    fused = [one for one in here if one.base in MULTIPLY_ADDS and one.group is Group.ARITHMETIC]
    times = _times(here, fused, said)
    if said.loop is not None and times > 1:
        yield Change(
            ChangeKind.UNROLLED, times,
            f"Unrolled: its work is written out {times} times, one after another.",
        )  # fmt: skip
    if said.multiply_adds and fused:
        names = " and ".join(sorted({one.base for one in fused}))
        yield Change(
            ChangeKind.FUSED, len(fused),
            f"Fused: each product and its sum are one instruction, {names}, rounded once.",
        )  # fmt: skip
    for groups, widths, verb in ((LOADS, said.loads, "load"), (STORES, said.stores, "store")):
        wide = Counter(
            one.width for one in here
            if one.group in groups and one.width is not None and one.width > max(widths, default=99)
        )  # fmt: skip
        for width, count in sorted(wide.items()):
            each = width // max(widths)
            yield Change(
                ChangeKind.MERGED, count,
                f"Merged: {each} neighbouring {verb}s became one of {width} bytes, "
                f"{count} time{'s' if count > 1 else ''}.",
            )  # fmt: skip
        asked = max((width for width in said.vectors if width in widths), default=0)
        as_wide = [one for one in here if one.group in groups and one.width == asked]
        if as_wide:
            yield Change(
                ChangeKind.WIDE, len(as_wide),
                f"Vectorised: one instruction {verb}s {asked} bytes a thread, as the source asks.",
            )  # fmt: skip


def _times(here: Sequence[Instruction], fused: Sequence[Instruction], said: Line) -> int:
    """How many iterations of the source's loop a stretch holds, 1 where that is not clear."""
    if said.multiply_adds and fused:
        return len(fused) // said.multiply_adds
    for groups, widths in ((STORES, said.stores), (LOADS, said.loads)):
        moved = sum(one.width or 0 for one in here if one.group in groups)
        if widths and moved:
            return max(1, moved // sum(widths))
    return 1


def _hoisted(
    code: Sequence[Instruction], placed: Mapping[int | None, list[int]], said: Line, line: int
) -> Iterator[Change]:
    """What is computed once, before a loop, of a line in the loop."""
    repeated = [head for head in placed if head is not None]
    if said.loop is None or said.loop == line or not repeated:
        return
    before = [number for number in placed.get(None, ()) if number < min(repeated)]
    if before:
        loads = sum(code[number].group in LOADS for number in before)
        what = f", {loads} of them loads," if loads else ""
        yield Change(
            ChangeKind.HOISTED, len(before),
            f"Hoisted: {_instructions(len(before))}{what} been moved before the loop, to run once.",
        )  # fmt: skip


def _moved(
    code: Sequence[Instruction], placed: Mapping[int, Mapping[int | None, list[int]]], line: int,
    barriers: Sequence[int],
) -> Iterator[Change]:  # fmt: skip
    """What is on the other side of a barrier than in the source, within one stretch."""
    for barrier in sorted(set(barriers)):
        for stretch, numbers in placed.get(barrier, {}).items():
            waits = [number for number in numbers if code[number].base == "BAR"]
            own = placed[line].get(stretch, [])
            if len(waits) != 1 or not own or line == barrier:
                continue
            is_after = line < barrier
            crossed = [number for number in own if (number > waits[0]) == is_after]
            if crossed:
                side = "after" if is_after else "before"
                kind = ChangeKind.AFTER_BARRIER if is_after else ChangeKind.BEFORE_BARRIER
                yield Change(
                    kind, len(crossed),
                    f"Moved: {_instructions(len(crossed))} moved {side} the barrier of line "
                    f"{barrier}, because no value depends on that order.",
                )  # fmt: skip


def _local(code: MachineCode, line: int) -> Iterator[Change]:
    """What of a line is in local memory: spilled registers, or arrays that none can hold."""
    local = [one for one in code.instructions if one.line == line and one.group is Group.LOCAL]
    if not local:
        return
    kinds = Counter("store" if one.base == "STL" else "load" for one in local)
    what = " and ".join(
        f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(kinds.items())
    )
    if code.spill_stores or code.spill_loads:
        yield Change(
            ChangeKind.SPILLED, len(local),
            f"Spilled: {what}, in local memory, of values for which no register was left.",
        )  # fmt: skip
    else:
        yield Change(
            ChangeKind.LOCAL, len(local),
            f"Local memory: {what}, because a variable chooses an element of the thread's own "
            "array, and no instruction can choose a register that way.",
        )  # fmt: skip


def _instructions(count: int) -> str:
    return "one of its instructions has" if count == 1 else f"{count} of its instructions have"
