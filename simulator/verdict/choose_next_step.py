"""The one thing to do next, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.language.tree import MemorySpace
from simulator.observers.hazards.findings import precedence
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.sentences import verdicts
from simulator.verdict.verdict import (
    CheckState,
    CounterRow,
    FoundHazard,
    LineCost,
    Occupancy,
    SizeCheck,
    State,
)

INTENSITY = 1.5  # times the tiled kernel's bytes of global memory, from which that is said
FEW_WARPS = 0.25  # of those that a multiprocessor holds


def next_step(
    state: State,
    checks: Sequence[SizeCheck],
    hazards: Sequence[FoundHazard],
    costliest: LineCost | None,
    rows: Sequence[CounterRow],
    fits: Occupancy | None,
    title: str,
) -> str:
    """What to do next of all that a verdict found.

    rows are of the user kernel and its neighbours, none where these say nothing; title is the
    task's.
    """
    if state is State.STOPPED:
        return verdicts.does_not_run(checks[0].sentence)
    faulty = [one for one in checks if one.state in (CheckState.WRONG, CheckState.STOPPED)]
    # What is wrong at a size without a hazard comes before hazards that only later sizes show.
    found_at = [one.sizes for one in hazards]
    first = next((one for one in checks if one in faulty or one.sizes in found_at), None)
    if first is not None and first.sizes in found_at:
        # What also whole tiles show is mended before what only the edges do.
        return _hazard(min(hazards, key=lambda one: (one.only_ragged, precedence(one.hazard))))
    if faulty:
        return _wrong(checks, faulty)
    if state is State.UNCHECKED:
        return verdicts.UNCHECKED
    right = sum(one.state is CheckState.RIGHT for one in checks)
    left = sum(one.state is CheckState.SKIPPED for one in checks)
    advice = _cost(costliest) or _intensity(rows) or _occupancy(fits)
    return verdicts.right_at(title, right, left, advice)


def _hazard(found: FoundHazard) -> str:
    """What to do about a hazard, and where it shows."""
    hazard, example = found.hazard, found.hazard.example
    advice = hazard.kind.next_step
    if hazard.kind is HazardKind.OUT_OF_BOUNDS and found.only_ragged:
        advice = verdicts.GUARD_EDGE
    if hazard.kind in RACES and example.other_block != example.block:
        advice = verdicts.SEPARATE_BLOCKS
    if hazard.kind in RACES and hazard.space is MemorySpace.SHARED:
        first, second = hazard.lines[0], hazard.lines[-1]
        advice = verdicts.put_barrier(first, second, example.within_warp, bool(example.iterations))
        if example.during_copy:
            advice = verdicts.wait_for_copy(first, second)
    is_one_store = hazard.kind is HazardKind.WRITE_AFTER_WRITE and len(set(hazard.lines)) == 1
    if is_one_store and example.other_block == example.block and not example.iterations:
        advice = verdicts.ONE_WRITER  # no barrier can come between the threads of one statement
    return verdicts.hazard(advice, hazard.message, dict(found.sizes))


def _wrong(checks: Sequence[SizeCheck], faulty: Sequence[SizeCheck]) -> str:
    """Where it is wrong, and how: everywhere, only when ragged, or at some sizes.

    A wrong value tells more than a launch that is stopped.
    """
    first = min(faulty, key=lambda one: one.state is not CheckState.WRONG)
    is_stopped = first.state is CheckState.STOPPED
    where = verdicts.wrong_at(is_stopped, dict(first.sizes), first.sentence)
    right = [
        one for one in checks
        if one.state is CheckState.RIGHT and any(size > 1 for _, size in one.sizes)
    ]  # fmt: skip
    if first.has_fractions:
        return verdicts.right_with_digits(first.sentence)
    if not right:
        return verdicts.wrong_everywhere(where)
    if all(one.is_ragged for one in faulty) and not all(one.is_ragged for one in right):
        return verdicts.wrong_where_ragged([name for name, _ in first.sizes], where)
    return verdicts.wrong_at_some(len(right), len(right) + len(faulty), where)


def _cost(costliest: LineCost | None) -> str:
    """What to do about the costliest line."""
    if costliest is None:
        return ""
    mend = verdicts.pad(costliest.array) if costliest.space == "shared" else verdicts.COALESCE
    return f"{costliest.sentence} {mend}"


def _intensity(rows: Sequence[CounterRow]) -> str:
    """What to do where values come from global memory more often than in the tiled kernel."""
    known = {row.name: row.bytes_per_flop for row in rows}
    own, tiled = known.get(""), known.get("tiled")
    if own is None or tiled is None or own < INTENSITY * tiled:
        return ""
    return verdicts.low_intensity(own, tiled)


def _occupancy(fits: Occupancy | None) -> str:
    """What to do where few warps fit a multiprocessor."""
    if fits is None or fits.warps > FEW_WARPS * fits.warps_at_most or fits.limit == "threads":
        return ""
    return fits.sentence
