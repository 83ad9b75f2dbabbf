"""Whether runs meet a requirement, in a sentence with the lines and numbers that they showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from simulator.exercises.evidence import Evidence
from simulator.exercises.exercise import Exercise
from simulator.exercises.goal import goal, plural, size_text
from simulator.exercises.ladder import first_rung, rung_counters
from simulator.exercises.requirement import (
    BankConflicts,
    Barriers,
    GlobalBytes,
    GlobalRequests,
    LikeTheLadder,
    NoHazards,
    Requirement,
    Right,
    SectorsPerRequest,
    SharedBytes,
    SharedWavefronts,
    Shuffles,
)
from simulator.language.functions import ATOMIC_FUNCTIONS
from simulator.language.visit import calls_of
from simulator.observers.transactions import SECTOR_BYTES
from simulator.size_expression import evaluate

GLOBAL_SECTORS = ("global_load_sectors", "global_store_sectors")
GLOBAL_REQUESTS = ("global_load_requests", "global_store_requests")
WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts")
IDEAL_WAVEFRONTS = ("shared_load_wavefronts_ideal", "shared_store_wavefronts_ideal")
ROUNDING = 1e-9  # of a share that is compared with a limit


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """Whether a text meets a requirement."""

    goal: str  # the requirement, a sentence
    met: bool
    sentence: str  # what the runs showed, with lines and numbers
    line: int | None = None  # of the text, from 1: where to look; None for no single line


def judge_requirement(
    requirement: Requirement, exercise: Exercise, evidence: Evidence
) -> RequirementResult:
    """Whether the runs of a kernel meet a requirement of its exercise."""
    met, sentence, line = _judge(requirement, exercise, evidence)
    return RequirementResult(goal(requirement, exercise), met, sentence, line)


_Judged = tuple[bool, str, int | None]  # whether it is met, a sentence, a line


def _judge(requirement: Requirement, exercise: Exercise, evidence: Evidence) -> _Judged:
    match requirement:
        case Right():
            return _right(evidence)
        case NoHazards():
            return _no_hazards(evidence)
        case BankConflicts():
            return _bank_conflicts(evidence)
        case SectorsPerRequest(at_most=most):
            return _sectors_per_request(evidence, most)
        case GlobalBytes(at_most=most):
            return _traffic(exercise, evidence, GLOBAL_BYTES, most)
        case GlobalRequests(at_most=most):
            return _traffic(exercise, evidence, REQUESTS, most)
        case SharedWavefronts(at_most=most):
            return _traffic(exercise, evidence, SHARED_WAVEFRONTS, most)
        case SharedBytes(at_most=most):
            return _shared_bytes(evidence, most)
        case Barriers(at_most=most):
            return _executed(
                evidence, evidence.barriers, "passes", "barrier",
                evaluate(most, exercise.counted_at),
            )  # fmt: skip
        case Shuffles(at_most=most):
            return _executed(evidence, evidence.shuffles, "takes part in", "shuffle", most)
        case LikeTheLadder(share_of_cublas=share):
            return _like_the_ladder(exercise, evidence, share)
        case _:
            assert_never(requirement)


def _right(evidence: Evidence) -> _Judged:
    for run in evidence.runs:
        if run.wrong is not None:
            stores = [
                line for line, counts in run.report.lines.items() if counts[GLOBAL_REQUESTS[1]]
            ]
            line = stores[0] if len(stores) == 1 else None
            place = f" Line {line} stores the result." if line else ""
            if not stores:
                place = " No line stores anything."
            return False, f"At {size_text(run.numbers)}, {run.wrong}{place}", line
    return True, f"Right at {size_text(*(run.numbers for run in evidence.runs))}.", None


def _no_hazards(evidence: Evidence) -> _Judged:
    for run in evidence.runs:
        if run.report.hazards:
            first, *others = run.report.hazards
            more = f" There are {len(others)} more." if len(others) > 1 else ""
            more = " There is one more." if len(others) == 1 else more
            line = first.lines[0] if first.lines else None
            return False, f"At {size_text(run.numbers)}: {first.message}{more}", line
    return True, f"None at {len(evidence.runs)} sizes.", None


def _bank_conflicts(evidence: Evidence) -> _Judged:
    extra = {
        line: _sum(counts, WAVEFRONTS) - _sum(counts, IDEAL_WAVEFRONTS)
        for line, counts in evidence.counted.report.lines.items()
    }
    worst = max(extra, key=lambda line: extra[line], default=None)
    if worst is None or not extra[worst]:
        return True, "Every access to shared memory takes as few wavefronts as it can.", None
    counts = evidence.counted.report.lines[worst]
    return (
        False,
        f"Line {worst} takes {_sum(counts, WAVEFRONTS):,} wavefronts of shared memory; without "
        f"bank conflicts they would be {_sum(counts, IDEAL_WAVEFRONTS):,}.",
        worst,
    )


def _sectors_per_request(evidence: Evidence, most: float) -> _Judged:
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
        return False, "No line loads or stores anything in global memory.", None
    share, kind = shares[worst]
    found = f"{share:.3g} sectors with each {kind} of a warp"
    if share <= most + ROUNDING:
        return True, f"Line {worst} touches most: {found}.", None
    return False, f"Line {worst} touches {found}; at most {most:g}.", worst


@dataclass(frozen=True, slots=True)
class _Traffic:
    """A sum of counters that is set against the work."""

    counters: tuple[str, ...]
    each: int  # what one of them counts for
    words: str  # what is counted


GLOBAL_BYTES = _Traffic(GLOBAL_SECTORS, SECTOR_BYTES, "bytes of global memory")
REQUESTS = _Traffic(GLOBAL_REQUESTS, 1, "loads and stores of global memory by a warp")
SHARED_WAVEFRONTS = _Traffic(WAVEFRONTS, 1, "wavefronts of shared memory")


def _traffic(exercise: Exercise, evidence: Evidence, traffic: _Traffic, most: float) -> _Judged:
    atomic = next(calls_of(evidence.kernel.body, ATOMIC_FUNCTIONS), None)
    if atomic is not None:
        return (
            False,
            f"Line {atomic.span.line} calls {atomic.function}, which the counters leave out. Write "
            "it with plain loads and stores.",
            atomic.span.line,
        )
    counts = {
        line: traffic.each * _sum(found, traffic.counters)
        for line, found in evidence.counted.report.lines.items()
    }
    share = sum(counts.values()) / evaluate(exercise.work, exercise.counted_at)
    found = f"{share:,.4g} {traffic.words} per {exercise.unit}; at most {most:,.4g}."
    if share <= most + ROUNDING:
        return True, found, None
    worst = max(counts, key=lambda line: counts[line])
    part = counts[worst] / sum(counts.values())
    where = f"Line {worst} makes {part:.0%} of them" if part < 1 else f"Line {worst} makes all"
    return False, f"{found} {where}.", worst


def _shared_bytes(evidence: Evidence, most: int) -> _Judged:
    used = evidence.kernel.static_shared_bytes
    if not used:
        return True, "It takes no shared memory.", None
    arrays = ", ".join(array.name for array in evidence.kernel.shared)
    limit = f"at most {most:,}" if most else "there should be none"
    return used <= most, f"A block takes {used:,} bytes of shared memory, {arrays}; {limit}.", None


def _executed(
    evidence: Evidence, counts: Mapping[int, float], verb: str, noun: str, most: int
) -> _Judged:
    total = sum(counts.values())
    size = size_text(evidence.counted.numbers)
    found = f"At {size} a thread {verb} {plural(total, noun)}; at most {most:,}."
    if total <= most + ROUNDING:
        return True, found, None
    worst = max(counts, key=lambda line: counts[line])
    return False, f"{found} Line {worst} has {counts[worst]:,.4g} of them.", worst


def _like_the_ladder(exercise: Exercise, evidence: Evidence, share: float) -> _Judged:
    rung = first_rung(share)
    counted = rung_counters(share, **exercise.counted_at)
    work = evaluate(exercise.work, exercise.counted_at)
    judged = []
    for traffic in (GLOBAL_BYTES, SHARED_WAVEFRONTS):
        most = traffic.each * _sum(counted, traffic.counters) / work
        judged.append(_traffic(exercise, evidence, traffic, most))
    sentence = " ".join(one[1] for one in judged)
    line = next((one[2] for one in judged if not one[0]), None)
    comparison = f"{sentence} The limits are those of {rung.name}, at {rung.share:.0%} of cuBLAS."
    if all(one[0] for one in judged):
        return True, f"{comparison} Whether it is as fast, a GPU can confirm.", None
    return False, comparison, line


def _sum(counts: Mapping[str, int], names: tuple[str, ...]) -> int:
    return sum(counts[name] for name in names)
