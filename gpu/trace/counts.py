"""What the simulator counts in a traced kernel's phases, and whether the clock goes with it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpu.candidate import split_variant
from gpu.comparison import Comparison
from gpu.predicted_counters import PIPELINE_TILES, simulate
from gpu.recorded import recordings
from gpu.trace.phases import PhasePair, main_difference, multiply_adds
from gpu.trace.trace import Trace, TracedPhase
from simulator import compile_kernel
from simulator.catalogue import Entry, whole_catalogue
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.counters import ArrayCounters

TOGETHER = 1.3  # of two ratios: nearer to each other they go together
# By line, array and kind of access: the space, requests and what they cost, of a block's warps.
Arrays = Mapping[tuple[int, str, AccessKind], tuple[MemorySpace, int, int]]


@dataclass(frozen=True, slots=True)
class Counted:
    """What one array costs in a phase, for a tile and a warp."""

    array: str
    kind: AccessKind
    space: MemorySpace
    requests: float
    transactions: float  # wavefronts of shared memory, sectors of global memory


@functools.lru_cache(256)
def count_tile(kernel: str) -> Arrays:
    """What a block's warps cost in one tile more, of a kernel as gpu.candidate.choose takes it.

    The difference of two launches of one block, both longer than a pipeline. Nothing where the
    simulator does not execute the kernel.
    """
    name, chosen = split_variant(kernel)
    entry = whole_catalogue().get(name)
    if entry is None or not entry.simulated:
        return {}
    try:
        compiled = compile_kernel(entry.source(**chosen), entry.kernel)
        before, after = (
            _count(compiled, entry, chosen, tiles) for tiles in (PIPELINE_TILES, PIPELINE_TILES + 1)
        )
    except (SourceError, LaunchError, ImportError):
        return {}
    return {
        key: (space, requests - before.get(key, (space, 0, 0))[1],
              transactions - before.get(key, (space, 0, 0))[2])
        for key, (space, requests, transactions) in after.items()
    }  # fmt: skip


def phases_of(trace: Trace, name: str) -> list[TracedPhase]:
    """The phases of a name."""
    return [phase for phase in trace.phases if phase.k is None and phase.name == name]


def count_phases(trace: Trace, phases: Sequence[TracedPhase]) -> tuple[Counted, ...]:
    """What each array costs a warp in the lines of some phases, for a tile."""
    name, chosen = split_variant(trace.kernel)
    entry = whole_catalogue().get(name)
    if entry is None:
        return ()
    _, block = entry.shape(1, 1, **chosen)
    warps = -(-math.prod(block) // WARP_SIZE)
    return tuple(
        Counted(array, kind, space, requests / warps, transactions / warps)
        for (line, array, kind), (space, requests, transactions) in count_tile(trace.kernel).items()
        if requests and any(one.first_line <= line <= one.last_line for one in phases)
    )


def compare_counts(trace: Trace, base: Trace) -> str:
    """What the simulator counts in the phase that tells two kernels apart; "" if no more.

    "The simulator counts 32 wavefronts instead of 1 for each read of Bs."
    """
    pair = main_difference(trace, base)
    if pair is None:
        return ""
    ours, theirs = (
        _by_array(count_phases(one, phases_of(one, pair.phase.name))) for one in (trace, base)
    )
    ratios = {
        key: (_each(ours[key]), _each(theirs[key])) for key in ours if key in theirs
    }  # fmt: skip
    other = {key: pair for key, pair in ratios.items() if round(pair[0], 1) != round(pair[1], 1)}
    if other:
        array, kind = max(other, key=lambda key: max(other[key]) / max(1e-9, min(other[key])))
        one, two = other[array, kind]
        unit = "wavefront" if ours[array, kind].space is MemorySpace.SHARED else "sector"
        verb = "read" if kind is AccessKind.LOAD else "write"
        return (
            f"The simulator counts {one:.3g} {unit}{'' if one == 1 else 's'} instead of {two:.3g} "
            f"for each {verb} of {array}."
        )
    return _compare_sums(trace, base)


def explain(trace: Trace, base: Trace) -> str:
    """Why the counts and the clock do not go together; "" where they do, or nothing is counted."""
    pair = main_difference(trace, base)
    counted = None if pair is None else _count_ratio(trace, base, pair)
    if pair is None or counted is None:
        return ""
    if is_near(counted, pair.ratio):
        return ""
    is_less = math.log(counted) * math.log(pair.ratio) > 0 and (
        abs(math.log(counted)) > abs(math.log(pair.ratio))
    )
    if not is_less:
        return "The counts do not explain all of it."
    differ = f"The simulator's wavefronts differ by a factor of {_factor(counted)}"
    comparisons = [one for run in recordings().runs for one in run.comparisons]
    shares = [load_share(one.kernel, comparisons) for one in (trace, base)]
    if shares[0] and shares[1]:
        hardware = counted * shares[0][0] / shares[1][0]
        if not is_near(counted, hardware):
            return (
                f"{differ}, the GPU's own by {_factor(hardware)}: the compiler merges "
                "loads of neighbouring words."
            )
    return f"{differ}: while a warp waits for them, others compute, which hides a part of the wait."


def _factor(ratio: float) -> str:
    return f"{max(ratio, 1 / ratio):.3g}"


def _compare_sums(trace: Trace, base: Trace) -> str:
    """What all phases of a tile move, of the space in which they differ most; "" if they do not."""
    units = {MemorySpace.GLOBAL: "sectors of global memory",
             MemorySpace.SHARED: "wavefronts of shared memory"}  # fmt: skip
    found = []
    for space, unit in units.items():
        ours, theirs = (_for_work(one, space) for one in (trace, base))
        if ours and theirs and not is_near(ours, theirs):
            found.append((max(ours, theirs) / min(ours, theirs), unit, ours, theirs))
    if not found:
        return ""
    _, unit, ours, theirs = max(found)
    return (
        f"The simulator counts {ours:.2g} {unit} instead of {theirs:.2g} for each multiply-add of "
        "a warp."
    )


def _for_work(trace: Trace, space: MemorySpace) -> float:
    """What a block's loads cost in a tile, for each multiply-add of a warp."""
    name, chosen = split_variant(trace.kernel)
    entry = whole_catalogue()[name]
    rows, columns, depth = entry.tile(**chosen) or (*entry.produces(**chosen), 1)
    cost = sum(
        transactions
        for (_, _, kind), (where, _, transactions) in count_tile(trace.kernel).items()
        if where is space and kind is AccessKind.LOAD
    )
    return cost / (rows * columns * depth / WARP_SIZE)


