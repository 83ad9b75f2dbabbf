"""What the optimised build asks of memory: the simulator's addresses, by the code's instructions.

The simulator knows where each access of the source goes, the machine code how many instructions a
line has and how wide they are. Between two barriers, the loads of a line that go to different
places are those that the machine code makes; neighbours are made as one where a wide instruction
says so. Where both do not fit together, nothing is guessed: the line is one of `unknown`.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.loops import find_loops, innermost
from compiler.machine_code import Group, Instruction, MachineCode
from simulator.language.ctype import WIDEST_ACCESS, Array
from simulator.language.tree import Barrier, Declare, Evaluate, Kernel, MemorySpace
from simulator.language.visit import is_copy, walk
from simulator.launch import Launch
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group as Warps
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.observers.counters import FIELDS, add_up_cost
from simulator.observers.transactions import instructions

Place = tuple[int, MemorySpace, AccessKind]  # a line, and what it does there
GROUPS: Mapping[Group, tuple[MemorySpace, AccessKind]] = {
    Group.LOAD: (MemorySpace.GLOBAL, AccessKind.LOAD),
    Group.STORE: (MemorySpace.GLOBAL, AccessKind.STORE),
    Group.SHARED_LOAD: (MemorySpace.SHARED, AccessKind.LOAD),
    Group.SHARED_STORE: (MemorySpace.SHARED, AccessKind.STORE),
}
WIDTHS = (4, 8, 16)  # bytes a thread, of which an instruction may be (PTX ISA, ld)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one instruction of the source would move."""

    array: int  # the number of its array
    pattern: bytes  # how the lanes' addresses differ, and which are active
    start: int  # bytes, of the first lane
    width: int  # bytes a lane
    addresses: Array  # int [warps, 32], bytes; of shared memory from its start
    active: Array  # bool [warps, 32]

    @property
    def cell(self) -> tuple[int, bytes, int]:
        """The same for parts that move the same bytes."""
        return self.array, self.pattern, self.start


