"""What all kinds of requirements have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

GLOBAL_REQUESTS = ("global_load_requests", "global_store_requests")
GLOBAL_SECTORS = ("global_load_sectors", "global_store_sectors")
WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts")
ROUNDING = 1e-9  # of a share that is compared with a limit


class Outcome(NamedTuple):
    """Whether runs meet a requirement."""

    met: bool
    sentence: str  # what the runs showed, with lines and numbers
    line: int | None = None  # of the text, from 1: where to look; None for no single line


class RequirementBase(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """A table of an exercise's file; its `kind` says which class it is.

    Each class adds two methods. They are not declared here, so that mypy reports a member of the
    union `Requirement` that lacks one.

        def goal(self, workload: Workload) -> str: the requirement as a sentence, before a run
        def judge(self, workload: Workload, evidence: Evidence) -> Outcome: whether runs meet it
    """

    @property
    def launch_sizes(self) -> tuple[Mapping[str, int], ...]:
        """The sizes that it needs runs at, beside the one where counters are read."""
        return ()

    @property
    def expressions(self) -> tuple[str, ...]:
        """Its `at_most`, if that is an expression over the launch's numbers."""
        return ()


def total(counts: Mapping[str, int], names: tuple[str, ...]) -> int:
    """The sum of some counters."""
    return sum(counts[name] for name in names)
