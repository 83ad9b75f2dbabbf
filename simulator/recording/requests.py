"""What a warp's instruction requests of memory: each lane's bank and wavefront, sectors, lines.

The same rules as simulator.observers.transactions, lane by lane, so that a picture can be drawn
from them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import ArraySpace, MemorySpace
from simulator.language.visit import is_copy
from simulator.launch import WARP_SIZE
from simulator.observers.transactions import (
    BANK_BYTES,
    BANKS,
    IDLE,
    LINE_BYTES,
    SECTOR_BYTES,
    copied_sectors,
    instructions,
    phases,
)
from simulator.recording.recording import Recording, Step, StepAccess


@dataclass(frozen=True, slots=True)
class Request:
    """One warp's load or store instruction: what the hardware makes of its lanes' addresses.

    In shapes n is the number of the warp's lanes: 32, or less in a last partial warp. Entries of
    lanes that are not active are IDLE.
    """

    access: StepAccess
    warp: int  # within the block
    threads: Array  # int [n], the lanes' thread numbers within the block
    active: Array  # bool [n]
    width: int  # bytes a lane
    words: Array  # int [n, words of a lane], the 4-byte words that a lane touches
    # Of shared memory:
    phases: Array  # int [n], the phase that serves a lane; see transactions.phases
    wavefront_numbers: Array  # int [n], the wavefront that serves a lane, from 0 over all phases
    degree: int  # the most words that meet in one bank within one phase: 1 without a conflict
    wavefront_count: int  # wavefronts that the request takes
    ideal: int  # wavefronts that it would take without conflicts
    # Of global memory:
    sectors: tuple[int, ...]  # the distinct 32-byte sectors, counted from the array's start
    lines: tuple[int, ...]  # the distinct 128-byte lines, in order
    moved_sectors: int  # sectors that are moved: more than these if a copy moves one twice
    useful_bytes: int  # distinct bytes that the lanes ask for

    @property
    def repeated_sectors(self) -> int:
        """How many sectors more than the distinct ones a copy moves."""
        return self.moved_sectors - len(self.sectors)

    @property
    def fetched_bytes(self) -> int:
        """The bytes that global memory moves: whole sectors."""
        return self.moved_sectors * SECTOR_BYTES

    @property
    def lanes_by_word(self) -> Mapping[int, tuple[int, ...]]:
        """The lanes that start at each word, by the word's number: several are a broadcast."""
        found: dict[int, list[int]] = {}
        for lane in np.flatnonzero(self.active):
            found.setdefault(int(self.words[lane, 0]), []).append(int(lane))
        return {word: tuple(lanes) for word, lanes in found.items()}


def requests(recording: Recording, step: Step, warp: int) -> tuple[Request, ...]:
    """What one warp of the block requests of shared and global memory at a step, in order.

    An access to a local array is no request, nor is one that was dropped because it was out of
    bounds. A vector of three is one request for each component.

    >>> from simulator import Launch, compile_kernel, record
    >>> kernel = compile_kernel("__global__ void k(float* x) { x[threadIdx.x * 2] = 1; }", "k")
    >>> launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.zeros(64, np.float32)})
    >>> recording = record(kernel, launch)
    >>> [store] = requests(recording, recording.steps[0], warp=0)
    >>> store.moved_sectors, store.useful_bytes, store.fetched_bytes
    (8, 128, 256)
    """
    accesses = [access for access in step.accesses if _is_requested(access.space)]
    if not accesses:
        return ()
    starts = {array.name: start for array, start in recording.kernel.shared_offsets.items()}
    first_thread = warp * WARP_SIZE
    last_thread = min(first_thread + WARP_SIZE, recording.launch.threads)
    threads = np.arange(first_thread, last_thread)
    found = []
    for access in accesses:
        active = (access.active & access.in_bounds)[threads]
        if not active.any():
            continue
        start = starts[access.name] if access.space is MemorySpace.SHARED else 0
        for first, width in instructions(access.width, access.element_bytes):
            addresses = access.offsets[threads] + start + first
            found.append(_build_request(access, warp, threads, active, addresses, width))
    return tuple(found)


