"""bfloat16 and the types of 8 bits: roundings against exact fractions, bits, conversions, words."""

from __future__ import annotations

import bisect
import functools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, record, simulate
from simulator.__main__ import main
from simulator.language.ctype import Array, Scalar, convert
from simulator.language.number_types import NUMBER_TYPES
from simulator.sentences.line_values import values
from tests.simulator.test_half import OPERATIONS

TYPES = {each.word: each.ctype for each in NUMBER_TYPES.values() if each.ctype.encoding}
BFLOAT16 = TYPES["bfloat16"]
HEADS = {"bfloat16": "#include <cuda_bf16.h>\n", "fp8": "#include <cuda_fp8.h>\n"}


def run(head: str, parameters: str, body: str, threads: int = 32, **arrays: Array) -> Any:
    text = f"{HEADS[head]}__global__ void k({parameters}) {{ int i = threadIdx.x; {body} }}"
    return simulate(compile_kernel(text), Launch((1, 1, 1), (threads, 1, 1), arrays)).arrays


def every(kind: Scalar) -> Array:
    """All cells of a type."""
    return np.arange(2 ** (8 * kind.size)).astype(kind.cell_dtype)


@functools.cache
def numbers_of(kind: Scalar) -> tuple[list[float], list[int]]:
    """All finite numbers of a type in order, -0 left out, and the bits of each."""
    cells = every(kind)
    found = kind.values_of(cells)
    wanted = np.isfinite(found) & ~((found == 0) & np.signbit(found))
    order = np.argsort(found[wanted], kind="stable")
    return found[wanted][order].tolist(), cells[wanted][order].tolist()


def nearest(exact: Fraction, numbers: list[float], bits: list[int]) -> float:
    """The nearest number, of two the one whose last bit is 0; beyond all the infinite one."""
    place = bisect.bisect_left(numbers, float(exact))
    near = range(max(0, place - 2), min(len(numbers), place + 2))
    best = min(abs(Fraction(numbers[i]) - exact) for i in near)
    tied = [i for i in near if abs(Fraction(numbers[i]) - exact) == best]
    step = Fraction(numbers[-1]) - Fraction(numbers[-2])
    if abs(exact) >= Fraction(numbers[-1]) + step / 2:
        return float("inf") if exact > 0 else float("-inf")
    return numbers[min(tied, key=lambda i: bits[i] % 2)]


@pytest.mark.parametrize("word", TYPES)
def test_values_have_the_bits_that_they_came_from(word: str) -> None:
    kind = TYPES[word]
    cells = every(kind)
    assert np.array_equal(kind.cells_of(kind.values_of(cells)), cells)


@pytest.mark.parametrize("word", TYPES)
def test_known_cells(word: str) -> None:
    """One, two and a half, the largest, the smallest, negative zero, NaN."""
    known = {
        "bfloat16": {0x3F80: 1, 0x4020: 2.5, 0x7F7F: 3.3895313892515355e38, 1: 2.0**-133},
        "e4m3": {0x38: 1, 0x42: 2.5, 0x7E: 448, 1: 2.0**-9},
        "e5m2": {0x3C: 1, 0x41: 2.5, 0x7B: 57344, 1: 2.0**-16, 0x7C: float("inf")},
    }[word]  # CUDA Math API, and OCP's specification of the formats of 8 bits
    kind = TYPES[word]
    assert kind.values_of(np.array(list(known), kind.cell_dtype)).tolist() == list(known.values())
    assert np.isnan(kind.values_of(np.array([0x7FFF >> (16 - 8 * kind.size)], kind.cell_dtype)))


