"""Kernels of a few lines that show what no kernel of the catalogue shows: to words and lessons."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import msgspec

from simulator.broken_file import Broken, BrokenFileError, Entries, misfit, parse_toml, read_text
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, UserKernel
from ui.view import user_kernel_link

FILE = Path(__file__).resolve().parents[2] / "assets" / "small_kernels.toml"
SMALL_KERNEL = re.compile(rf"(?<![^&]){user_kernel_link.PARAMETER}=(?P<name>[\w-]+)")


class _SmallKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    block: int  # threads; the grid is one block
    # Rows, columns and Contents, in the order of the parameters.
    arrays: dict[str, tuple[str, str, Contents]]


@functools.cache
def small_kernels() -> Entries[UserKernel]:
    """The small kernels, by name, each with its launch."""
    try:
        text = read_text(FILE)
        tables = parse_toml(text, FILE.name)
        if not tables:
            raise BrokenFileError(Broken(FILE.name, 1, "It has no kernel."))
    except BrokenFileError as error:
        return Entries({FILE.name: error.broken})
    found: dict[str, UserKernel | Broken] = {}
    for name, table in tables.items():
        try:
            found[name] = _user_kernel(name, msgspec.convert(table, _SmallKernel))
        except msgspec.ValidationError as error:
            found[name] = misfit(error, text, FILE.name, name)
    return Entries(found)


def name_small(address: str) -> str:
    """An address of the Step page with a small kernel, own=NAME, as the page itself has it.

    Raises ValueError for a name that there is not, BrokenFileError for a kernel with a mistake.
    """
    return SMALL_KERNEL.sub(_encode, address)


def _encode(found: re.Match[str]) -> str:
    name = found["name"]
    if small_kernels() and name not in small_kernels().everything:
        raise ValueError(f"there is no kernel {name}, only {', '.join(small_kernels())}.")
    return f"{user_kernel_link.PARAMETER}={user_kernel_link.encode(small_kernels()[name])}"


def is_small(user_kernel: UserKernel) -> bool:
    """Whether a kernel is one of the small kernels, and not a visitor's."""
    return user_kernel in small_kernels().values()


def _user_kernel(name: str, small: _SmallKernel) -> UserKernel:
    arguments = tuple(
        ArrayArgument(array, rows, columns, contents)
        for array, (rows, columns, contents) in small.arrays.items()
    )
    form = LaunchForm(("1", "1", "1"), (str(small.block), "1", "1"), "0", arguments)
    return UserKernel(small.text, name, form)
