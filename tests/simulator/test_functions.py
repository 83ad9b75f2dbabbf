"""CUDA's functions of numbers: each against Python's exact arithmetic, math or g++."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, record, simulate
from simulator.machine.rounding import ROUNDED_FUNCTIONS
from simulator.sentences.parts import parts
from tests.simulator.launches import launch_text, run_text

NAMES = {"double": np.float64, "long long": np.int64, "unsigned long long": np.uint64}


def evaluate(expression: str, ctype: str = "double", before: str = "") -> Any:
    """The value of an expression, as thread 0 stores it."""
    text = f"__global__ void k({ctype}* o) {{ {before} o[0] = {expression}; }}"
    return run_text(text, block=1, o=np.zeros(1, NAMES[ctype])).arrays["o"][0]


WHOLE: dict[str, int] = {
    "__popc(0xF0F0u)": 8, "__popcll(-1ll)": 64, "__clz(0)": 32, "__clz(1)": 31, "__clz(-1)": 0,
    "__clzll(1ll << 40)": 23, "__clzll(0)": 64, "__ffs(0)": 0, "__ffs(8)": 4, "__ffs(-1)": 1,
    "__ffsll(1ll << 63)": 64, "__brev(1u)": 2**31, "__brev(0xF0u)": 0x0F000000,
    "(long long)__brevll(2ull)": 2**62, "__byte_perm(0x33221100, 0x77665544, 0x7410)": 0x77441100,
    "__byte_perm(0x80, 0, 0x8888)": 0x80808080, "__funnelshift_l(0x80000000, 1, 1)": 3,
    "__funnelshift_r(1, 1, 1)": 0x80000000, "__funnelshift_l(5, 7, 32)": 7,
    "__funnelshift_lc(5, 7, 40)": 5, "__funnelshift_rc(5, 7, 40)": 7,
    "__mulhi(-5, 7)": -1, "__mulhi(1 << 30, 8)": 2, "__umulhi(4294967295u, 4294967295u)": 2**32 - 2,
    "__mul64hi(1ll << 62, -8)": -2, "(long long)__umul64hi(1ull << 63, 6)": 3,
    "__sad(-3, 4, 10u)": 17, "__usad(3u, 4294967295u, 1u)": 4294967293, "__hadd(-3, 0)": -2,
    "__rhadd(-3, 0)": -1, "__hadd(2147483647, 2147483645)": 2147483646,
    "__uhadd(4294967295u, 1u)": 2**31, "__urhadd(4294967295u, 2u)": 2**31 + 1,
    "__dp4a(0x01020380, 0x02020202, 5)": 5 + 2 * (1 + 2 + 3 - 128),
    "__dp4a(0x01020380u, 0x02020202u, 5u)": 5 + 2 * (1 + 2 + 3 + 128),
    "__dp2a_lo(0x0003FFFE, 0x04030205, 1)": 1 + 3 * 2 - 2 * 5,
    "__dp2a_hi(0x0003FFFEu, 0x04030205u, 1u)": 1 + 3 * 4 + 0xFFFE * 3,
    "__vadd4(0x01020304u, 0xFF0101FFu)": 0x00030403, "__vsub2(0x00010000u, 1u)": 0x0001FFFF,
    "__vaddus4(0x80FF0110u, 0x80020110u)": 0xFFFF0220,
    "__vsubus2(0x00050003u, 0x00030005u)": 1 << 17,
    "__vaddss4(0x7F80FF01u, 0x0180FF01u)": 0x7F80FE02, "__vabs4(0x80FF7F01u)": 0x80017F01,
    "__vabsss2(0x8000FFFFu)": 0x7FFF0001, "__vneg2(0x00018000u)": 0xFFFF8000,
    "__vmaxs2(0xFFFF0002u, 1u)": 2, "__vmaxu2(0xFFFF0002u, 1u)": 0xFFFF0002,
    "__vmins4(0x80010203u, 0x01010101u)": 0x80010101, "__vminu4(0x80010203u, 1u)": 1,
    "__vabsdiffu4(0x01FF0005u, 0xFF010007u)": 0xFEFE0002, "__vabsdiffs2(0xFFFF0001u, 1u)": 1 << 16,
    "__vsadu4(0x01FF0005u, 0xFF010007u)": 254 + 254 + 2, "__vsads2(0xFFFF0001u, 4u)": 1 + 3,
    "__vavgu4(0x00FF0102u, 0x01FF0203u)": 0x01FF0203, "__vhaddu4(0x01FF0203u, 0u)": 0x007F0101,
    "__vcmpgts4(0x80010002u, 0x00000102u)": 0x00FF0000,
    "__vseteq2(0x00050001u, 0x00050002u)": 1 << 16,
    "__vcmpgtu4(0x80010002u, 0x00000102u)": 0xFFFF0000,
    "__vsetltu2(0x0001FFFFu, 0x00020000u)": 1 << 16,
    "__float_as_int(1.0f)": 0x3F800000, "__double_as_longlong(-0.0)": -(2**63),
    "__double2hiint(1.0)": 0x3FF00000, "__double2loint(__hiloint2double(7, -9))": -9,
    "max(1, 2u)": 2, "min(-1, 1u)": 1, "max(-1l, 1ul)": -1, "min(3, 2)": 2, "llmax(-1, 4)": 4,
    "umin(-1, 4)": 4, "abs(-3ll)": 3, "labs(-3l)": 3, "llabs(-4ll)": 4, "abs((short)-7)": 7,
    "lrintf(2.5f)": 2, "llround(2.5)": 3, "lround(-0.5)": -1, "ilogb(0.3)": -2,
    "ilogbf(0.0f)": -(2**31), "signbit(-0.0f)": 1, "isfinite(1.0f / 0.0f)": 0, "isnan(NAN)": 1,
    "__float2int_rn(2.5f)": 2, "__float2int_rz(-2.9f)": -2, "__float2int_ru(2.1f)": 3,
    "__float2int_rd(-2.1f)": -3, "__float2uint_rn(-4.0f)": 0, "__float2int_rz(1e20f)": 2**31 - 1,
    "__double2ll_rd(-2.5)": -3, "__double2uint_ru(4294967290.5)": 4294967291,
    "__float2int_rn(NAN)": 0, "__double2int_rn(0.0 / 0.0)": -(2**31),
    "__float2ll_rn(NAN)": -(2**63), "(1ll << 40) >> 38": 4, "-1ll < 1ull": 0, "INT64_MAX > 0": 1,
    "UINT64_MAX == ~0ull": 1, "CHAR_BIT + SHRT_MAX": 32775, "sizeof(long long)": 8,
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("expression", WHOLE)
def test_whole_numbers(expression: str) -> None:
    assert int(evaluate(expression, "long long")) == WHOLE[expression]


REAL: dict[str, float] = {
    "sqrt(2)": math.sqrt(2), "pow(2, 0.5)": math.sqrt(2), "pow(2.0f, 3)": 8, "fmin(1.0f, 2)": 1,
    "fmax(0.0, -0.0)": 0.0, "rsqrt(4.0)": 0.5, "rcbrtf(8.0f)": 0.5, "exp10(3.0)": 1000,
    "exp10f(2.0f)": 100, "sinpi(1.0)": 0, "cospi(0.5)": 0, "cospif(1.0f)": -1, "logb(0.3)": -2,
    "nearbyintf(2.5f)": 2, "remainder(7.0, 4.0)": -1, "ldexp(1.5, 4)": 24,
    "scalbnf(1.0f, -3)": 0.125,
    "erf(0.5)": math.erf(0.5), "erfc(2.0)": math.erfc(2.0), "erf(erfinv(0.25))": 0.25,
    "erfc(-erfinv(-0.999999))": 1 - 0.999999, "normcdf(0.0)": 0.5, "tgamma(5.0)": 24,
    "lgamma(10.0)": math.lgamma(10), "asinh(1.0)": math.asinh(1), "acosh(2.0)": math.acosh(2),
    "atanhf(0.5f)": float(np.float32(math.atanh(0.5))), "norm3d(1.0, 2.0, 2.0)": 3,
    "rnorm3df(1.0f, 2.0f, 2.0f)": float(np.float32(1) / np.float32(3)), "rhypot(3.0, 4.0)": 0.2,
    "nextafter(1.0, 2.0)": 1 + 2**-52, "fdividef(3.0f, 2.0f)": 1.5,
    "__fdividef(1.0f, 3.0e38f)": 0.0, "__saturatef(1.5f)": 1, "__saturatef(NAN)": 0,
    "__powf(2.0f, 3.0f)": 8, "__log2f(8.0f)": 3, "__frsqrt_rn(16.0f)": 0.25,
    "__int_as_float(0x40490FDB)": float(np.float32(math.pi)), "CUDART_PI_F": np.float32(math.pi),
    "CUDART_TWO_TO_23_F": 2**23, "CUDART_TWOTHIRD": 2 / 3, "CUDART_NEG_ZERO": -0.0,
    "CUDART_2_OVER_PI_F": float(np.float32(2 / math.pi)), "CUDART_LNT": math.log(10),
    "CUDART_INF_F": math.inf, "HUGE_VALF": math.inf, "M_PI_2": math.pi / 2, "std::abs(-2.5f)": 2.5,
    "std::sqrt(9.0)": 3, "__longlong_as_double(0x3FF0000000000000ll)": 1,
    "fmodf(5.5f, 2.0f)": 1.5, "1.0 / CUDART_INF": 0,
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("expression", REAL)
def test_real_numbers(expression: str) -> None:
    assert evaluate(expression) == pytest.approx(REAL[expression], rel=4e-16, abs=2e-17)


def test_the_library_compares_in_constant_expressions_too() -> None:
    text = """
    constexpr int ROWS = std::max(3, 4), COLUMNS = std::numeric_limits<unsigned char>::max() + 1;
    __global__ void k(float* x, double* d) {
        __shared__ float tile[ROWS][COLUMNS];
        tile[3][255] = std::clamp(x[0], 0.f, 1.f);
        x[0] = std::min<float>(tile[3][255], 2);
        x[1] = std::max(2.5f, NAN);
        x[2] = -std::numeric_limits<float>::infinity();
        d[0] = std::numeric_limits<double>::lowest() + std::numeric_limits<double>::epsilon();
        d[1] = std::numeric_limits<long long>::min() + ROWS * COLUMNS * 4;
    }"""
    arrays = {"x": np.full(3, 7, np.float32), "d": np.zeros(2)}
    found = simulate(compile_kernel(text), Launch((1, 1, 1), (1, 1, 1), arrays)).arrays
    assert found["x"].tolist() == [1, 2.5, -math.inf]
    assert found["d"].tolist() == [-sys.float_info.max, -(2.0**63) + 4096]


def test_words_of_all_threads_beside_one() -> None:
    text = "__global__ void k(unsigned* o, unsigned b) { unsigned i = threadIdx.x; o[i] =" \
           " __vadd4(i, b) + __vsadu4(b, i) + __dp2a_lo(i, b, 0u) + __vcmpeq2(i, b); }"  # fmt: skip
    lanes = np.arange(8)
    sums = lanes + 3 + np.abs(lanes - 3) + lanes * 3
    found = run_text(text, block=8, o=np.zeros(8, np.uint32), b=3).arrays["o"]
    equal = np.where(lanes == 3, 2**32 - 1, 2**32 - 2**16)  # the upper halfwords are
    assert found.tolist() == ((sums + equal) % 2**32).tolist()


OUTPUTS = {
    "float s, c; sincosf(0.5f, &s, &c);": ("s * 1000 + c", math.sin(0.5) * 1000 + math.cos(0.5)),
    "double s, c; sincospi(0.5, &s, &c);": ("s * 10 + c", 10),
    "int e; double f = frexp(12.0, &e);": ("f * 100 + e", 79),
    "double w; double f = modf(-3.25, &w);": ("f * 100 + w", -28),
    "float w; float f = modff(2.5f, &w);": ("f * 100 + w", 52),
}


@pytest.mark.parametrize("before", OUTPUTS)
def test_results_through_pointers(before: str) -> None:
    expression, expected = OUTPUTS[before]
    assert evaluate(expression, before=before) == pytest.approx(expected, rel=1e-6)


def test_results_through_pointers_into_an_array_are_its_values() -> None:
    text = "__global__ void k(const float* x, float* s, float* c) {" \
           " int i = threadIdx.x; sincosf(x[i], s + i, &c[i]); }"  # fmt: skip
    x = np.linspace(0, 3, 8, dtype=np.float32)
    report = run_text(text, block=8, x=x, s=np.zeros_like(x), c=np.zeros_like(x))
    assert report.hazards == ()
    assert np.array_equal(report.arrays["s"], np.sin(x))
    assert np.array_equal(report.arrays["c"], np.cos(x))
    assert report.counters["global_store_requests"] == 2


def test_a_step_shows_the_call() -> None:
    text = "__global__ void k(int* o) {\n  o[threadIdx.x] = __popc(threadIdx.x + 7);\n}"
    recording = record(*launch_text(text, block=4, o=np.zeros(4, np.int32)))
    summaries = [part.summary for part in parts(recording, recording.steps[0], 0)]
    assert any(summary.endswith("__popc(0 + 7) = 3") for summary in summaries), summaries


# Roundings, with the processor's own as the judge ---------------------------------------------

CXX = shutil.which("g++")
ROUNDINGS = {"rn": "FE_TONEAREST", "rz": "FE_TOWARDZERO", "ru": "FE_UPWARD", "rd": "FE_DOWNWARD"}
OPERATIONS = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b", "sqrt": "std::sqrt(a)",
    "rcp": "1 / a", "fma": "std::fma(a, b, a)",
}  # fmt: skip
PROGRAM = """
#include <cfenv>
#include <cmath>
#include <cstdio>
template <typename T> void run(const char* file) {{
    T a, b;
    FILE* in = fopen(file, "rb");
    while (fread(&a, sizeof a, 1, in) && fread(&b, sizeof b, 1, in)) {{
        {lines}
    }}
}}
int main(int, char** argv) {{ argv[1][0] == 'f' ? run<float>(argv[2]) : run<double>(argv[2]); }}
"""


def operands(dtype: Any) -> np.ndarray[Any, Any]:
    """Pairs of numbers of all sizes, with zeros, infinities and subnormals: [n, 2]."""
    info = np.finfo(dtype)
    draw = np.random.default_rng(3)
    exponents = draw.integers(info.minexp - 10, info.maxexp, (150, 2))
    wide = np.ldexp(draw.uniform(-2, 2, (150, 2)).astype(dtype), exponents)
    near = (draw.uniform(0.5, 2, (100, 2)) * draw.choice([-1, 1], (100, 2))).astype(dtype)
    special = [0.0, -0.0, 1.0, -1.0, 3.0, np.inf, info.max, info.tiny, info.smallest_subnormal]
    pairs = np.array([(x, y) for x in special for y in special], dtype)
    return np.concatenate([wide.astype(dtype), near, pairs])


@pytest.mark.skipif(CXX is None, reason="needs g++")
@pytest.mark.parametrize("width", ["f", "d"])
def test_directed_roundings_are_those_of_the_processor(width: str, tmp_path: Path) -> None:
    dtype = np.float32 if width == "f" else np.float64
    pairs = operands(dtype)
    lines = "\n".join(
        f"fesetround({mode}); {{ volatile T x = a, y = b; T a = x, b = y; volatile T r = {code};"
        " T s = r; fwrite(&s, sizeof s, 1, stdout); }"
        for code in OPERATIONS.values()
        for mode in ROUNDINGS.values()
    )
    source, program, data = tmp_path / "r.cpp", tmp_path / "r", tmp_path / "data"
    source.write_text(PROGRAM.format(lines=lines))
    data.write_bytes(pairs.tobytes())
    assert CXX is not None
    subprocess.run([CXX, "-O0", "-frounding-math", "-o", program, source], check=True)
    output = subprocess.run([program, width, data], check=True, capture_output=True).stdout
    judged = np.frombuffer(output, dtype).reshape(len(pairs), len(OPERATIONS), len(ROUNDINGS))
    a, b = pairs.T
    with np.errstate(all="ignore"):
        for i, name in enumerate(OPERATIONS):
            for j, mode in enumerate(ROUNDINGS):
                if name == "fma":
                    function = ROUNDED_FUNCTIONS[f"__{'fmaf' if width == 'f' else 'fma'}_{mode}"]
                    got = function(a, b, a)
                else:
                    function = ROUNDED_FUNCTIONS[f"__{width}{name}_{mode}"]
                    got = function(a) if name in ("sqrt", "rcp") else function(a, b)
                expected = judged[:, i, j]
                same = (got == expected) & (np.signbit(got) == np.signbit(expected))
                same |= np.isnan(got) & np.isnan(expected)
                assert same.all(), (name, mode, pairs[~same][:3], got[~same][:3])


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_whole_numbers_become_floats_in_a_direction(mode: str) -> None:
    for value in (16777217, -16777217, 16777216, 0, 2**62 + 1, -(2**62) - 1, 2**63 - 1):
        found = float(ROUNDED_FUNCTIONS[f"__ll2float_{mode}"](np.array([value], np.int64))[0])
        above = _float32_at_least(value)
        below = -_float32_at_least(-value)
        match mode:
            case "ru":
                assert found == above
            case "rd":
                assert found == below
            case "rz":
                assert found == (below if value > 0 else above)
            case _:
                assert found in (above, below)
                assert abs(found - value) == min(above - value, value - below)


def _float32_at_least(value: int) -> float:
    """The least float32 that is not less than a whole number, found by stepping its bits."""
    (bits,) = struct.unpack("<I", struct.pack("<f", abs(value)))
    for step in (-1, 0, 1):
        (near,) = struct.unpack("<f", struct.pack("<I", max(0, bits + step)))
        candidates = near if value >= 0 else -near
        if value >= 0 and candidates >= value:
            return float(candidates)
        if value < 0 and candidates < value:
            return float(struct.unpack("<f", struct.pack("<I", bits + step - 1))[0] * -1)
    return float(-near) if value < 0 else float(near)
