"""Strides, and what a guess gives them: no right kernel is accused because of them."""

from __future__ import annotations

import pytest

from simulator import compile_kernel, simulate
from simulator.verdict.form import LaunchForm, UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_launch
from simulator.verdict.strides import BATCH, MATRIX, ROW, find_flags, find_strides
from simulator.verdict.verdict import State, Verdict

XY = (
    "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
    "if (x >= w || y >= h) return;"
)
KERNELS = {
    "a row": (f"float* a, int pitch, int w, int h) {{ {XY} a[y * pitch + x] *= 2; }}",
              {"pitch": ROW}),
    "bytes": (f"float* a, int pitch, int w, int h) {{ {XY} int step = pitch / sizeof(float);"
              " float* row = a + y * step; row[x] *= 2; }", {"pitch": ROW}),
    "an offset of its own": (f"float* a, int pitch, int w, int h) {{ {XY} int from = y * pitch;"
                             " a[from + x] *= 2; }", {"pitch": ROW}),
    "columns": (f"float* a, int ld, int w, int h) {{ {XY} a[x + y * ld] += 1; }}", {"ld": ROW}),
    "apart": (f"float* a, int down, int right, int w, int h) {{ {XY}"
              " a[y * down + x * right] = x; }", {"down": ROW, "right": 1}),
    "every": ("float* a, float* b, int n, int step)"
              "{ int i = threadIdx.x; if (i < n) a[i * step] = b[i]; }", {"step": 1}),
    "nested": ("float* a, int batch, int row, int n)"
               "{ float* b = a + blockIdx.x * batch + threadIdx.y * row;"
               " for (int i = threadIdx.x; i < n; i += 32) b[i] = i; }",
               {"batch": MATRIX, "row": ROW}),
    "inner first": (f"float* a, int sy, int sz, int w, int h) {{ {XY}"
                    " a[x + y * sy + blockIdx.z * sz] = x; }", {"sy": ROW, "sz": MATRIX}),
    "three": ("float* a, int b, int m, int r, int n) { for (int i = threadIdx.x; i < n; i += 32)"
              " a[blockIdx.z * b + blockIdx.y * m + blockIdx.x * r + i] = i; }",
              {"b": BATCH, "m": MATRIX, "r": ROW}),
    "three beside a row": ("float* a, int b, int m, int r, int n) { int i = threadIdx.y,"
                           " j = threadIdx.x; if (i < n && j < n) a[blockIdx.z * b +"
                           " blockIdx.y * m + blockIdx.x * r + i * n + j] = i; }",
                           {"b": BATCH, "m": BATCH, "r": MATRIX}),
    "the grid's size": ("float* a, int n)"
                        "{ a[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1; }", {}),
    "guarded": (f"float* a, int w, int h) {{ {XY} a[y * w + x] *= 2; }}", {}),
    "a short": (f"float* a, short pitch, int w, int h) {{ {XY} a[y * pitch + x] *= 2; }}",
                {"pitch": ROW}),
    "clamped": ("float* a, int w, int n) { int i = threadIdx.x; if (i < n)"
                " a[blockIdx.x * w + min(i, w - 1)] = 1; }", {}),
    "no bound": (f"float* a, int pitch, int w, int h) {{ {XY} a[y * pitch + x] = abs(pitch); }}",
                 {"pitch": ROW}),
    "a flag": (f"float* a, bool wide, int w, int h) {{ {XY} a[y * wide + x] *= 2; }}", {}),
    "an offset": ("float* a, int n, int first)"
                  "{ if (threadIdx.x < n) a[first + threadIdx.x] = 1; }", {}),
    "a chunk": ("float* a, int n, int chunk) { int first = threadIdx.x * chunk;"
                " for (int i = first; i < min(first + chunk, n); ++i) a[i] = 1; }", {}),
}  # fmt: skip


def compiled(rest: str) -> str:
    return f"__global__ void k({rest}"


@pytest.mark.parametrize("name", KERNELS)
def test_strides(name: str) -> None:
    rest, expected = KERNELS[name]
    found = find_strides(compile_kernel(compiled(rest)))
    assert {one: stride.room for one, stride in found.items()} == expected


