"""Views that open with one click, from assets/presets.toml, and what a view runs."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.catalogue import catalogue
from simulator.launch import Launch
from ui.view_url import View, from_query
from ui.what_if import apply_edits, with_element_type

FILE = Path(__file__).resolve().parent.parent / "assets" / "presets.toml"
SMALLEST_VALUE, LARGEST_VALUE = 0, 9  # of A and B: numbers that a class can add in its head


@dataclass(frozen=True, slots=True)
class Preset:
    """A view with a name, and a sentence about what to look at in it."""

    name: str
    text: str
    view: View


@functools.cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order they are offered."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))["preset"]
    return tuple(Preset(table["name"], table["text"], _view(table)) for table in tables)


def _view(table: dict[str, Any]) -> View:
    view, wrong = from_query({name: str(value) for name, value in table["view"].items()})
    if wrong:
        raise ValueError(f"{FILE.name}, {table['name']}: {' '.join(wrong)}")
    return view


def source(view: View) -> str:
    """The text of the view's kernel: its macros set, its edits made."""
    return apply_edits(catalogue()[view.kernel].source(**dict(view.defines)), view.edits)


def inputs(view: View) -> dict[str, Any]:
    """The arguments A [M, K], B [K, N], C [M, N] and M, N, K, in the type of the view's kernel.

    "random" inputs are whole numbers from 0 to 9, the same for the same sizes. "counting" ones
    count up from 1 in A and down to 1 in B, row by row. C holds zeros.
    """
    M, N, K = view.M, view.N, view.K
    if view.inputs == "counting":
        A = np.arange(1, M * K + 1).reshape(M, K)
        B = np.arange(K * N, 0, -1).reshape(K, N)
    else:
        random = np.random.default_rng((M, N, K))
        A = random.integers(SMALLEST_VALUE, LARGEST_VALUE, (M, K), endpoint=True)
        B = random.integers(SMALLEST_VALUE, LARGEST_VALUE, (K, N), endpoint=True)
    element = with_element_type(catalogue()[view.kernel], view.edits).element
    arrays = {"A": A, "B": B, "C": np.zeros((M, N))}
    return {**{name: array.astype(element) for name, array in arrays.items()},
            "M": M, "N": N, "K": K}  # fmt: skip


def launch(view: View) -> Launch:
    """The launch of the view's kernel on its inputs."""
    entry = with_element_type(catalogue()[view.kernel], view.edits)
    return entry.launch(inputs(view), **dict(view.defines))
