"""Requirements on how a warp's request is spread over banks and sectors, line by line."""

from __future__ import annotations

from simulator.exercises.evidence import Evidence
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

IDEAL_WAVEFRONTS = ("shared_load_wavefronts_ideal", "shared_store_wavefronts_ideal")


class BankConflicts(RequirementBase, frozen=True, tag="bank-conflicts"):
    """No line takes more wavefronts of shared memory than without bank conflicts."""

    def goal(self, workload: Workload) -> str:
        """That there are none."""
        return "No bank conflicts."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The line with the most wavefronts that bank conflicts add."""
        extra = {
            line: total(counts, WAVEFRONTS) - total(counts, IDEAL_WAVEFRONTS)
            for line, counts in evidence.counted.report.lines.items()
        }
        worst = max(extra, key=lambda line: extra[line], default=None)
        if worst is None or not extra[worst]:
            return Outcome(True, "Every access to shared memory takes as few wavefronts as it can.")
        counts = evidence.counted.report.lines[worst]
        return Outcome(
            False,
            f"Line {worst} takes {total(counts, WAVEFRONTS):,} wavefronts of shared memory; "
            f"without bank conflicts it would take {total(counts, IDEAL_WAVEFRONTS):,}.",
            worst,
        )


class SectorsPerRequest(RequirementBase, frozen=True, tag="sectors-per-request"):
    """Sectors of global memory that a request of each line touches, on average."""

    at_most: float

    def goal(self, workload: Workload) -> str:
        """The limit on the sectors."""
        return f"A warp's load or store touches at most {self.at_most:g} sectors of global memory."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The line whose loads or stores touch the most sectors."""
        shares: dict[int, tuple[float, str]] = {}
        for line, counts in evidence.counted.report.lines.items():
            for kind, requests, sectors in zip(
                ("load", "store"), GLOBAL_REQUESTS, GLOBAL_SECTORS, strict=True
            ):
                if counts[requests]:
                    share = counts[sectors] / counts[requests]
                    shares[line] = max(shares.get(line, (0.0, "")), (share, kind))
        worst = max(shares, key=lambda line: shares[line], default=None)
        if worst is None:
            return Outcome(False, "No line loads or stores anything in global memory.")
        share, kind = shares[worst]
        found = f"{share:.3g} sectors with each {kind} by a warp"
        if share <= self.at_most + ROUNDING:
            return Outcome(True, f"Line {worst} touches the most: {found}.")
        return Outcome(False, f"Line {worst} touches {found}.", worst)
