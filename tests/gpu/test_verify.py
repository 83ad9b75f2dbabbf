"""The verdict on C: what rounding explains passes, everything else does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu import verify
from gpu.verify import Verdict, error_bound, judge, random_inputs, reference, scale
from simulator.language.ctype import Array

SHAPES = [(1, 1, 1), (3, 5, 1), (1, 1, 999), (64, 48, 200), (33, 130, 4097)]


def verdict(A: Array, B: Array, C: Array, wrote_outside: bool = False) -> Verdict:
    return judge(np, C, reference(np, A, B), scale(A, B), A.shape[1], str(C.dtype), wrote_outside)


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_right_product_passes(shape: tuple[int, int, int], element: str) -> None:
    A, B = random_inputs(*shape, element)
    found = verdict(A, B, A @ B)
    assert found.verified
    assert found.max_rel_error <= found.error_bound
    assert "C is right" in found.sentence


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sum_in_the_kernels_order_passes(shape: tuple[int, int, int]) -> None:
    A, B = random_inputs(*shape, "float32", seed=1)
    C = np.zeros((shape[0], shape[1]), dtype=np.float32)
    for k in range(shape[2]):
        C += A[:, k : k + 1] * B[k : k + 1]
    assert verdict(A, B, C).verified


def test_tf32_inputs_do_not_pass() -> None:
    A, B = random_inputs(128, 128, 4096, "float32")
    found = verdict(A, B, cut(A, 13) @ cut(B, 13))
    assert not found.verified
    assert found.max_rel_error > 10 * found.error_bound


def cut(matrix: Array, bits: int) -> Array:
    """The elements rounded to nearest, with so many bits of their fraction dropped."""
    half = np.uint32(1 << bits >> 1)
    return ((matrix.view(np.uint32) + half) & ~np.uint32((1 << bits) - 1)).view(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_tf32_inputs_pass_as_tf32_and_shorter_ones_do_not(shape: tuple[int, int, int]) -> None:
    A, B = random_inputs(*shape, "float32", seed=1)
    expected, typical = reference(np, A, B), scale(A, B)

    def judged(bits: int) -> Verdict:
        return judge(np, cut(A, bits) @ cut(B, bits), expected, typical, shape[2], "tf32")

    assert judged(13).verified
    if shape[0] * shape[1] > 1000:
        assert not judged(16).verified  # bfloat16


@pytest.mark.parametrize("shape", SHAPES)
def test_half_inputs_are_judged_by_their_sums(shape: tuple[int, int, int]) -> None:
    A, B = random_inputs(*shape, "float16", seed=1)
    assert A.dtype == B.dtype == np.float16
    expected, typical = reference(np, A, B), scale(A, B)
    C = A.astype(np.float32) @ B.astype(np.float32)
    assert judge(np, C, expected, typical, shape[2], "float16").verified
    if shape[0] * shape[1] > 1000:
        shorter = C.astype(np.float16).astype(np.float32)
        assert not judge(np, shorter, expected, typical, shape[2], "float16").verified


def test_inputs_are_fresh_and_signed() -> None:
    first, second = random_inputs(50, 60, 70, "float32"), random_inputs(50, 60, 70, "float32")
    assert not np.array_equal(first[0], second[0])
    assert -1 <= float(first[0].min()) < -0.9
    assert 0.9 < float(first[0].max()) < 1


def test_inputs_of_a_seed_are_the_same_each_time() -> None:
    first, second, other = (random_inputs(3, 4, 5, "float32", seed=seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, first, second))
    assert not np.array_equal(first[0], other[0])


def test_the_bound_grows_with_the_root_of_k() -> None:
    assert error_bound(4096, "float32") == pytest.approx(2 * error_bound(1024, "float32"))
    assert error_bound(4096, "float64") < 1e-12


# Figures, on matrices small enough to have them exactly ---------------------------------------


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of three rows and columns, so that matrices of seven and eight have several."""
    monkeypatch.setattr(verify, "CHUNK", 3)


def product_of(rows: int, columns: int) -> tuple[Array, Array, Array]:
    """Small whole numbers, so that every product and sum is exact."""
    A = (np.arange(rows * 5) % 7 - 3).reshape(rows, 5).astype(np.float32)
    B = (np.arange(5 * columns) % 5 - 1).reshape(5, columns).astype(np.float32)
    return A, B, A.astype(np.float64) @ B.astype(np.float64)


