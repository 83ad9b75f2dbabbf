"""Verdicts on kernels whose file has a function of the host that computes the same."""

from __future__ import annotations

import pytest

from simulator import compile_kernel
from simulator.verdict.form import UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.verdict import State, Verdict

FILE = """#include <cstdio>
__global__ void curve(const float* d_in, float* d_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = d_in[i] * d_in[i] * 3.0f + 1.0f;
}
static void curve_cpu(const float *in, float *out, int n) {
    for (int i = 0; i < n; ++i) out[i] = 3.0f * in[i] * in[i] + 1.0f;
}
int main() {
    int n = 1000;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    curve<<<(n + 255) / 256, 256>>>(a, b, n);
    printf("done\\n");
}
"""


def verdict(old: str = "", new: str = "") -> Verdict:
    text = FILE.replace(old, new)
    assert (text != FILE) == bool(old)
    kernel = compile_kernel(text)
    return judge(UserKernel(text, kernel.name, guess_form(text, kernel)), kernel)


def test_a_kernel_that_computes_what_the_host_does_is_right() -> None:
    found = verdict()
    assert found.state is State.RIGHT
    assert found.next_step == "The result agrees with curve_cpu: right at one size, no hazards."


def test_a_cell_that_the_host_has_otherwise_is_named() -> None:
    found = verdict("if (i < n)", "if (i < n - 1)")
    assert found.state is State.WRONG
    assert "d_out[999] is " in found.next_step
    assert "That is what curve_cpu computes." in found.next_step


OTHERS = {
    "another name": ("curve_cpu", "fill"),
    "no loop to its end": ("++i) out", "i += 0) out"),
    "other arrays": ("const float *in, float *out, int n", "double *in, float *out, int n"),
    "it writes to its input": ("const float *in, float *out, int n) {",
                               "float *in, float *out, int n) { in[0] = 1;"),
    "C++": ("static void curve_cpu(", "#include <vector>\nvoid curve_cpu(std::vector<int>& v, "),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_another_function_says_nothing_of_what_is_right(name: str) -> None:
    old, new = OTHERS[name]
    assert verdict(old, new).state is State.UNCHECKED