class CompiledCounters(Observer):
    """Counters of the optimised build; those of lines of which it is not known are left out."""

    def __init__(self, code: MachineCode) -> None:
        self.lines: dict[int, dict[str, int]] = {}  # by line: a count for each of counters.FIELDS
        self.unknown: dict[Place, str] = {}  # a sentence each
        self._code = code
        self._first: Mapping[int, int] = {}
        self._stretches: Mapping[Place, tuple[Stretch, ...]] = {}
        self._copies: Mapping[tuple[int, int], float | None] = {}
        self._waiting: dict[tuple[int, Place], list[Access]] = defaultdict(list)
        # What is left of a stretch that a warp goes through once, by warp and place.
        self._once: dict[tuple[int, Place], Counter[int]] = {}
        self._arrays: dict[int, int] = {}
        self._last: dict[tuple[int, int], AccessKind] = {}  # of a warp, by array

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Find the instructions of each statement."""
        self._first = first_lines(kernel)
        self._stretches = stretches(self._code, self._first)
        self._copies = copies(self._code, self._first)

    def on_access(self, access: Access) -> None:
        """Keep an access until the next barrier."""
        space = access.buffer.space
        if access.kind is AccessKind.ATOMIC:
            return
        if space not in (MemorySpace.GLOBAL, MemorySpace.SHARED):
            return
        line = access.lvalue.span.line
        place = (self._first.get(line, line), space, access.kind)
        if is_copy(access.lvalue):
            self._add_copy(place, access)
            return
        warp, array = id(access.group), id(access.buffer.data)
        if self._last.setdefault((warp, array), access.kind) is not access.kind:
            # What is stored may be what is loaded: neither is moved past the other.
            self._last[warp, array] = access.kind
            self._count(lambda key: key[0] == warp and key[1][1:] == (space, before(access.kind)))
        self._waiting[warp, place].append(access)

    def on_barrier(self, barrier: Barrier, groups: list[Warps]) -> None:
        """Count what came before it."""
        numbers = {id(group) for group in groups}
        self._count(lambda key: key[0] in numbers)

    def on_finish(self, groups: list[Warps]) -> None:
        """Count the rest."""
        numbers = {id(group) for group in groups}
        self._count(lambda key: key[0] in numbers)
        self._once = {key: rest for key, rest in self._once.items() if key[0] not in numbers}

    def _add_copy(self, place: Place, access: Access) -> None:
        """A copy past the registers is one load, and no store; see hardware_counters' METRICS."""
        line = place[0]
        if (line, access.width) not in self._copies:
            self.unknown[place] = (
                f"Line {line} copies {access.width} bytes a thread, and the machine code does not."
            )
        elif access.kind is AccessKind.LOAD:
            addresses, active = access.by_warp()
            parts, targets = ((0, access.width),), access.targets_by_warp()
            cost = add_up_cost(addresses, active, parts, access.kind, False, True, targets)
            self._add(place, cost.requests, cost.transactions)
            idle = (line, MemorySpace.SHARED, AccessKind.LOAD)
            share = self._copies[line, access.width]
            if share is None:
                self.unknown[idle] = (
                    f"Line {line}'s copies come with loads that no lane executes, and not equally "
                    "many in each place."
                )
            else:
                self._add(idle, round(cost.requests * share), 0)

    def _add(self, place: Place, requests: int, transactions: int) -> None:
        line, space, kind = place
        counts = self.lines.setdefault(line, dict.fromkeys(FIELDS, 0))
        counts[f"{space}_{kind}_requests"] += requests
        unit = "sectors" if space is MemorySpace.GLOBAL else "wavefronts"
        counts[f"{space}_{kind}_{unit}"] += transactions

    def _count(self, is_meant: Callable[[tuple[int, Place]], bool]) -> None:
        for key in [key for key in self._waiting if is_meant(key)]:
            place, accesses = key[1], self._waiting.pop(key)
            if place in self.unknown or self._is_copied(place):
                continue
            found = self._instructions(key, accesses)
            if found is None:
                line, space, kind = place
                self.unknown[place] = (
                    f"Line {line}'s {space} {kind}s in the source do not fit the machine code's "
                    "instructions there."
                )
                continue
            is_shared = place[1] is MemorySpace.SHARED
            for one in found:
                cost = add_up_cost(
                    one.addresses, one.active, ((0, one.width),), place[2], is_shared, False
                )
                self._add(place, cost.requests, cost.transactions)

    def _is_copied(self, place: Place) -> bool:
        """Whether what a line stores comes by a copy past the registers, which was counted."""
        line, space, kind = place
        is_store = space is MemorySpace.SHARED and kind is AccessKind.STORE
        is_copied = any(copied == line for copied, _ in self._copies)
        return is_store and is_copied and place not in self._stretches

    def _instructions(
        self, key: tuple[int, Place], accesses: Sequence[Access]
    ) -> list[Part] | None:
        """The instructions that a warp's accesses at a place became, None where that is open."""
        parts = [part for access in accesses for part in self._parts(access)]
        found: list[Part] = []
        while parts:
            for stretch in self._stretches.get(key[1], ()):
                widths = stretch.widths
                if not stretch.is_repeated:
                    widths = self._once.setdefault(key, Counter(widths))
                taken = _fit(parts, widths)
                if taken is not None:
                    break
            else:
                return None
            count, made = taken
            if not stretch.is_repeated:
                self._once[key] = widths - _widths(made)
            found += made
            parts = parts[count:]
        return found

    def _parts(self, access: Access) -> Iterator[Part]:
        offsets, active = access.by_warp()
        buffer = access.buffer
        if buffer.space is MemorySpace.SHARED:
            offsets = offsets + buffer.offset
        array = self._arrays.setdefault(id(buffer.data), len(self._arrays))
        first = int(offsets[active][0]) if active.any() else 0
        differences = np.where(active, offsets - first, 0)
        pattern = differences.tobytes() + active.tobytes()
        for begin, width in instructions(access.width, access.component_size):
            yield Part(array, pattern, first + begin, width, offsets + begin, active)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A line's instructions of one kind in one loop of the machine code, or outside all loops."""

    widths: Counter[int]  # how many instructions move so many bytes a thread
    is_repeated: bool  # whether it is in a loop


def _fit(parts: Sequence[Part], widths: Counter[int]) -> tuple[int, list[Part]] | None:
    """How many of the next parts become the instructions of one stretch, and these.

    They are the most that go to no more places than these instructions have room for. Where none
    is wider than in the source, each is an instruction, and those that no lane needs are left out.
    """
    capacity = sum(width * count for width, count in widths.items())
    cells: dict[tuple[int, bytes, int], Part] = {}
    taken = 0
    for part in parts:
        if part.cell not in cells:
            if part.width > capacity:
                break
            capacity -= part.width
            cells[part.cell] = part
        taken += 1
    if not cells:
        return None
    if not capacity:
        for made in _merged(tuple(cells.values())):
            if _widths(made) == widths:
                return taken, made
    is_plain = set(widths) == {part.width for part in cells.values()} and len(set(widths)) == 1
    return (taken, list(cells.values())) if is_plain and taken == len(cells) else None


