"""Teams: the warps of some blocks, which run from barrier to barrier and wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Barrier
from simulator.launch import Launch
from simulator.machine.group import Group
from simulator.machine.masks import ALL, NONE, Mask, as_array
from simulator.machine.observer import Observer, callbacks
from simulator.machine.schedule import Schedule, in_order

# Of each vote its result in each block: int [B], from how many threads came and how many voted yes.
VOTES: Mapping[str, Callable[[Array, Array], Array]] = {
    "__syncthreads_and": np.equal,
    "__syncthreads_or": lambda came, yes: yes > 0,
    "__syncthreads_count": lambda came, yes: yes,
}


class Team:
    """All warps of some blocks: a barrier of one of these blocks is among the team's groups."""

    def __init__(self, groups: list[Group], launch: Launch, observers: Sequence[Observer]) -> None:
        """groups have their code, and have executed nothing."""
        self.groups = groups
        self._running = groups  # those that have not ended
        self._launch = launch
        self._on_barrier = callbacks(observers, "on_barrier")
        self._on_partial = callbacks(observers, "on_partial_barrier")

    @property
    def has_ended(self) -> bool:
        """Whether all threads have ended."""
        return not self._running

    @property
    def waits_for_grid(self) -> bool:
        """Whether all threads that have not ended wait for the other blocks of the grid."""
        return len(self.grid_barriers()) == len(self._running)

    def grid_barriers(self) -> list[Barrier]:
        """The grid's barriers at which groups wait, one for each of these."""
        waiting = [group.waiting for group in self._running]
        return [at[0] for at in waiting if isinstance(at, tuple) and at[0].of_grid]

    def run(self, schedule: Schedule, random: np.random.Generator) -> None:
        """Run each warp to where it waits; pass a barrier once all wait at one or have ended.

        One of the grid is passed by pass_grid_barrier.
        """
        for group in in_order(self._running, schedule, random):
            _run_to_wait(group)
        self._running = [group for group in self._running if group.waiting is not None]
        waiting = [(g, *g.waiting) for g in self._running if isinstance(g.waiting, tuple)]
        if len(waiting) == len(self._running) and not self.waits_for_grid:
            self._pass_barrier([entry for entry in waiting if not entry[1].of_grid])

    def _pass_barrier(self, waiting: list[tuple[Group, Barrier, Mask]]) -> None:
        """Release the groups at a barrier, and report threads that did not reach it.

        As on the hardware, a block's barrier is passed once each of its threads has ended or has
        arrived at one, whichever __syncthreads() it calls (PTX ISA, bar.sync counts arrivals).
        Where other threads are missing, nothing defines what happens (CUDA C++ Programming Guide,
        __syncthreads); here the barrier that is first in the text is passed.
        """
        barriers = sorted({at for _, at, _ in waiting}, key=lambda barrier: barrier.span)
        complete = len(waiting) == len(self.groups) and all(mask is ALL for *_, mask in waiting)
        blocks: Array | None = None  # those that pass; None for all
        if not complete:
            arrived, ended = self._threads([(g, m) for g, _, m in waiting]), self._ended_threads()
            blocks = np.logical_or.reduce(arrived, axis=1)
            if not (arrived | ended)[blocks].all():
                barriers = barriers[:1]
                waiting = [entry for entry in waiting if entry[1] is barriers[0]]
                arrived = self._threads([(g, m) for g, _, m in waiting])
                blocks = np.logical_or.reduce(arrived, axis=1)
            self._report_partial(waiting, barriers, ended)
        elif len(barriers) > 1:
            self._report_partial(waiting, barriers, self._ended_threads())
        self._count_votes(waiting)
        passing = [group for group, *_ in waiting]
        for notify in self._on_barrier:
            notify(barriers[0], passing)
        for group in self.groups:
            group.interval = _next_interval(group, blocks)
        for group in passing:
            group.released = True

    def pass_grid_barrier(self, barrier: Barrier) -> list[Group]:
        """Release the groups at the grid's barrier; report the threads that do not come to it.

        A block that has none of its threads there is reported too: all blocks wait for it.
        """
        waiting = [(g, *g.waiting) for g in self._running if isinstance(g.waiting, tuple)]
        arrived, ended = self._threads([(g, m) for g, _, m in waiting]), self._ended_threads()
        for block_index in np.flatnonzero(~arrived.all(axis=1)):
            self._notify_partial(barrier, self.groups[0], block_index, arrived, ended)
        for group in self.groups:
            group.interval = _next_interval(group, None)
        for group, *_ in waiting:
            group.released = True
        return [group for group, *_ in waiting]

    def _count_votes(self, passing: list[tuple[Group, Barrier, Mask]]) -> None:
        """Give the groups at a barrier with a vote what all threads have voted that are there."""
        voting = [(group, at.vote, mask) for group, at, mask in passing if at.vote is not None]
        came = yes = np.zeros(self.groups[0].block_count, np.int64)
        for group, _, mask in voting:
            active = as_array(mask, group.lanes)
            blocks = group.block_indices
            came = came + np.bincount(blocks[active], minlength=came.size)
            yes = yes + np.bincount(blocks[active & (group.vote != 0)], minlength=came.size)
        for group, vote, _ in voting:
            results = VOTES[vote.function](came, yes).astype(np.int32)
            same = (results == results[0]).all()
            group.vote = results[0] if same else results[group.block_indices]

    def _threads(self, lanes: list[tuple[Group, Mask]]) -> Array:
        """Which threads are among the lanes of groups: bool [B, T], B blocks of T threads."""
        threads = np.zeros((self.groups[0].block_count, self._launch.threads), np.bool_)
        for group, mask in lanes:
            shape = (group.block_count, group.threads.size)
            threads[:, group.threads] = as_array(mask, group.lanes).reshape(shape)
        return threads

    def _ended_threads(self) -> Array:
        """Which threads have ended: bool [B, T]."""
        lanes = [(g, ALL if g.waiting is None else g.returns[0]) for g in self.groups]
        return self._threads([(group, mask) for group, mask in lanes if mask is not NONE])

    def _report_partial(
        self, waiting: list[tuple[Group, Barrier, Mask]], barriers: list[Barrier], ended: Array
    ) -> None:
        """Notify observers of blocks of which some threads [B, T] are at a barrier, but not all."""
        for barrier in barriers:
            lanes = [(group, mask) for group, at, mask in waiting if at is barrier]
            arrived = self._threads(lanes)
            partial = arrived.any(axis=1) & ~arrived.all(axis=1)
            for block_index in np.flatnonzero(partial):
                self._notify_partial(barrier, lanes[0][0], block_index, arrived, ended)

    def _notify_partial(
        self, barrier: Barrier, group: Group, block_index: Any, arrived: Array, ended: Array
    ) -> None:
        for notify in self._on_partial:
            notify(barrier, group, int(block_index), arrived[block_index], ended[block_index])


def pass_grid_barrier(teams: Sequence[Team], observers: Sequence[Observer]) -> None:
    """Let all blocks of a launch, of which all that have not ended wait for each other, go on."""
    places = {at for team in teams for at in team.grid_barriers()}
    barrier = min(places, key=lambda at: at.span)
    passing = [group for team in teams for group in team.pass_grid_barrier(barrier)]
    for notify in callbacks(observers, "on_barrier"):
        notify(barrier, passing)


def _run_to_wait(group: Group) -> None:
    """Run a group to its next barrier, its next turn or its end, unless it waits at a barrier."""
    if isinstance(group.waiting, tuple) and not group.released:
        return
    group.released = False
    assert group.code is not None
    group.waiting = next(group.code, None)


def _next_interval(group: Group, blocks: Array | None) -> Any:
    """A group's interval after a barrier that the blocks bool [B], or all of them, have passed."""
    if blocks is None:
        return group.interval + 1
    lanes = np.repeat(blocks, group.threads.size).astype(np.int64)
    interval = group.interval + lanes
    return int(interval[0]) if (interval == interval[0]).all() else interval
