"""The one thing to do next, of all that a verdict may have found, and its lines in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from simulator.language.errors import Fix, Span
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.observers.hazards.findings import Example, Hazard, Witness
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict.choose_next_step import next_step
from simulator.verdict.repair import Repair
from simulator.verdict.traffic import Place, Traffic, costliest_line
from simulator.verdict.verdict import (
    CheckState,
    CounterRow,
    FoundHazard,
    LineCost,
    Occupancy,
    SizeCheck,
    State,
    Verdict,
    WrongCell,
)

RIGHT, WRONG, STOPPED = CheckState.RIGHT, CheckState.WRONG, CheckState.STOPPED
SHARED, GLOBAL = MemorySpace.SHARED, MemorySpace.GLOBAL
RACE, TWICE = HazardKind.READ_AFTER_WRITE, HazardKind.WRITE_AFTER_WRITE
OUTSIDE = HazardKind.OUT_OF_BOUNDS
ONCE = Example((0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 0), (0,), ())
IN_LOOP = replace(ONCE, iterations=(2,))
OTHER_BLOCK = replace(ONCE, other_block=(1, 0, 0))


def check(state: CheckState, n: int = 8, is_ragged: bool = False) -> SizeCheck:
    return SizeCheck((("n", n),), (("n", n),), state, is_ragged, 0.1, f"{state} it is.")


def found(
    kind: HazardKind,
    n: int = 8,
    only_ragged: bool = False,
    lines: tuple[int, ...] = (3, 4),
    space: MemorySpace = SHARED,
    example: Example = ONCE,
) -> FoundHazard:
    hazard = Hazard(kind, lines, "s", space, f"{kind} it is.", 1, example)
    return FoundHazard(hazard, (("n", n),), (("n", n),), 1, only_ragged)


def step(
    checks: Sequence[SizeCheck],
    hazards: Sequence[FoundHazard] = (),
    state: State = State.WRONG,
    costliest: LineCost | None = None,
    rows: Sequence[CounterRow] = (),
    fits: Occupancy | None = None,
) -> str:
    return next_step(state, checks, hazards, costliest, rows, fits, "y = x")


@pytest.mark.parametrize(
    ("checks", "hazards", "start"),
    [
        ([check(RIGHT), check(RIGHT, 5)], [found(RACE, 5)], "Put a __syncthreads()"),
        ([check(RIGHT), check(WRONG, 5)], [found(RACE, 5)], "Put a __syncthreads()"),
        # What is wrong without a hazard comes before hazards of later sizes.
        ([check(RIGHT), check(WRONG, 11), check(RIGHT, 5)], [found(RACE, 5)],
         "Right at 2 of 3 sizes; wrong at n = 11: wrong it is."),
        ([check(WRONG), check(STOPPED, 5)], [], "Wrong at n = 8: wrong it is."),
        ([check(STOPPED, 5), check(WRONG)], [], "Wrong at n = 8: wrong it is."),
        ([check(RIGHT), check(STOPPED, 5)], [], "Right at 1 of 2 sizes; stopped at n = 5: stopped"),
        ([check(RIGHT, 1), check(WRONG)], [], "Wrong at n = 8"),  # 1 says nothing
        ([check(RIGHT), check(WRONG, 9, True)], [], "Right where its tile divides n; wrong at n ="),
        ([check(RIGHT), check(WRONG, 9, True), check(WRONG, 16)], [],
         "Right at 1 of 3 sizes; wrong at n = 9"),
        ([check(RIGHT, 7, True), check(WRONG, 9, True)], [], "Right at 1 of 2 sizes; wrong at"),
        ([check(RIGHT), replace(check(WRONG), has_fractions=True)], [],
         "Right where its arrays hold digits. wrong it is."),
        # What whole tiles show comes first, then what ends a launch, then races between warps.
        ([check(WRONG)], [found(OUTSIDE, only_ragged=True), found(RACE)], "Put a __syncthreads()"),
        ([check(WRONG)], [found(RACE), found(HazardKind.TRAP)], "Fix what ends the launch."),
    ],
)  # fmt: skip
def test_what_comes_first(
    checks: Sequence[SizeCheck], hazards: Sequence[FoundHazard], start: str
) -> None:
    assert step(checks, hazards).startswith(start)


@pytest.mark.parametrize(
    ("hazard", "start"),
    [
        (found(OUTSIDE), "Keep every access inside its array. Out-of-bounds it is."),
        (found(OUTSIDE, only_ragged=True), "Guard the edge, where the tile does not"),
        (found(HazardKind.MISALIGNED, only_ragged=True), "Align the wide access."),
        (found(RACE, lines=(4, 3)), "Put a __syncthreads() after line 4, before line 3 comes"),
        (found(RACE, lines=(3, 3)), "Put a __syncthreads() between the read and the write"),
        (found(RACE, lines=(3, 3), example=IN_LOOP), "Put a __syncthreads() between the two"),
        (found(RACE, example=replace(IN_LOOP, within_warp=True)), "Put a __syncwarp() between"),
        (found(RACE, example=replace(IN_LOOP, during_copy=True)), "Wait for the copy of line 3 "),
        (found(RACE, space=GLOBAL), "Let the threads wait for each other"),
        (found(RACE, space=GLOBAL, example=OTHER_BLOCK), "Let the blocks write to another array"),
        (found(OUTSIDE, space=GLOBAL, example=OTHER_BLOCK), "Keep every access inside its array"),
        (found(HazardKind.ABSENT_LANE), "Read only from lanes that take part."),
        (found(TWICE, lines=(3, 3)), "Let one thread write this cell"),
        (found(TWICE, lines=(3, 3), space=GLOBAL), "Let one thread write this cell"),
        (found(TWICE), "Put a __syncthreads() between lines 3 and 4"),
        (found(TWICE, lines=(3, 3), example=IN_LOOP), "Put a __syncthreads() between the two"),
        (found(TWICE, lines=(3, 3), space=GLOBAL, example=OTHER_BLOCK), "Let the blocks write"),
    ],
)
def test_what_to_do_about_a_hazard(hazard: FoundHazard, start: str) -> None:
    sentence = step([check(WRONG)], [hazard])
    assert sentence.startswith(start)
    assert sentence.endswith("it is. Seen at n = 8.")


COST = LineCost(3, "s", "shared", 1, 8, 1, "Line 3 costs.")
FULL = Occupancy(4, 16, 64, "registers", None, "It holds few.")
NAMED = CounterRow("naive", "", 0, None, 2.0, None)


def row(name: str, bytes_per_flop: float | None) -> CounterRow:
    return replace(NAMED, name=name, bytes_per_flop=bytes_per_flop)


@pytest.mark.parametrize(
    ("costliest", "rows", "fits", "advice"),
    [
        (None, (), None, ", no hazards."),
        (COST, (row("", 9.0), row("tiled", 1.0)), FULL,
         ". Line 3 costs. Pad the rows of s, or swap its indices."),
        (replace(COST, space="global"), (), None,
         ". Line 3 costs. Let neighbouring threads take neighbouring elements."),
        (None, (row("", 1.5), NAMED, row("tiled", 1.0)), FULL,
         ". It moves 1.5 bytes of global memory for each operation, the tiled kernel 1: share "
         "tiles of A and B in shared memory."),
        (None, (row("", 1.4), row("tiled", 1.0)), FULL, ". It holds few."),
        (None, (row("", 9.0), NAMED), FULL, ". It holds few."),
        (None, (row("", None), row("tiled", 1.0)), None, ", no hazards."),
        (None, (), replace(FULL, warps=17), ", no hazards."),
        (None, (), replace(FULL, limit="threads"), ", no hazards."),
    ],
)  # fmt: skip
def test_what_to_do_about_the_costs_of_a_right_kernel(
    costliest: LineCost | None, rows: Sequence[CounterRow], fits: Occupancy | None, advice: str
) -> None:
    checks = [check(RIGHT), check(RIGHT, 5), check(CheckState.SKIPPED, 9)]
    sentence = step(checks, (), State.RIGHT, costliest, rows, fits)
    assert sentence == f"y = x: right at 2 sizes (1 more could not be judged){advice}"


def test_what_does_not_run_or_is_not_compared() -> None:
    assert step([check(STOPPED)], (), State.STOPPED) == "It does not run: stopped it is."
    unchecked = step([check(CheckState.UNCHECKED)], (), State.UNCHECKED)
    assert unchecked.startswith("It runs without hazards. Say what it should compute")


def place(line: int, space: MemorySpace = GLOBAL, array: str = "a") -> Place:
    return Place(line, array, space, AccessKind.LOAD)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ({}, None),
        ({place(1): Traffic(10, 20, 10)}, None),  # not more than twice the fewest
        ({place(1): Traffic(10, 21, 10, 64, 4)},
         LineCost(1, "a", "global", 10, 21, 10,
                  "On line 1 neighbouring threads read a 64 bytes apart: 2.1 sectors a request "
                  "where 1 would be enough.")),
        # It must waste more than a fifth of what all lines take of its memory.
        ({place(1): Traffic(10, 30, 10), place(2): Traffic(70, 70, 70)}, None),
        ({place(1): Traffic(10, 30, 10), place(2): Traffic(69, 69, 69)},
         LineCost(1, "a", "global", 10, 30, 10,
                  "Line 1 reads a: 3 sectors a request where 1 would be enough.")),
        # Shared memory comes first, whatever global memory wastes; then what wastes more.
        ({place(1): Traffic(10, 90, 10), place(2, SHARED, "s"): Traffic(4, 10, 4),
          place(3, SHARED, "s"): Traffic(4, 32, 8)},
         LineCost(3, "s", "shared", 4, 32, 8,
                  "Line 3 reads s with bank conflicts: 8 wavefronts a request where 2 would be "
                  "enough.")),
    ],
)  # fmt: skip
def test_the_costliest_line(places: dict[Place, Traffic], expected: LineCost | None) -> None:
    assert costliest_line(places) == expected


def test_the_traffic_of_a_line_is_that_of_all_its_accesses() -> None:
    both = Traffic(1, 8, 4, 32, 8)
    both.add(Traffic(2, 3, 2, 4, 2))
    assert both == Traffic(3, 11, 6, 32, 8)
    both.add(Traffic(1, 9, 1, 64, 9))
    assert both == Traffic(4, 20, 7, 64, 9)


FILES = "int i;\n// ==== file: a.h ====\nint j;\nint k;"
LINE, NAMES = "See line 4.", "See line 4 (line 2 of a.h)."


def verdict(sentence: str, is_bare: bool) -> Verdict:
    """One that has the sentence wherever it may have one; is_bare where these may be missing."""
    wrong = WrongCell("a", (0,), 1.0, 2.0, 1, 1, "ascending", sentence)
    witness = Witness("lockstep", "descending", None, None, None, None, None, None, sentence)
    hazard = replace(found(RACE).hazard, message=sentence, witness=None if is_bare else witness)
    return Verdict(
        sentence,
        None if is_bare else Repair(sentence, sentence, (Fix(Span(1, 1, 1, 1), ";"),)),
        State.WRONG,
        (replace(check(WRONG), sentence=sentence, wrong=None if is_bare else wrong),),
        (replace(found(RACE), hazard=hazard),),
        {},
        {},
        (),
        None if is_bare else replace(COST, sentence=sentence),
        None,
        (sentence,),
    )


@pytest.mark.parametrize("is_bare", [True, False])
def test_each_sentence_names_the_files_of_its_lines(is_bare: bool) -> None:
    assert verdict(LINE, is_bare).in_files(FILES) == verdict(NAMES, is_bare)


@pytest.mark.parametrize("state", CheckState)
def test_only_the_time_that_is_over_depends_on_the_machine(state: CheckState) -> None:
    checks = (check(RIGHT), check(state))
    depends = replace(verdict(LINE, True), checks=checks).depends_on_machine
    assert depends is (state in (STOPPED, CheckState.SKIPPED))