def first_lines(kernel: Kernel) -> Mapping[int, int]:
    """The first line of the statement that each line is of, where it goes over several.

    The compiler names the line at which a call begins, the simulator that of the array.
    """
    return {
        line: one.span.line
        for one in walk(kernel.body)
        if isinstance(one, Declare | Evaluate)
        for line in range(one.span.line + 1, one.span.end_line + 1)
    }


def copies(code: MachineCode, first: Mapping[int, int]) -> Mapping[tuple[int, int], float | None]:
    """By line and bytes of copies past the registers, how many idle loads come with each of them.

    For compute capability 9.0 the compiler puts `@!PT LDS RZ, [RZ]` before copies. No lane takes
    part, and yet an H200 counts each as a request of shared memory, as the counters of pipelined
    show. None where that is not the same wherever the line's copies are.
    """
    loops = find_loops(code.instructions)
    idle: Counter[tuple[int, int | None]] = Counter()
    found: dict[tuple[int, int], Counter[int | None]] = defaultdict(Counter)
    for number, one in enumerate(code.instructions):
        if one.line is None or not (one.group is Group.COPY or is_idle(one)):
            continue
        line, loop = first.get(one.line, one.line), innermost(loops, number)
        head = None if loop is None else loop.head
        if is_idle(one):
            idle[line, head] += 1
        else:
            found[line, one.width or 0][head] += 1
    shares = {
        (line, width): {idle[line, head] / count for head, count in each.items()}
        for (line, width), each in found.items()
    }
    return {place: each.pop() if len(each) == 1 else None for place, each in shares.items()}


def before(kind: AccessKind) -> AccessKind:
    """A store's counterpart, a load, and the other way round."""
    return AccessKind.LOAD if kind is AccessKind.STORE else AccessKind.STORE


def is_idle(instruction: Instruction) -> bool:
    """Whether an instruction is for no lane at all."""
    return instruction.text.startswith("@!PT ")


def stretches(code: MachineCode, first: Mapping[int, int]) -> Mapping[Place, tuple[Stretch, ...]]:
    """A statement's instructions of each kind by loop, those with the most bytes first.

    A line that is in several places of the code, such as an unrolled loop and its rest, has several
    stretches. first has the first lines of statements.
    """
    loops = find_loops(code.instructions)
    found: dict[Place, dict[int | None, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for number, one in enumerate(code.instructions):
        if one.line is None or one.width is None or one.group not in GROUPS:
            continue
        if not is_idle(one):
            loop = innermost(loops, number)
            place = (first.get(one.line, one.line), *GROUPS[one.group])
            found[place][None if loop is None else loop.head][one.width] += 1
    return {
        place: tuple(
            Stretch(widths, head is not None)
            for head, widths in sorted(each.items(), key=lambda item: -_bytes(item[1]))
        )
        for place, each in found.items()
    }


def _bytes(widths: Counter[int]) -> int:
    return sum(width * count for width, count in widths.items())


def _widths(parts: Sequence[Part]) -> Counter[int]:
    return Counter(part.width for part in parts)


def _merged(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts as instructions, for each choice of how wide those of each array become."""
    arrays = sorted({part.array for part in parts})
    for chosen in itertools.product(reversed(WIDTHS), repeat=len(arrays)):
        widest = dict(zip(arrays, chosen, strict=True))
        yield _merge(parts, widest)


def _merge(parts: Sequence[Part], widest: Mapping[int, int]) -> list[Part]:
    """The parts with neighbours made as one, as wide as an array's may be and its place allows."""
    by_pattern: dict[tuple[int, bytes, int], dict[int, Part]] = defaultdict(dict)
    for part in parts:
        by_pattern[part.array, part.pattern, part.width][part.start] = part
    found = []
    for (array, _, width), starts in by_pattern.items():
        left = dict(sorted(starts.items()))
        while left:
            start, part = next(iter(left.items()))
            for wide in (WIDEST_ACCESS, 8, width):
                places = range(start, start + wide, width)
                fits = wide <= max(width, widest[array]) and all(one in left for one in places)
                if wide == width or (fits and not (part.addresses[part.active] % wide).any()):
                    break
            for one in range(start, start + wide, width):
                del left[one]
            found.append(Part(array, part.pattern, start, wide, part.addresses, part.active))
    return found
