"""What a warp's instruction asks of memory: each lane's bank and wavefront, sectors and lines.

The same rules as simulator.observers.transactions, lane by lane, so that a picture can be drawn
from them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.language.visit import is_copy
from simulator.launch import WARP_SIZE, Launch
from simulator.observers.transactions import (
    BANK_BYTES,
    BANKS,
    SECTOR_BYTES,
    copied_sectors,
    instructions,
    phases,
)
from simulator.recording.recording import Recording, Step, StepAccess

LINE_BYTES = 128  # what the L1 cache keeps together: four sectors
IDLE = -1  # of a lane that takes no part


@dataclass(frozen=True, slots=True)
class Request:
    """One warp's part in one load or store: what the hardware makes of its lanes' addresses.

    threads [n] are the lanes' thread numbers within the block (n is 32, less in a last partial
    warp); active [n]; addresses [n] in bytes: from the array's start in global memory, from the
    start of the block's shared memory in shared. width is bytes a lane.

    In shared memory, `words` [n, w] holds the 4-byte words a lane touches, `banks` [n, w] their
    banks, `phases` [n] which part of the warp a lane goes with (of 8 or 16 bytes a lane),
    `wavefronts` [n] the pass that serves it, counted from 0 over all phases; degree is the most
    words that meet in one bank within one phase, passes how many wavefronts the request takes
    and ideal how many without conflicts. In global memory `sectors` and `lines` are the distinct
    32-byte sectors and 128-byte lines, `moved` how many sectors the hardware moves (more than
    these where a copy that bypasses L1 fetches one twice), `useful` the distinct bytes that lanes
    asked for. Entries of lanes that are not active are IDLE.
    """

    access: StepAccess
    warp: int
    threads: Array
    active: Array
    addresses: Array
    width: int
    words: Array
    banks: Array
    phases: Array
    wavefronts: Array
    degree: int
    passes: int
    ideal: int
    sectors: tuple[int, ...]
    lines: tuple[int, ...]
    moved: int
    useful: int

    @property
    def fetched(self) -> int:
        """The bytes that global memory moves: whole sectors."""
        return self.moved * SECTOR_BYTES

    @property
    def served(self) -> Mapping[int, tuple[int, ...]]:
        """The lanes that start at each word, by the word's number: over one, a broadcast."""
        found: dict[int, list[int]] = {}
        for lane in np.flatnonzero(self.active):
            found.setdefault(int(self.words[lane, 0]), []).append(int(lane))
        return {word: tuple(lanes) for word, lanes in found.items()}


def requests(recording: Recording, step: Step, warp: int) -> tuple[Request, ...]:
    """What one warp of the block asks of shared and global memory at a step, in order.

    An access to arrays that every thread has of its own, and one that was dropped as it was out
    of bounds, is no request; a vector of three is one for each component.
    """
    asked = [access for access in step.accesses if access.space is not MemorySpace.LOCAL]
    if not asked:
        return ()
    starts = {array.name: start for array, start in recording.kernel.shared_offsets.items()}
    threads = _threads(recording.launch, warp)
    found = []
    for access in asked:
        active = (access.active & access.in_bounds)[threads]
        if not active.any():
            continue
        start = starts[access.name] if access.space is MemorySpace.SHARED else 0
        for first, width in instructions(access.width, access.element_bytes):
            addresses = access.offsets[threads] + start + first
            found.append(_request(access, warp, threads, active, addresses, width))
    return tuple(found)


def _threads(launch: Launch, warp: int) -> Array:
    first = warp * WARP_SIZE
    return np.arange(first, min(first + WARP_SIZE, launch.threads))


def _request(
    access: StepAccess, warp: int, threads: Array, active: Array, addresses: Array, width: int
) -> Request:
    shared = access.space is MemorySpace.SHARED
    words = np.full((threads.size, max(1, width // BANK_BYTES)), IDLE, np.int64)
    first = addresses[active] // BANK_BYTES
    words[active] = first[:, None] + np.arange(words.shape[1])
    row = _padded(addresses, active)
    found = phases(*row, width, access.kind)[0, : active.size]
    numbers = np.where(active, found, IDLE).astype(np.int64)
    turns: Array = np.full(numbers.shape, IDLE)
    degrees: dict[int, int] = {}
    if shared:
        turns, degrees = _wavefronts(words.shape[1], words.tobytes(), numbers.tobytes())
    touched = (addresses[active][:, None] + np.arange(width)).reshape(-1)
    reached = () if shared else _distinct(touched // SECTOR_BYTES)
    moved = len(reached)
    if is_copy(access.expression) and not shared:
        moved = int(copied_sectors(*row, width)[0])
    return Request(
        access=access,
        warp=warp,
        threads=threads,
        active=active,
        addresses=addresses,
        width=width,
        words=words,
        banks=np.where(words >= 0, words % BANKS, IDLE),
        phases=numbers,
        wavefronts=turns,
        degree=max(degrees.values(), default=0),
        passes=sum(degrees.values()),
        ideal=len(degrees),
        sectors=reached,
        lines=() if shared else _distinct(touched // LINE_BYTES),
        moved=moved,
        useful=int(np.unique(touched).size),
    )


def _padded(addresses: Array, active: Array) -> tuple[Array, Array]:
    """A warp that may be the block's last and incomplete, as one row of 32 lanes."""
    lanes = np.zeros((2, 1, WARP_SIZE), np.int64)
    lanes[:, 0, : active.size] = addresses, active
    return lanes[0], lanes[1].astype(np.bool_)


@functools.lru_cache(maxsize=4096)  # a warp asks for the same words in every outer iteration
def _wavefronts(count: int, asked: bytes, phased: bytes) -> tuple[Array, dict[int, int]]:
    """The wavefront that serves each lane [n], not to be written to, and how many a phase takes.

    asked are the words [n, count], phased the lanes' phases [n], both of 8 bytes each. Distinct
    words of one bank take their turns in the order of the lanes that ask for them: the hardware's
    own order is not told, their number is.
    """
    words = np.frombuffer(asked, np.int64).reshape(-1, count)
    numbers = np.frombuffer(phased, np.int64)
    turns = np.full(numbers.shape, IDLE)
    degrees: dict[int, int] = {}
    begun = 0
    for phase in sorted(set(numbers[numbers >= 0].tolist())):
        queues: dict[int, list[int]] = {}  # of each bank: its words in turn
        for lane in np.flatnonzero(numbers == phase):
            for word in words[lane].tolist():
                queue = queues.setdefault(word % BANKS, [])
                if word not in queue:
                    queue.append(word)
                turns[lane] = max(turns[lane], begun + queue.index(word))
        degrees[phase] = max(len(queue) for queue in queues.values())
        begun += degrees[phase]
    turns.flags.writeable = False
    return turns, degrees


def _distinct(numbers: Any) -> tuple[int, ...]:
    return tuple(np.unique(numbers).tolist())
