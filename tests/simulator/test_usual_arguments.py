"""Template kernels of which nothing says the arguments: which ones are usual, and what is said."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, simulate

ADD = "struct Add { __device__ float operator()(float a, float b) const { return a + b; } };\n"
# A template's parameters, the kernel's own behind x, and the arguments that are taken.
USUAL = {
    "a type and a row": ("typename T, int BLOCK_SIZE", "", ("float", "256")),
    "a tile": ("class T, unsigned TILE", "", ("float", "16")),
    "a warp and its work": ("int WARP, int ITEMS_PER_THREAD", "", ("32", "4")),
    "a product's blocking": ("const int BM, const int BK, const int TM", "", ("64", "8", "8")),
    "a default stays": ("typename T, size_t N = 3", "", ("float", "3")),
    "a flag": ("bool CHECKED", "", ("true",)),
    "an index": ("typename Index", "", ("int",)),
    "a function by its name": ("typename Op", ", Op op", ("Add",)),
    "a function by its call": ("typename W", ", W y", ("Add",)),
}


@pytest.mark.parametrize("name", USUAL)
def test_usual_arguments_are_assumed(name: str) -> None:
    template, parameters, expected = USUAL[name]
    body = "{ y(1, 2); }" if ", W y" in parameters else "{ x[0] = 1; }"
    text = f"{ADD}template <{template}> __global__ void k(float* x{parameters}) {body}"
    kernel = compile_kernel(text)
    assert kernel.template == expected
    assert f"k<{', '.join(expected)}> is assumed" in kernel.notes[0]


def test_an_explicit_instantiation_says_the_arguments() -> None:
    text = "template <typename T, int N> __global__ void k(T* x) { x[0] = N; }\n"
    kernel = compile_kernel(text + "template __global__ void k<int, 7>(int* x);")
    assert kernel.template == ("int", "7")
    assert not any("is taken" in note for note in kernel.notes)


def test_a_block_with_rows_is_a_tile() -> None:
    text = "template <int BLOCK> __global__ void k(float* x) { x[threadIdx.y * BLOCK] = BLOCK; }"
    kernel = compile_kernel(text)
    report = simulate(kernel, Launch((1, 1, 1), (1, 2, 1), {"x": np.zeros(17, np.float32)}))
    assert report.arrays["x"][16] == 16


# What no argument is usual for: what comes before the kernel, its template's parameters.
REFUSED = {
    "a function without one": ("", "typename Op"),
    "a template": ("", "template <typename> class V"),
    "a pack": ("", "typename... A"),
    "an enumeration": ("enum Mode { fast, slow };", "Mode mode"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_usual_argument_is_asked_for(name: str) -> None:
    before, template = REFUSED[name]
    with pytest.raises(SourceError, match=r"The template parameter \w+ of k has no value: name it"):
        compile_kernel(f"{before}\ntemplate <{template}> __global__ void k(float* x) {{}}")


def test_where_usual_ones_do_not_fit_all_is_said() -> None:
    text = 'template <int N> __global__ void k(float* x) { static_assert(N == 7, "seven"); }'
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    asserted, asked = caught.value.errors
    assert "seven" in asserted.message
    assert asked.message.startswith("The template parameter N of k has no value: name it")
