"""Requirements on what a block takes and what its threads wait for."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.exercises.evidence import Evidence
from simulator.exercises.requirements.base import ROUNDING, Outcome, RequirementBase
from simulator.exercises.wording import plural, size_text
from simulator.exercises.workload import Workload
from simulator.size_expression import evaluate


class SharedBytes(RequirementBase, frozen=True, tag="shared-bytes"):
    """Bytes of shared memory that a block takes."""

    at_most: int

    def goal(self, workload: Workload) -> str:
        """The limit on the bytes."""
        if not self.at_most:
            return "No shared memory."
        return f"At most {self.at_most:,} bytes of shared memory."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The bytes, and the arrays that take them."""
        used = evidence.kernel.static_shared_bytes
        if not used:
            return Outcome(True, "It takes no shared memory.")
        arrays = ", ".join(array.name for array in evidence.kernel.shared)
        return Outcome(
            used <= self.at_most, f"A block takes {used:,} bytes of shared memory ({arrays})."
        )


class Barriers(RequirementBase, frozen=True, tag="barriers"):
    """Barriers of the block that a thread passes."""

    at_most: str  # an expression over the launch's numbers

    @property
    def expressions(self) -> tuple[str, ...]:
        """The limit."""
        return (self.at_most,)

    def goal(self, workload: Workload) -> str:
        """The limit on the barriers, and the size that it is for."""
        most = evaluate(self.at_most, workload.counted_at)
        return (
            f"A thread passes at most {plural(most, 'barrier')} at "
            f"{size_text(workload.counted_at)}."
        )

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The barriers, and the line with most of them."""
        most = evaluate(self.at_most, workload.counted_at)
        return _count(evidence, evidence.barriers, "passes", "barrier", most)


class Shuffles(RequirementBase, frozen=True, tag="shuffles"):
    """Shuffles that a thread takes part in."""

    at_most: int

    def goal(self, workload: Workload) -> str:
        """The limit on the shuffles."""
        return f"A thread takes part in at most {plural(self.at_most, 'shuffle')}."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The shuffles, and the line with most of them."""
        return _count(evidence, evidence.shuffles, "takes part in", "shuffle", self.at_most)


def _count(
    evidence: Evidence, counts: Mapping[int, float], verb: str, noun: str, most: int
) -> Outcome:
    """Whether a thread executes something at most so often, of counts by line."""
    count = sum(counts.values())
    size = size_text(evidence.counted.numbers)
    found = f"At {size} a thread {verb} {plural(count, noun)}."
    if count <= most + ROUNDING:
        return Outcome(True, found)
    worst = max(counts, key=lambda line: counts[line])
    return Outcome(False, f"{found} Line {worst} has {counts[worst]:,.4g} of them.", worst)
