"""An exercise's requirements as sentences, before anything has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from simulator.exercises.exercise import Exercise
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
from simulator.size_expression import evaluate


def goal(requirement: Requirement, exercise: Exercise) -> str:
    """A requirement of an exercise as a sentence."""
    unit = exercise.unit
    match requirement:
        case Right(sizes=sizes):
            return f"The result is right at {size_text(*sizes, exercise.counted_at)}."
        case NoHazards():
            return "No races, and no access outside an array."
        case BankConflicts():
            return "No bank conflicts."
        case SectorsPerRequest(at_most=most):
            return f"A warp's load or store touches at most {most:g} sectors of global memory."
        case GlobalBytes(at_most=most):
            return f"At most {most:,g} bytes of global memory per {unit}."
        case GlobalRequests(at_most=most):
            return f"At most {most:g} loads and stores of global memory by a warp per {unit}."
        case SharedWavefronts(at_most=most):
            return f"At most {most:g} wavefronts of shared memory per {unit}."
        case SharedBytes(at_most=most):
            return f"At most {most:,} bytes of shared memory." if most else "No shared memory."
        case Barriers(at_most=expression):
            most = evaluate(expression, exercise.counted_at)
            return (
                f"A thread passes at most {plural(most, 'barrier')} at "
                f"{size_text(exercise.counted_at)}."
            )
        case Shuffles(at_most=most):
            return f"A thread takes part in at most {plural(most, 'shuffle')}."
        case LikeTheLadder(share_of_cublas=share):
            return (
                "Global and shared memory are read no more often than by the first kernel of the "
                f"ladder that reached {share:.0%} of cuBLAS."
            )
        case _:
            assert_never(requirement)


def plural(count: float, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "barrier"), plural(0, "barrier")
    ('1 barrier', '0 barriers')
    """
    return f"{count:,.4g} {noun}" + ("" if count == 1 else "s")


def size_text(*sizes: Mapping[str, int]) -> str:
    """Launches' numbers, by parameter, as sentences have them.

    >>> size_text({"M": 17, "N": 9}), size_text({"n": 300}, {"n": 1})
    ('M × N = 17 × 9', 'n = 300, 1')
    """
    values = [" × ".join(str(value) for value in size.values()) for size in sizes]
    return f"{' × '.join(sizes[0])} = {', '.join(values)}"
