"""What threads do at a barrier, and those that never come to it."""

from __future__ import annotations

from simulator.language.tree import Barrier
from simulator.launch import format_index, unravel
from simulator.recording.barriers import Absent, absent, arrived
from simulator.recording.recording import Recording, Step
from simulator.sentences.expressions import ExpressionFormatter


def spoken_at_barrier(
    formatter: ExpressionFormatter, step: Step, barrier: Barrier
) -> tuple[str, ...]:
    """What a thread does that comes to a barrier, as a sentence's predicate."""
    recording, total, vote = formatter.recording, step.active.size, barrier.vote
    count = int(arrived(recording, step).sum())
    votes = ""
    if vote is not None:
        votes = f"votes {'yes' if formatter.value(vote.predicate) else 'no'} and "
    missing = absent(recording, step)
    if missing:
        come = total - sum(len(group.threads) for group in missing)
        only = f"{votes}waits at a barrier that only {come} of the block's {total} threads"
        where = [describe_absent(recording, group) for group in missing]
        return (f"{only} reach: {'; '.join(where)}", f"{only} reach: {where[0]}",
                f"{only} reach")  # fmt: skip
    if count == total and barrier.of_grid:
        blocks = recording.launch.blocks
        return (
            f"reaches the grid's barrier: all {total} threads of the block are there, and go on "
            f"once the threads of all {blocks} blocks are",
            f"reaches the grid's barrier, where all {blocks} blocks wait for each other",
            "reaches the grid's barrier",
        )
    if total == 1:
        return (f"{votes}reaches the barrier: it is the block's only thread and goes on",)
    if count == total:
        return (
            f"{votes}reaches the barrier: all {total} threads of the block are there and go on",
            f"{votes}reaches the barrier: all are there and go on",
        )
    return (
        f"{votes}waits at the barrier: {count} of the block's {total} threads have arrived",
        f"{votes}waits at the barrier",
    )


def spoken_of_absent(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    """What is said of a thread that never comes to a step's barrier; () of any other."""
    for group in absent(recording, step):
        if thread in group.threads:
            where = describe_place(Absent((thread,), group.line, group.waits))
            come = int(arrived(recording, step).sum())
            threads = f"{come} thread{'s wait' if come > 1 else ' waits'}"
            return (f"never reaches this barrier, where {threads}: it {where}.",)
    return ()


def describe_absent(recording: Recording, group: Absent) -> str:
    """Where threads are that do not come to a barrier: "thread (8, 0) and 23 others go on at …"."""
    block = recording.launch.block
    name = f"thread {format_index(unravel(group.threads[0], block), block)}"
    others = len(group.threads) - 1
    if others:
        name += f" and {others} other{'s' if others > 1 else ''}"
    return f"{name} {describe_place(group)}"


def describe_place(group: Absent) -> str:
    """What threads do that do not come to a barrier: "go on at line 7"."""
    are_several = len(group.threads) > 1
    if group.line is None:
        return "have ended" if are_several else "has ended"
    if group.waits:
        return f"{'wait' if are_several else 'waits'} at line {group.line}"
    return f"{'go' if are_several else 'goes'} on at line {group.line}"
