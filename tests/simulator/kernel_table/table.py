"""The whole table: bases times habits, and each fault of a base in one habit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.simulator.kernel_table.habits import HABITS, Base, Written, write

KERNELS = Path(__file__).with_name("kernels.txt")


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of the table."""

    id: str
    base: Base
    written: Written
    task: str | None = None  # that its author names, of a wrong one


def bases() -> Iterator[Base]:
    """The kernels with open names of the text."""
    _, *parts = KERNELS.read_text().split("\n= ")
    for part in parts:
        head, *lines = part.replace(" |\n; ", " | ").strip().split("\n")
        name, task, arrays, sizes, *further = (one.strip() for one in head.split(" | "))
        fields: dict[str, Any] = dict(
            one.split("=", 1) for one in (further[0].split("; ") if further else ())
        )
        fields |= {"head": f"{fields['head']}\n"} if "head" in fields else {}
        fields["faults"] = tuple(line[2:] for line in lines if line.startswith("- "))
        body = "\n".join(line for line in lines if not line.startswith(("- ", "# ")))
        yield Base(name, task, arrays, sizes, body, **fields)


ALL = tuple(bases())


def right_ones() -> Iterator[Entry]:
    """Every base in some of the habits, all of which come up."""
    for place, base in enumerate(ALL):
        for turn in range(int(base.habits)):
            number = place * 5 + turn * 7
            yield Entry(f"{base.name}-{number % len(HABITS)}", base, write(base, number))


def wrong_ones() -> Iterator[Entry]:
    """Every fault in one habit; the authors of two thirds say what was meant."""
    faults = [(base, line) for base in ALL for line in base.faults]
    for number, (base, line) in enumerate(faults):
        name, _, change = line.partition(": ")
        old, _, new = change.partition(" => ")
        task = base.task if number % 3 or name.endswith("!") else ""
        name, _, habit = name.rstrip("!").partition("@")
        said = "-said" if task else ""
        written = write(base, int(habit or number * 5), (old, new))
        yield Entry(f"{base.name}-{name}{said}", base, written, task or None)