@pytest.mark.parametrize(("rows", "columns"), [(7, 8), (8, 7), (1, 9), (9, 1), (3, 3), (4, 2)])
def test_the_reference_is_the_product_in_float64(rows: int, columns: int) -> None:
    A, B, expected = product_of(rows, columns)
    found = reference(np, A, B)
    assert found.dtype == np.float64
    assert np.array_equal(found, expected)


def test_the_reference_keeps_what_float32_would_round() -> None:
    A = np.array([[1, 2.0**-20]], np.float32)
    found = reference(np, A, A.T)
    assert found[0, 0] == 1 + 2.0**-40


@pytest.mark.parametrize(
    ("element", "bound"),
    [
        ("float32", 16 * 32 * 2.0**-24),
        ("float64", 2 * 16 * 32 * 2.0**-53),
        ("float16", (16 * 32 + 4 * 1024) * 2.0**-24),
        ("tf32", (16 * 32 + 4 * 1024) * 2.0**-24 + 16 * 2.0**-12),
    ],
)
def test_the_bound_at_1024_products(element: str, bound: float) -> None:
    assert error_bound(1024, element) == bound


def test_the_typical_size_of_an_element() -> None:
    A = np.array([[3, -4, 0, 0]], np.float32)
    B = np.full((4, 2), -2, np.float32)
    assert scale(A, B) == math.sqrt(25 / 4) * 2 * 2
    huge = np.full((2, 2), 1e30, np.float32)
    assert scale(huge, huge) == pytest.approx(1e60 * math.sqrt(2), rel=1e-6)


def exact_verdict(
    C: Array, product: Array, typical: float = 1.0, wrote_outside: bool = False
) -> Verdict:
    return judge(np, C.astype(np.float32), product, typical, 1, "float32", wrote_outside)


def test_an_exact_product() -> None:
    _, _, product = product_of(8, 7)
    sentence = "C is right: its largest relative error is 0, within 9.5e-07."
    assert exact_verdict(product, product) == Verdict(True, 0.0, 0.0, 2.0**-20, sentence)
    assert judge(np, product.astype(np.float32), product, 1.0, 1, "float32").verified


@pytest.mark.parametrize("cell", [(0, 0), (2, 1), (3, 6), (7, 6)])
def test_an_error_counts_wherever_it_is(cell: tuple[int, int]) -> None:
    _, _, product = product_of(8, 7)
    C = product.copy()
    C[cell] += 0.5
    found = exact_verdict(C, product, 4.0)
    norm = math.sqrt(float((product**2).sum()))
    assert not found.verified
    assert found.max_rel_error == 0.125
    assert found.rel_norm_error == pytest.approx(0.5 / norm, rel=1e-12)
    assert found.error_bound == 2.0**-20
    assert found.sentence == (
        "C is wrong: its largest relative error is 0.12, and rounding explains at most 9.5e-07."
    )


def test_errors_add_up_over_the_rows() -> None:
    _, _, product = product_of(8, 7)
    C = product.copy()
    C[0, 0] -= 3
    C[7, 6] += 4
    found = exact_verdict(C, product)
    assert found.max_rel_error == 4
    assert found.rel_norm_error == pytest.approx(5 / math.sqrt(float((product**2).sum())))


@pytest.mark.parametrize(("error", "right"), [(2.0**-20, True), (2.0**-20 + 2.0**-23, False)])
def test_an_error_of_just_the_bound_passes(error: float, right: bool) -> None:
    product = np.ones((1, 1))
    found = exact_verdict(product + error, product)
    assert (found.verified, found.max_rel_error) == (right, error)


def test_elements_without_a_number_are_counted_in_all_rows() -> None:
    _, _, product = product_of(8, 7)
    C = product.copy()
    C[1, :3] = C[6, 2] = math.nan
    found = exact_verdict(C, product)
    assert not found.verified
    assert math.isnan(found.max_rel_error)
    assert math.isnan(found.rel_norm_error)
    assert found.sentence == (
        "4 of C's 56 elements hold no number: the kernel did not write them, or wrote NaN."
    )


def test_a_product_of_zeros_has_no_relative_norm() -> None:
    zeros = np.zeros((4, 4))
    assert exact_verdict(zeros, zeros).rel_norm_error == 0.0
    assert exact_verdict(zeros + 1, zeros).rel_norm_error == 0.0


def test_writing_outside_c_fails_with_figures() -> None:
    _, _, product = product_of(4, 2)
    found = exact_verdict(product, product, wrote_outside=True)
    sentence = "C is right, but the kernel also wrote outside C."
    assert found == Verdict(False, 0.0, 0.0, 2.0**-20, sentence)
