"""The verdict on C: what rounding explains passes, everything else does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

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

    def shortened(matrix: Array) -> Array:
        bits = matrix.view(np.uint32) + np.uint32(1 << 12)
        return (bits & np.uint32(0xFFFFE000)).view(np.float32)

    found = verdict(A, B, shortened(A) @ shortened(B))
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


def test_one_wrong_element_is_seen() -> None:
    A, B = random_inputs(40, 50, 60, "float32")
    C = A @ B
    C[7, 9] += 0.01
    assert "C is wrong" in verdict(A, B, C).sentence


def test_an_element_that_was_never_written_is_counted() -> None:
    A, B = random_inputs(40, 50, 60, "float32")
    C = A @ B
    C[3, :2] = math.nan
    found = verdict(A, B, C)
    assert not found.verified
    assert found.sentence.startswith("2 of C's 2,000 elements")


def test_writing_beside_c_does_not_pass() -> None:
    A, B = random_inputs(4, 5, 6, "float32")
    found = verdict(A, B, A @ B, wrote_outside=True)
    assert not found.verified
    assert "outside C" in found.sentence


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
