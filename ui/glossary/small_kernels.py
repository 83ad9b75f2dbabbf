"""Kernels of a few lines that show a word which no kernel of the catalogue shows."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, OwnKernel

FILE = Path(__file__).resolve().parents[2] / "assets" / "glossary.toml"


class _SmallKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    block: int  # threads; the grid is one block
    arrays: dict[str, list[str]]  # rows, columns and Contents, in the order of the parameters


@functools.cache
def small_kernels() -> Mapping[str, OwnKernel]:
    """The small kernels, by name, each with its launch."""
    found = msgspec.convert(
        tomllib.loads(FILE.read_text(encoding="utf-8")), dict[str, _SmallKernel]
    )
    return {name: _own_kernel(name, one) for name, one in found.items()}


def is_small(own: OwnKernel) -> bool:
    """Whether a kernel is one of the small kernels, and not a visitor's."""
    return own in small_kernels().values()


def _own_kernel(name: str, small: _SmallKernel) -> OwnKernel:
    arguments = tuple(
        ArrayArgument(array, rows, columns, Contents(contents))
        for array, (rows, columns, contents) in small.arrays.items()
    )
    form = LaunchForm(("1", "1", "1"), (str(small.block), "1", "1"), "0", arguments)
    return OwnKernel(small.text, name, form)
