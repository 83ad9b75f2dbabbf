"""Requirements on the traffic of a whole launch, for each unit of its work."""

from __future__ import annotations

from typing import ClassVar

from simulator.exercises.evidence import Evidence
from simulator.exercises.ladder import first_rung, rung_counters
from simulator.exercises.requirements.base import (
    GLOBAL_REQUESTS,
    GLOBAL_SECTORS,
    ROUNDING,
    WAVEFRONTS,
    Outcome,
    RequirementBase,
    total,
)
from simulator.exercises.workload import Workload
from simulator.language.functions import ATOMIC_FUNCTIONS
from simulator.language.visit import calls_of
from simulator.observers.transactions import SECTOR_BYTES


class Traffic(RequirementBase, frozen=True):
    """At most so much of a sum of counters for each unit of the work."""

    at_most: float

    counters: ClassVar[tuple[str, ...]]
    each: ClassVar[int] = 1  # what one of them counts for
    words: ClassVar[str]  # what is counted

    def goal(self, workload: Workload) -> str:
        """The limit on the sum."""
        return f"At most {self.at_most:,g} {self.words} per {workload.unit}."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The sum, and the line that makes most of it."""
        return _compare(type(self), self.at_most, workload, evidence)


class GlobalBytes(Traffic, frozen=True, tag="global-bytes"):
    """Bytes of global memory, in sectors of 32, for each unit of the work."""

    counters = GLOBAL_SECTORS
    each = SECTOR_BYTES
    words = "bytes of global memory"


class GlobalRequests(Traffic, frozen=True, tag="global-requests"):
    """A warp's loads and stores of global memory, for each unit of the work."""

    counters = GLOBAL_REQUESTS
    words = "loads and stores of global memory by a warp"


class SharedWavefronts(Traffic, frozen=True, tag="shared-wavefronts"):
    """Wavefronts of shared memory for each unit of the work."""

    counters = WAVEFRONTS
    words = "wavefronts of shared memory"


class SharedLoads(Traffic, frozen=True, tag="shared-loads"):
    """A warp's loads of shared memory, of whatever width, for each unit of the work."""

    counters = ("shared_load_requests",)
    words = "loads of shared memory by a warp"


class LikeTheLadder(RequirementBase, frozen=True, tag="like-the-ladder"):
    """Global bytes and shared wavefronts a product: no more than a rung of the ladder.

    It is the first rung that reached a share of cuBLAS's speed in the recording.
    """

    share_of_cublas: float

    def goal(self, workload: Workload) -> str:
        """The share of cuBLAS's speed that the rung reached."""
        return (
            "Global and shared memory are read no more often than by the first kernel of the "
            f"ladder that reached {self.share_of_cublas:.0%} of cuBLAS's speed."
        )

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """Both sums beside the rung's, and the line that makes most of the first that is over."""
        rung = first_rung(self.share_of_cublas)
        counted = rung_counters(self.share_of_cublas, **workload.counted_at)
        limits = {
            traffic: traffic.each * total(counted, traffic.counters) / workload.units
            for traffic in (GlobalBytes, SharedWavefronts)
        }
        outcomes = [_compare(traffic, most, workload, evidence) for traffic, most in limits.items()]
        sentences = " ".join(one.sentence for one in outcomes)
        rung_takes = " and ".join(
            f"{most:,.4g} {traffic.words}" for traffic, most in limits.items()
        )
        comparison = (
            f"{sentences} The kernel `{rung.name}`, which reaches {rung.share:.0%} of cuBLAS's "
            f"speed, takes {rung_takes} per {workload.unit}."
        )
        over = next((one for one in outcomes if not one.met), None)
        if over is None:
            return Outcome(True, f"{comparison} A GPU can confirm whether it is as fast.")
        return Outcome(False, comparison, over.line)


def _compare(
    traffic: type[Traffic], most: float, workload: Workload, evidence: Evidence
) -> Outcome:
    """Whether a kernel's traffic is at most so much for each unit of the work."""
    atomic = next(calls_of(evidence.kernel.body, ATOMIC_FUNCTIONS), None)
    if atomic is not None:
        return Outcome(
            False,
            f"Line {atomic.span.line} calls {atomic.function}, which the counters leave out. Write "
            "it with plain loads and stores.",
            atomic.span.line,
        )
    counts = {
        line: traffic.each * total(found, traffic.counters)
        for line, found in evidence.counted.report.lines.items()
    }
    share = sum(counts.values()) / workload.units
    found = f"It takes {share:,.4g} {traffic.words} per {workload.unit}."
    if share <= most + ROUNDING:
        return Outcome(True, found)
    worst = max(counts, key=lambda line: counts[line])
    part = counts[worst] / sum(counts.values())
    share_of_line = "all" if part == 1 else f"{part:.0%}"
    return Outcome(False, f"{found} Line {worst} accounts for {share_of_line} of them.", worst)