def test_flags() -> None:
    kernel = compile_kernel(compiled(
        "float* a, int n, int fast, bool add, int mode, bool unused, int both)"
        "{ int i = threadIdx.x; if (fast && i < n) a[i] = add ? a[i] : 0;"
        " if (mode == 2) a[i] = 1; if (both) a[both] = 1; }"
    ))  # fmt: skip
    assert find_flags(kernel) == {"fast", "add"}


FORMS = {
    "the width, though it comes later": (KERNELS["a row"][0], {"pitch": "w"}),
    "bytes": (KERNELS["bytes"][0], {"pitch": "4 * w"}),
    "three of a pixel": (
        f"unsigned char* a, unsigned char* b, int step, int w, int h) {{ {XY}"
        " a[y * w + x] = b[y * step + 3 * x] + b[y * step + 3 * x + 2]; }", {"step": "3 * w"},
    ),
    "padded": (
        "const float* A, const float* B, float* C, int n, int padded)"
        "{ int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; float s = 0;"
        " if (x >= n || y >= n) return;"
        " for (int k = 0; k < n; ++k) s += A[y * padded + k] * B[k * padded + x];"
        " C[y * padded + x] = s; }", {"padded": "n"},
    ),
    "cells of three sizes": (
        "const float* x, const float* mean, float* y, int N, int C, int area)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= N * C * area) return;"
        " y[i] = x[i] - mean[(i / area) % C]; }", {"N": "3", "C": "96", "area": "32"},
    ),
    "vectors": (
        "float* out, const float* in, int rows, int cols, bool fast)"
        "{ int row = blockIdx.x; if (row >= rows) return; if (fast) {"
        " const float4* from = (const float4*)(in + row * cols);"
        " float4* to = (float4*)(out + row * cols);"
        " for (int c = threadIdx.x; c < cols / 4; c += blockDim.x) to[c] = from[c]; } else"
        " for (int c = threadIdx.x; c < cols; c += blockDim.x)"
        " out[row * cols + c] = in[row * cols + c]; }", {"fast": "1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.sample(2)
def test_a_guess_shows_no_hazard(name: str) -> None:
    rest, expected = FORMS[name]
    kernel = compile_kernel(compiled(rest))
    form = guess_form(kernel.text, kernel)
    assert {one: values(form)[one] for one in expected} == expected
    assert not simulate(kernel, build_launch(kernel, form)).hazards


def values(form: LaunchForm) -> dict[str, str]:
    return {one.name: one.value for one in form.numbers}


def test_flags_that_have_to_be_off() -> None:
    kernel = compile_kernel(compiled(
        "const float* A, const float* B, float* C, int M, int N, int K, bool transposed)"
        "{ int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; float s = 0;"
        " if (x >= N || y >= M) return; for (int k = 0; k < K; ++k)"
        " s += (transposed ? A[k * M + y] : A[y * K + k])"
        " * (transposed ? B[x * K + k] : B[k * N + x]);"
        " C[y * N + x] = s; }"
    ))  # fmt: skip
    form = guess_form(kernel.text, kernel)
    assert (form.task, values(form)["transposed"]) == ("product", "0")


def test_vectors_that_a_flag_chooses_are_said_to_be() -> None:
    text = compiled(
        "float* to, const float* from, int n, bool wide)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (wide) { if (i < n / 4) ((float4*)to)[i] = ((const float4*)from)[i]; }"
        " else if (i < n) to[i] = from[i]; }"
    )
    verdict = judged(text)
    assert verdict.state is State.LIMITED
    assert verdict.next_step.startswith("With wide on, right where 4 divides its sizes")


def test_a_task_that_says_nothing_of_any_cell_does_not_hold() -> None:
    """Two rows, as of channels, have no cell with neighbours on all sides."""
    text = compiled(
        f"unsigned char* a, unsigned char* b, int w, int h, int channels) {{ {XY}"
        " for (int c = 0; c < channels; c++)"
        " b[(x * h + h - 1 - y) * channels + c] = a[(y * w + x) * channels + c]; }"
    )
    assert "holds" not in judged(text).next_step


def judged(text: str) -> Verdict:
    kernel = compile_kernel(text)
    return judge(UserKernel(text, kernel.name, guess_form(text, kernel)), kernel)