@pytest.mark.parametrize("expression", OPERATIONS)
@pytest.mark.sample(3)
def test_each_result_of_bfloat16_is_rounded_once(expression: str) -> None:
    count = 600
    random = np.random.default_rng(7)
    finite = np.array(numbers_of(BFLOAT16)[1], np.uint16)
    encoding = BFLOAT16.encoding
    assert encoding is not None
    near = [encoding.encode(random.standard_normal(count)) for _ in range(3)]
    a, b, c = (np.where(random.random(count) < 0.5, random.choice(finite, count), each)
               for each in near)  # fmt: skip
    b[BFLOAT16.values_of(b) == 0] = 0x3F80
    # products a hair from half way between two numbers: one rounding and two differ
    a[:64] = b[:64] = 0x3F81
    c[:64] = encoding.encode(random.standard_normal(64) * 2.0**-26)
    parameters = ", ".join(f"__nv_bfloat16* {name}" for name in "abco") + ", int n"
    body = f"for (; i < n; i += 64) o[i] = {expression};"
    arguments = {"a": a, "b": b, "c": c, "o": np.zeros(count, np.uint16), "n": np.int32(count)}
    found = BFLOAT16.values_of(run("bfloat16", parameters, body, 64, **arguments)["o"])
    known = numbers_of(BFLOAT16)
    x, y, z = (BFLOAT16.values_of(each).tolist() for each in (a, b, c))
    for i in range(count):
        exact = OPERATIONS[expression](Fraction(x[i]), Fraction(y[i]), Fraction(z[i]))
        assert found[i] == nearest(exact, *known), (x[i], y[i], z[i])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("rn", [0x3F80, 0x3F82, 0x7F80, 0x7FFF, 0xFF80, 0x0000]),
     ("rz", [0x3F80, 0x3F81, 0x7F7F, 0x7FFF, 0xFF80, 0x0000]),
     ("ru", [0x3F81, 0x3F82, 0x7F80, 0x7FFF, 0xFF80, 0x0001]),
     ("rd", [0x3F80, 0x3F81, 0x7F7F, 0x7FFF, 0xFF80, 0x0000])],
)  # fmt: skip
def test_the_directions_of_float2bfloat16(mode: str, expected: list[int]) -> None:
    given = [0x3F808000, 0x3F818000, 0x7F7FFFFF, 0xFFC00000, 0xFF800000, 0x00007FFF]
    arrays = {"x": np.array(given, np.uint32).view(np.float32), "y": np.zeros(6, np.uint16)}
    body = f"y[i] = __float2bfloat16_{mode}(x[i]);"
    assert (
        run("bfloat16", "float* x, __nv_bfloat16* y", body, 6, **arrays)["y"].tolist() == expected
    )


def test_a_long_whole_number_is_rounded_once() -> None:
    given = [2**62 + 2**54, 2**62 + 2**54 + 1, -(2**62) - 2**54 - 1, 257, 2**53 + 1]
    arrays = {"x": np.array(given, np.int64), "y": np.zeros(5, np.uint16)}
    found = run("bfloat16", "long long* x, __nv_bfloat16* y", "y[i] = x[i];", 5, **arrays)["y"]
    assert BFLOAT16.values_of(found).tolist() == [
        2.0**62, 2.0**62 + 2**55, -(2.0**62) - 2**55, 256, 2.0**53,
    ]  # fmt: skip


WORDS = {
    "__hmax(a[i], CUDART_NAN_BF16)": "a", "__hmin_nan(a[i], CUDART_NAN_BF16)": "nan",
    "__hadd_sat(a[i], CUDART_ONE_BF16)": "1", "__hfma_relu(a[i], __hneg(a[i]), b[i])": "relu",
    "__low2bfloat16(__lowhigh2highlow(make_bfloat162(a[i], b[i])))": "b",
    "__high2bfloat16(__hmul2(__bfloat162bfloat162(a[i]), make_bfloat162(a[i], b[i])))": "ab",
    "__ushort_as_bfloat16(__bfloat16_as_ushort(a[i]))": "a",
    "__heq(a[i], b[i]) ? b[i] : a[i]": "a", "__shfl_xor_sync(~0u, a[i], 1)": "next",
    "__int2bfloat16_rz(__bfloat162int_rn(a[i]))": "whole", "hsqrt(a[i] * a[i])": "abs",
    "__float2bfloat16(__high2float(__floats2bfloat162_rn(0.f, (float)a[i])))": "a",
}  # fmt: skip


@pytest.mark.parametrize("expression", WORDS)
def test_the_functions_of_bfloat16(expression: str) -> None:
    a = np.arange(-8, 24).astype(np.float32) / 4
    b = np.full(32, 0.5, np.float32)
    cells = {name: BFLOAT16.cells_of(each) for name, each in (("a", a), ("b", b))}
    expected = {
        "a": a, "b": b, "ab": a * b, "nan": np.full(32, np.nan), "1": np.clip(a + 1, 0, 1),
        "relu": np.maximum(b - a * a, 0), "next": a[np.arange(32) ^ 1], "whole": np.rint(a),
        "abs": convert(np.sqrt(convert(a * a, BFLOAT16)), BFLOAT16),
    }[WORDS[expression]]  # fmt: skip
    parameters = "__nv_bfloat16* a, __nv_bfloat16* b, __nv_bfloat16* o"
    found = run("bfloat16", parameters, f"o[i] = {expression};", **cells, o=np.zeros(32, np.uint16))
    assert np.array_equal(
        BFLOAT16.values_of(found["o"]), expected.astype(np.float32), equal_nan=True
    )


