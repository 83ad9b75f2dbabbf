"""How lanes leave a statement: break, continue and return put them where they wait."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simulator.language.tree import Barrier
from simulator.machine.group import NONE, Group, Mask, union

Waiting = Generator[tuple[Barrier, Mask], None, Mask]
Run = Callable[[Group, Mask], Any]  # gives a Mask, or a Waiting if the statement has a barrier


def leave_by(stack: str) -> Run:
    """break and continue: the lanes wait on the loop's stack until it takes them up again."""

    def leave(group: Group, mask: Mask) -> Mask:
        waiting = getattr(group, stack)
        waiting[-1] = union(waiting[-1], mask)
        return NONE

    return leave


def return_(group: Group, mask: Mask) -> Mask:
    """Lanes wait for the end of the function, or of the kernel."""
    group.returns[-1] = union(group.returns[-1], mask)
    return NONE


def as_generator(run: Run) -> Run:
    """A statement without a barrier in the form of one that has some."""

    def waiting(group: Group, mask: Mask) -> Waiting:
        return run(group, mask)
        yield  # a generator that never yields

    return waiting
