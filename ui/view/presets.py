"""Presets, which are named views from assets/presets.toml, and the source and launch of a view."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from simulator.broken_file import (
    Broken,
    BrokenFileError,
    Entries,
    misfit,
    parse_toml,
    read_text,
    toml_line,
)
from simulator.catalogue import catalogue
from simulator.launch import Launch
from ui.view.shown_kernel import offered_edits, unedited_source
from ui.view.view_url import View, parse_view
from ui.view.what_if import Change, apply_edits, diff_lines, with_element_type

FILE = Path(__file__).resolve().parents[2] / "assets" / "presets.toml"
SMALLEST_VALUE, LARGEST_VALUE = 0, 9  # of A and B: small, for mental arithmetic


@dataclass(frozen=True, slots=True)
class Preset:
    """A view with a name."""

    name: str
    text: str  # a sentence: what to look at
    view: View


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A preset as presets.toml has it."""

    name: str
    text: str
    view: dict[str, str | int]


def preset_sentence(preset: Preset) -> str:
    """What to look at, and at which step: so it is true at every step."""
    return f"At step {preset.view.step + 1}: {preset.text}"


def presets() -> tuple[Preset, ...]:
    """The presets that can be shown, in the order of the file."""
    return tuple(every_preset().values())


@functools.cache
def every_preset() -> Entries[Preset]:
    """All presets by name, in the order of the file."""
    try:
        text = read_text(FILE)
        tables = parse_toml(text, FILE.name).get("preset")
        if not isinstance(tables, list) or not tables:
            raise BrokenFileError(Broken(FILE.name, 1, "It has no [[preset]]."))
    except BrokenFileError as error:
        return Entries({FILE.name: error.broken})
    found: dict[str, Preset | Broken] = {}
    one: Preset | Broken
    for number, table in enumerate(tables):
        line = toml_line(text, f"preset[{number}]")
        try:
            one = _read_preset(table, line)
        except msgspec.ValidationError as error:
            one = misfit(error, text, FILE.name, f"preset[{number}]")
        name = one.name if isinstance(one, Preset) else f"{FILE.name}, line {line}"
        if name in found:
            one = Broken(FILE.name, line, f"Another preset is also named {name}.")
            name = f"{FILE.name}, line {line}"
        found[name] = one
    return Entries(found)


def _read_preset(table: object, line: int) -> Preset | Broken:
    found = msgspec.convert(table, _Table)
    try:
        view = parse_view({name: str(value) for name, value in found.view.items()})
        return Preset(found.name, found.text, view)
    except BrokenFileError as error:
        return error.broken
    except ValueError as error:
        return Broken(FILE.name, line, str(error))


def source(view: View) -> str:
    """The source of the view's kernel, its macros defined and its edits applied.

    Of a user kernel those that its text has a pattern for.
    """
    edits = view.edits
    if view.user_kernel is not None and edits:
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
