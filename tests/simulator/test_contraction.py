"""Which products fuse with a sum: what nvcc 13 does for sm_90, chain by chain, bit for bit."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from simulator import Kernel, Launch, compile_kernel, record, simulate
from simulator.sentences.parts import parts

# A kernel's statements over floats a, b, c, d and acc, the float instructions that nvcc makes of
# them, as its machine code lists them, and which result is stored as acc.
CHAINS = {
    "float p = a * b; acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; acc += p; o[i+32] = p;": ("mul(a, b); add(acc, t0)", "t1"),
    "float p = a * b; acc = p + p;": ("mul(a, b); fma(a, b, t0)", "t1"),
    "acc = a * b + a * b;": ("mul(a, b); fma(a, b, t0)", "t1"),
    "float p = a * b; acc = p + c; o[i+32] = p + d;": ("fma(a, b, d); fma(a, b, c)", "t1"),
    "acc = a * b + c * d;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float p = a * b; float q = c * d; acc = p + q;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float p = a * b; acc = p - acc;": ("fma(a, b, -acc)", "t0"),
    "float p = a * b; acc = acc - p;": ("fma(-a, b, acc)", "t0"),
    "float p = -(a * b); acc += p;": ("fma(-a, b, acc)", "t0"),
    "float p = a; p *= b; acc += p;": ("fma(a, b, acc)", "t0"),
    "acc = a * b * c + d;": ("mul(a, b); fma(c, t0, d)", "t1"),
    "acc = a * 2.0f + b;": ("fma(a, 2, b)", "t0"),
    "acc = a * a + b * b;": ("mul(b, b); fma(a, a, t0)", "t1"),
    "acc = (a * b + c) * d + acc;": ("fma(a, b, c); fma(d, t0, acc)", "t1"),
    "acc = a * b + c * d + a * c + b * d;": (
        "mul(c, d); fma(a, b, t0); fma(a, c, t1); fma(b, d, t2)", "t3"),
    "acc = a * b - c * d;": ("mul(c, d); fma(a, b, -t0)", "t1"),
    "acc = acc + (a * b + c * d);": ("mul(c, d); fma(a, b, t0); add(acc, t1)", "t2"),
    "float p = a * b; acc += p; acc += p;": ("fma(a, b, acc); fma(a, b, t0)", "t1"),
    "float p = a * b; float q = p + c; acc = p * q;": ("mul(a, b); add(c, t0); mul(t0, t1)", "t2"),
    "float p = a * b; acc = c * d + p;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float p = a * b; float q = c * d; acc = q + p;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "acc = a + (b - a) * c;": ("add(-a, b); fma(c, t0, a)", "t1"),
    "acc = ((a * b + c) * b + d) * b + acc;": (
        "fma(a, b, c); fma(b, t0, d); fma(b, t1, acc)", "t2"),
    "acc += mul(a, b);": ("fma(a, b, acc)", "t0"),
    "float p = mul(a, b); acc += p;": ("fma(a, b, acc)", "t0"),
    "acc = fm(a, b, mul(c, d));": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float dd = a - b; acc += dd * dd;": ("add(a, -b); fma(t0, t0, acc)", "t1"),
    "float p = a * b; float q = p; acc += q;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; acc = p * 0.5f + p;": ("mul(a, b); fma(t0, 0.5, t0)", "t1"),
    "acc = a * b; acc += c * d;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float s = a * b; s += c * d; s += a * c; acc = s;": (
        "mul(c, d); fma(a, b, t0); fma(a, c, t1)", "t2"),
    "acc = c * d + a * b;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "float p = a * b; __syncthreads(); acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; float q = -p; acc += q;": ("fma(-a, b, acc)", "t0"),
    "float p = a * b; acc += -p;": ("fma(-a, b, acc)", "t0"),
    "float p; p = a * b; acc += p; p = c * d; acc += p;": ("fma(a, b, acc); fma(c, d, t0)", "t1"),
    "float p = a * b; float q = c * d; acc += p + q;": (
        "mul(c, d); fma(a, b, t0); add(acc, t1)", "t2"),
    "acc = a * b + c; o[i+32] = a * b + d;": ("fma(a, b, d); fma(a, b, c)", "t1"),
    "float p = a * b; p += c; acc += p;": ("fma(a, b, c); add(acc, t0)", "t1"),
    "acc *= b; acc += c;": ("fma(b, acc, c)", "t0"),
    "acc = acc * b; acc = acc + c;": ("fma(b, acc, c)", "t0"),
    "float p = 2.0f * a; acc += p;": ("fma(a, 2, acc)", "t0"),
    "acc = a + a * b;": ("fma(a, b, a)", "t0"),
    "acc = a - a * b;": ("fma(-a, b, a)", "t0"),
    "acc = (a * b - c) + (c * d - a);": ("fma(a, b, -c); fma(c, d, -a); add(t0, t1)", "t2"),
    "acc = (a * b + c * d) - (a * d + b * c);": (
        "mul(c, d); mul(a, d); fma(a, b, t0); fma(b, c, t1); add(t2, -t3)", "t4"),
    "acc = (a * b) * 0.5f + (c * d) * 2.0f;": (
        "mul(c, d); fma(c, d, t0); mul(a, b); fma(t2, 0.5, t1)", "t3"),
    "acc = a * b * c * d + a;": ("mul(a, b); mul(c, t0); fma(d, t1, a)", "t2"),
    "acc = (a + b) * (c + d) + acc;": ("add(a, b); add(c, d); fma(t0, t1, acc)", "t2"),
    "acc = (a * b + c) + d * a;": ("fma(a, b, c); fma(a, d, t0)", "t1"),
    "acc = d * a + (a * b + c);": ("fma(a, b, c); fma(a, d, t0)", "t1"),
    "acc = d * a + (b + c);": ("add(b, c); fma(a, d, t0)", "t1"),
    "acc = 0; acc += a * b; acc += c * d;": ("fma(a, b, 0); fma(c, d, t0)", "t1"),
    "float t = a - b; acc = t * t + c; o[i+32] = t;": ("add(a, -b); fma(t0, t0, c)", "t1"),
    "float p = a * b; float q = p + c; float r = p + d; acc = q * r;": (
        "fma(a, b, c); fma(a, b, d); mul(t0, t1)", "t2"),
    "float p = a * b; acc = (p + c) + p;": ("fma(a, b, c); fma(a, b, t0)", "t1"),
    "float p = a * b; acc = p - p * c;": ("mul(a, b); fma(c, -t0, t0)", "t1"),
    "float p = a * b; acc = c - p; o[i+32] = p - d;": ("fma(a, b, -d); fma(-a, b, c)", "t1"),
    "acc = -(a * b) + c;": ("fma(-a, b, c)", "t0"),
    "acc = -(a * b) - c;": ("fma(-a, b, -c)", "t0"),
    "acc = -a * b + c;": ("fma(-a, b, c)", "t0"),
    "acc = a * -b - c * d;": ("mul(c, d); fma(-a, b, -t0)", "t1"),
    "acc = a * b - a * b;": ("mul(a, b); add(t0, -t0)", "t1"),
    "float re = a * c - b * d; float im = a * d + b * c; acc = re; o[i+32] = im;": (
        "mul(a, d); mul(b, d); fma(b, c, t0); fma(a, c, -t1)", "t3"),
    "float re = a * c - b * d; float im = a * d + b * c; acc = im; o[i+32] = re;": (
        "mul(a, d); mul(b, d); fma(b, c, t0); fma(a, c, -t1)", "t2"),
    "float3 v = make_float3(a, b, c); acc = v.x * v.x + v.y * v.y + v.z * v.z;": (
        "mul(b, b); fma(a, a, t0); fma(c, c, t1)", "t2"),
    "float p = a * b; if (n > 3) acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; if (n > 3) { acc += p; __syncthreads(); acc += c; }": (
        "fma(a, b, acc); add(c, t0)", "t1"),
    "float p = n > 3 ? a * b : c; acc += p;": ("mul(a, b); add(acc, t0)", "t1"),
    "if (n > 3) acc = a * b; acc += c;": ("mul(a, b); add(c, t0)", "t1"),
    "n > 3 ? (acc *= b) : c; acc += c;": ("mul(acc, b); add(c, t0)", "t1"),
    "n > 3 && (acc *= b); acc += c;": ("mul(acc, b); add(c, t0)", "t1"),
    "n < 3 || (acc *= b); acc += c;": ("mul(acc, b); add(c, t0)", "t1"),
    "float p; n > 3 && (p = a * b); acc += p;": ("mul(a, b); add(acc, t0)", "t1"),
    "float p = a * b; n > 3 ? (d = 1) : c; acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; n > 3 && (d += c); acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; acc += n > 3 ? (d += p) : 0;": ("fma(a, b, d); add(acc, t0)", "t1"),
    "float p = a * b; acc = fmaxf(p, 0.0f) + acc; acc = p > 0 ? p : acc;": ("mul(a, b)", ""),
    "float p = a * b; if (n > 3) acc += p; o[i+32] = p;": ("mul(a, b); add(acc, t0)", "t1"),
    "__shared__ float s[32]; s[i] = a * b; __syncthreads(); acc += s[i];": (
        "mul(a, b); add(acc, t0)", "t1"),
    "acc += n > 3 ? a * b : 0.0f;": ("mul(a, b); add(acc, t0)", "t1"),
    "acc = fabsf(a * b) + c;": ("mul(a, b)", ""),
    "acc = c + a * b; o[i+32] = a * b;": ("mul(a, b); add(c, t0)", "t1"),
    "acc = a * b + c; o[i+32] = (b * a) * d;": ("mul(a, b); mul(d, t0); add(c, t0)", "t2"),
    "acc += x[i] * x[i+32]; o[i+32] = x[i] * x[i+32];": ("mul(a, b); add(acc, t0)", "t1"),
    "for (int k = 0; k < n; ++k) acc += a * b;": (
        "mul(a, b); add(acc, t0); add(t1, t0); add(t2, t0); add(t3, t0); add(t4, t0)", "t5"),
    "for (int k = 0; k < n; ++k) { float p = a * b; acc += p; }": (
        "mul(a, b); add(acc, t0); add(t1, t0); add(t2, t0); add(t3, t0); add(t4, t0)", "t5"),
    "for (int k = 0; k < n; ++k) acc = acc * a + b * c;": (
        "mul(b, c); fma(a, acc, t0); fma(a, t1, t0); fma(a, t2, t0); fma(a, t3, t0); "
        "fma(a, t4, t0)", "t5"),
    "for (int k = 0; k < n; ++k) { acc *= b; acc += c; }": (
        "fma(acc, b, c); fma(t0, b, c); fma(t1, b, c); fma(t2, b, c); fma(t3, b, c)", "t4"),
}  # fmt: skip
TEXT = """__device__ float mul(float u, float v) {{ return u * v; }}
__device__ float fm(float u, float v, float w) {{ return u * v + w; }}
__global__ void k(float* o, const float* x, int n) {{
    int i = threadIdx.x;
    float a = x[i], b = x[i+32], c = x[i+64], d = x[i+96];
    float acc = x[i+128];
    {}
    o[i] = acc;
}}"""
VALUES = np.random.default_rng(11).standard_normal((5, 32), dtype=np.float32)


def exactly(operation: str, arguments: list[np.float32]) -> np.float32:
    """One instruction, rounded once, by exact fractions."""
    exact = [Fraction(float(value)) for value in arguments]
    match operation:
        case "fma":
            total = exact[0] * exact[1] + exact[2]
        case "mul":
            total = exact[0] * exact[1]
        case "div":
            total = exact[0] / exact[1]
        case _:
            total = exact[0] + exact[1]
    return nearest(total)


def nearest(exact: Fraction) -> np.float32:
    """The float32 nearest to a fraction, ties to even."""
    near = np.float32(float(exact))
    candidates = [np.nextafter(near, np.float32(-np.inf)), near,
                  np.nextafter(near, np.float32(np.inf))]  # fmt: skip

    def distance(value: np.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(value)) - exact), int(value.view(np.int32)) & 1

    return min(candidates, key=distance)


def expected(chain: str, lane: int) -> dict[str, np.float32]:
    known = {name: VALUES[i, lane] for i, name in enumerate(("a", "b", "c", "d", "acc"))}
    for number, instruction in enumerate(chain.split("; ")):
        operation, inside = re.fullmatch(r"(\w+)\((.*)\)", instruction).groups()  # type: ignore[union-attr]  # the table's form
        arguments = []
        for name in inside.split(", "):
            bare = name.removeprefix("-")
            value = known[bare] if bare in known else np.float32(bare)
            arguments.append(-value if name.startswith("-") else value)
        known[f"t{number}"] = exactly(operation, arguments)
    return known


def launched(body: str) -> tuple[Kernel, Launch]:
    kernel = compile_kernel(TEXT.format(body), "k")
    arguments = {"o": np.zeros(64, np.float32), "x": VALUES, "n": 5}
    return kernel, Launch((1, 1, 1), (32, 1, 1), arguments)


@pytest.mark.sample(2)
@pytest.mark.parametrize("body", CHAINS)
def test_as_nvcc_rounds(body: str) -> None:
    chain, result = CHAINS[body]
    kernel, launch = launched(body)
    doubtful = body.startswith(("if (", "n > 3", "n < 3", "float p; n"))
    assert bool(kernel.warnings) <= doubtful, "only paths that meet are named in doubt"
    found = simulate(kernel, launch).arrays["o"]
    recorded = record(kernel, launch).steps[-1].outputs["o"]
    assert np.array_equal(found, recorded)
    for lane in range(32):
        known = expected(chain, lane)
        if result:
            assert found[lane] == known[result], lane
        elif "fabsf" in body:
            assert found[lane] == exactly("add", [abs(known["t0"]), known["c"]])
        else:
            zero = np.float32(0)
            sum_ = exactly("add", [max(known["t0"], zero), known["acc"]])
            assert found[lane] == (known["t0"] if known["t0"] > 0 else sum_)


# Sums that are elsewhere than in a statement that assigns a variable, each in one expression.
PLACES = {
    "o[i+32] = c; o[i+32] += a * b; acc = o[i+32];": "fma(a, b, c)",
    "o[i+32] = c; o[i+32] -= a * b; acc = o[i+32];": "fma(-a, b, c)",
    "for (int k = 0; k < 1; acc += a * b, ++k) ;": "fma(a, b, acc)",
}


@pytest.mark.parametrize("body", PLACES)
def test_a_sum_is_fused_wherever_it_stands(body: str) -> None:
    kernel, launch = launched(body)
    found = simulate(kernel, launch).arrays["o"]
    assert all(found[lane] == expected(PLACES[body], lane)["t0"] for lane in range(32))


DOUBTFUL = {
    "float p = 0; for (int k = 0; k < n; ++k) { acc += p; p = x[k] * b; }": True,
    "float p[2]; p[0] = a * b; p[1] = c; acc += p[0] + p[1];": True,
    "float p[2]; p[0] = a * b; p[1] = c; acc = p[0];": False,
    "float p = a * b; for (int k = 0; k < n; ++k) acc += p;": True,
    "float p = a * b; if (n > 3) o[i+32] = d; acc += p;": True,
    "float p = a * b; if (n > 3) acc += p; else acc -= p;": True,
    "float p = a * b; if (n > 3) p = c; acc += p;": True,
    "for (int k = 0; k < n; ++k) { float p = a * b; acc += p; }": False,
    "for (int k = 0; k < n; ++k) acc += a * b;": False,
}


@pytest.mark.parametrize("body", DOUBTFUL)
def test_what_depends_on_the_compiler_is_said(body: str) -> None:
    warnings = launched(body)[0].warnings
    assert bool(warnings) == DOUBTFUL[body]
    for warning in warnings:
        assert warning.startswith("line 7: the GPU's compiler may fuse this product with the sum")


def test_parts_say_what_is_rounded_once() -> None:
    kernel, launch = launched("float p = a * b; acc += p;")
    recording = record(kernel, launch)
    step = recording.steps[-2]
    assert parts(recording, step, 3)[-1].summary.endswith(", rounded once")
