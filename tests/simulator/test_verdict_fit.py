"""Which tasks may explain what a kernel stored, and which function of a file says what is right."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from simulator import Launch, compile_kernel
from simulator.verdict.discovery import discover
from simulator.verdict.fit import Allocated, _is_extent
from simulator.verdict.reference import find_reference
from simulator.verdict.tasks import TASKS

pytestmark = pytest.mark.usefixtures("_less_room")
I = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"  # noqa: E741
SUM = "float s = 0; for (int k = 0; k < K; ++k) s += A[y * K + k] * B[k * N + x];"
XY = (
    "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
    " if (x >= N || y >= M) return;"
)
SIZES = "int M, int N, int K"


@pytest.mark.parametrize(
    ("text", "task", "roles"),
    [
        ("const float* p, float* q, int n, float f) { I q[i] = f * p[i]; }", "scaled",
         {"x": "p", "y": "q", "n": "n", "a": "f"}),
        ("const float* p, float* q, int n, float f, float g) { I q[i] = f * p[i]; }", "scaled",
         None),
        ("const float* p, float* q, int n, float f) { I q[i] = p[i]; }", "copy", None),
        ("const float* y, const float* x, float* q, int n) { I q[i] = x[i] - y[i]; }",
         "difference", {"x": "x", "y": "y", "z": "q", "n": "n"}),
        ("const float* y, const float* x, float* q, int n) { I q[i] = y[i] - x[i]; }",
         "difference", {"agreement": "0.0"}),  # with such names it would be meant otherwise
        ("const float* p, const float* r, float* q, int n) { I q[i] = r[i] - p[i]; }",
         "difference", {"x": "r", "y": "p", "z": "q", "n": "n"}),
        (f"const float* A, const float* B, float* C, {SIZES}, float f, float g)"
         f" {{ {XY} {SUM} C[y * N + x] = f * s + g * C[y * N + x]; }}", "product",
         {"M": "M", "N": "N", "K": "K", "alpha": "f", "beta": "g"}),
        (f"const float* A, const float* B, float* C, {SIZES}, float f, float g)"
         f" {{ {XY} {SUM} C[y * N + x] = g * s + f * C[y * N + x]; }}", "product",
         {"alpha": "g", "beta": "f"}),
        (f"const float* A, const float* B, float* C, {SIZES}, float f)"
         f" {{ {XY} {SUM} C[y * N + x] = f * s; }}", "product", {"alpha": "f", "beta": None}),
        (f"const float* A, const float* B, float* C, {SIZES}, float f, float g, float h)"
         f" {{ {XY} C[y * N + x] = f * g * h; }}", "product", None),
        # One size in the place of another, which is never read.
        ("const float* p, float* q, int n, int m) { I float s = 0;"
         " for (int j = 0; j < n; ++j) s += p[i * n + j]; q[i] = s; }", "row_sums",
         {"M": "n", "N": "m"}),
        ("const float* p, float* q, float* r, int n) { I q[i] = p[i]; r[i] = p[i]; }", "sum",
         None),
        ("const float* p, float* q, int n, int m) { I float s = 0;"
         " for (int j = 0; j < m; ++j) s += p[i * m + j]; q[i] = s; }", "row_sums",
         {"M": "n", "N": "m"}),
        ("const float* x, const float* w, float* y, int n, int radius) { I float s = 0;"
         " for (int j = -radius; j <= radius; ++j) if (i + j >= 0 && i + j < n)"
         " s += x[i + j] * w[j + radius]; y[i] = s; }", "convolution",
         {"n": "n", "width": "2 * radius + 1"}),
        ("const int* p, int* counts, int n) { I atomicAdd(&counts[p[i] % 6], 1); }", "histogram",
         {"n": "n", "bins": "6"}),
    ],
)  # fmt: skip
def test_the_roles_of_a_task(text: str, task: str, roles: Mapping[str, str | None] | None) -> None:
    kernel = compile_kernel(f"__global__ void k({text.replace('I ', I)}")
    block = ("16", "4", "1") if "XY" in text or XY in text else ("64", "1", "1")
    found = discover(kernel, [block], ["0"], None, [task])
    assert found is not None
    if roles is None:
        assert not found.fits
        return
    known = dict(found.fits[0].roles) | {"agreement": f"{found.fits[0].agreement:.1f}"}
    expected = {"agreement": "1.0"} | dict(roles)
    assert {role: known.get(role) for role in expected} == expected


@pytest.mark.parametrize(
    ("touched", "cells", "is_extent"),
    [
        (0, 64, True), (64, 64, True), (39, 64, True), (38, 64, False), (72, 64, True),
        (73, 64, False), (15, 15, True), (16, 15, False), (9, 15, True), (8, 15, False),
        (19, 16, True), (20, 16, False),
    ],
)  # fmt: skip
def test_an_array_is_touched_nearly_to_its_end(touched: int, cells: int, is_extent: bool) -> None:
    assert _is_extent(touched, cells) is is_extent


@pytest.mark.parametrize(
    ("cells", "sizes", "agrees"),
    [
        ({"A": 64, "C": 64}, {"M": "8", "N": "n", "K": "T"}, True),
        ({"A": 63}, {"M": "8", "N": "n", "K": "T"}, False),
        ({"A": 127}, {"M": "8", "N": "n", "K": "T"}, True),
        ({"A": 128}, {"M": "8", "N": "n", "K": "T"}, False),
        ({"C": 9}, {"M": "8", "N": "n", "K": "T"}, False),
        ({"other": 1}, {"M": "8", "N": "n", "K": "T"}, True),
        ({"C": 9}, {"M": "8", "N": "unknown", "K": "T"}, True),
    ],
)
def test_what_the_host_allocates(
    cells: Mapping[str, int], sizes: Mapping[str, str], agrees: bool
) -> None:
    kernel = compile_kernel("#define T 8\n__global__ void k(float* A, float* B, float* C) { }")
    found = Allocated({"n": 8}, cells)
    assert found.agrees(kernel, TASKS["product"], {"A": "A", "B": "B", "C": "C"}, sizes) is agrees


# References ---------------------------------------------------------------------------------------

KERNEL = "__global__ void add(const float* d_x, float* d_y, int n) { d_y[threadIdx.x] = d_x[0]; }\n"
BODY = "{ for (int i = 0; i < n; ++i) y[i] = x[0] + 1; }\n"


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("void add_cpu(const float* x, float* y, int n)", {"x": "d_x", "y": "d_y", "n": "n"}),
        ("static void REFERENCE(float* y, const float* x, int n)",
         {"x": "d_x", "y": "d_y", "n": "n"}),
        ("void gold(int n, const float* in, float* y)", None),  # it has no x
        ("void gold(const float* x, float* y, long n)", {"x": "d_x", "y": "d_y", "n": "n"}),
        ("void gold(const float* x, float* y, float n)", None),
        ("void gold(const double* x, float* y, int n)", None),
        ("void gold(const float* x, float* y, int n, int m)", None),
        ("__global__ void gold(const float* x, float* y, int n)", None),
        ("__device__ void gold(const float* x, float* y, int n)", None),
        ("int gold(const float* x, float* y, int n)", None),
        ("void add_all(const float* x, float* y, int n)", None),
    ],
)  # fmt: skip
def test_a_reference_is_a_function_of_the_host(
    function: str, arguments: Mapping[str, str] | None
) -> None:
    kernel = compile_kernel(f"{KERNEL}struct ref {{ int n; }};\n{function} {BODY}", "add")
    found = find_reference(kernel)
    assert (found and found.arguments) == arguments
    assert found is None or found.results == ("d_y",)


@pytest.mark.parametrize(
    ("parameters", "body", "is_found"),
    [
        ("const float* a, float* b, int n", "b[0] = a[0];", True),  # by their order
        ("float* a, const float* b, int n", "a[0] = b[0];", False),
        ("const float* x, float* y", "y[0] = x[0];", True),
        ("float* y, int n", "y[0] = n;", False),  # an array is left
        ("const float* x, float* y, int n", "int z = n;", False),  # nothing is written
        ("const float* x, float* y, int n", "y[0] = missing;", False),
    ],
)
def test_a_reference_has_the_kernels_arrays(parameters: str, body: str, is_found: bool) -> None:
    kernel = compile_kernel(f"{KERNEL}void add_ref({parameters}) {{ {body} }}", "add")
    assert (find_reference(kernel) is not None) is is_found


def test_what_a_reference_computes() -> None:
    kernel = compile_kernel(f"{KERNEL}void add_ref(const float* x, float* y, int n) {BODY}", "add")
    found = find_reference(kernel)
    assert found is not None
    arrays = {"d_x": np.full(3, 2.0, np.float32), "d_y": np.zeros(3, np.float32)}
    expected = found.expected(Launch((4, 1, 1), (32, 1, 1), {**arrays, "n": 2}, 64))
    assert expected is not None
    assert {name: cells.tolist() for name, cells in expected.items()} == {"d_y": [3.0, 3.0, 0.0]}
    assert expected["d_y"].dtype == np.float64
