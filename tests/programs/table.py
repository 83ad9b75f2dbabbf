"""The launches of programs.toml with their texts, arguments and expectations."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.programs.expected import EXPECTED
from tests.programs.inputs import make

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One launch; programs.toml says what its fields mean."""

    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    descriptions: Mapping[str, Any]  # of the arguments, by name
    case: str = ""
    shared: int = 0
    defines: Mapping[str, str] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)
    tolerance: float = 0
    off_by: float = 0
    share: float = 0
    gpu_tolerance: float = 0
    unordered: list[str] = field(default_factory=list)
    counters: Mapping[str, int] = field(default_factory=dict)
    why: str = ""

    def __str__(self) -> str:
        return f"{Path(self.file).stem}-{self.name}"

    @property
    def name(self) -> str:
        return f"{self.kernel}:{self.case}" if self.case else self.kernel

    @property
    def text(self) -> str:
        return (FOLDER / self.file).read_text(encoding="utf-8")

    @property
    def between_machines(self) -> Program:
        """The same with the tolerance that holds between the simulator and a GPU."""
        return replace(self, tolerance=self.gpu_tolerance, off_by=0, share=0)

    def arguments(self) -> dict[str, Any]:
        """New arguments; arrays of one description differ from kernel to kernel."""
        return {n: make(f"{self.name} {n}", d) for n, d in self.descriptions.items()}

    def expected(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arrays that the launch changes, by name; None where nobody can say."""
        expectation = EXPECTED[self.name]
        return None if expectation is None else expectation(arguments)


def load() -> list[Program]:
    table = tomllib.loads((FOLDER / "programs.toml").read_text(encoding="utf-8"))
    return [
        Program(
            **{name: value for name, value in entry.items() if name != "arguments"},
            descriptions=entry["arguments"],
        )
        for entry in table["launch"]
    ]


def differing(program: Program, name: str, found: Any, expected: Any) -> str:
    """A sentence on the elements that are too far from what NumPy says; "" if none is."""
    if expected is None:
        return ""
    if found.dtype.names:
        parts = [differing(program, name, found[n], expected[n]) for n in found.dtype.names]
        return "".join(parts)
    got, want = np.ravel(found), np.ravel(np.asarray(expected))
    if got.size != want.size:
        return f"{name} has {got.size} elements, and {want.size} are expected."
    if name in program.unordered:
        got, want = np.sort(got), np.sort(want)
    if got.dtype.kind in "ui" and want.dtype.kind in "ui" and not program.off_by:
        wrong = got != want
    else:
        wide, target = got.astype(np.float64), want.astype(np.float64)
        allowed = program.off_by + program.tolerance * np.maximum(1, abs(target))
        wrong = ~(abs(wide - target) <= allowed) & ~np.isnan(target)
    if wrong.mean() <= program.share:
        return ""
    first = int(wrong.argmax())
    return (
        f"{name}[{first}] is {got[first]}, not {want[first]}; {wrong.sum()} of {wrong.size} differ."
    )


PROGRAMS = load()
