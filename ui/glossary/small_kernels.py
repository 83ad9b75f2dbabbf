"""Kernels of a few lines that show a word which no kernel of the catalogue shows."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from simulator.broken_file import (
    Broken,
    BrokenFileError,
    Entries,
    misfit,
    parse_toml,
    read_text,
)
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, UserKernel

FILE = Path(__file__).resolve().parents[2] / "assets" / "glossary.toml"


class _SmallKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    block: int  # threads; the grid is one block
    arrays: dict[
        str, tuple[str, str, Contents]
    ]  # rows, columns and Contents, in the order of the parameters


@functools.cache
def small_kernels() -> Entries[UserKernel]:
    """The small kernels, by name, each with its launch."""
    try:
        text = read_text(FILE)
        tables = parse_toml(text, FILE.name)
        if not tables:
            raise BrokenFileError(Broken(FILE.name, 1, "It holds no kernel."))
    except BrokenFileError as error:
        return Entries({FILE.name: error.broken})
    found: dict[str, UserKernel | Broken] = {}
    for name, table in tables.items():
        try:
            found[name] = _own_kernel(name, msgspec.convert(table, _SmallKernel))
        except msgspec.ValidationError as error:
            found[name] = misfit(error, text, FILE.name, name)
    return Entries(found)


def is_small(own: UserKernel) -> bool:
    """Whether a kernel is one of the small kernels, and not a visitor's."""
    return own in small_kernels().values()


def _own_kernel(name: str, small: _SmallKernel) -> UserKernel:
    arguments = tuple(
        ArrayArgument(array, rows, columns, contents)
        for array, (rows, columns, contents) in small.arrays.items()
    )
    form = LaunchForm(("1", "1", "1"), (str(small.block), "1", "1"), "0", arguments)
    return UserKernel(small.text, name, form)
