"""The exercises, from assets/exercises: one file each, in the order of their names."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from simulator.exercises.requirement import Barriers, Requirement, Right
from simulator.language.errors import LaunchError
from simulator.size_expression import evaluate
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.tasks import TASKS

FOLDER = Path(__file__).resolve().parent.parent.parent / "assets" / "exercises"
FILE_NAME = re.compile(r"\d\d_(?P<name>[a-z_]+)")  # without its ending


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise. Tests hold that its start does not solve it, and that its solution does."""

    name: str  # its file's, without number and ending: what --exercise takes
    title: str
    level: int  # from 1, easy, to 4
    teaches: str  # a sentence
    text: str  # Markdown
    start: str  # CUDA C
    kernel: str  # the __global__ function's name
    form: LaunchForm
    requirements: tuple[Requirement, ...]
    counted_at: Mapping[str, int]  # the launch's numbers where counters are read, by parameter
    work: str  # how many units of work that is, an expression over these numbers
    unit: str  # of the work: "product", "element"
    hints: tuple[str, ...]  # Markdown; each says more than the one before
    solution: str  # CUDA C


class _Array(
    msgspec.Struct, frozen=True, tag_field="type", tag="array", forbid_unknown_fields=True
):
    name: str
    rows: str
    columns: str
    contents: Contents = Contents.RANDOM


class _Number(
    msgspec.Struct, frozen=True, tag_field="type", tag="number", forbid_unknown_fields=True
):
    name: str
    value: str


class _Launch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    grid: Sizes3
    block: Sizes3
    arguments: tuple[_Array | _Number, ...]


class _Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    count: str
    unit: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An exercise as its file has it; see Exercise."""

    title: str
    level: int
    teaches: str
    text: str
    kernel: str
    task: str  # a name in TASKS; the parameters have the names of its roles
    counted_at: Mapping[str, int]
    work: _Work
    start: str
    hints: tuple[str, ...]
    solution: str
    launch: _Launch
    requirement: tuple[Requirement, ...]


@functools.cache
def exercises() -> Mapping[str, Exercise]:
    """All exercises by name, in their order. ValueError names the file and the key at fault."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        exercise = load(path)
        if exercise.name in found:
            raise ValueError(f"{path.name}: another exercise is named {exercise.name}, too.")
        found[exercise.name] = exercise
    return found


def load(path: Path) -> Exercise:
    """The exercise of one file. ValueError, a sentence that names the file and the key at fault."""
    try:
        return _build(path.stem, path.read_text(encoding="utf-8"))
    except (ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{path.name}: {error}") from None


def _build(stem: str, toml: str) -> Exercise:
    named = FILE_NAME.fullmatch(stem)
    if named is None:
        raise ValueError("a file is named as 01_load_the_tile.toml is.")
    file = msgspec.convert(tomllib.loads(toml), _File)
    form = _form(file)
    _check_numbers(file, form)
    return Exercise(
        name=named["name"],
        title=file.title,
        level=file.level,
        teaches=file.teaches,
        text=file.text.strip(),
        start=file.start.lstrip(),
        kernel=file.kernel,
        form=form,
        requirements=file.requirement,
        counted_at=file.counted_at,
        work=file.work.count,
        unit=file.work.unit,
        hints=file.hints,
        solution=file.solution.lstrip(),
    )


def _check_numbers(file: _File, form: LaunchForm) -> None:
    """Raise ValueError where sizes are not the launch's numbers, or expressions over others."""
    numbers = {given.name for given in form.arguments if isinstance(given, NumberArgument)}
    sizes = [size for one in file.requirement if isinstance(one, Right) for size in one.sizes]
    for key, size in (("counted_at", file.counted_at), *(("requirement.sizes", s) for s in sizes)):
        if set(size) != numbers:
            raise ValueError(f"{key} has {', '.join(size)} in place of {', '.join(numbers)}.")
    limits = [one.at_most for one in file.requirement if isinstance(one, Barriers)]
    for key, expression in (
        ("work.count", file.work.count),
        *(("requirement.at_most", limit) for limit in limits),
    ):
        try:
            evaluate(expression, file.counted_at)
        except LaunchError as error:
            raise ValueError(f"{key}: {error}") from None


def _form(file: _File) -> LaunchForm:
    task = TASKS.get(file.task)
    if task is None:
        raise ValueError(f"task is {file.task!r}, which is none of {', '.join(TASKS)}.")
    arguments = tuple(
        ArrayArgument(given.name, given.rows, given.columns, given.contents)
        if isinstance(given, _Array)
        else NumberArgument(given.name, given.value)
        for given in file.launch.arguments
    )
    roles = (*task.arrays, *task.sizes)
    names = [given.name for given in arguments]
    if sorted(roles) != sorted(names):
        raise ValueError(
            f"launch.arguments are {', '.join(names)}; the task {task.name} has {', '.join(roles)}."
        )
    return LaunchForm(
        grid=file.launch.grid,
        block=file.launch.block,
        shared_bytes="0",
        arguments=arguments,
        task=file.task,
        roles=tuple((name, name) for name in roles),
    )
