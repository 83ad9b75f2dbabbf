"""User kernels that are to harm a page: each has a scene, or a sentence says why not."""

from __future__ import annotations

import pytest

from simulator import LaunchError, SourceError
from simulator.language.printable import printable
from simulator.verdict.form import UserKernel
from tests.hostile.test_texts import LONG_NAME, OF_THE_SERVER
from tests.hostile.texts import kernel
from ui.drawing.look import Look
from ui.run.compute import open_scene
from ui.user_kernel.examine import examine, suggest_form
from ui.view.view_url import View

PRODUCT = """
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];
    if (row < M && col < N) C[row * N + col] = sum;
    // WORDS
}
"""
LONG_MACRO, OTHER_MACRO = "T" * 150, "U" * 150
LINE = (
    "int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x"
)

# A text, and a part of what is said of it where it has no scene.
TEXTS = {
    "no parameters and no statements": ("__global__ void k() {}", "nothing to step through"),
    "no statements": (kernel(""), "nothing to step through"),
    "a parameter without a name": ("__global__ void k(float*, int n, int) {}", "Parameter 1 of k"),
    "a vector by value": (
        "__global__ void k(float* x, float4 v) { x[0] = v.y; }", "v is float4"),
    "a pointer of nothing": (kernel("*(float*)0 = 1; x[0] = *(int*)0;"), ""),
    "a pointer to pointers": ("__global__ void k(float** p) { p[0][threadIdx.x] = 1; }", ""),
    "shared memory of no size": (
        kernel("extern __shared__ float s[]; s[n + (1 << 20)] = 1; x[0] = s[0];"), ""),
    "infinite blocks in a launch": (
        kernel("x[0] = n;") + "int main() { k<<<1e999, 1e999>>>(x, 3); }", ""),
    "an infinite number in a launch": (
        kernel("x[0] = n;") + "int main() { k<<<1, 32>>>(x, 1e999); }", ""),
    "macros of 150 letters": (
        f"#define {LONG_MACRO} 16\n#define {OTHER_MACRO} 8\n"
        + PRODUCT.replace("// WORDS", f"C[0] += {LONG_MACRO} + {OTHER_MACRO};"), ""),
    "half of a block in the grid": (
        kernel("x[0] = n;") + "int main() { k<<<1 / 2, 32>>>(x, 1); }", "grid has 0"),
    "a negative grid": (kernel("x[0] = n;").replace("int n", "int n, int m")
        + "int main() { k<<<-1, 32>>>(x, 1, m); }", "grid has -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.sample(4)
def test_a_text_becomes_a_scene_or_a_sentence(case: str) -> None:
    text, part = TEXTS[case]
    examined = examine(text, "")
    assert examined.compiles, examined.problems
    try:
        own = UserKernel(text, examined.kernel, suggest_form(text, examined.kernel))
        open_scene(View(user_kernel=own), Look())
    except (SourceError, LaunchError) as error:
        sentence = str(error)
        assert part
        assert part in sentence
        assert not OF_THE_SERVER.search(sentence)
        assert not LONG_NAME.search(sentence)
        assert printable(sentence) == sentence
    else:
        assert not part


@pytest.mark.deep
def test_a_recording_takes_no_longer_than_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.run.compute.SIMULATE_SECONDS", 0.1)
    text = kernel("while (atomicCAS((int*)x, 0, 0) == 0) ;")
    with pytest.raises(SourceError, match=r"0\.1 seconds, has run out"):
        open_scene(View(user_kernel=UserKernel(text, "k", suggest_form(text, "k"))), Look())
