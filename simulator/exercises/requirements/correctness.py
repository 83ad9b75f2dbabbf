"""Requirements on what a kernel computes: right results, no hazards."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.exercises.evidence import Evidence
from simulator.exercises.requirements.base import GLOBAL_REQUESTS, Outcome, RequirementBase
from simulator.exercises.wording import size_text
from simulator.exercises.workload import Workload
from simulator.observers.hazards.findings import precedence


class Right(RequirementBase, frozen=True, tag="right"):
    """The result is right at some sizes, and where the counters are read."""

    sizes: tuple[Mapping[str, int], ...]  # the launch's numbers, by parameter

    @property
    def launch_sizes(self) -> tuple[Mapping[str, int], ...]:
        """The sizes that its result is compared at."""
        return self.sizes

    def goal(self, workload: Workload) -> str:
        """The sizes that the result is to be right at."""
        return f"The result is right at {size_text(*self.sizes, workload.counted_at)}."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The first wrong cell, with the line that stores the result if there is one alone."""
        for run in evidence.runs:
            if run.wrong is not None:
                stores = [
                    line for line, counts in run.report.lines.items() if counts[GLOBAL_REQUESTS[1]]
                ]
                line = stores[0] if len(stores) == 1 else None
                place = f" Line {line} stores the result." if line else ""
                if not stores:
                    place = " No line stores anything."
                return Outcome(False, f"At {size_text(run.numbers)}, {run.wrong}{place}", line)
        return Outcome(True, "No element is wrong.")


class NoHazards(RequirementBase, frozen=True, tag="no-hazards"):
    """No hazards at any of these sizes."""

    def goal(self, workload: Workload) -> str:
        """The two kinds of hazards that most texts have, as examples."""
        return "No hazards, such as a race or an access outside an array."

    def judge(self, workload: Workload, evidence: Evidence) -> Outcome:
        """The hazard to mend first, and how many more its run has."""
        for run in evidence.runs:
            if run.report.hazards:
                first = min(run.report.hazards, key=precedence)
                others = len(run.report.hazards) - 1
                more = f" There are {others} more hazards." if others > 1 else ""
                more = " There is one more hazard." if others == 1 else more
                line = first.lines[0] if first.lines else None
                return Outcome(False, f"At {size_text(run.numbers)}: {first.message}{more}", line)
        return Outcome(True, f"None at {len(evidence.runs)} sizes.")
