"""What --verdict and --exercise do: a kernel judged, launched as the command line says."""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass, replace

from simulator.exercises.check_solution import ExerciseResult, check
from simulator.exercises.exercise import Exercise, exercises
from simulator.language.ctype import Pointer
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.launch import Dim3
from simulator.terminal.arguments import TYPE_NAMES, wrong_count
from simulator.terminal.machine_code import registers
from simulator.terminal.options import ExitCode, UsageError
from simulator.verdict.form import (
    ArrayArgument,
    LaunchForm,
    Sizes3,
    UserKernel,
    with_arrays,
    with_numbers,
)
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_launch
from simulator.verdict.verdict import State, Verdict

ROLES = ("M", "N", "K")  # sizes with an option of their own
ANYTHING = "none"  # as --task has it
NOT_WITH = ("inputs", "outputs", "launch")  # options of a run


@dataclass(frozen=True, slots=True)
class Judged:
    """What a file's verdict says, and of what."""

    text: str  # the file's
    kernel: str
    form: LaunchForm
    verdict: Verdict | None  # None where an exercise's kernel did not come that far
    exercise: Exercise | None = None
    result: ExerciseResult | None = None  # of that exercise
    is_strict: bool = False  # whether it is to be right at every size

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        if self.result is not None:
            if self.result.problem:
                return ExitCode.ERROR
            return ExitCode.CLEAN if self.result.solved else ExitCode.HAZARDS
        assert self.verdict is not None
        match self.verdict.state:
            case State.RIGHT | State.UNCHECKED:
                return ExitCode.CLEAN
            case State.LIMITED:
                return ExitCode.HAZARDS if self.is_strict else ExitCode.CLEAN
            case State.WRONG | State.HAZARD:
                return ExitCode.HAZARDS
            case State.STOPPED:
                return ExitCode.ERROR


def is_asked(options: argparse.Namespace) -> bool:
    """Whether a command line asks for a verdict, by any of the options that belong to one."""
    names = ("exercise", "junit", "report", "task", *ROLES)
    return options.verdict or any(getattr(options, name) is not None for name in names)


def judge_exercise(text: str, options: argparse.Namespace) -> Judged:
    """A file's text as the exercise that --exercise names."""
    _check_options(options)
    name = options.exercise
    if name not in exercises().everything:
        raise UsageError(f"--exercise {name}: there are {', '.join(exercises())}.")
    found = exercises()[name]
    result = check(found, text)
    return Judged(text, found.kernel, found.form, result.verdict, found, result)


def judge_kernel(kernel: Kernel, options: argparse.Namespace) -> Judged:
    """A kernel, launched as it is guessed but for what the command line gives."""
    _check_options(options)
    task = "" if options.task == ANYTHING else options.task
    form = guess_form(kernel.text, kernel, task, _texts(options.block))
    if options.grid is not None:
        form = replace(form, grid=_texts(options.grid) or form.grid)
    if options.shared:
        form = replace(form, shared_bytes=str(options.shared))
    form = _with_sizes(form, options)
    form = _with_arguments(kernel, form, options.arguments)
    user_kernel = UserKernel(kernel.text, kernel.name, form)
    verdict = judge(user_kernel, kernel, registers(kernel, options))
    return Judged(kernel.text, kernel.name, form, verdict, is_strict=options.strict)


def _check_options(options: argparse.Namespace) -> None:
    for name in NOT_WITH:
        if getattr(options, name):
            raise UsageError(f"--{name} belongs to a run of one launch, not to a verdict.")


def _texts(sizes: Dim3 | None) -> Sizes3 | None:
    if sizes is None:
        return None
    x, y, z = map(str, sizes)
    return x, y, z


def _with_sizes(form: LaunchForm, options: argparse.Namespace) -> LaunchForm:
    """The form with the sizes of --M, --N and --K."""
    roles = dict(form.roles)
    for role in ROLES:
        value = getattr(options, role)
        if value is None:
            continue
        if value < 1:
            raise UsageError(f"--{role} {value}: give a whole number, 1 or more.")
        if roles.get(role) not in {one.name for one in form.arguments}:
            known = role in roles
            meant = f"is {roles[role]}, which is not a parameter" if known else "is not a size"
            raise UsageError(f"--{role} {value}: {role} {meant} of this kernel.")
        given = with_numbers(form.arguments, {roles[role]: value})
        form = replace(form, arguments=given)
    return form


def _with_arguments(kernel: Kernel, form: LaunchForm, texts: list[str]) -> LaunchForm:
    """The form with the numbers and arrays of each ARG, which there is for every parameter or none.

    The arrays of a task follow its sizes, so that others can be tried.
    """
    if not texts:
        return form
    names = [parameter.name for parameter in kernel.parameters]
    if len(texts) != len(names):
        raise UsageError(wrong_count(kernel.name, names, len(texts)))
    shapes: dict[str, tuple[int, ...]] = {}
    for parameter, text in zip(kernel.parameters, texts, strict=True):
        array = re.fullmatch(rf"(?:{TYPE_NAMES}|struct):([1-9]\d*(?:x[1-9]\d*)*)", text)
        number = re.fullmatch(rf"(?:{TYPE_NAMES})=(\S+)", text)
        is_pointer = isinstance(parameter.ctype, Pointer)
        if is_pointer and array:
            shapes[parameter.name] = tuple(map(int, array[1].split("x")))
        elif number and not is_pointer:
            given = with_numbers(form.arguments, {parameter.name: number[1]})
            form = replace(form, arguments=given)
        else:
            kind = "an array like f32:64x64" if is_pointer else "a scalar like i32=64"
            raise UsageError(f"{text[:40]!r} for {parameter.name}, {parameter.ctype}: give {kind}.")
    if form.task:
        _check_shapes(kernel, form, shapes)
        return form
    return with_arrays(form, lambda one: _shaped(one, shapes[one.name]))


def _shaped(array: ArrayArgument, shape: tuple[int, ...]) -> ArrayArgument:
    """An array of another shape: its last dimensions are columns."""
    rows, columns = (shape[0], shape[1:]) if len(shape) > 1 else (1, shape)
    return replace(array, rows=str(rows), columns=str(math.prod(columns)), is_seen=False)


def _check_shapes(kernel: Kernel, form: LaunchForm, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise LaunchError where an ARG's array has not as many elements as the task's."""
    launch = build_launch(kernel, form)
    for name, shape in shapes.items():
        needed, given = launch.arguments[name].size, math.prod(shape)
        if needed != given:
            raise LaunchError(
                f"{name} has {given:,} elements; for {form.task} at the sizes given it needs "
                f"{needed:,}. Give --task none, or leave the ARGs out."
            )
