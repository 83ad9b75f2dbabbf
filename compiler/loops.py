"""The loops of machine code, found from its branches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.machine_code import INSTRUCTION_BYTES, Instruction
from simulator.language.visit import sources_of

TARGET = re.compile(r"0x([0-9a-f]+)")
ENDS = ("EXIT", "RET", "KILL", "BRX", "BRXU", "JMP")  # no instruction is known to follow


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: it is entered at its head alone, and some of its instructions go back to that."""

    head: int  # the number of an instruction, from 0
    body: frozenset[int]  # the numbers of its instructions, those of loops in it too
    is_innermost: bool


def find_loops(code: Sequence[Instruction]) -> tuple[Loop, ...]:
    """The natural loops of a function, in the order of their heads.

    A branch goes back to a loop's head if every way to the branch leads over that (Aho, Lam, Sethi
    and Ullman, Compilers, 9.6).
    """
    follows = successors(code)
    before: dict[int, list[int]] = {number: [] for number in range(len(code))}
    for number, nexts in follows.items():
        for after in nexts:
            before[after].append(number)
    dominators = _dominators(follows, before)
    bodies: dict[int, set[int]] = {}
    for number, nexts in follows.items():
        for head in nexts:
            if head <= number and number in dominators and _dominates(head, number, dominators):
                bodies.setdefault(head, {head}).update(_reaching(number, head, before))
    return tuple(
        Loop(head, frozenset(body), not any(other in body for other in bodies if other != head))
        for head, body in sorted(bodies.items())
    )


def innermost(loops: Sequence[Loop], number: int) -> Loop | None:
    """The smallest loop around an instruction, None outside all loops."""
    around = [loop for loop in loops if number in loop.body]
    return min(around, key=lambda loop: len(loop.body), default=None)


def successors(code: Sequence[Instruction]) -> Mapping[int, tuple[int, ...]]:
    """For each instruction those that may come next; a call comes back."""
    return {number: tuple(_next(code, number)) for number in range(len(code))}


def _next(code: Sequence[Instruction], number: int) -> Iterator[int]:
    one = code[number]
    is_conditional = one.text.startswith("@")
    if one.base == "BRA":
        target = TARGET.fullmatch(one.operands[-1])
        if target is not None and int(target[1], 16) // INSTRUCTION_BYTES < len(code):
            yield int(target[1], 16) // INSTRUCTION_BYTES
        is_conditional |= len(one.operands) > 1
    if number + 1 < len(code) and (is_conditional or one.base not in (*ENDS, "BRA")):
        yield number + 1


def _dominators(
    follows: Mapping[int, Sequence[int]], before: Mapping[int, Sequence[int]]
) -> Mapping[int, int]:
    """Each reachable instruction's immediate dominator (Cooper, Harvey and Kennedy, 2001)."""
    order: list[int] = []
    seen, stack = {0}, [(0, iter(follows[0]))]
    while stack:
        number, rest = stack[-1]
        after = next((one for one in rest if one not in seen), None)
        if after is None:
            order.append(number)
            stack.pop()
        else:
            seen.add(after)
            stack.append((after, iter(follows[after])))
    rank = {number: place for place, number in enumerate(order)}
    found, changed = {0: 0}, True
    while changed:
        changed = False
        for number in reversed(order[:-1]):
            known = [one for one in before[number] if one in found]
            best = known[0]
            for other in known[1:]:
                while best != other:
                    if rank[best] < rank[other]:
                        best = found[best]
                    else:
                        other = found[other]
            if found.get(number) != best:
                found[number], changed = best, True
    return found


def _dominates(head: int, number: int, dominators: Mapping[int, int]) -> bool:
    while number != head and number:
        number = dominators[number]
    return number == head


def _reaching(number: int, head: int, before: Mapping[int, Sequence[int]]) -> set[int]:
    """What leads to an instruction without passing the head."""
    return sources_of({**before, head: ()}, [number])
