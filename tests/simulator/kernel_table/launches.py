"""The test's own launch of a kernel of the table, and whether its result is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator import Launch, compile_kernel, simulate
from simulator.language.ctype import Array
from simulator.size_expression import evaluate
from tests.simulator.kernel_table.habits import ARRAY, Base, scalars, sizes_of, task_sizes
from tests.simulator.kernel_table.references import UNTOLD, Cells, Given, reference
from tests.simulator.kernel_table.table import Entry

FACTOR = 1.5  # what further parameters are
TOLERANCE = 1e-4  # of the largest cell, of results that are not whole


def own_fault(entry: Entry) -> str:
    """What is wrong with a kernel when the test itself launches it; "" where nothing is."""
    base, written = entry.base, entry.written
    names, sizes = written.names, sizes_of(base.at)
    before = _arrays(base, sizes, np.dtype("f8" if names["T"] == "double" else "f4"))
    arguments: dict[str, Any] = {names[role]: cells.copy() for role, cells in before.items()}
    arguments |= {names[role]: sizes[role] for role in base.sizes.split()}
    arguments |= {names[name]: FACTOR for _, name in scalars(base)}
    launch = Launch(written.grid, written.block, arguments, written.shared)
    report = simulate(compile_kernel(written.text), launch)
    if report.hazards:
        return report.hazards[0].message
    wanted = _expected(base, before, sizes)
    result = ARRAY.findall(base.arrays)[-1][0]
    cells = report.arrays[names[result]][: wanted.size].astype(np.float64)
    wrong = first_wrong(cells, wanted)
    return "" if wrong is None else f"cell {wrong} is {cells[wrong]}, not {wanted[wrong]}"


def _expected(base: Base, before: Mapping[str, Array], sizes: dict[str, int]) -> Cells:
    """The result of a base as a vector, from its arrays by role before the launch."""
    arrays: dict[str, Any] = {role: cells.astype(np.float64) for role, cells in before.items()}
    arrays |= {name: np.float64(FACTOR) for _, name in scalars(base)}
    if not base.task:
        return UNTOLD[base.name](Given(arrays, sizes)).reshape(-1)
    if "beta" in arrays:
        arrays |= {"alpha": arrays["a"], "start": arrays["C"]}
    return reference(base.task, arrays, task_sizes(base, sizes)).reshape(-1)


def first_wrong(cells: Cells, wanted: Cells) -> int | None:
    """The first cell that is not as wanted; NaN is wanted where anything is right."""
    allowed = 0.0 if is_whole(wanted) else TOLERANCE * float(np.nanmax(np.abs(wanted)))
    wrong = ~np.isnan(wanted) & ~(np.abs(cells - wanted) <= allowed)
    return int(np.argmax(wrong)) if wrong.any() else None


def is_whole(wanted: Cells) -> bool:
    """Whether a result has whole numbers alone, which are exact."""
    return np.array_equal(wanted, np.rint(wanted), equal_nan=True)


def _arrays(base: Base, sizes: dict[str, int], element: np.dtype[np.generic]) -> dict[str, Array]:
    """The arrays of a launch, by role: small whole numbers, and zeros for results."""
    random = np.random.default_rng(7)
    found: dict[str, Array] = {}
    inputs = base.arrays.split(">")[0]
    for role, elements, ctype in ARRAY.findall(base.arrays):
        count = evaluate(elements, sizes)
        kind, _, below = ctype.partition("%")
        below, _, order = below.partition(":")
        dtype = {"int": np.int32, "unsigned": np.uint32, "unsigned_char": np.uint8,
                 "signed_char": np.int8, "float": np.float32}.get(kind, element)  # fmt: skip
        is_input = f"{role}[" in inputs or base.keeps
        low, high = (0, evaluate(below, sizes)) if below else (0 if kind.startswith("u") else -6, 7)
        cells = random.integers(low, high, count) if is_input else np.zeros(count)
        if order:
            orders = {"once": random.permutation(count), "all": np.arange(count),
                      "rising": np.sort(np.append(cells[2:], (0, high)))}  # fmt: skip
            cells = orders[order]
        found[role] = cells.astype(dtype)
    return found
