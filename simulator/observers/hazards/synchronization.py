"""Which accesses happen before which: by fences, and by cells through which threads communicate.

A thread that calls a fence and then writes a cell by an atomic, or by a volatile store, releases
what it did before the fence; a thread that reads the cell by an atomic, or by a volatile load in a
loop that waits for it, acquires that. A barrier passes on what any thread of the block has
acquired, and a fence after it covers what the block did before it (PTX ISA, memory consistency
model: release and acquire patterns, causality order).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from simulator.language.ctype import Array
from simulator.launch import Launch
from simulator.machine.buffers import Buffer

MAX_KNOWLEDGE = 64  # results that are kept
NEVER = 0  # events are numbered from 1


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A write by which a thread releases what it has done. Events number all that happens."""

    thread: int  # numbered over the grid
    block: int
    event: int  # of the write itself
    fence: int  # of the thread's last fence for all threads; NEVER if there was none
    block_fence: int  # of its last fence for its block; NEVER if there was none
    barrier: int  # of the block's last barrier before `fence`
    fences: Array | None  # int [T]: the same of each thread of the block at its last barrier
    acquired: frozenset[Release]  # releases that the thread knew of


@dataclass(slots=True)
class Knowledge:
    """What happened before some moment in a thread's run, from an event on."""

    since: int  # releases that are older than this event were not looked at
    threads: dict[int, int] = field(default_factory=dict)  # by thread: the last event it released
    own_block: dict[int, int] = field(default_factory=dict)  # the same for threads of the block
    blocks: dict[int, int] = field(default_factory=dict)  # by block: the last barrier released
    writes: set[tuple[int, int]] = field(default_factory=set)  # thread and event of the releases


class Synchronization:
    """Fences, releases and acquisitions of a launch so far."""

    def __init__(self, launch: Launch) -> None:
        count = launch.blocks * launch.threads
        self._block_threads = launch.threads
        # Zeros take no memory until they are written to: most threads call no fence.
        self._fence = np.zeros(count, np.int64)  # event of each thread's last fence
        self._block_fence = np.zeros(count, np.int64)
        self._fence_barrier = np.zeros(count, np.int64)  # the block's barrier before it
        self._barrier = np.zeros(launch.blocks, np.int64)  # event of each block's last
        self._fences_at_barrier: dict[int, Array] = {}  # by block: int [T], of each thread
        self._fenced_blocks: set[int] = set()  # those that have called one since their last barrier
        self._acquired: dict[int, frozenset[Release]] = {}  # by thread, since the last barrier
        self._block_acquired: dict[int, frozenset[Release]] = {}
        self._cells: dict[tuple[Buffer, int], Release] = {}  # what a cell's value releases
        self._known: dict[tuple[int, frozenset[Release]], Knowledge] = {}  # by block and releases

    # What happens ------------------------------------------------------------------------------

    def fence(self, threads: Array, event: int, of_the_block: bool) -> None:
        """Threads int [n] call a fence."""
        self._block_fence[threads] = event
        if of_the_block:
            return
        self._fence[threads] = event
        blocks = threads // self._block_threads
        self._fence_barrier[threads] = self._barrier[blocks]
        self._fenced_blocks.update(np.unique(blocks).tolist())

    def barrier(self, blocks: Iterable[int], event: int) -> None:
        """Blocks pass a barrier."""
        passing = set(blocks)
        self._barrier[list(passing)] = event
        count = self._block_threads
        for thread in [t for t in self._acquired if t // count in passing]:
            block = thread // count
            known = self._block_acquired.get(block, frozenset())
            self._block_acquired[block] = known | self._acquired.pop(thread)
        for block in self._fenced_blocks & passing:
            self._fences_at_barrier[block] = self._fence[block * count : (block + 1) * count].copy()
        self._fenced_blocks -= passing

    def communicate(
        self, buffer: Buffer, cells: Array, threads: Array, event: int, reads: bool, writes: Array
    ) -> None:
        """Threads int [n] read (an atomic or a poll), or write (bool [n]), cells int [n].

        Those that share a cell do so in the order in which they are given.
        """
        fenced = (self._fence[threads] != NEVER) | (self._block_fence[threads] != NEVER)
        if not self._cells and not (writes & fenced).any():
            return
        pairs = zip(cells.tolist(), threads.tolist(), writes.tolist(), strict=True)
        for cell, thread, is_write in pairs:
            key = (buffer, cell)
            release = self._cells.get(key)
            if release is not None and reads:
                known = self._acquired.get(thread, frozenset())
                if release not in known:
                    self._acquired[thread] = known | {release}
            if not is_write:
                continue
            if self._fence[thread] == NEVER and self._block_fence[thread] == NEVER:
                if release is not None and not reads:
                    del self._cells[key]  # the value is no more that of the release
                continue
            block = thread // self._block_threads
            acquired = self._acquired.get(thread, frozenset())
            made = self._cells[key] = Release(
                thread, block, event, int(self._fence[thread]), int(self._block_fence[thread]),
                int(self._fence_barrier[thread]), self._fences_at_barrier.get(block),
                acquired | self._block_acquired.get(block, frozenset()),
            )  # fmt: skip
            self._acquired[thread] = frozenset((made,))

    # What follows ------------------------------------------------------------------------------

    def ordered(self, threads: Array, others: Array, events: Array) -> Array:
        """Whether accesses happened before: bool [n].

        For each n: whether that of the thread others[n] at events[n] happened before what
        threads[n] does now.
        """
        result = np.zeros(threads.size, np.bool_)
        since = int(events.min())
        for number, (thread, other, event) in enumerate(
            zip(threads.tolist(), others.tolist(), events.tolist(), strict=True)
        ):
            block = thread // self._block_threads
            releases = self._block_acquired.get(block, frozenset()) | self._acquired.get(
                thread, frozenset()
            )
            if releases:
                known = self._knowledge(block, releases, since)
                other_block = other // self._block_threads
                result[number] = (
                    known.threads.get(other, NEVER) >= event
                    or known.blocks.get(other_block, NEVER) >= event
                    or (other_block == block and known.own_block.get(other, NEVER) >= event)
                    or (other, event) in known.writes
                )
        return result

    def _knowledge(self, block: int, releases: frozenset[Release], since: int) -> Knowledge:
        """What releases of or after an event say, and those that they had acquired."""
        key = (block, releases)
        known = self._known.get(key)
        if known is not None and known.since <= since:
            return known
        if len(self._known) > MAX_KNOWLEDGE:
            self._known.clear()
        known = self._known[key] = Knowledge(since)
        waiting, seen = list(releases), set(releases)
        count = self._block_threads
        while waiting:
            release = waiting.pop()
            if release.event < since:
                continue
            thread, of_block = release.thread, release.block
            known.writes.add((thread, release.event))
            _raise(known.threads, thread, release.fence)
            _raise(known.blocks, of_block, release.barrier)
            if of_block == block:
                _raise(known.own_block, thread, release.block_fence)
            if release.fences is not None and release.fence != NEVER:
                for number in np.flatnonzero(release.fences != NEVER).tolist():
                    _raise(known.threads, of_block * count + number, int(release.fences[number]))
            new = release.acquired - seen
            seen |= new
            waiting += new
        return known


def _raise(events: dict[int, int], key: int, event: int) -> None:
    if event > events.get(key, NEVER):
        events[key] = event
