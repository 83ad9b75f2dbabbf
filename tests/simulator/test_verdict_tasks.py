"""What a result may be off by, how its costs are counted, and which tasks hold what."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from simulator import compile_kernel
from simulator.observers.counters import FIELDS
from simulator.verdict.expected import expected_results
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.launches import build_launch
from simulator.verdict.neighbours import counter_row, neighbours
from simulator.verdict.tasks import TASKS, tolerance, wrong_cells


@pytest.mark.parametrize(
    ("dtype", "expected", "terms", "allowed"),
    [
        ("float32", [1.0, 2.0**24], 9, 0.0),
        ("float32", [1.0, 2.0**24 + 2], 4, 32 * (2.0**24 + 2) * 2.0**-24),
        ("float32", [0.5, -4.0], 9, 48 * 4.0 * 2.0**-24),
        ("float32", [0.5], 1, 0.0),
        ("float16", [2048.0, np.nan], 4, 0.0),
        ("float16", [2049.0, np.nan], 4, 32 * 2049 * 2.0**-11),
        ("float64", [0.5, np.nan], 4, 16 * 2.0**-53),
        ("float32", [np.nan], 4, 0.0),
        ("int32", [2.0**40], 9, 0.0),
    ],
)
def test_how_far_a_right_result_may_be_off(
    dtype: str, expected: list[float], terms: int, allowed: float
) -> None:
    assert tolerance(np.zeros(1, dtype), np.array(expected), terms) == allowed


def test_cells_that_are_wrong() -> None:
    expected = np.array([[0.5, np.nan, 2.0], [1.5, 3.0, 4.0]])
    near = 4 * 16 * 2.0 * 2.0**-24  # of four terms, the largest of which is 4
    found = np.array([0.5 + near, 7, 2 + 2 * near, 1.5, np.nan, 4 - near, 9], np.float32)
    assert wrong_cells(found, expected, 4).tolist() == [[False, False, True], [False, True, False]]


def test_the_terms_of_a_cell() -> None:
    sizes = {"M": 2, "N": 3, "K": 5, "width": 3, "n": 9}
    counts = {"product": 5, "copy": 1, "sum": 2, "convolution_2d": 9, "mean_of_four": 4, "total": 9}
    assert {one: TASKS[one].count_terms(sizes) for one in counts} == counts


def test_which_tasks_change_their_input_or_have_a_factor_or_count() -> None:
    tasks = TASKS.values()
    assert [one.name for one in tasks if one.in_place] == ["axpy", "added_to", "sort"]
    assert [one.name for one in tasks if one.has_factor] == ["scaled", "scaled_sum", "axpy"]
    assert [one.name for one in tasks if one.counts_numbers] == ["histogram"]
    shapes = {"x": ("1", "n + width - 1"), "w": ("1", "width"), "y": ("1", "n")}
    assert dict(TASKS["valid_convolution"].arrays) == shapes
    assert dict(TASKS["product"].arrays)["B"] == ("K", "N")


def test_a_product_with_factors() -> None:
    kernel = compile_kernel(
        "__global__ void k(float* a, float* b, float* c, float* d, int n, float f, float g) { }"
    )
    arrays = tuple(ArrayArgument(one, "n", "n", Contents.COUNTING) for one in "abcd")
    numbers = (NumberArgument("n", "2"), NumberArgument("f", "2"), NumberArgument("g", "-1"))
    roles = (("A", "a"), ("B", "b"), ("C", "c"), ("M", "n"), ("N", "n"), ("K", "n"))
    product, before = np.array([[7, 10], [15, 22]]), np.array([[1, 2], [3, 4]])
    sizes = dict.fromkeys("MNK", 2)
    for more, expected in (
        ((), product),
        ((("alpha", "f"),), 2 * product),
        ((("alpha", "f"), ("beta", "g")), 2 * product - before),
        ((("beta", "f"), ("start", "d")), product + 2 * before),
    ):
        form = LaunchForm(("1",) * 3, ("1",) * 3, "0", (*arrays, *numbers), "product",
                          (*roles, *more))  # fmt: skip
        launch = build_launch(kernel, form)
        found = expected_results(kernel, form, launch, TASKS["product"], sizes)
        assert found["C"].tolist() == expected.tolist()


COUNTS = {
    "global_load_sectors": 30, "global_store_sectors": 10,
    "global_load_requests": 6, "global_store_requests": 2,
    "shared_load_wavefronts": 9, "shared_store_wavefronts": 7,
}  # fmt: skip
IDEAL = {
    1: {"shared_load_wavefronts_ideal": 3, "shared_store_wavefronts_ideal": 0},
    2: {"shared_load_wavefronts_ideal": 1, "shared_store_wavefronts_ideal": 2},
}


def test_costs_by_operation() -> None:
    counts = defaultdict(int, COUNTS)
    row = counter_row("", "Yours", counts, IDEAL, 64)
    assert (row.conflicts, row.sectors_per_request) == (10, 5.0)
    assert (row.bytes_per_flop, row.wavefronts_per_flop) == (20.0, 0.25)
    row = counter_row("", "Yours", dict.fromkeys(FIELDS, 0), {}, None)
    assert (row.conflicts, row.sectors_per_request) == (0, None)
    assert (row.bytes_per_flop, row.wavefronts_per_flop) == (None, None)


def test_kernels_of_the_catalogue_beside_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = defaultdict(int, COUNTS)
    rows = neighbours(counts, IDEAL, (8, 4, 2), 64)
    assert [one.title for one in rows[:3]] == ["Yours", "Naive", "Tiled, 8 x 8"]
    assert rows[0].wavefronts_per_flop == 16 / 128
    naive = rows[1]
    assert (naive.wavefronts_per_flop, naive.bytes_per_flop, naive.sectors_per_request) == (
        0,
        10,
        1,
    )
    assert neighbours(counts, IDEAL, (8, 4, 2), 256)[2].title == "Tiled, 16 x 16"
    assert len(neighbours(counts, IDEAL, (64, 64, 65), 64)) == 1
    monkeypatch.setattr("simulator.verdict.neighbours.LARGEST", 64)
    assert len(neighbours(counts, IDEAL, (8, 4, 2), 64)) == 6
