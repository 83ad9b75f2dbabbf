"""Which arrays a kernel may write to: races in the others would not be seen."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import compile_kernel, simulate
from simulator.observers.written_parameters import written_parameters
from tests.simulator.launches import launch_text

# What all threads write, in B alone, and the arrays that the text may write.
STORES = {
    "B[0] = threadIdx.x;": "B",
    "*(B + (int)A[0]) = threadIdx.x;": "B",
    "*((int)A[0] + B) = threadIdx.x;": "B",
    "*(A[1], B) = threadIdx.x;": "B",
    "*(B += (int)A[0]) = threadIdx.x;": "B",
    "const float* p; p = A + 1; B[0] = *p + threadIdx.x;": "B",
    "*(A[0] > 1 ? B : B + 1) = threadIdx.x;": "AB",
    "*(A[0] > 1 ? A : B) = threadIdx.x;": "AB",
    "*(A = B) = threadIdx.x;": "AB",
    "A = B; A[0] = threadIdx.x;": "AB",
    "float* p = B; *p = threadIdx.x;": "AB",
    "float& r = B[0]; r = threadIdx.x;": "AB",
}


@pytest.mark.parametrize("store", STORES)
def test_the_arrays_of_a_store(store: str) -> None:
    text = f"__global__ void k(float* A, float* B) {{ {store} }}"
    assert written_parameters(compile_kernel(text, "k")) == set(STORES[store])
    arrays = {name: np.zeros(4, np.float32) for name in "AB"}
    (hazard,) = simulate(*launch_text(text, **arrays)).hazards
    assert (hazard.kind, hazard.array) == ("write-after-write", "B")


# Calls that write an array, and the arrays that they may write.
CALLS = {
    "atomicAdd(&B[(int)A[0]], A[1]);": "B",
    "sincosf(A[0], B, A + 1);": "AB",
    "sincosf(A[0], B + (int)A[1], B);": "B",
    "__match_all_sync(~0u, (int)A[0], (int*)B);": "B",
    "wmma::store_matrix_sync(B, sums, (int)A[0], wmma::mem_row_major);": "B",
}


@pytest.mark.parametrize("call", CALLS)
def test_the_arrays_of_a_call(call: str) -> None:
    sums = "wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;"
    text = (
        "#include <mma.h>\nusing namespace nvcuda;\n"
        f"__global__ void k(float* A, float* B) {{ {sums if 'wmma' in call else ''} {call} }}"
    )
    assert written_parameters(compile_kernel(text, "k")) == set(CALLS[call])
