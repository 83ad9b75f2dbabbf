"""Launches from a form: what its expressions, contents and errors are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator import LaunchError, compile_kernel, simulate
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.launches import build_launch, known_values, macro_values

TEXT = """
#define TILE 4
#define TWICE (2 * TILE)
#define SQUARE(x) ((x) * (x))
#define NAME "text"
const int EACH = TILE / 2, MORE = EACH + 1;
constexpr unsigned COUNT = 3u;
const float HALF = 0.5f;
__global__ void scale(float* x, const int* y, int n, int pitch, float by) {
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n * pitch) x[i] = by * y[i];
}
int main() { const int hidden = 3; }
"""
FORM = LaunchForm(
    grid=("(n * pitch + TILE - 1) / TILE", "1", "1"),
    block=("TILE", "1", "1"),
    shared_bytes="0",
    arguments=(
        ArrayArgument("x", "n", "pitch", Contents.ZEROS),
        ArrayArgument("y", "1", "n * pitch", Contents.COUNTING),
        NumberArgument("n", "3"),
        NumberArgument("pitch", "n + EACH"),
        NumberArgument("by", "0.5"),
    ),
)


def test_macros_and_constants_that_are_whole_numbers() -> None:
    expected = {"TILE": 4, "TWICE": 8, "EACH": 2, "MORE": 3, "COUNT": 3}
    assert macro_values(TEXT) == expected


@pytest.mark.parametrize("qualifier", ["", "const "])
def test_an_array_of_bfloat16_holds_numbers(qualifier: str) -> None:
    text = f"""#include <cuda_bf16.h>
    __global__ void widen({qualifier}__nv_bfloat16* x, float* y) {{
        y[threadIdx.x] = __bfloat162float(x[threadIdx.x]);
    }}"""
    given = (ArrayArgument("x", "1", "32", Contents.COUNTING), ArrayArgument("y", "1", "32"))
    form = LaunchForm(("1", "1", "1"), ("32", "1", "1"), "0", given)
    kernel = compile_kernel(text)
    result = simulate(kernel, build_launch(kernel, form)).arrays["y"]
    assert result.tolist() == list(range(1, 33))


def test_arrays_hold_places() -> None:
    shuffled = ArrayArgument("x", "1", "n * pitch", Contents.SHUFFLED)
    rising = ArrayArgument("y", "1", "n * pitch", Contents.RISING)
    form = replace(FORM, arguments=(shuffled, rising, *FORM.arguments[2:]))
    arguments = build_launch(compile_kernel(TEXT), form).arguments
    assert sorted(arguments["x"].tolist()) == list(range(arguments["x"].size))
    assert arguments["x"].tolist() != sorted(arguments["x"].tolist())
    assert arguments["y"].tolist() == list(range(arguments["y"].size))


def test_a_form_becomes_a_launch() -> None:
    kernel = compile_kernel(TEXT)
    launch = build_launch(kernel, FORM)
    assert (launch.grid, launch.block) == ((4, 1, 1), (4, 1, 1))
    assert launch.arguments["x"].shape == (3, 5)
    assert launch.arguments["y"].tolist() == list(range(1, 16))
    assert simulate(kernel, launch).arrays["x"].reshape(-1).tolist() == [
        0.5 * i for i in range(1, 16)
    ]
    other = build_launch(kernel, FORM, {"n": 6})
    assert other.grid == (12, 1, 1)
    assert other.arguments["x"].shape == (6, 8)
    assert known_values(kernel, FORM, {"n": 6})["pitch"] == 8


def test_random_contents_are_small_whole_numbers_and_the_same_each_time() -> None:
    kernel = compile_kernel("__global__ void k(float* a, float* b) { a[0] = b[0]; }")
    form = LaunchForm(
        ("1", "1", "1"), ("1", "1", "1"), "0",
        (ArrayArgument("a", "40", "40"), ArrayArgument("b", "40", "40")),
    )  # fmt: skip
    first, second = (build_launch(kernel, form).arguments for _ in range(2))
    assert set(np.unique(first["a"])) == set(range(10))
    assert np.array_equal(first["a"], second["a"])
    assert not np.array_equal(first["a"], first["b"])


@pytest.mark.parametrize(
    ("parameter", "dtype", "shape"),
    [
        ("__half* x", "float16", (2, 3)),
        ("float4* x", "float32", (2, 12)),
        ("float** x", "float32", (2, 3)),
        ("float (*x)[3]", "float32", (2, 3)),
        ("void* x", "float32", (2, 3)),
        ("bool* x", "bool", (2, 3)),
        ("long long* x", "int64", (2, 3)),
    ],
)
def test_arrays_have_the_parameters_type(
    parameter: str, dtype: str, shape: tuple[int, int]
) -> None:
    kernel = compile_kernel(f"__global__ void k({parameter}) {{ }}")
    form = LaunchForm(
        ("1", "1", "1"), ("1", "1", "1"), "0", (ArrayArgument("x", "2", "3"),)
    )  # fmt: skip
    launch = build_launch(kernel, form)
    assert (launch.arguments["x"].dtype, launch.arguments["x"].shape) == (np.dtype(dtype), shape)
    assert not simulate(kernel, launch).hazards


def test_structs_and_their_members() -> None:
    kernel = compile_kernel(
        "struct P { float w; int n; };\n"
        "struct Q { float* cells; int width; };\n"
        "__global__ void k(P* p, Q q) { q.cells[threadIdx.x] = p[threadIdx.x].n * q.width; }"
    )
    form = LaunchForm(
        ("1", "1", "1"), ("4", "1", "1"), "0",
        (ArrayArgument("p", "1", "4", Contents.ONES), ArrayArgument("q.cells", "1", "4"),
         NumberArgument("q.width", "3")),
    )  # fmt: skip
    assert simulate(kernel, build_launch(kernel, form)).arrays["q.cells"].tolist() == [3.0] * 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grid": ("(n + TILE) / Q", "1", "1")}, "The grid's x, '(n + TILE) / Q': "),
        ({"block": ("1", "1 / 0", "1")}, "The block's y, '1 / 0': "),
        ({"shared_bytes": "TILE *"}, "The bytes of shared memory, 'TILE *': "),
        ({"arguments": (ArrayArgument("x", "n", "m"),)}, "x's rows, 'n': "),
        ({"arguments": (ArrayArgument("x", "0", "4"),)}, "x has 0 rows; give 1 or more."),
        ({"arguments": (ArrayArgument("x", "1", "TILE - 9"),)}, "x has -5 columns; give 1"),
        ({"arguments": (ArrayArgument("x", "1000000", "1000000"),)}, "Make it smaller."),
        ({"arguments": (ArrayArgument("n", "1", "1"),)}, "n is not a pointer parameter of scale."),
        ({"arguments": (NumberArgument("x", "1"),)}, "x is not a number among the parameters"),
        ({"arguments": (NumberArgument("n", "0.5"),)}, "n, '0.5': "),
        ({"arguments": (NumberArgument("by", "many"),)}, "by, 'many': "),
        (
            {"arguments": (NumberArgument("pitch", "n"), NumberArgument("n", "pitch"))},
            "pitch, 'n': ",
        ),
    ],
)
def test_an_error_names_the_field(change: dict[str, object], sentence: str) -> None:
    form = replace(FORM, **({"grid": ("1", "1", "1")} | change))  # type: ignore[arg-type]
    with pytest.raises(LaunchError) as error:
        build_launch(compile_kernel(TEXT), form)
    assert sentence in str(error.value)
