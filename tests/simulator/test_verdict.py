"""Verdicts: the state of right kernels and of faulty ones, and the sentence that says which."""

from __future__ import annotations

import pytest

from simulator import catalogue, compile_kernel
from simulator.verdict.form import OwnKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.verdict import CheckState, State, Verdict

TILED = catalogue()["tiled"].source(TILE=4)
NAIVE = catalogue()["naive"].source()


def judged(text: str) -> Verdict:
    """The verdict on a text's kernel, launched as it is guessed."""
    kernel = compile_kernel(text)
    return judge(OwnKernel(text, kernel.name, guess_form(text, kernel)), kernel)


@pytest.mark.parametrize("name", ["naive", "uncoalesced", "tiled", "tiled_double", "padded"])
def test_the_catalogues_kernels_are_right_from_their_text_alone(name: str) -> None:
    verdict = judged(catalogue()[name].source())
    assert verdict.state is State.RIGHT, verdict.next_step
    assert {check.state for check in verdict.checks} == {CheckState.RIGHT}
    sizes = [dict(check.sizes) for check in verdict.checks]
    assert any(len(set(size.values())) == 3 for size in sizes)
    assert {"M": 1, "N": 1, "K": 1} in sizes
    assert any(check.is_ragged for check in verdict.checks)


def test_other_names_and_another_order_of_parameters() -> None:
    verdict = judged(
        """
        __global__ void mm(int height, int depth, float* out, const float* left,
                           const float* right, int width) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= height * width) return;
            float sum = 0;
            for (int k = 0; k < depth; ++k)
                sum += left[i / width * depth + k] * right[k * width + i % width];
            out[i] = sum;
        }"""
    )
    assert verdict.state is State.RIGHT, verdict.next_step


@pytest.mark.parametrize(
    ("old", "new", "state", "sentence"),
    [
        ("        __syncthreads();\n\n        for", "\n        for", State.HAZARD, "As"),
        ("if (row < M && col < N)", "", State.HAZARD, "writes element"),
        ("Bs[k][tx]", "Bs[tx][k]", State.WRONG, "C[0][0] is"),
        ("C[row * N + col] = acc;", ";", State.WRONG, "C[0][0] is"),
    ],
)
def test_faulty_kernels(old: str, new: str, state: State, sentence: str) -> None:
    assert old in TILED
    verdict = judged(TILED.replace(old, new))
    assert verdict.state is state
    assert sentence in verdict.next_step
