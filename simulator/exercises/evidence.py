"""What the runs of a kernel showed: the data that requirements are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.report import Report


@dataclass(frozen=True, slots=True)
class Run:
    """One launch that came to its end."""

    numbers: Mapping[str, int]  # of the launch, by parameter
    launch: Launch
    report: Report
    wrong: str | None  # a sentence on the first wrong cell; None where all are right


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the runs of a kernel showed."""

    kernel: Kernel
    runs: tuple[Run, ...]  # at the sizes of the exercise; the last is where counters are read
    barriers: Mapping[int, float]  # those a thread passes, by line, where counters are read
    shuffles: Mapping[int, float]  # those a thread takes part in, of each kind

    @property
    def counted(self) -> Run:
        """The run whose counters are read."""
        return self.runs[-1]