def _is_requested(space: ArraySpace) -> bool:
    """Whether a warp's accesses to a memory are requests that are shown."""
    match space:
        case MemorySpace.SHARED | MemorySpace.GLOBAL:
            return True
        case MemorySpace.LOCAL | MemorySpace.CONSTANT:
            return False
        case _:
            assert_never(space)


def _build_request(
    access: StepAccess, warp: int, threads: Array, active: Array, addresses: Array, width: int
) -> Request:
    is_shared = access.space is MemorySpace.SHARED
    words = np.full((threads.size, max(1, width // BANK_BYTES)), IDLE, np.int64)
    first = addresses[active] // BANK_BYTES
    words[active] = first[:, None] + np.arange(words.shape[1])
    row = _whole_warp(addresses, active)
    phase_numbers = phases(*row, width, access.kind)[0, : active.size]
    phase_numbers = np.where(active, phase_numbers, IDLE).astype(np.int64)
    wavefront_numbers: Array = np.full(phase_numbers.shape, IDLE)
    counts: dict[int, int] = {}
    if is_shared:
        wavefront_numbers, counts = _number_wavefronts(
            words.shape[1], words.tobytes(), phase_numbers.tobytes()
        )
    touched_bytes = (addresses[active][:, None] + np.arange(width)).reshape(-1)
    sectors = () if is_shared else _distinct(touched_bytes // SECTOR_BYTES)
    moved_sectors = len(sectors)
    if is_copy(access.expression) and not is_shared:
        targets = None
        if access.targets is not None:
            targets, _ = _whole_warp(access.targets[threads], active)
        moved_sectors = int(copied_sectors(*row, width, targets)[0])
    return Request(
        access=access,
        warp=warp,
        threads=threads,
        active=active,
        width=width,
        words=words,
        phases=phase_numbers,
        wavefront_numbers=wavefront_numbers,
        degree=max(counts.values(), default=0),
        wavefront_count=sum(counts.values()),
        ideal=len(counts),
        sectors=sectors,
        lines=() if is_shared else _distinct(touched_bytes // LINE_BYTES),
        moved_sectors=moved_sectors,
        useful_bytes=int(np.unique(touched_bytes).size),
    )


def _whole_warp(addresses: Array, active: Array) -> tuple[Array, Array]:
    """Addresses and activity of a warp that may be partial, as rows of 32 lanes: [1, 32] each."""
    lanes = np.zeros((2, 1, WARP_SIZE), np.int64)
    lanes[:, 0, : active.size] = addresses, active
    return lanes[0], lanes[1].astype(np.bool_)


@functools.lru_cache(maxsize=4096)  # a warp requests the same words in every outer iteration
def _number_wavefronts(
    words_per_lane: int, word_bytes: bytes, phase_bytes: bytes
) -> tuple[Array, dict[int, int]]:
    """The wavefront that serves each lane, int [n], read-only; and how many each phase takes.

    word_bytes are the words, int64 [n, words_per_lane], phase_bytes the lanes' phases, int64 [n].
    Distinct words of one bank are served in the order of the lanes that request them: in which
    order the hardware serves them is not documented, how many wavefronts it takes is.
    """
    words = np.frombuffer(word_bytes, np.int64).reshape(-1, words_per_lane)
    phase_numbers = np.frombuffer(phase_bytes, np.int64)
    wavefront_numbers = np.full(phase_numbers.shape, IDLE)
    counts: dict[int, int] = {}
    first = 0  # wavefront of the phase
    for phase in sorted(set(phase_numbers[phase_numbers >= 0].tolist())):
        queues: dict[int, list[int]] = {}  # each bank's distinct words, in the order of service
        for lane in np.flatnonzero(phase_numbers == phase):
            for word in words[lane].tolist():
                queue = queues.setdefault(word % BANKS, [])
                if word not in queue:
                    queue.append(word)
                number = first + queue.index(word)
                wavefront_numbers[lane] = max(wavefront_numbers[lane], number)
        counts[phase] = max(len(queue) for queue in queues.values())
        first += counts[phase]
    wavefront_numbers.flags.writeable = False
    return wavefront_numbers, counts


def _distinct(numbers: Array) -> tuple[int, ...]:
    """The distinct numbers, ascending."""
    return tuple(np.unique(numbers).tolist())
