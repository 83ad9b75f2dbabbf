"""How long visitors wait, for what, and what goes wrong meanwhile."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)
LONGEST_SENTENCE = 160  # characters that are printed of one
# What a page says where an app has lost or stopped what its visitor did not.
LOST = re.compile(r"was stopped|has ended|has failed|Tilewise failed")


class End(StrEnum):
    """How a wait ends."""

    HAD = "had"  # what was waited for
    LEFT = "left"  # by the visitor
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait that has ended."""

    kind: str  # of what was waited for
    seconds: float
    end: End


@dataclass(slots=True)
class Waits:
    """What all visitors have waited for, and what went wrong."""

    ended: list[Wait] = field(default_factory=list)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)  # kind, first sentence
    said: Counter[str] = field(default_factory=Counter)  # first sentences of errors on pages

    def note(self, wait: Wait, errors: Sequence[str]) -> None:
        """Keep a wait, and count the errors that the page showed at its end."""
        self.ended.append(wait)
        self.said.update(map(first_sentence, errors))

    def note_fault(self, kind: str, text: str) -> None:
        """Count what no visitor may meet."""
        self.faults[kind, first_sentence(text)] += 1

    def longest(self, is_wanted: Callable[[str], bool]) -> Wait | None:
        """The longest wait of some kinds, also of those who left or met an error; None of none."""
        found = [one for one in self.ended if is_wanted(one.kind)]
        return max(found, key=lambda one: one.seconds, default=None)

    def table(self) -> Iterator[str]:
        """Lines: for each kind how many, how long, and how many left or met an error."""
        yield (
            f"{'seconds until':28}{'had':>6}{'median':>9}{'95th':>8}{'99th':>8}{'longest':>9}"
            f"{'left':>6}{'after':>8}{'failed':>8}{'after':>8}"
        )
        for kind in sorted({one.kind for one in self.ended}):
            waits = [one for one in self.ended if one.kind == kind]
            had, left, failed = (
                [one.seconds for one in waits if one.end == end] for end in End
            )  # fmt: skip
            numbers = " " * 34
            if had:
                high = percentile(had, 95), percentile(had, 99), max(had)
                numbers = f"{statistics.median(had):9.2f}{high[0]:8.2f}{high[1]:8.2f}{high[2]:9.2f}"
            yield (
                f"{kind:28}{len(had):6}{numbers}{len(left):6}{_most(left):>8}"
                f"{len(failed):8}{_most(failed):>8}"
            )


def _most(seconds: Sequence[float]) -> str:
    return f"{max(seconds):.2f}" if seconds else ""


def percentile(seconds: Sequence[float], percent: int) -> float:
    """A percentile, by nearest rank."""
    return sorted(seconds)[math.ceil(percent / 100 * len(seconds)) - 1]


def first_sentence(text: str) -> str:
    """The first sentence of a text, each number as N, so that those alike are counted together."""
    found = SENTENCE.match(text)
    return re.sub(r"\d[\d,.]*(?=\D|$)", "N", found[0] if found else text)[:LONGEST_SENTENCE]
