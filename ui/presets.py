"""Presets, which are named views from assets/presets.toml, and the source and launch of a view."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.catalogue import catalogue
from simulator.launch import Launch
from ui.shown_kernel import offered_edits, unedited_source
from ui.view_url import View, from_query
from ui.what_if import Change, apply_edits, diff_lines, with_element_type

FILE = Path(__file__).resolve().parent.parent / "assets" / "presets.toml"
SMALLEST_VALUE, LARGEST_VALUE = 0, 9  # of A and B: small, for mental arithmetic


@dataclass(frozen=True, slots=True)
class Preset:
    """A view with a name."""

    name: str
    text: str  # a sentence: what to look at
    view: View


@functools.cache
def presets() -> tuple[Preset, ...]:
    """Load all presets, in the order of the file.

    Raises ValueError for a preset whose view is not valid.
    """
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))["preset"]
    return tuple(Preset(table["name"], table["text"], _parse_view(table)) for table in tables)


def _parse_view(table: dict[str, Any]) -> View:
    view, notices = from_query({name: str(value) for name, value in table["view"].items()})
    if notices:
        raise ValueError(f"{FILE.name}, {table['name']}: {' '.join(notices)}")
    return view


def source(view: View) -> str:
    """The source of the view's kernel, its macros defined and its edits applied.

    Of a kernel of one's own those that its text has a pattern for.
    """
    edits = view.edits
    if view.own is not None and edits:
        offered = {edit.key for edit in offered_edits(view)}
        edits = tuple(key for key in edits if key in offered)
    return apply_edits(unedited_source(view), edits) if edits else unedited_source(view)


def changes(view: View) -> tuple[Change, ...]:
    """The lines of source(view) that its edits changed."""
    return diff_lines(unedited_source(view), source(view)) if view.edits else ()


def inputs(view: View) -> dict[str, Any]:
    """Build the arguments A [M, K], B [K, N], C [M, N], in the kernel's element type, and M, N, K.

    "random" inputs are integers from 0 to 9, the same for the same sizes. "counting" inputs
    count up from 1 in A and down to 1 in B, row by row. "fractions" are from -1 to 1, as many
    digits as float32 has: their sums are rounded. C is all zeros.
    """
    M, N, K = view.M, view.N, view.K
    if view.inputs == "counting":
        A = np.arange(1, M * K + 1).reshape(M, K)
        B = np.arange(K * N, 0, -1).reshape(K, N)
    elif view.inputs == "fractions":
        random = np.random.default_rng((M, N, K))
        A = random.uniform(-1, 1, (M, K)).astype(np.float32)
        B = random.uniform(-1, 1, (K, N)).astype(np.float32)
    else:
        random = np.random.default_rng((M, N, K))
        A = random.integers(SMALLEST_VALUE, LARGEST_VALUE, (M, K), endpoint=True)
        B = random.integers(SMALLEST_VALUE, LARGEST_VALUE, (K, N), endpoint=True)
    element = with_element_type(catalogue()[view.kernel], view.edits).element
    arrays = {"A": A, "B": B, "C": np.zeros((M, N))}
    return {**{name: array.astype(element) for name, array in arrays.items()},
            "M": M, "N": N, "K": K}  # fmt: skip


def launch(view: View) -> Launch:
    """Build the launch of the view's kernel, one of the catalogue, on its inputs."""
    entry = with_element_type(catalogue()[view.kernel], view.edits)
    return entry.launch(inputs(view), **dict(view.defines))
