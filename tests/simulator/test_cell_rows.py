"""Stores to rows of a shared array, noted at once: races are those of the same array with a gap."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Report, simulate
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.cell_rows import CellRows, cell_rows
from tests.simulator.launches import launch_text

# What comes after the store to a thread's own cell, which all lanes make: with and without races.
AFTER = {
    "a barrier": "__syncthreads(); x[i] = tile[y ^ 1][31 - t];",
    "none": "x[i] = tile[y ^ 1][31 - t];",
    "none before a second store": "__syncthreads(); x[i] = tile[3 - y][t]; tile[y][t] = 1;",
    "a second store elsewhere": "tile[3 - y][t] = 2; __syncthreads(); x[i] = tile[y][t];",
    "a second store of one lane": "if (t == 3) tile[3 - y][5] = 2; __syncthreads();",
    "an atomic": "atomicAdd(&tile[3 - y][t], 2); __syncthreads(); x[i] = tile[y][t];",
    "again in a loop": "for (int k = 0; k < 3; ++k) { x[i] += tile[3 - y][t]; tile[y][t] = k; }",
}


def run(after: str, columns: int, schedule: str) -> Report:
    kernel, launch = launch_text(
        f"__global__ void k(int* x) {{ __shared__ int tile[4][{columns}];"
        " int t = threadIdx.x % 32, y = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;"
        f" tile[y][t] = i; {after} }}",
        grid=3,
        block=128,
        x=np.zeros(384, np.int32),
    )
    return simulate(kernel, launch, schedule)


@pytest.mark.parametrize("schedule", ["lockstep", "ascending", "descending"])
@pytest.mark.parametrize("name", AFTER)
@pytest.mark.sample(4)
def test_rows_have_the_races_of_an_array_with_a_gap(name: str, schedule: str) -> None:
    dense, padded = (run(AFTER[name], columns, schedule) for columns in (32, 33))
    assert bool(dense.hazards) == (name != "a barrier")
    for one, other in zip(dense.hazards, padded.hazards, strict=True):
        assert (one.kind, one.lines, one.count) == (other.kind, other.lines, other.count)
        assert (one.message, one.example) == (other.message, other.example)


# Of a store by three blocks of 64 threads to an array of 128, the first cell of each of its rows.
STORES: dict[str, tuple[str, list[int | None]]] = {
    "to a thread's own cell": ("s[t] = 1;", [0]),
    "further on": ("s[t + 7] = 1;", [7]),
    "in a loop": ("for (int k = 0; k < 3; ++k) s[t + 9 * k] = 1;", [0, 9, 18]),
    "backwards": ("s[99 - t] = 1;", [None]),
    "to every other cell": ("s[2 * t] = 1;", [None]),
    "to one cell": ("s[3] = 1;", [None]),
    "of some threads": ("if (t < 5) s[t] = 1;", [None]),
    "of half a cell": ("((short*)s)[t] = 1;", [None]),
    "of two cells": ("((int2*)s)[t] = make_int2(1, 2);", [None]),
    "to global memory": ("x[t] = 1;", [None]),
}


class RowsOfStores(Observer):
    def __init__(self) -> None:
        self.found: list[CellRows | None] = []

    def on_store(self, access: Access) -> None:
        rows = cell_rows(access)
        self.found.append(rows)
        if rows is not None:
            numbers = np.arange(access.buffer.cells.size)
            assert np.array_equal(rows.of(numbers).reshape(-1), access.cells()[0])


@pytest.mark.parametrize("name", STORES)
def test_rows_are_the_cells_of_a_store(name: str) -> None:
    statement, firsts = STORES[name]
    code = f"__shared__ int s[128]; int t = threadIdx.x; {statement}"
    text = f"__global__ void k(int* x) {{ {code} }}"
    kernel, launch = launch_text(text, grid=3, block=64, x=np.zeros(64, np.int32))
    stores = RowsOfStores()
    Machine(kernel, launch, [stores], Schedule.LOCKSTEP).run(np.arange(3))
    wanted = [None if first is None else CellRows(128, first, 64) for first in firsts]
    assert stores.found == wanted


@pytest.mark.parametrize(
    ("first", "expected"), [(1, False), (2, True), (5, True), (8, True), (9, False)]
)
def test_rows_overlap_where_they_share_a_cell(first: int, expected: bool) -> None:
    rows, other = CellRows(16, 5, 4), CellRows(16, first, 4)
    assert rows.overlaps(other) is other.overlaps(rows) is expected
