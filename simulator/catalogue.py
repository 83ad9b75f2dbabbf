"""The kernels that come with Tilewise, from assets/kernels/catalogue.toml."""

from __future__ import annotations

import ast
import functools
import operator
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.frontend.source import set_defines
from simulator.language.errors import LaunchError
from simulator.launch import Dim3, Launch, dim3

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "kernels"

OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel of the catalogue: its text and how it is launched.

    block, rows and columns are numbers or expressions over the macros in `defines`, whose values
    are those a reader may choose, the source's own first. rung is the kernel's place on the
    ladder, 0 beside it. speed and teaching are the settings of all macros to measure on a GPU and
    to watch on a screen; element is what A, B and C hold, as NumPy names it.
    """

    name: str
    file: str
    kernel: str
    title: str
    teaches: str
    block: tuple[int | str, ...]
    rows: int | str
    columns: int | str
    defines: Mapping[str, tuple[int, ...]]
    rung: int = 0
    element: str = "float32"
    speed: tuple[Mapping[str, int], ...] = ({},)
    teaching: tuple[Mapping[str, int], ...] = ({},)

    def settings(self) -> list[Mapping[str, int]]:
        """Those for a screen, then those for a GPU, each once."""
        found: list[Mapping[str, int]] = []
        for chosen in (*self.teaching, *self.speed):
            if chosen not in found:
                found.append(chosen)
        return found

    def source(self, **chosen: int) -> str:
        """The kernel's text with the chosen values written into its #define lines."""
        text = (FOLDER / self.file).read_text(encoding="utf-8")
        return set_defines(text, {name: str(value) for name, value in chosen.items()})[0]

    def produces(self, **chosen: int) -> tuple[int, int]:
        """Rows and columns of C that one block produces."""
        values = {name: options[0] for name, options in self.defines.items()} | chosen
        return evaluate(self.rows, values), evaluate(self.columns, values)

    def shape(self, M: int, N: int, **chosen: int) -> tuple[Dim3, Dim3]:
        """Grid and block, each in x, y, z, that cover an M x N product."""
        values = {name: options[0] for name, options in self.defines.items()} | chosen
        rows, columns = self.produces(**chosen)
        grid = dim3(-(-N // columns), -(-M // rows))
        return grid, dim3(*(evaluate(size, values) for size in self.block))

    def tile(self, **chosen: int) -> tuple[int, int, int] | None:
        """Rows and columns of C that a block produces, and how much of K it takes at a time.

        None for a kernel without tiles: one with neither a macro DEPTH nor TILE.
        """
        values = {name: options[0] for name, options in self.defines.items()} | chosen
        depth = values.get("DEPTH", values.get("TILE"))
        if depth is None:
            return None
        return *self.produces(**chosen), depth

    def launch(self, arguments: Mapping[str, Any], **chosen: int) -> Launch:
        """The launch for `arguments`: A, B, C (arrays) and M, N, K (whole numbers).

        Arrays of another type are converted to the kernel's.
        """
        grid, block = self.shape(int(arguments["M"]), int(arguments["N"]), **chosen)
        given = dict(arguments)
        for name in "ABC":
            given[name] = np.asarray(given[name]).astype(self.element, copy=False)
        return Launch(grid, block, given)


def evaluate(expression: int | str, values: Mapping[str, int]) -> int:
    """A whole number from a number or from an expression over named values, with + - * /."""

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case _:
                raise LaunchError(
                    f"The catalogue's {expression!r} is not a sum, difference, product or whole "
                    f"quotient of numbers and {', '.join(values) or 'macros'}."
                )

    return value(ast.parse(str(expression), mode="eval").body)


@functools.cache
def catalogue() -> Mapping[str, Entry]:
    """All entries by name, in the order they are taught."""
    tables = tomllib.loads((FOLDER / "catalogue.toml").read_text(encoding="utf-8"))
    return {name: _entry(name, table) for name, table in tables.items()}


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    defines = {key: tuple(options) for key, options in table.get("defines", {}).items()}
    usual = {key: options[0] for key, options in defines.items()}
    return Entry(
        name=name,
        file=table["file"],
        kernel=table["kernel"],
        title=table["title"],
        teaches=table["teaches"],
        block=tuple(table["block"]),
        rows=table["rows"],
        columns=table["columns"],
        defines=defines,
        rung=table["rung"],
        element=table.get("element", "float32"),
        speed=tuple(usual | chosen for chosen in table.get("speed", [{}])),
        teaching=tuple(usual | chosen for chosen in table.get("teaching", [{}])),
    )
