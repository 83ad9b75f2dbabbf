"""What is wrong with source that is being written, at its places in an editor."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from simulator import SourceError
from simulator.language.errors import MAX_LINE, Diagnostic, Span
from simulator.verdict.repair import Repair
from simulator.verdict.verdict import State, Verdict

WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MEND = "Change it"
LONGEST_WORD = 64  # letters of a name that are marked
HALVES = "surrogatepass"  # half of a pair of UTF-16 units: source with one is refused, at its place


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the text that another takes the place of."""

    start: int  # UTF-16 units from the text's start, as browsers count
    end: int  # UTF-16 units from the text's start
    text: str


@dataclass(frozen=True, slots=True)
class TextFix:
    """Changes of the text that mend a problem together."""

    changes: tuple[Change, ...]
    label: str  # of the button that makes them


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to be said at a place of the code."""

    start: int  # UTF-16 units from the text's start, as browsers count
    end: int  # UTF-16 units from the text's start
    line: int  # from 1
    severity: str  # "error" or "warning"
    message: str
    hint: str = ""
    fix: TextFix | None = None
    place: str = ""  # what its line is called; "" for its number alone


def find_problems(text: str, error: SourceError) -> tuple[Problem, ...]:
    """The compiler's errors at their places in a text."""
    places = Places(text)
    return tuple(_problem(one, places) for one in error.errors)


def mark_line(text: str, line: int, message: str, severity: str = "warning") -> Problem:
    """A problem with a line of a text, from 1."""
    start, end = Places(text).of(Span(line, 1, line, MAX_LINE))
    written = text_between(text, start, end)
    start += len(written) - len(written.lstrip())
    return Problem(start, end, line, severity, message)


def mark_hazards(text: str, verdict: Verdict) -> tuple[Problem, ...]:
    """The lines of source that its hazards, its wrong cell and its costliest line are about.

    The change that mends it comes first, where there is one.
    """
    verdict = verdict.in_files(text)
    marked = [] if verdict.repair is None else [_repair(text, verdict.repair)]
    marked += [
        mark_line(text, line, found.hazard.message)
        for found in verdict.hazards
        for line in dict.fromkeys(found.hazard.lines)
    ]
    for check in verdict.checks:
        if check.wrong is not None and check.wrong.line is not None:
            marked.append(mark_line(text, check.wrong.line, check.wrong.sentence))
            break
    if verdict.costliest is not None and verdict.state in (State.RIGHT, State.UNCHECKED):
        marked.append(mark_line(text, verdict.costliest.line, verdict.costliest.sentence))
    return tuple(marked)


def _repair(text: str, repair: Repair) -> Problem:
    """The change of source that was found to mend it."""
    places = Places(text)
    changes = tuple(Change(*places.of(fix.span), fix.text) for fix in repair.fixes)
    marked = mark_line(text, repair.fixes[0].span.line, repair.sentence)
    return replace(marked, hint=repair.why, fix=TextFix(changes, MEND))


def _problem(found: Diagnostic, places: Places) -> Problem:
    span = found.span or Span(1, 1, 1, 1)
    start, end = places.of(span)
    word = WORD.match(text_between(places.text, start, start + LONGEST_WORD))
    if word is not None:  # clang gives the first letter of a name
        end = max(end, start + len(word[0]))
    fix = None
    if found.fix is not None:
        begin, stop = places.of(found.fix.span)
        verb = "insert" if begin == stop else "write" if found.fix.text else "leave out"
        what = found.fix.text.strip() or text_between(places.text, begin, stop)
        fix = TextFix((Change(begin, stop, found.fix.text),), f"{verb} {what}")
    return Problem(
        start, end, span.line, "error", found.message, found.hint_for_editor, fix, found.place
    )


class Places:
    """Places of a text: lines and bytes of UTF-8, as a compiler counts, in UTF-16 units."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + _units(line) + 1)

    def of(self, span: Span) -> tuple[int, int]:
        """The start and the end of a span."""
        return self._place(span.line, span.column), self._place(span.end_line, span.end_column)

    def _place(self, line: int, column: int) -> int:
        number = min(max(line, 1), len(self._lines)) - 1
        before = self._lines[number].encode(errors=HALVES)[: max(column, 1) - 1]
        return self._starts[number] + _units(before.decode(errors="ignore"))


def text_between(text: str, start: int, end: int) -> str:
    """A part of a text by UTF-16 units."""
    units = text.encode("utf-16-le", HALVES)
    return units[2 * start : 2 * end].decode("utf-16-le", errors="replace")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", HALVES)) // 2
