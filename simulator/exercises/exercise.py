"""The exercises, from assets/exercises: one file each, in the order of their names."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from simulator.broken_file import (
    FILE_NAME,
    Broken,
    BrokenFileError,
    Entries,
    parse_toml,
    read_folder,
    read_text,
    toml_line,
)
from simulator.exercises.requirements.kinds import Requirement
from simulator.exercises.workload import Workload
from simulator.language.errors import LaunchError
from simulator.size_expression import evaluate
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.tasks import TASKS

FOLDER = Path(__file__).resolve().parent.parent.parent / "assets" / "exercises"
KEY = re.compile(r"(?:`\$\.|^(?=[a-z_.]+ ?))(?P<path>[\w.\[\]]+)")  # in an error's sentence


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
    workload: Workload  # of the launch whose counters are read
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
def exercises() -> Entries[Exercise]:
    """All exercises by name, in their order."""
    return read_folder(FOLDER, "*.toml", load)


def load(path: Path) -> Exercise:
    """The exercise of one file. BrokenFileError names the file, the line and the key at fault."""
    text = read_text(path)
    toml = parse_toml(text, path.name)
    try:
        return _build(path.stem, toml)
    except (ValueError, msgspec.ValidationError) as error:
        found = KEY.search(str(error))
        line = toml_line(text, found["path"]) if found else 1
        raise BrokenFileError(Broken(path.name, line, f"{error}".rstrip(".") + ".")) from None


def _build(stem: str, toml: dict[str, Any]) -> Exercise:
    named = FILE_NAME.fullmatch(stem)
    if named is None:
        raise ValueError("A file is named like 01_load_the_tile.toml.")
    file = msgspec.convert(toml, _File)
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
        workload=Workload(file.counted_at, file.work.count, file.work.unit),
        hints=file.hints,
        solution=file.solution.lstrip(),
    )


def _check_numbers(file: _File, form: LaunchForm) -> None:
    """Raise ValueError where sizes are not the launch's numbers, or expressions over others."""
    numbers = {given.name for given in form.numbers}
    sizes = [size for one in file.requirement for size in one.launch_sizes]
    for key, size in (("counted_at", file.counted_at), *(("requirement.sizes", s) for s in sizes)):
        if set(size) != numbers:
            raise ValueError(f"{key} has {', '.join(size)} instead of {', '.join(numbers)}.")
    limits = [expression for one in file.requirement for expression in one.expressions]
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
        raise ValueError(f"task is {file.task!r}, which is not one of {', '.join(TASKS)}.")
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
