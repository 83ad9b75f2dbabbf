"""Two recordings in lockstep: pairs of steps, both at the same point of the computation.

Where both kernels run the same line in the same iterations of like loops, the two steps are a pair.
Where they do not, each goes on by its share of the products that a block adds up, and one of them
may wait for the other.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator import Recording, Step
from simulator.frontend.lexer import blank_comments
from simulator.machine.observer import StepKind
from simulator.recording.navigation import Granularity, boundaries, positions
from ui.analysis.products import product_of_sum
from ui.analysis.scene_model import iteration_counts

SHARE_DIGITS = 6  # of a share of the work that is compared

# A step's line without its comment, its kind, of each loop around it the iteration and how many
# there are, the share of their products that its threads have done, and how many such were before.
Place = tuple[str, StepKind, tuple[tuple[int, int], ...], float, int]
Point = tuple[int, int]  # the numbers of a left and of a right step


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of each recording, at the same point of the computation."""

    number: int  # from 0
    sides: tuple[Step, Step]  # left, right
    moves: tuple[bool, bool]  # whether the side's step is another than in the pair before


def align(left: Recording, right: Recording) -> tuple[Pair, ...]:
    """Pair the steps of two recordings, of which each has a step at least.

    Every step of both occurs, in order: from a pair to the next each side goes on by one step or
    waits, and one of them goes on.
    """
    last = len(left.steps) - 1, len(right.steps) - 1
    points = [(0, 0)]
    anchors = [point for point in _same_places(left, right) if (0, 0) < point < last]
    works = _work(left), _work(right)
    for anchor in [*anchors, last]:
        for point in [*_same_share(works, points[-1], anchor), anchor]:
            points += _path(points[-1], point)
    return tuple(
        Pair(number, (left.steps[i], right.steps[j]), (i != before[0], j != before[1]))
        for number, ((i, j), before) in enumerate(
            zip(points, [(-1, -1), *points[:-1]], strict=True)
        )
    )


def pair_of_step(pairs: tuple[Pair, ...], side: int, step: int) -> int:
    """The number of the first pair that has a step, from 0, of the left (0) or right (1) side."""
    return bisect_left(pairs, step, key=lambda pair: pair.sides[side].number)


def pair_navigation(left: Recording, right: Recording, pairs: tuple[Pair, ...]) -> dict[str, Any]:
    """The number of "steps", which are pairs, and for each granularity where a unit begins.

    Of both sides; but the side that has fewer outer iterations counts them, as tiles beside the
    single loop of a kernel without.
    """
    stops: dict[str, Any] = {"steps": len(pairs)}
    for granularity in Granularity:
        if granularity is Granularity.STATEMENT:
            continue
        found = [
            [pair_of_step(pairs, side, step) for step in boundaries(recording, granularity)]
            for side, recording in enumerate((left, right))
        ]
        if granularity is Granularity.OUTER:
            stops[granularity.value] = min(found, key=len)
        else:
            stops[granularity.value] = sorted({*found[0], *found[1]})
    return stops


def differing_lines(left: str, right: str) -> tuple[frozenset[int], frozenset[int]]:
    """The lines, from 1, of each of two texts that the other does not have there.

    Comments and the width of spaces make no difference, nor do braces alone on their lines.
    """
    lines = _code_lines(left), _code_lines(right)
    differing: tuple[set[int], set[int]] = set(), set()
    matcher = difflib.SequenceMatcher(None, *lines, autojunk=False)
    for operation, i, i_end, j, j_end in matcher.get_opcodes():
        if operation != "equal":
            for found, own, numbers in zip(
                differing, lines, (range(i, i_end), range(j, j_end)), strict=True
            ):
                found.update(number + 1 for number in numbers if own[number].strip("{}"))
    return frozenset(differing[0]), frozenset(differing[1])


def _code_lines(text: str) -> list[str]:
    """The lines of a text without comments, their spaces single."""
    return [" ".join(line.split()) for line in blank_comments(text).split("\n")]


