"""What a race is: the one rule, for the hazards of a launch and for the steps of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.machine.observer import AccessKind


@dataclass(frozen=True, slots=True)
class Relation:
    """How two accesses to one cell relate to each other: bool, or bool [n] for n pairs of them."""

    same_thread: Any  # one thread makes both
    same_warp: Any  # the threads belong to one warp of one block
    same_block: Any  # the threads belong to one block
    same_interval: Any  # no barrier of the block is between them, if the block is one
    same_warp_interval: Any  # no __syncwarp() of both is between them, if the warp is one
    during_copy: Any = False  # one of them is an asynchronous copy that is not yet waited for
    of_one_block: Any = False  # one is an atomic for the threads of its own block (atomicAdd_block)


def is_race(first: AccessKind, second: AccessKind, relation: Relation) -> Any:
    """Whether two accesses to one cell race: bool, or bool [n] for n pairs of accesses.

    A race is two accesses to one cell by different threads that no barrier separates, one of them
    a write and not both atomic, whatever order they ran in. An asynchronous copy counts as another
    thread's access, which no barrier orders, until it is waited for. An atomic for the threads of
    one block is none to other blocks (CUDA C++ Programming Guide, Atomic Functions).

    first and second are the kinds of the two accesses, the same for all n pairs.

    >>> neighbours = Relation(
    ...     same_thread=False, same_warp=False, same_block=True,
    ...     same_interval=True, same_warp_interval=False,
    ... )
    >>> is_race(AccessKind.STORE, AccessKind.LOAD, neighbours)
    True
    >>> is_race(AccessKind.ATOMIC, AccessKind.ATOMIC, neighbours)
    False
    """
    if first == second == AccessKind.LOAD:
        return False  # they change nothing
    if first == second == AccessKind.ATOMIC:  # one after the other, where each is one to the other
        return relation.of_one_block & _not(relation.same_block)
    ordered = (
        relation.same_thread
        | (relation.same_block & _not(relation.same_interval))
        | (relation.same_warp & _not(relation.same_warp_interval))
    )
    return _not(ordered) | relation.during_copy


def _not(condition: Any) -> Any:
    """`not` for bool and bool [n]: ~ makes a number of a plain bool."""
    return not condition if isinstance(condition, bool) else ~condition
