"""The simulator's counters of a launch of any size, solved from a few launches that are small.

A kernel's blocks repeat: all that lie within C alike cost the same, and so does every step along K
once a kernel's first steps are over. A counter is therefore linear in how many whole tiles M, N
and K hold, each with the others fixed, as long as the remainder stays the same. Two launches
along each extent then give it for every length, exactly and not as an estimate.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from compiler.compiled_counters import CompiledCounters
from compiler.machine_code import MachineCode
from simulator import compile_kernel
from simulator.catalogue import Entry, whole_catalogue
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.machine.machine import Machine
from simulator.machine.observer import Observer
from simulator.machine.schedule import Schedule
from simulator.observers.counters import FIELDS, Counters
from simulator.observers.transactions import SECTOR_BYTES

Lines = Mapping[int, Mapping[str, int]]  # by line from 1: a count for each of FIELDS and more
# name, text, defines, size: what predict() gives for them.
Predict = Callable[[str, str, Mapping[str, str], tuple[int, int, int]], Mapping[str, int]]
ALIGNMENT = 8  # elements: rows of a multiple begin on a sector, and such tiles repeat
PIPELINE_TILES = 3  # whole tiles along K after which a pipeline is full, for every kernel here
SEPARATED_TILES = 2  # whole tiles along N after which two rows of a tile never share a sector
LIMIT_SECONDS = 20.0  # for one small launch; the largest of the catalogue take under two


class NotPredictedError(Exception):
    """A launch whose counters cannot be predicted: the sentence that says why."""


def predict(
    name: str, text: str, defines: Mapping[str, str], size: tuple[int, int, int]
) -> Mapping[str, int]:
    """Each of observers.counters.FIELDS for a launch of M, N, K, as the simulator would count it.

    name is the kernel's in the catalogue ("tiled", or "tiled:TILE=32"), which says how it is
    launched; text is what ran, with its macros set; defines are their values. Raises
    NotPredictedError.
    """
    lines = predict_lines(name, text, defines, size).values()
    return {field: sum(line.get(field, 0) for line in lines) for field in FIELDS}


def predict_lines(
    name: str, text: str, defines: Mapping[str, str], size: tuple[int, int, int]
) -> Lines:
    """The same counters of each line, from 1, that accesses memory. Raises NotPredictedError."""
    return _predict_by(_count_source, name, text, defines, size)


@dataclass(frozen=True, slots=True)
class Launched:
    """A small launch of a kernel of the catalogue, all of whose blocks run."""

    name: str  # in the catalogue
    text: str  # with its macros set
    chosen: tuple[tuple[str, int], ...]  # macros with their values
    size: tuple[int, int, int]  # M, N, K

    def run(self, observer: Observer) -> None:
        """Have an observer count it."""
        entry = whole_catalogue()[self.name]
        kernel = _compiled(self.text, entry.kernel)
        simulate(kernel, entry, dict(self.chosen), self.size, observer)


# An H200 counted up to 40% more wavefronts of the same stores, and not the same share at 1024 as at
# 4096; alone they cost what they should (tests/simulator/h200_patterns.json).
RETRIED = "shared_store_wavefronts"
RETRIES = (
    "Wavefronts of stores to shared memory are counted again where the hardware retries a store, "
    "which depends on what else it does at the time."
)


@dataclass(frozen=True, slots=True)
class CompiledPrediction:
    """The counters of an optimised build."""

    counters: Mapping[str, int | None]  # observers.counters.FIELDS; None where it is not known
    reasons: tuple[str, ...]  # why some are not known, a sentence a line of the text
    # What the hardware counts no less of, where it depends on when the instructions are issued.
    at_least: Mapping[str, int]


def predict_compiled(
    code: MachineCode, name: str, text: str, defines: Mapping[str, str], size: tuple[int, int, int]
) -> CompiledPrediction:
    """The counters of a launch as a GPU counts the machine code of `text`; see predict().

    Raises NotPredictedError where not even the source's are predicted.
    """
    unknown: dict[tuple[str, str], str] = {}

    def count(small: Launched) -> Lines:
        found, reasons = _count_compiled(code, small)
        unknown.update(reasons)
        return found

    lines = _predict_by(count, name, text, defines, size).values()
    lost = {field for field, _ in unknown}
    sums = {
        field: sum(line.get(field, 0) for line in lines)
        for field in FIELDS
        if field.rpartition("_")[0] not in lost
    }
    at_least = {RETRIED: sums.pop(RETRIED)} if sums.get(RETRIED) else {}
    return CompiledPrediction(
        {field: sums.get(field) for field in FIELDS},
        (*unknown.values(), *([RETRIES] if at_least else ())),
        at_least,
    )


def global_sectors(counters: Mapping[str, int]) -> int | None:
    """Number of 32-byte sectors of global memory that all loads and stores touch.

    None when a counter is missing: an older recording may lack it.

    >>> global_sectors({"global_load_sectors": 8, "global_store_sectors": 4})
    12
    >>> global_sectors({"global_load_sectors": 8}) is None
    True
    """
    return _sum(counters, "global_load_sectors", "global_store_sectors")


def shared_wavefronts(counters: Mapping[str, int]) -> int | None:
    """Number of passes through shared memory of all loads and stores; None when unknown."""
    return _sum(counters, "shared_load_wavefronts", "shared_store_wavefronts")


def global_bytes(counters: Mapping[str, int]) -> int | None:
    """Bytes of global memory that all loads and stores request; None when unknown."""
    sectors = global_sectors(counters)
    return None if sectors is None else SECTOR_BYTES * sectors


def _sum(counters: Mapping[str, int], *names: str) -> int | None:
    """The sum of the named counters, None when one of them is missing."""
    if any(name not in counters for name in names):
        return None
    return sum(counters[name] for name in names)


def _predict_by(
    count: Callable[[Launched], Lines], name: str, text: str, defines: Mapping[str, str],
    size: tuple[int, int, int],
) -> Lines:  # fmt: skip
    """The counters of a launch by line, where `count` counts those of a small one."""
    kernel = name.split(":")[0]
    entry = whole_catalogue().get(kernel)
    if entry is None:
        raise NotPredictedError(f"The catalogue does not say how {kernel} is launched.")
    try:
        chosen = tuple(sorted((macro, int(value)) for macro, value in defines.items()))
        return _solve(
            entry, dict(chosen), size, lambda small: count(Launched(kernel, text, chosen, small))
        )
    except (SourceError, LaunchError, ValueError) as error:
        raise NotPredictedError(f"The simulator cannot run {kernel}: {error}") from None


# Most sizes that are asked for are solved from the same small launches.
@functools.lru_cache(maxsize=512)
def _count_source(launched: Launched) -> Lines:
    counters = Counters()
    launched.run(counters)
    return counters.lines


@functools.lru_cache(maxsize=512)
def _count_compiled(
    code: MachineCode, launched: Launched
) -> tuple[Lines, Mapping[tuple[str, str], str]]:
    """The lines, and why others are not known, by what they do to which memory and the reason."""
    counters = CompiledCounters(code)
    launched.run(counters)
    unknown = counters.unknown.items()
    reasons = {(f"{space}_{kind}", reason): reason for (_, space, kind), reason in unknown}
    return counters.lines, reasons


@functools.lru_cache(maxsize=32)
def _compiled(text: str, kernel: str) -> Kernel:
    try:
        return compile_kernel(text, kernel)
    except ImportError:
        raise NotPredictedError("libclang, which reads the kernel, is not installed.") from None


def _solve(
    entry: Entry, chosen: Mapping[str, int], size: tuple[int, int, int],
    lines_of: Callable[[tuple[int, int, int]], Lines],
) -> Lines:  # fmt: skip
    """The counters at `size` as a weighted sum of those of smaller launches."""
    rows, columns, depth = entry.unit(**chosen)
    axes = (
        samples(size[0], rows, 1, proportional=True),
        samples(size[1], columns, SEPARATED_TILES, proportional=True),
        samples(size[2], depth, PIPELINE_TILES, proportional=False),
    )
    total: dict[int, dict[str, int]] = {}
    for (M, down), (N, across), (K, along) in itertools.product(*axes):
        for line, counts in lines_of((M, N, K)).items():
            known = total.setdefault(line, {})
            for counter, count in counts.items():
                known[counter] = known.get(counter, 0) + down * across * along * count
    return total


def samples(extent: int, tile: int, begun: int, proportional: bool) -> tuple[tuple[int, int], ...]:
    """Smaller extents with the weights whose sum stands for `extent`.

    All have the same remainder as `extent` modulo the unit, the smallest multiple of `tile` and
    ALIGNMENT. A counter is linear in the number of whole units from `begun` on, and, if
    `proportional`, proportional to it where the remainder is zero.

    >>> samples(64, 16, 1, proportional=True)  # four times a launch of one tile
    ((16, 4),)
    >>> samples(100, 16, 1, proportional=True)  # -4 launches of 20, and 5 of 36
    ((20, -4), (36, 5))
    """
    unit = math.lcm(tile, ALIGNMENT)
    whole, rest = divmod(extent, unit)
    if proportional and not rest:
        return ((unit, whole),)
    if whole <= begun:
        return ((extent, 1),)
    first = begun * unit + rest
    return ((first, begun + 1 - whole), (first + unit, whole - begun))


def simulate(
    kernel: Kernel, entry: Entry, chosen: Mapping[str, int], size: tuple[int, int, int],
    observer: Observer,
) -> None:  # fmt: skip
    """Have an observer count a launch, by running every block of it.

    All warps of a block run in lockstep, which is faster and gives the same counts for a kernel
    whose warps do not race.
    """
    M, N, K = size
    A, B, C = (np.zeros(shape, np.float16) for shape in ((M, K), (K, N), (M, N)))
    launch = entry.launch({"A": A, "B": B, "C": C, "M": M, "N": N, "K": K}, **chosen)
    Machine(kernel, launch, [observer], Schedule.LOCKSTEP, seconds=LIMIT_SECONDS).run()
