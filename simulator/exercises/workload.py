"""The work of the launch at which an exercise's counters are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.size_expression import evaluate


@dataclass(frozen=True, slots=True)
class Workload:
    """The launch whose counters are read, and the work that they are divided by."""

    counted_at: Mapping[str, int]  # the launch's numbers, by parameter
    work: str  # how many units of work that is, an expression over these numbers
    unit: str  # of the work: "product", "element"

    @property
    def units(self) -> int:
        """How many units of work the launch does. Raises LaunchError if `work` has no value.

        >>> Workload({"M": 4, "N": 8}, "M * N", "element").units
        32
        """
        return evaluate(self.work, self.counted_at)
