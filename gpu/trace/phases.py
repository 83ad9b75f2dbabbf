"""What a trace's phases say: what takes a warp's time, and how two kernels differ in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gpu.candidate import choose
from gpu.trace.trace import Kind, Trace, TracedPhase

ALIKE = 1.15  # of two times: nearer to each other they are called the same
NOTABLE = 0.02  # of a block's lifetime: a shorter phase is not spoken of
DOING: Mapping[str, str] = {
    "copy": "copying", "wait": "waiting", "inner loop": "the inner loop", "store": "storing",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PhasePair:
    """The same phase of two kernels, and how long each takes for the same work."""

    phase: TracedPhase
    base: TracedPhase
    cycles: float  # of a warp, by the median, for each multiply-add of one of its threads
    base_cycles: float  # the same, of the kernel that it is compared with

    @property
    def ratio(self) -> float:
        """The first one's cycles over the other's."""
        return self.cycles / self.base_cycles if self.base_cycles else math.inf

    @property
    def is_alike(self) -> bool:
        """Whether the two take the same time, or nearly."""
        return self.cycles == self.base_cycles or 1 / ALIKE <= self.ratio <= ALIKE


def lifetime_cycles(phase: TracedPhase) -> float:
    """Cycles of a phase over the whole life of a warp, which the mean of its visits adds up to."""
    return (phase.cycles if phase.mean is None else phase.mean) * phase.visits


def multiply_adds(trace: Trace) -> float:
    """The multiply-adds of each thread; LaunchError where the catalogue lacks the kernel."""
    launched = choose(trace.kernel, trace.size)
    return math.prod(trace.size) / (math.prod(launched.grid) * math.prod(launched.block))


def shares(trace: Trace) -> dict[Kind, float]:
    """What share of a block's lifetime the phases of each kind take, 0 to 1."""
    found = dict.fromkeys(Kind, 0.0)
    for phase in trace.phases:
        if phase.k is None:
            found[phase.kind] += phase.share
    return found


def cycles_for_work(trace: Trace) -> dict[Kind, float]:
    """Cycles of a warp in phases of each kind, for each multiply-add of one of its threads.

    So kernels with tiles of other sizes can be compared: a larger tile takes longer, and does more.
    """
    work = multiply_adds(trace)
    found = dict.fromkeys(Kind, 0.0)
    for phase in trace.phases:
        if phase.k is None:
            found[phase.kind] += lifetime_cycles(phase) / work
    return found


def pair_phases(trace: Trace, base: Trace) -> list[PhasePair]:
    """The phases that both have, in the first one's order: the nth of a name with the nth."""
    work, base_work = multiply_adds(trace), multiply_adds(base)
    others = _numbered(base)
    return [
        PhasePair(
            phase, base_phase,
            phase.cycles * phase.visits / work, base_phase.cycles * base_phase.visits / base_work,
        )
        for key, phase in _numbered(trace).items()
        for base_phase in [others.get(key)]
        if base_phase is not None
    ]  # fmt: skip


def _numbered(trace: Trace) -> dict[tuple[str, bool, int], TracedPhase]:
    """Each phase by its name, whether it is in the loop over tiles, and how many came before it.

    An inner loop is one whatever is around it: a kernel without tiles has it once.
    """
    found: dict[tuple[str, bool, int], TracedPhase] = {}
    for phase in trace.phases:
        if phase.k is None:
            key = phase.name, phase.visits > 1 or phase.kind is Kind.COMPUTE
            found[*key, sum(other[:2] == key for other in found)] = phase
    return found


def main_difference(trace: Trace, base: Trace) -> PhasePair | None:
    """The phase in which the two differ the most; None where no phase differs notably."""
    pairs = [pair for pair in pair_phases(trace, base) if _is_notable(pair) and not pair.is_alike]
    return max(pairs, key=lambda pair: abs(pair.cycles - pair.base_cycles), default=None)


def compare(trace: Trace, base: Trace) -> str:
    """The sentence that matters: which phase differs the most, and what is the same.

    Cycles are for a tile where a tile is the same work in both, else for a multiply-add.
    """
    differing = main_difference(trace, base)
    pairs = [pair for pair in pair_phases(trace, base) if _is_notable(pair)]
    names = dict.fromkeys(pair.phase.name for pair in pairs)
    alike = [
        DOING.get(name, name)
        for name in names
        if all(pair.is_alike for pair in pairs if pair.phase.name == name)
    ]
    same = ""
    if alike:
        listed = " and ".join([", ".join(alike[:-1]), alike[-1]] if alike[1:] else alike)
        same = f"{capitalized(listed)} {'are' if alike[1:] else 'is'} about the same."
    if differing is None:
        return same or "No phase is in both."
    one, other = differing.phase, differing.base
    name = capitalized(DOING.get(one.name, one.name))
    is_same_work = math.isclose(
        one.cycles * differing.base_cycles, other.cycles * differing.cycles, rel_tol=1e-6
    )
    takes = (
        f"{one.cycles:,.0f} cycles instead of {other.cycles:,.0f}"
        if is_same_work
        else f"{differing.cycles:,.1f} cycles for each multiply-add instead of "
        f"{differing.base_cycles:,.1f}"
    )
    return f"{name} takes {takes}: {times(differing.ratio)}. {same}".strip()


def times(ratio: float) -> str:
    """A ratio of two times in words.

    >>> times(4.37), times(0.25)
    ('4.4 times as long', '4.0 times as fast')
    """
    if ratio >= 1:
        return f"{ratio:.1f} times as long"
    return f"{1 / ratio:.1f} times as fast" if ratio else "no time at all"


def _is_notable(pair: PhasePair) -> bool:
    return max(pair.phase.share, pair.base.share) >= NOTABLE


def capitalized(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
