"""Every kernel of the catalogue, as it comes: right in every bit, at any size, without a hazard."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from simulator import catalogue, compile_kernel, simulate
from simulator.catalogue import FOLDER, Entry, whole_catalogue
from simulator.machine.schedule import SCHEDULES
from tests.simulator.launches import matmul

SIZES = [(1, 1, 1), (13, 19, 10), (17, 36, 21), (40, 24, 32)]  # M, N, K
# How far C may be off the product, as a share of its norm: what operands are rounded to.
ON_TENSOR_CORES = {"tensor_tf32": 5e-4, "tensor_half": 1e-6, "tensor_fp32": 5e-7}
IN_ANOTHER_ORDER = 3e-7  # how far C may be off for sums of at most 36 products
ENTRIES = {name: one for name, one in catalogue().items() if name not in ON_TENSOR_CORES}
QUICK, LONG = SIZES[1], SIZES[2]


def is_deep(entry: Entry, place: int, size: tuple[int, int, int]) -> bool:
    """The settings that are the fastest on a GPU take long here: of those each has one size."""
    return size == LONG or (place >= len(entry.teaching) and size != QUICK)


CASES = [
    pytest.param(
        entry.name, place, size,
        marks=[pytest.mark.deep] if is_deep(entry, place, size) else [],
        id=f"{entry.name}-{place}-{'x'.join(map(str, size))}",
    )
    for size in SIZES
    for entry in ENTRIES.values()
    for place in range(len(entry.settings()))
]  # fmt: skip


def inputs(M: int, N: int, K: int, element: str) -> dict[str, object]:
    random = np.random.default_rng((M, N, K))
    A, B = random.standard_normal((M, K)), random.standard_normal((K, N))
    C = np.full((M, N), np.nan)
    arrays = {"A": A.astype(element), "B": B.astype(element), "C": C.astype(element)}
    return {**arrays, "M": M, "N": N, "K": K}


def fused_chain(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Each acc + a * b rounded once: exact in float64 but for double rounding, rare and benign."""
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for k in range(A.shape[1]):
        product = A[:, k, None].astype(np.float64) * B[None, k].astype(np.float64)
        C = (product + C).astype(np.float32)
    return C


def exact_chain(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Each acc + a * b in double, rounded once: float() of a fraction rounds to nearest even."""
    C = np.zeros((A.shape[0], B.shape[1]))
    for row, column in np.ndindex(C.shape):
        acc = 0.0
        for a, b in zip(A[row], B[:, column], strict=True):
            acc = float(Fraction(float(a)) * Fraction(float(b)) + Fraction(acc))
        C[row, column] = acc
    return C


@pytest.mark.sample(28)
@pytest.mark.parametrize(("name", "place", "size"), CASES)
def test_every_kernel_is_right_and_clean(name: str, place: int, size: tuple[int, int, int]) -> None:
    entry = ENTRIES[name]
    chosen = entry.settings()[place]
    kernel = compile_kernel(entry.source(**chosen), entry.kernel, filename=entry.file)
    given = inputs(*size, entry.element)
    report = simulate(kernel, entry.launch(given, **chosen))
    chain = exact_chain if entry.element == "float64" else fused_chain
    found, expected = report.arrays["C"], chain(given["A"], given["B"])  # type: ignore[arg-type]
    assert found.dtype == entry.element
    if entry.few:  # its threads share a sum, so that k come in another order
        assert np.linalg.norm(found - expected) < IN_ANOTHER_ORDER * np.linalg.norm(expected)
    else:
        assert np.array_equal(found, expected)
    assert report.hazards == ()
    assert np.isnan(given["C"]).all(), "the caller's array is not written"  # type: ignore[call-overload]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_order_of_warps_changes_nothing_in_a_correct_kernel(schedule: str) -> None:
    kernel, launch = matmul("tiled", 33, 20, 37)
    report = simulate(kernel, launch, schedule, seed=3)
    assert np.array_equal(
        report.arrays["C"], fused_chain(launch.arguments["A"], launch.arguments["B"])
    )


def test_order_of_warps_shows_without_barriers() -> None:
    kernel, launch = matmul("tiled", 64, 64, 64, (("__syncthreads();", ";"),))
    good = fused_chain(launch.arguments["A"], launch.arguments["B"])
    wrong = (simulate(kernel, launch).arrays["C"] != good).mean()
    assert wrong > 0.5


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", ON_TENSOR_CORES)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("size", [(17, 24, 64), (13, 19, 10), (40, 24, 96)])
def test_the_tensor_kernels_are_right_and_clean(
    name: str, place: int, size: tuple[int, int, int]
) -> None:
    entry = catalogue()[name]
    chosen = entry.teaching[place]
    kernel = compile_kernel(entry.source(**chosen), entry.kernel, filename=entry.file)
    launch = entry.launch(inputs(*size, "float32"), **chosen)
    A, B = (launch.arguments[factor].astype(np.float64) for factor in "AB")
    report = simulate(kernel, launch)
    error = np.linalg.norm(report.arrays["C"] - A @ B) / np.linalg.norm(A @ B)
    assert error < ON_TENSOR_CORES[name]
    assert report.hazards == ()


@pytest.mark.parametrize("entry", catalogue().values(), ids=list(catalogue()))
def test_an_entry_offers_what_its_source_has(entry: Entry) -> None:
    text = (FOLDER / entry.file).read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert "Still limits it:" in text
    for macro, offered in entry.defines.items():
        assert re.search(rf"^#define {macro} {offered[0]}$", text, re.MULTILINE)
    for chosen in entry.settings():
        assert all(value in entry.defines[macro] for macro, value in chosen.items())
        assert set(chosen) == set(entry.defines)


def test_the_rungs_are_in_order() -> None:
    rungs = [entry.rung for entry in catalogue().values() if entry.rung]
    assert rungs == sorted(rungs)
    assert set(rungs) == set(range(1, max(rungs) + 1))


def test_every_source_is_in_the_catalogue() -> None:
    files = {entry.file for entry in whole_catalogue().values()}
    assert {path.name for path in FOLDER.glob("*.cu")} == files