def _count_ratio(trace: Trace, base: Trace, pair: PhasePair) -> float | None:
    """How many times as many wavefronts are counted in a phase, for the same work; None without."""
    sums = [
        sum(
            one.transactions
            for one in count_phases(traced, phases_of(traced, pair.phase.name))
            if one.space is MemorySpace.SHARED
        ) * phase.visits / multiply_adds(traced)
        for traced, phase in ((trace, pair.phase), (base, pair.base))
    ]  # fmt: skip
    return sums[0] / sums[1] if all(sums) else None


def load_share(
    kernel: str, comparisons: Iterable[Comparison]
) -> tuple[float, tuple[int, int, int]] | None:
    """Wavefronts of shared loads that a GPU counted over the simulator's, and M, N, K there.

    Less than 1 where the compiler merges loads; None where nobody counted them.
    """
    for comparison in comparisons:
        for one in comparison.kernels:
            if one.name == kernel and one.simulated and one.counters:
                written = one.simulated.get("shared_load_wavefronts")
                counted = one.counters.get("shared_load_wavefronts")
                if written and counted is not None:
                    return counted / written, comparison.size
    return None


def is_near(one: float, other: float) -> bool:
    """Whether two ratios go together."""
    return 1 / TOGETHER <= one / other <= TOGETHER if one and other else one == other


def _count(kernel: Kernel, entry: Entry, chosen: Mapping[str, int], tiles: int) -> Arrays:
    """What one block costs over so many tiles."""
    rows, columns, depth = entry.tile(**chosen) or (*entry.produces(**chosen), 1)
    counters = ArrayCounters()
    simulate(kernel, entry, chosen, (rows, columns, tiles * depth), counters)
    return counters.arrays


def _by_array(counted: tuple[Counted, ...]) -> dict[tuple[str, AccessKind], Counted]:
    return {(one.array, one.kind): one for one in counted}


def _each(counted: Counted) -> float:
    """What one request costs."""
    return counted.transactions / counted.requests
