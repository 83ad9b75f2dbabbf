"""half and half2: every rounding against exact fractions, contraction, conversions, messages."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Report, SourceError, compile_kernel, record, simulate
from simulator.__main__ import main
from simulator.sentences.parts import parts

BITS = np.arange(2**16, dtype=np.uint16)
ALL = BITS.view(np.float16)
FINITE = ALL[np.isfinite(ALL)]
VALUES = [
    Fraction(value) for value in np.unique(FINITE.astype(np.float64)).tolist()
]  # every finite half, each once


def run(text: str, threads: int = 32, **arguments: Any) -> Report:
    return simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (threads, 1, 1), arguments))


def nearest(exact: Fraction) -> float:
    """A number rounded to half: the nearest, of two the one whose last bit is 0."""
    low, high = 0, len(VALUES) - 1
    if abs(exact) >= Fraction(65520):  # half way from the greatest to the next power of two
        return float("inf") if exact > 0 else float("-inf")
    while low < high - 1:  # the two neighbours
        middle = (low + high) // 2
        low, high = (middle, high) if VALUES[middle] <= exact else (low, middle)
    below, above = VALUES[low], VALUES[high]
    if exact - below == above - exact:
        even = int(np.array([float(below)], np.float16).view(np.uint16)[0]) % 2 == 0
        return float(below if even else above)
    return float(below if exact - below < above - exact else above)


def draw(count: int, seed: int) -> np.ndarray[Any, Any]:
    """Finite numbers of all sizes, most of them of a moderate one."""
    random = np.random.default_rng(seed)
    wide = random.choice(FINITE, count)
    near = random.standard_normal(count).astype(np.float16)
    return np.where(random.random(count) < 0.5, wide, near).astype(np.float16)


OPERATIONS = {
    "a[i] + b[i]": lambda a, b, c: a + b,
    "__hsub(a[i], b[i])": lambda a, b, c: a - b,
    "__hmul_rn(a[i], b[i])": lambda a, b, c: a * b,
    "a[i] / b[i]": lambda a, b, c: a / b,
    "__hfma(a[i], b[i], c[i])": lambda a, b, c: a * b + c,
    "a[i] * b[i] + c[i]": lambda a, b, c: a * b + c,
    "c[i] - a[i] * b[i]": lambda a, b, c: c - a * b,
    "__hadd(__hmul(a[i], b[i]), c[i])": lambda a, b, c: a * b + c,
}


@pytest.mark.parametrize("expression", OPERATIONS)
@pytest.mark.sample(3)
def test_each_result_is_rounded_once(expression: str) -> None:
    count = 1500
    a, b, c = (draw(count, seed) for seed in (1, 2, 3))
    b[b == 0] = 1
    # products a hair from half way between two halves: one rounding and two differ
    a[:64], b[:64] = np.float16(1 + 2**-10), np.float16(1 + 2**-10)
    c[:64] = draw(64, 4) * np.float16(2**-12)
    text = f"""
    #include <cuda_fp16.h>
    __global__ void k(const half* a, const half* b, const half* c, half* o, int n) {{
        for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = {expression};
    }}"""
    found = run(text, 256, a=a, b=b, c=c, o=np.zeros(count, np.float16), n=count).arrays["o"]
    exact = OPERATIONS[expression]
    for i in range(count):
        x, y, z = (Fraction(float(v[i])) for v in (a, b, c))
        assert float(found[i]) == nearest(exact(x, y, z)), (a[i], b[i], c[i])


def test_half2_computes_both_components() -> None:
    a, b, c = (draw(128, seed) for seed in (5, 6, 7))
    text = """
    __global__ void k(const half2* a, const __half2* b, const half2* c, half2* o, half2* p) {
        int i = threadIdx.x;
        o[i] = a[i] * b[i] + c[i];
        half2 s = a[i];
        s += b[i];
        p[i] = __hsub2(s, -c[i]);
    }"""
    zeros = np.zeros(128, np.float16)
    report = run(text, 64, a=a, b=b, c=c, o=zeros, p=zeros)
    for i in range(128):
        x, y, z = (Fraction(float(v[i])) for v in (a, b, c))
        assert float(report.arrays["o"][i]) == nearest(x * y + z)
        total = nearest(x + y)
        if np.isfinite(total):
            assert float(report.arrays["p"][i]) == nearest(Fraction(total) + z)
    assert report.counters["global_load_requests"] == 2 * 6
    assert report.counters["global_load_sectors"] == 2 * 6 * 4


ONE = np.float16(1 + 2**-9)
FUSED = float(np.float16(np.float64(ONE) * np.float64(ONE) - 1))
APART = float(np.float16(ONE * ONE) - np.float16(1))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("o[0] = a * a - one;", FUSED),
        ("half p = a * a; p -= one; o[0] = p;", FUSED),
        ("o[0] = __hsub_rn(__hmul_rn(a, a), one);", APART),
        ("half p = a * a; o[1] = p; o[0] = p - one;", APART),
        # nvcc computes a product of half that is written twice twice, and each where it is
        ("o[1] = a * a; o[0] = a * a - one;", FUSED),
        ("for (int i = 0; i < n; ++i) o[0] = a * a - o[1];", FUSED),
        ("half2 v(a, a); half2 w = v * v - half2(one, one); o[0] = w.y;", FUSED),
        ("half2 v(a, a), p = v * v; o[1] = p.x; p = p - half2(one, one); o[0] = p.y;", APART),
    ],
)
def test_a_product_fuses_with_a_sum_as_in_nvccs_machine_code(body: str, expected: float) -> None:
    assert FUSED != APART
    text = f"__global__ void k(half* o, half a, half one, int n) {{ {body} }}"
    o = np.array([0, 1], np.float16)
    report = run(text, 1, o=o, a=ONE, one=np.float16(1), n=3)
    assert float(report.arrays["o"][0]) == expected


@pytest.mark.deep
def test_every_half_converts() -> None:
    text = """
    __global__ void k(const half* a, float* f, int* i, half* h, short* s, int n) {
        for (int t = threadIdx.x; t < n; t += blockDim.x) {
            f[t] = __half2float(a[t]);
            i[t] = (int)a[t];
            h[t] = __float2half(f[t]);
            s[t] = __half2short_rn(a[t]);
        }
    }"""
    n = ALL.size
    report = run(
        text, 1024, a=ALL, f=np.zeros(n, np.float32), i=np.zeros(n, np.int32),
        h=np.zeros(n, np.float16), s=np.zeros(n, np.int16), n=n,
    )  # fmt: skip
    arrays, ok = report.arrays, ~np.isnan(ALL)
    assert np.array_equal(arrays["f"][ok], ALL[ok].astype(np.float32))
    assert np.array_equal(arrays["h"][ok], ALL[ok])
    wide = np.clip(np.nan_to_num(ALL.astype(np.float64), nan=0), -(2.0**31), 2.0**31 - 1)
    assert np.array_equal(arrays["i"], np.trunc(wide).astype(np.int64))
    assert np.array_equal(arrays["s"], np.clip(np.rint(wide), -32768, 32767).astype(np.int16))


EXPRESSIONS = {
    "__float2half_rz(0.1f)": 0.0999755859375,
    "__float2half_ru(0.1f)": 0.0999755859375 + 2**-14,
    "__float2half_rz(1e9f)": 65504.0,
    "__float2half(1e9f)": np.inf,
    "__int2half_rd(2049)": 2048.0,
    "__int2half_ru(2049)": 2050.0,
    "__hmax(__float2half(NAN), __float2half(2.0f))": 2.0,
    "__hadd_sat(__float2half(0.75f), __float2half(0.75f))": 1.0,
    "__hfma_relu(__float2half(-1.0f), __float2half(1.0f), __float2half(0.5f))": 0.0,
    "hsqrt(__float2half(2.0f))": float(np.float16(np.sqrt(2))),
    "hexp(__float2half(1.0f))": float(np.float16(np.e)),
    "hfloor(__float2half(-1.5f))": -2.0,
    "__short_as_half(0x3C00)": 1.0,
    "half(7)": 7.0,
    "-half(7)": -7.0,
    "CUDART_MAX_NORMAL_FP16": 65504.0,
    "__high2half(__halves2half2(half(1), half(2)))": 2.0,
    "__lowhigh2highlow(make_half2(1, 2)).x": 2.0,
    "__low2float(__float2half2_rn(3.0f))": 3.0,
    "__hgt2(make_half2(1, 2), make_half2(0, 3)).x": 1.0,
    "__hisnan(__float2half(NAN))": 1.0,
    "__hbge2(make_half2(1, 3), make_half2(0, 3))": 1.0,
    "__heq(half(1), half(1)) && half(2) > half(1) && half(1) != half(2)": 1.0,
    "__hltu(__float2half(NAN), half(1)) && !__hlt(__float2half(NAN), half(1))": 1.0,
    "make_half2(1, 2) == make_half2(1, 2)": 1.0,
    "sizeof(half2) + alignof(half2)": 8.0,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.sample(2)
def test_functions(expression: str) -> None:
    expected = EXPRESSIONS[expression]
    text = f"__global__ void k(double* o) {{ o[0] = {expression}; }}"
    assert run(text, 1, o=np.zeros(1)).arrays["o"][0] == expected


def test_a_compound_assignment_rounds_its_value_to_half_first() -> None:
    text = "__global__ void k(half* o, float f) { o[0] += f; o[0] *= 3; ++o[0]; }"
    o = np.array([1], np.float16)
    first = np.float16(1) + np.float16(0.1)
    found = run(text, 1, o=o, f=0.1).arrays["o"][0]
    assert found == np.float16(first * np.float16(3)) + np.float16(1)


def test_shared_half_takes_a_wavefront_for_a_warp() -> None:
    text = """
    __global__ void k(const half* a, half* o) {
        __shared__ half s[64];
        s[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        o[threadIdx.x] = s[threadIdx.x ^ 1];
    }"""
    a = draw(32, 8)
    report = run(text, 32, a=a, o=np.zeros(32, np.float16))
    assert np.array_equal(report.arrays["o"].reshape(16, 2), a.reshape(16, 2)[:, ::-1])
    assert report.counters["shared_load_wavefronts"] == 1
    assert report.counters["global_load_sectors"] == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("o[0] = o[0] * 2;", r"nvcc does not take \* of half and int"),
        ("if (o[0] > 0.5f) o[0] = 1;", "nvcc does not take > of half and float"),
        ("o[0] = n ? o[0] : 1.0f;", "nvcc does not take [?]: of half and float"),
        ("half2* p = (half2*)o; p[n++] += half2(1, 1);", "x = x [+] y"),
        ("__nv_bfloat16 b;", "bfloat16"),
    ],
)
def test_what_nvcc_or_the_simulator_refuses(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        compile_kernel(f"__global__ void k(half* o, int n) {{ {body} }}", "k")


def test_a_step_shows_half_and_half2() -> None:
    text = (
        "__global__ void k(half* o, const half2* v) {\n"
        "  half a = o[threadIdx.x] * __float2half(0.5f);\n"
        "  half2 s = v[0] + v[1];\n"
        "  o[threadIdx.x] = __hadd(a, s.y);\n"
        "}"
    )
    v = np.array([1, 2, 3, 4], np.float16)
    launch = Launch((1, 1, 1), (4, 1, 1), {"o": np.ones(4, np.float16), "v": v})
    recording = record(compile_kernel(text, "k"), launch)
    first, second, third = recording.steps
    assert first.registers["a"].tolist() == [0.5] * 4
    assert second.registers["s"].tolist() == [[4, 6]] * 4
    assert third.outputs["o"].tolist() == [6.5] * 4
    summaries = [part.summary for step in recording.steps for part in parts(recording, step, 0)]
    assert "a = 0.5" in summaries
    assert "__hadd(a, s.y) = 0.5 + 6 = 6.5, rounded once" in summaries


def test_the_terminal_takes_half_and_whole_numbers_of_every_width(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, outputs = tmp_path / "k.cu", tmp_path / "out.npz"
    source.write_text(
        "__global__ void k(half* a, signed char* b, unsigned char* c, short* d, unsigned short* e,"
        " long long* f, unsigned long long* g, half h, unsigned char u, long long n) {"
        " int i = threadIdx.x; a[i] = h; b[i] = -u; c[i] = u; d[i] = n; e[i] = n; f[i] = n;"
        " g[i] = n; }"
    )
    arrays = [f"{name}:8" for name in ("f16", "i8", "u8", "i16", "u16", "i64", "u64")]
    arguments = [*arrays, "f16=1.5", "u8=200", "i64=-5000000000"]
    command = [str(source), "--kernel", "k", "--grid", "1", "--block", "8", *arguments]
    assert main([*command, "--outputs", str(outputs)]) == 0, capsys.readouterr()
    n = -5_000_000_000
    with np.load(outputs) as after:
        found = {name: (after[name].dtype.name, after[name][3].item()) for name in after}
    assert found == {
        "a": ("float16", 1.5), "b": ("int8", 56), "c": ("uint8", 200),
        "d": ("int16", int(np.int64(n).astype(np.int16))),
        "e": ("uint16", int(np.int64(n).astype(np.uint16))),
        "f": ("int64", n), "g": ("uint64", n % 2**64),
    }  # fmt: skip
