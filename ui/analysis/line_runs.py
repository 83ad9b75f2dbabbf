"""How often each line of a recording has run."""

from __future__ import annotations

from collections.abc import Mapping

from simulator import Recording
from simulator.language.tree import Statement
from simulator.machine.observer import StepKind


def count_runs(recording: Recording) -> list[Mapping[int, int]]:
    """How often each line has run, by its number, up to and with each step.

    Of a line with several parts, such as a for, the part that has run most often counts.
    """
    counts: list[Mapping[int, int]] = []
    runs_of_parts: dict[tuple[Statement, StepKind], int] = {}
    runs_of_lines: dict[int, int] = {}
    for step in recording.steps:
        part = (step.statement, step.kind)
        runs_of_parts[part] = runs_of_parts.get(part, 0) + 1
        if runs_of_parts[part] > runs_of_lines.get(step.line, 0):
            runs_of_lines = runs_of_lines | {step.line: runs_of_parts[part]}
        counts.append(runs_of_lines)
    return counts
