"""Launches from a form: what its expressions, contents and errors are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from simulator import LaunchError, compile_kernel, simulate
from simulator.launch import BUDGET_BYTES
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.launches import build_launch, known_values, macro_values

TEXT = """
#define TILE 4
#define TWICE (2 * TILE)
#define SQUARE(x) ((x) * (x))
#define NAME "text"
const int EACH = TILE / 2, MORE = EACH + 1;
constexpr unsigned COUNT = 3u;
__device__ const int WIDE = 8 * (TILE + 1), PAIR[2] = {9, 10}, LAST = 7;
__constant__ float weights[3];
int changes = 6;
const int given(int x) { return x; }
const float HALF = 0.5f, WHOLE = 3;
const int8_t A = 1; const uint16_t B = 2; const int32_t C = 3; const uint64_t D = 4;
const int REAL = HALF;
const unsigned TEXT = sizeof("const");
struct Pair { static const int in = 5; };
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
    expected = {"TILE": 4, "TWICE": 8, "EACH": 2, "MORE": 3, "COUNT": 3, "WIDE": 40, "LAST": 7}
    expected |= {"A": 1, "B": 2, "C": 3, "D": 4}
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
        ("float** x", "float32", (1, 3)),
        ("float4* x", "float32", (12,)),
        ("int* x", "int32", (3,)),
    ],
)
def test_arrays_have_the_parameters_type(
    parameter: str, dtype: str, shape: tuple[int, int]
) -> None:
    kernel = compile_kernel(f"__global__ void k({parameter}) {{ }}")
    form = LaunchForm(
        ("1", "1", "1"), ("1", "1", "1"), "0",
        (ArrayArgument("x", "2" if len(shape) > 1 and shape[0] > 1 else "1", "3"),)
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


@pytest.mark.parametrize(
    ("parameter", "argument", "sentence"),
    [
        ("float*", ArrayArgument("", "1", "1"), "Parameter 2 of k has no name"),
        ("float2 x", NumberArgument("x", "1"), "x is float2, for which a form has no value"),
    ],
)
def test_a_parameter_that_a_form_cannot_give(
    parameter: str, argument: ArrayArgument | NumberArgument, sentence: str
) -> None:
    kernel = compile_kernel(f"__global__ void k(int n, {parameter}) {{ }}")
    form = replace(FORM, grid=("1",) * 3, block=("1",) * 3, arguments=(argument,))
    with pytest.raises(LaunchError) as error:
        build_launch(kernel, form)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("ctype", "contents", "numbers"),
    [
        ("float", Contents.FRACTIONS, [one / 4 for one in range(-8, 9)]),
        ("half", Contents.FRACTIONS, [one / 4 for one in range(-8, 9)]),
        ("int", Contents.FRACTIONS, range(-9, 10)),
        ("unsigned", Contents.FRACTIONS, range(10)),
        ("bool", Contents.FRACTIONS, range(2)),
        ("bool", Contents.RANDOM, range(2)),
        ("unsigned char", Contents.COUNTING, range(256)),
        ("double", Contents.ONES, [1]),
    ],
)
def test_the_numbers_that_arrays_hold(
    ctype: str, contents: Contents, numbers: Iterable[float]
) -> None:
    kernel = compile_kernel(f"#include <cuda_fp16.h>\n__global__ void k({ctype}* x) {{ }}")
    form = LaunchForm(("1",) * 3, ("1",) * 3, "0", (ArrayArgument("x", "20", "20", contents),))
    found = build_launch(kernel, form).arguments["x"]
    assert found.shape == (20, 20)
    assert np.unique(found).tolist() == list(numbers)


def test_arrays_that_are_too_large_together() -> None:
    kernel = compile_kernel("__global__ void k(short* x, short* y, int n) { }")
    arrays = tuple(ArrayArgument(one, "n", "512", Contents.ZEROS) for one in "xy")
    form = LaunchForm(("1",) * 3, ("1",) * 3, "0", (*arrays, NumberArgument("n", "2")))
    half = BUDGET_BYTES // 1024 // 2
    assert build_launch(kernel, form, {"n": half}).arguments["y"].nbytes == BUDGET_BYTES // 2
    with pytest.raises(LaunchError, match="x 512 elements, which take 128 MiB; the arrays"):
        build_launch(kernel, form, {"n": half + 1})


@pytest.mark.parametrize(("value", "by"), [("0.5f", 0.5), (" 2 ", 2.0), ("n + 1", 4.0)])
def test_a_float_is_a_number_or_an_expression(value: str, by: float) -> None:
    form = replace(FORM, arguments=(*FORM.arguments[:-1], NumberArgument("by", value)))
    kernel = compile_kernel(TEXT)
    assert build_launch(kernel, form).arguments["by"] == by
    assert build_launch(kernel, form, {"by": 7.5}).arguments["by"] == 7.5
    assert "by" not in known_values(kernel, form)
