"""How the lanes of a warp make progress on their own where a loop waits for another thread.

Since Volta, threads that diverge are scheduled apart: a lane that has taken a lock goes on to
release it while others of its warp still try (CUDA C++ Programming Guide, independent thread
scheduling). So lanes that have left such a loop run the statements after it ahead of the others,
to the end of the block of statements or of the function, and the two branches of an if take turns.
They wait for the others where a barrier or a warp function is still to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.machine.closures import Run, Waiting
from simulator.machine.group import Group, Spin, Suspended
from simulator.machine.masks import NONE, Mask, narrow, negate, union


@dataclass(frozen=True, slots=True)
class Part:
    """A statement of a sequence."""

    run: Run
    waits: bool  # whether threads wait in it: it then is a generator
    spins: bool  # whether a loop in it waits for another thread
    needs_all: bool  # whether its lanes must wait for each other in front of it


def run_parts(parts: Sequence[Part], group: Group, mask: Mask) -> Waiting:
    """Statements one after another; gives the lanes that have reached the end."""
    end = len(parts)
    ahead: list[Mask] = [NONE] * (end + 1)  # lanes that wait in front of each part for the others
    for number, part in enumerate(parts):
        mask = union(mask, ahead[number])
        if mask is NONE:
            continue
        if not part.spins:
            mask = (yield from part.run(group, mask)) if part.waits else part.run(group, mask)
            continue
        depth, waiting = group.depth(), part.run(group, mask)
        until = next((n for n in range(number + 1, end) if parts[n].needs_all), end)
        while True:
            try:
                wait = next(waiting)
            except StopIteration as stop:
                mask = stop.value
                break
            if not isinstance(wait, Spin):
                yield wait
                continue
            if wait.finished is not NONE:
                wait.taken = True
                suspended = group.suspend(depth)
                rest = parts[number + 1 : until]
                arrived = yield from run_parts(rest, group, wait.finished)
                group.resume(suspended)
                ahead[until] = union(ahead[until], arrived)
                if rest:
                    continue  # the others try again: these may have released a lock
            ahead[end] = yield from offer(ahead[end])
    return union(mask, ahead[end])


def run_branches(branches: Sequence[Waiting], group: Group) -> Waiting:
    """Statements of different lanes in turns; gives the lanes that have finished theirs."""
    depth = group.depth()
    running: list[tuple[Waiting, Suspended]] = [(b, ([], [], [], [])) for b in branches]
    after: Mask = NONE
    while running:
        still_running = []
        for branch, suspended in running:
            group.resume(suspended)
            try:
                wait = next(branch)
                while not isinstance(wait, Spin):
                    yield wait
                    wait = next(branch)
            except StopIteration as end:
                after = union(after, end.value)
                continue
            wait.taken = wait.finished is not NONE
            after = union(after, wait.finished)
            still_running.append((branch, group.suspend(depth)))
        running = still_running
        if running:
            after = yield from offer(after)
    return after


def run_function(body: Waiting, group: Group, mask: Mask) -> Waiting:
    """The body of a function, whose entry on the stack of returns is the last; gives its lanes."""
    entry = len(group.returns) - 1
    gone: Mask = NONE  # lanes that went on in the caller
    while True:
        try:
            wait = next(body)
        except StopIteration:
            return mask if gone is NONE else narrow(mask, negate(gone))
        if not isinstance(wait, Spin):
            yield wait
            continue
        finished = union(wait.finished, group.returns[entry])
        if (yield from offer(finished)) is NONE and finished is not NONE:
            gone = union(gone, finished)
            wait.taken = wait.finished is not NONE
            group.returns[entry] = NONE


def hold_back(body: Waiting) -> Waiting:
    """A statement whose lanes, once they have finished it, wait for the others."""
    while True:
        try:
            wait = next(body)
        except StopIteration as end:
            return end.value
        yield Spin(NONE) if isinstance(wait, Spin) else wait


def offer(finished: Mask) -> Waiting:
    """Let other threads run, and lanes that have finished go on; gives those that could not."""
    spin = Spin(finished)
    yield spin
    return NONE if spin.taken else finished