def test_nan_of_float_is_one_number_as_double_and_of_8_bits() -> None:
    """What an H200 gave for each of these floats, also by way of a product."""
    given = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFABCAA8], np.uint32).view(np.float32)
    body = """d[i] = __double_as_longlong((double)x[i]);
    p[i] = __nv_cvt_double_to_fp8((double)x[i] * 1.0000001, __NV_NOSAT, __NV_E4M3);
    q[i] = __nv_cvt_double_to_fp8((double)x[i] * 1.0000001, __NV_NOSAT, __NV_E5M2);"""
    arrays = {"x": given, "d": np.zeros(4, np.int64), "p": np.zeros(4, np.uint8)}
    parameters = "float* x, long long* d, unsigned char* p, unsigned char* q"
    found = run("fp8", parameters, body, 4, **arrays, q=np.zeros(4, np.uint8))
    assert found["d"].tolist() == [0x7FFFFFFFE0000000] * 4
    assert found["p"].tolist() == found["q"].tolist() == [0x7F] * 4


def test_exponentials_of_bfloat16_are_an_h200s_where_they_are_not_floats() -> None:
    cells = np.array([0x40DB, 0xBC95], np.uint16)
    body = "o[i] = hexp(a[i]); o[i + 2] = hexp10(a[i]);"
    arrays = {"a": cells, "o": np.zeros(4, np.uint16)}
    found = run("bfloat16", "__nv_bfloat16* a, __nv_bfloat16* o", body, 2, **arrays)["o"]
    assert found.tolist()[::3] == [0x446B, 0x3F75]


def test_atomics_and_steps_of_bfloat16_are_rounded() -> None:
    body = """
    atomicAdd(&o[0], __float2bfloat16(1.f));
    atomicAdd((__nv_bfloat162*)(o + 2), make_bfloat162(1, 2));
    __nv_bfloat16 v = 256; ++v; v += __float2bfloat16(1.f); v++; if (i == 0) o[1] = v;"""
    o = np.array([0x4380, 0, 0, 0], np.uint16)  # 256, from which a step of 1 goes nowhere
    found = run("bfloat16", "__nv_bfloat16* o", body, o=o)["o"]
    assert BFLOAT16.values_of(found).tolist() == [256, 256, 32, 64]


def test_conversions_to_8_bits_saturate_as_they_say() -> None:
    x = np.array([464, 464.5, 1e9, -np.inf, np.nan, 2.0**-10, 0.3, 61440, -61439], np.float32)
    body = """
    o[i] = __nv_fp8_e4m3(x[i]); p[i] = __nv_fp8_e5m2(x[i]);
    q[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
    r[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);"""
    parameters = "float* x, __nv_fp8_e4m3* o, __nv_fp8_e5m2* p, unsigned char* q, unsigned char* r"
    arrays = {"x": x, **{name: np.zeros(9, np.uint8) for name in "opqr"}}
    found = run("fp8", parameters, body, 9, **arrays)
    # cuda_fp8.hpp: 464 is half way to what e4m3 has no number for, and so is 61440 in e5m2
    assert found["o"].tolist() == [126, 126, 126, 254, 127, 0, 42, 126, 254]
    assert found["p"].tolist() == [95, 95, 123, 251, 127, 20, 53, 123, 251]
    assert found["q"].tolist() == [126, 127, 127, 255, 127, 0, 42, 127, 255]
    assert found["r"].tolist() == [95, 95, 124, 252, 127, 20, 53, 124, 251]