def _same_places(left: Recording, right: Recording) -> list[Point]:
    """Steps of both at the same place, as many as can follow one another on both sides."""
    numbers = {place: number for number, place in enumerate(_places(right))}
    points = [
        (number, numbers[place]) for number, place in enumerate(_places(left)) if place in numbers
    ]
    return _longest_ascent(points)


def _longest_ascent(points: list[Point]) -> list[Point]:
    """The most of some points, whose left numbers ascend, such that the right ones ascend too."""
    ends: list[int] = []  # the least right number that ends an ascent of each length
    chosen: list[int] = []  # and its point's index
    before: list[int] = []  # of each point, the index of the one before it in its ascent, or -1
    for index, (_, right) in enumerate(points):
        length = bisect_left(ends, right)
        before.append(chosen[length - 1] if length else -1)
        ends[length : length + 1] = [right]
        chosen[length : length + 1] = [index]
    ascent: list[Point] = []
    index = chosen[-1] if chosen else -1
    while index >= 0:
        ascent.append(points[index])
        index = before[index]
    return ascent[::-1]


def _places(recording: Recording) -> list[Place]:
    """The place of each step."""
    lines = _code_lines(recording.kernel.text)
    step_positions = positions(recording)
    counts = iteration_counts(step_positions)
    shares = _own_shares(recording)
    found: list[Place] = []
    seen: Counter[tuple[object, ...]] = Counter()
    for step, position in zip(recording.steps, step_positions, strict=True):
        loops = tuple(
            (iteration, counts[position[:depth], loop])
            for depth, (loop, iteration) in enumerate(position)
        )
        place = (lines[step.line - 1], step.kind, loops, shares[step.number])
        found.append((*place, seen[place]))
        seen[place] += 1
    return found


def _work(recording: Recording) -> list[int]:
    """The numbers of the steps that add a product."""
    return [step.number for step in recording.steps if product_of_sum(step.statement) is not None]


def _own_shares(recording: Recording) -> list[float]:
    """For each step, which share of their products its threads have done up to it, from 0 to 1."""
    work = _work(recording)
    totals = np.zeros(recording.launch.threads, np.int64)
    for number in work:
        totals += recording.steps[number].active
    is_work, done, shares = set(work), np.zeros_like(totals), []
    for step in recording.steps:
        if step.number in is_work:
            done = done + step.active
        total = int(totals[step.active].sum())
        share = int(done[step.active].sum()) / total if total else 0.0
        shares.append(round(share, SHARE_DIGITS))
    return shares


def _same_share(works: tuple[list[int], list[int]], first: Point, last: Point) -> list[Point]:
    """Points strictly between two at which both sides have done the same share of the products.

    Of the side with fewer products each is a point, with the one that ends its share of the other.
    """
    between = [
        work[bisect_left(work, first[side] + 1) : bisect_left(work, last[side])]
        for side, work in enumerate(works)
    ]
    fewer, more = sorted(between, key=len)
    ends = [-(-(i + 1) * len(more) // max(1, len(fewer))) - 1 for i in range(len(fewer))]
    points = [(number, more[end]) for number, end in zip(fewer, ends, strict=True)]
    return points if fewer is between[0] else [(j, i) for i, j in points]


def _path(first: Point, last: Point) -> list[Point]:
    """The points after one up to another, at which both sides arrive together if both go on.

    The side with fewer steps between goes on as early as its share allows, and then waits.
    """
    wide, high = last[0] - first[0], last[1] - first[1]
    if not wide or not high:
        count = max(wide, high)
        return [(first[0] + min(i, wide), first[1] + min(i, high)) for i in range(1, count + 1)]
    count = max(wide, high) - 1
    between = [
        (first[0] - (-i * (wide - 1) // count), first[1] - (-i * (high - 1) // count))
        for i in range(1, count + 1)
    ]
    return [*between, last]
