"""The kernels that come with Tilewise, from assets/kernels/catalogue.toml."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

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
from simulator.frontend.source import set_defines
from simulator.language.errors import LaunchError
from simulator.launch import Dim3, Launch, dim3
from simulator.size_expression import evaluate

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "kernels"
FEW = 32  # rows or columns of C, at most, where it has few
OPENS = {"M": 8, "N": 8, "K": 8, "step": 1}  # unless the catalogue says otherwise


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel of the catalogue: its text and how it is launched.

    Sizes are numbers or expressions over its macros, such as "TILE / EACH" (see size_expression). A
    setting gives macros values, by name; `chosen`, in the methods, is one, and the macros that it
    lacks have their values in the source.
    """

    name: str  # of its table in catalogue.toml
    file: str  # the CUDA C source, in FOLDER
    kernel: str  # the name of its __global__ function
    title: str  # as pages show it
    teaches: str  # a sentence or two
    block: tuple[int | str, ...]  # threads in x, y (and z)
    rows: int | str  # of C that one block computes
    columns: int | str  # of C that one block computes
    defines: Mapping[str, tuple[int, ...]]  # macros: the values to choose from, the source's first
    rung: int  # its position on the ladder, from 1; 0 for a kernel that is not on it
    element: str  # the NumPy dtype of C, and of A and B unless `operands` is one
    operands: str  # the NumPy dtype of A and B where it is not C's
    precision: str  # what operands are rounded to as they are multiplied; "tf32"
    shared: int | str  # bytes of dynamic shared memory
    pieces: int | str  # of K, each with a block of its own: the grid's z
    few: Literal["", "rows", "columns"]  # what the C that it is meant for has few of
    repeats: int | str  # k after which a block does the same again, in a kernel without tiles
    speed: tuple[Mapping[str, int], ...]  # settings to measure on a GPU
    teaching: tuple[Mapping[str, int], ...]  # settings to show on a screen, default first
    simulated: bool  # whether the simulator executes it; the others run on a GPU alone
    opens: Mapping[str, int]  # M, N, K, step, from 1

    def is_meant_for(self, M: int, N: int) -> bool:
        """Whether an M x N product has as few rows or columns as the kernel is meant for."""
        return (self.few != "rows" or M <= FEW) and (self.few != "columns" or N <= FEW)

    def settings(self) -> list[Mapping[str, int]]:
        """The settings for a screen, then those for a GPU, without duplicates."""
        distinct: list[Mapping[str, int]] = []
        for setting in (*self.teaching, *self.speed):
            if setting not in distinct:
                distinct.append(setting)
        return distinct

    def source(self, **chosen: int) -> str:
        """The kernel's source with the chosen values written into its #define lines."""
        return _source(self.file, tuple(chosen.items()))

    def produces(self, **chosen: int) -> tuple[int, int]:
        """Rows and columns of C that one block computes."""
        values = self._values(chosen)
        return evaluate(self.rows, values), evaluate(self.columns, values)

    def shape(self, M: int, N: int, **chosen: int) -> tuple[Dim3, Dim3]:
        """The grid, in blocks, and the block, in threads, for an M x N product."""
        values = self._values(chosen)
        rows, columns = self.produces(**chosen)
        grid = dim3(-(-N // columns), -(-M // rows), evaluate(self.pieces, values))
        return grid, dim3(*(evaluate(size, values) for size in self.block))

    def tile(self, **chosen: int) -> tuple[int, int, int] | None:
        """Rows and columns of C that a block computes, and the columns of A in one tile of K.

        None for a kernel without tiles: one with neither a macro DEPTH nor TILE.
        """
        values = self._values(chosen)
        depth = values.get("DEPTH", values.get("TILE"))
        if depth is None:
            return None
        return *self.produces(**chosen), depth

    def unit(self, **chosen: int) -> tuple[int, int, int]:
        """Extents of M, N and K after which a launch costs the same again."""
        values = self._values(chosen)
        return self.tile(**chosen) or (*self.produces(**chosen), evaluate(self.repeats, values))

    def launch(self, arguments: Mapping[str, Any], **chosen: int) -> Launch:
        """The launch for `arguments`: M, N, K and arrays A [M, K], B [K, N], C [M, N].

        Arrays of another dtype are converted to the kernel's.
        """
        grid, block = self.shape(int(arguments["M"]), int(arguments["N"]), **chosen)
        converted = dict(arguments)
        for name, dtype in self.dtypes().items():
            converted[name] = np.asarray(arguments[name]).astype(dtype, copy=False)
        return Launch(grid, block, converted, self.shared_bytes(**chosen))

    def dtypes(self) -> dict[str, str]:
        """The NumPy dtype of A, B and C by name."""
        operands = self.operands or self.element
        return {"A": operands, "B": operands, "C": self.element}

    def shared_bytes(self, **chosen: int) -> int:
        """Bytes of dynamic shared memory that a launch gives a block."""
        return evaluate(self.shared, self._values(chosen))

    def _values(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """The value of each macro."""
        return {name: options[0] for name, options in self.defines.items()} | dict(chosen)


Size = int | str  # a number, or an expression over macros
Setting = dict[str, int]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Number = Literal["float16", "float32", "float64"]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry as catalogue.toml has it; see Entry."""

    file: str
    kernel: str
    title: str
    teaches: str
    block: Annotated[tuple[Size, ...], msgspec.Meta(min_length=1, max_length=3)]
    rows: Size
    columns: Size
    rung: int
    defines: dict[str, Annotated[tuple[int, ...], msgspec.Meta(min_length=1)]] = {}
    element: Number = "float32"
    operands: Number | Literal[""] = ""
    precision: Number | Literal["", "tf32"] = ""
    shared: Size = 0
    pieces: Size = 1
    few: Literal["", "rows", "columns"] = ""
    repeats: Size = 1
    speed: tuple[Setting, ...] = ({},)
    teaching: Annotated[tuple[Setting, ...], msgspec.Meta(min_length=1)] = ({},)
    simulated: bool = True
    opens: dict[Literal["M", "N", "K", "step"], Positive] = {}


@functools.lru_cache(256)
def _source(file: str, chosen: tuple[tuple[str, int], ...]) -> str:
    return set_defines(read_text(FOLDER / file), {name: str(value) for name, value in chosen})[0]


@functools.cache
def whole_catalogue() -> Entries[Entry]:
    """All entries by name, in the order in which they are taught."""
    file = "catalogue.toml"
    try:
        text = read_text(FOLDER / file)
        tables = parse_toml(text, file)
        if not tables:
            raise BrokenFileError(Broken(file, 1, "It has no kernel."))
    except BrokenFileError as error:
        return Entries({file: error.broken})
    return Entries({name: _read_entry(name, table, text) for name, table in tables.items()})


@functools.cache
def catalogue() -> Entries[Entry]:
    """The entries that the simulator executes, by name, in the order in which they are taught."""
    return Entries(
        {
            name: entry
            for name, entry in whole_catalogue().everything.items()
            if isinstance(entry, Broken) or entry.simulated
        }
    )


def _read_entry(name: str, table: object, text: str) -> Entry | Broken:
    """The entry of a table in catalogue.toml's text, or what is wrong in it or in its source."""
    try:
        entry = _entry(name, msgspec.convert(table, _Table))
        entry.source()
        for setting in entry.settings():
            entry.shape(1, 1, **setting)
            entry.shared_bytes(**setting)
            entry.unit(**setting)
    except BrokenFileError as error:
        return error.broken
    except msgspec.ValidationError as error:
        return misfit(error, text, "catalogue.toml", name)
    except LaunchError as error:
        return Broken("catalogue.toml", toml_line(text, name), f"{name}: {error}")
    return entry


def _entry(name: str, table: _Table) -> Entry:
    defaults = {macro: values[0] for macro, values in table.defines.items()}
    fields = msgspec.structs.asdict(table) | {
        "precision": table.precision or table.element,
        "speed": tuple(defaults | setting for setting in table.speed),
        "teaching": tuple(defaults | setting for setting in table.teaching),
        "opens": OPENS | {str(key): value for key, value in table.opens.items()},
    }
    return Entry(name, **fields)