@pytest.mark.parametrize("word", ["e4m3", "e5m2"])
def test_numbers_of_8_bits_as_other_types(word: str) -> None:
    kind, name = TYPES[word], f"__nv_fp8_{word}"
    body = """
    f[i] = float(x[i]); h[i] = half(x[i]); n[i] = (int)x[i]; b[i] = (bool)x[i];
    u[i] = x[i].__x; c[i].__x = u[i];"""
    parameters = f"{name}* x, float* f, half* h, int* n, bool* b, unsigned char* u, {name}* c"
    arrays = {
        "x": every(kind), "f": np.zeros(256, np.float32), "h": np.zeros(256, np.float16),
        "n": np.zeros(256, np.int32), "b": np.zeros(256, np.bool_), "u": np.zeros(256, np.uint8),
        "c": np.zeros(256, np.uint8),
    }  # fmt: skip
    found = run("fp8", parameters, body, 256, **arrays)
    expected = kind.values_of(every(kind))
    assert np.array_equal(found["f"], expected, equal_nan=True)
    assert np.array_equal(found["h"], expected.astype(np.float16), equal_nan=True)
    quiet = np.where(np.isnan(expected), np.nan, expected).astype(np.float64)
    wide = np.nan_to_num(quiet, nan=0, posinf=2**31 - 1, neginf=-(2**31))
    assert np.array_equal(found["n"], np.trunc(wide))
    assert np.array_equal(found["b"], every(kind) & 127 != 0)
    assert np.array_equal(found["u"], every(kind))
    assert np.array_equal(found["c"], every(kind))


def test_pairs_and_fours_of_8_bits() -> None:
    body = """
    __nv_fp8x2_e4m3 p(x[i]); q[i] = p; y[i] = float2(p);
    __nv_fp8x4_e5m2 f(make_float4(x[i].x, x[i].y, 1.f, -2.f)); float4 g = float4(f);
    z[i] = g.x + g.y + g.z + g.w;
    half2 h = half2(p); z[i] += (float)h.x;"""
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    parameters = "float2* x, __nv_fp8x2_e4m3* q, float2* y, float* z"
    arrays = {"x": x, "q": np.zeros(4, np.uint16), "y": np.zeros_like(x)}
    arrays["z"] = np.zeros(4, np.float32)
    found = run("fp8", parameters, body, 4, **arrays)
    assert np.array_equal(found["y"], x)
    assert found["q"][1] == 0x4440  # 2 and 3
    assert np.array_equal(found["z"], x.sum(axis=1) - 1 + x[:, 0])


@pytest.mark.parametrize(
    ("head", "body", "sentence"),
    [
        ("bfloat16", "__nv_bfloat16 b = 1; b = b * 2;", "nvcc does not take * of __nv_bfloat16"),
        ("bfloat16", "__nv_bfloat16 b = 1; half h = 1; h = h + b;", "nvcc does not take + of"),
        ("fp8", "__nv_fp8_e4m3 a(1.f); a = a + a;", "compute with float(x), and convert"),
        ("fp8", "__nv_fp8_e5m2 a(1.f); float f = a;", "compute with float(x), and convert"),
        ("fp8", "__nv_fp8_e8m0 a;", "formats of 4 and 6 bits, and scales, are not supported"),
    ],
)
def test_what_is_refused(head: str, body: str, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        run(head, "float* x", body)
    assert sentence in str(caught.value)


def test_they_are_told_by_their_numbers() -> None:
    text = """#include <cuda_fp8.h>
__global__ void k(const __nv_bfloat16* a, __nv_fp8_e4m3* q, float* f) {
    __nv_bfloat16 x = a[0] * a[0] + a[1];
    q[0] = __nv_fp8_e4m3(x);
    __nv_fp8_e4m3 y = q[0];
    int bits = y.__x;
}"""
    a = BFLOAT16.cells_of(np.array([1.5, 2], np.float32))
    arguments = {"a": a, "q": np.zeros(1, np.uint8), "f": np.zeros(1, np.float32)}
    recording = record(compile_kernel(text), Launch((1, 1, 1), (1, 1, 1), arguments))
    values_of_steps = [values(recording, step, 0)[0] for step in recording.steps[:4]]
    assert values_of_steps == [
        "x = 1.5 × 1.5 + 2 = 4.25", "q[0] = 4", "y = q[0] = 4", "bits = y.__x = 72",
    ]  # fmt: skip
    assert recording.steps[-1].registers["y"].tolist() == [4]


def test_the_terminal_makes_arrays_and_numbers_of_them(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "#include <cuda_fp8.h>\n__global__ void k(__nv_bfloat16* a, __nv_fp8_e5m2* b, "
        "__nv_bfloat16 s) { a[threadIdx.x] = a[threadIdx.x] * s; b[threadIdx.x] = "
        "__nv_fp8_e5m2(a[threadIdx.x]); }"
    )
    command = [str(file), "--grid", "1", "--block", "8", "bf16:8", "e5m2:8", "bf16=1.5"]
    assert main(command) == 0, capsys.readouterr().out
