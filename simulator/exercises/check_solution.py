"""Checks a text as an exercise: compiles it, runs it, and says which requirements it meets."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from simulator.exercises.exercise import Exercise
from simulator.exercises.run_exercise import UncheckedError, gather, line_of
from simulator.exercises.wording import size_text
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.verdict.form import UserKernel
from simulator.verdict.judge import judge
from simulator.verdict.variants import compile_variant
from simulator.verdict.verdict import Verdict


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """Whether a text meets a requirement."""

    goal: str  # the requirement, a sentence
    met: bool
    sentence: str  # what the runs showed, with lines and numbers
    line: int | None = None  # of the text, from 1: where to look; None for no single line


@dataclass(frozen=True, slots=True)
class ExerciseResult:
    """What is to be said of a text as an exercise."""

    solved: bool  # whether all requirements are met
    results: tuple[RequirementResult, ...]  # one a requirement, in their order
    problem: str = ""  # why it was not run to its end, a sentence; "" if it was
    line: int | None = None  # the problem's, from 1, if known
    verdict: Verdict | None = None  # of the kernel by itself; None where there is a problem
    depends_on_machine: bool = False  # whether another check may end otherwise: the time was over


def check(
    exercise: Exercise, text: str, on_progress: Callable[[str], None] | None = None
) -> ExerciseResult:
    """Check a text as an exercise, and judge its kernel.

    on_progress, if given, is called with a sentence on what is run. Source that is wrong in any
    way gives a result that says so.
    """
    try:
        kernel = compile_solution(exercise, text)
    except UncheckedError as error:
        return _unchecked(exercise, error)
    if on_progress is not None:
        on_progress(f"Checking at {size_text(exercise.workload.counted_at)}.")
    found = check_requirements(exercise, kernel)
    if found.problem:
        return found  # the verdict could only wait for the same launch
    try:
        user_kernel = UserKernel(kernel.text, exercise.kernel, exercise.form)
        verdict = judge(user_kernel, kernel, on_progress=on_progress)
    except LaunchError:
        return found
    return replace(found, verdict=verdict, depends_on_machine=verdict.depends_on_machine)


def check_requirements(exercise: Exercise, kernel: Kernel) -> ExerciseResult:
    """Run a kernel at the exercise's sizes and check its requirements, without a verdict."""
    try:
        evidence = gather(exercise, kernel)
    except UncheckedError as error:
        return _unchecked(exercise, error)
    workload = exercise.workload
    results = tuple(
        RequirementResult(one.goal(workload), *one.judge(workload, evidence))
        for one in exercise.requirements
    )
    return ExerciseResult(all(one.met for one in results), results)


def _unchecked(exercise: Exercise, error: UncheckedError) -> ExerciseResult:
    results = tuple(
        RequirementResult(one.goal(exercise.workload), False, f"Not checked. {error}", error.line)
        for one in exercise.requirements
    )
    return ExerciseResult(
        False, results, str(error), error.line, depends_on_machine=error.depends_on_machine
    )


def compile_solution(exercise: Exercise, text: str) -> Kernel:
    """The exercise's kernel in a text. Raises UncheckedError: it is not there, or another."""
    try:
        kernel = compile_variant(text, exercise.kernel)
    except SourceError as error:
        raise UncheckedError(str(error), line_of(error)) from None
    found, wanted = _parameters(kernel), _start_parameters(exercise.start, exercise.kernel)
    if found != wanted:
        raise UncheckedError(
            f"The parameters of {exercise.kernel} are ({found}). They must stay ({wanted}): the "
            "exercise launches the kernel with these."
        )
    return kernel


@functools.lru_cache(32)
def _start_parameters(start: str, name: str) -> str:
    return _parameters(compile_variant(start, name))


def _parameters(kernel: Kernel) -> str:
    return ", ".join(f"{one.ctype} {one.name}" for one in kernel.parameters)
