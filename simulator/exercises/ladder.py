"""The rung of the ladder that an exercise compares with, from what was measured on a GPU."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.broken_file import Broken, BrokenFileError, read_text
from simulator.catalogue import Entry, catalogue
from simulator.verdict.neighbours import catalogue_counters

RECORDING = (
    Path(__file__).resolve().parent.parent.parent / "assets" / "recorded" / "nvidia-h200.json"
)
SIZE = [4096, 4096, 4096]  # M, N, K: large enough that all blocks fill the GPU many times


@dataclass(frozen=True, slots=True)
class Rung:
    """A kernel of the catalogue, as it was measured."""

    entry: Entry
    defines: tuple[tuple[str, int], ...]  # its macros then
    share: float  # of cuBLAS's speed

    @property
    def name(self) -> str:
        """The kernel's name in the catalogue."""
        return self.entry.name


@functools.cache
def first_rung(share: float) -> Rung:
    """The lowest rung of the ladder that reached a share of cuBLAS's speed.

    Raises BrokenFileError where the recording says of none.

    >>> rung = first_rung(0.25)
    >>> rung.share >= 0.25
    True
    """
    text = read_text(RECORDING)
    try:
        measured = [rung for rung in _measured(json.loads(text)) if rung.share >= share]
    except json.JSONDecodeError as error:
        sentence = f"This is not JSON: {error.msg}."
        raise BrokenFileError(Broken(RECORDING.name, error.lineno, sentence)) from None
    except (LookupError, TypeError, ValueError):
        raise BrokenFileError(Broken(RECORDING.name, 1, "It is not a recording.")) from None
    if not measured:
        sentence = f"No kernel of the ladder reached {share} of cuBLAS's speed at {SIZE[0]}."
        raise BrokenFileError(Broken(RECORDING.name, 1, sentence))
    return min(measured, key=lambda rung: (rung.entry.rung, -rung.share))


def _measured(recording: Any) -> list[Rung]:
    kernels = [
        kernel
        for comparison in recording["comparisons"]
        if comparison["size"] == SIZE
        for kernel in comparison["kernels"]
    ]
    found = []
    for kernel in kernels:
        entry = catalogue().get(kernel["name"].split(":")[0])
        if entry is not None and entry.rung and kernel["verified"]:
            defines = tuple((name, int(value)) for name, value in kernel["defines"].items())
            found.append(Rung(entry, defines, kernel["cublas_ratio"]))
    return found


def rung_counters(share: float, M: int, N: int, K: int) -> Mapping[str, int]:
    """What first_rung(share) counts for an M x N x K product: observers.counters.FIELDS."""
    rung = first_rung(share)
    return catalogue_counters(rung.name, rung.defines, M, N, K).totals
