"""Each rule of contraction where it begins and ends: what counts as one value, and as one use."""

from __future__ import annotations

import pytest

from simulator import simulate
from tests.simulator.test_contraction import expected, launched

# As in test_contraction: statements, the float instructions that come of them, what acc ends as.
CHAINS = {
    # What a product is.
    "acc = a * 0.3f + b;": ("fma(a, 0.3, b)", "t0"),
    "acc += 0.1f * 0.3f;": ("mul(0.1, 0.3); add(acc, t0)", "t1"),
    "acc = a * b / c;": ("mul(a, b); div(t0, c)", "t1"),
    "float p = a; p /= b; acc += p;": ("div(a, b); add(acc, t0)", "t1"),
    # Sums that are compound assignments.
    "acc -= a * b;": ("fma(-a, b, acc)", "t0"),
    "float p = a * b; acc -= p;": ("fma(-a, b, acc)", "t0"),
    "acc *= b; acc -= c;": ("fma(b, acc, -c)", "t0"),
    "o[i+32] = c; o[i+32] += a * b; acc = o[i+32];": ("fma(a, b, c)", "t0"),
    "acc += (d = a * b);": ("fma(a, b, acc)", "t0"),
    "float p = a * b; p++; acc = p;": ("fma(a, b, 1.0)", "t0"),
    "float p = a * b; --p; acc += p;": ("fma(a, b, -1.0); add(acc, t0)", "t1"),
    # Loops that a break ends, and values that another takes the place of.
    "for (int k = 0; ; ++k) { if (k >= n) break; acc += a * b; }": (
        "mul(a, b); " + "; ".join(f"add({'acc' if k == 0 else f't{k}'}, t0)" for k in range(5)),
        "t5"),
    "float p = a * b; acc += p; p = 0; o[i+32] = p;": ("fma(a, b, acc)", "t0"),
    # Uses that are no sums.
    "float p = a * b; acc = c / p;": ("mul(a, b); div(c, t0)", "t1"),
    "float p = a * b; acc += p; o[i+32] = -p;": ("mul(a, b); add(acc, t0)", "t1"),
    "float p = a * b; acc = p + c; p /= d; o[i+32] = p;": ("mul(a, b); add(c, t0)", "t1"),
    "float p = a * b; acc += p; for (int k = 0; k < n && p > -1000; ++k) d += 1;"
    " o[i+32] = d;": (
        "mul(a, b); add(acc, t0)", "t1"),
    "float p = a * b; acc += p; switch (n) { case 5: o[i+32] = p; break; default: d = 1; }": (
        "mul(a, b); add(acc, t0)", "t1"),
    # Signs.
    "float p = a * b; acc += -(-p);": ("fma(a, b, acc)", "t0"),
    "float q = -a; acc = c * d - q * b;": ("mul(c, d); fma(a, b, t0)", "t1"),
    "acc = c * d - a * b;": ("mul(a, b); fma(c, d, -t0)", "t1"),
    "acc = -(c * d) + a * b;": ("mul(c, d); fma(a, b, -t0)", "t1"),
    "acc = -(a * b) + c * d;": ("mul(a, b); fma(c, d, -t0)", "t1"),
    # The one of two whose operands were loaded first.
    "acc = a * d + b * d;": ("mul(b, d); fma(a, d, t0)", "t1"),
    "acc = (c + d) * b + a * b;": ("add(c, d); mul(b, t0); fma(a, b, t1)", "t2"),
    "acc = mul(a, b) * c + mul(c, d) * c;": (
        "mul(a, b); mul(c, d); mul(c, t1); fma(c, t0, t2)", "t3"),
    "o[i+32] = d; float e = x[i]; acc = e * b + acc * d;": ("mul(a, b); fma(acc, d, t0)", "t1"),
    # One value, computed once: its other use counts.
    "acc = (a + b) * c + d; o[i+32] = ((b + a) * c) * d;": (
        "add(a, b); mul(c, t0); add(d, t1)", "t2"),
    "acc = x[threadIdx.x] * b + c; o[i+32] = (b * x[threadIdx.x]) * d;": (
        "mul(a, b); add(c, t0)", "t1"),
    "acc = *(x + i) * b + c; o[i+32] = (*(x + i) * b) * d;": ("mul(a, b); add(c, t0)", "t1"),
    "acc = (float)n * b + c; o[i+32] = ((float)n * b) * d;": ("mul(5, b); add(c, t0)", "t1"),
    "float q = o[i+32] = a; acc = q * b + c; o[i+32] = (a * b) * d;": (
        "mul(a, b); add(c, t0)", "t1"),
    "acc = (float)n * b + c; o[i+32] = d; o[i+32] = ((float)n * b) * d;": (
        "mul(5, b); add(c, t0)", "t1"),
    "__shared__ float s[32]; s[i] = a; acc = s[i] * b + c; o[i+32] = (s[i] * b) * d;": (
        "mul(a, b); add(c, t0)", "t1"),
    "__shared__ float2 s[32]; s[i].x = a; acc = s[i].x * b + c; o[i+32] = (s[i].x * b) * d;": (
        "mul(a, b); add(c, t0)", "t1"),
    # Values that differ, each with its own use.
    "int j = n, h = n; j -= 2; h += 2; acc = (float)j * b + c;"
    " o[i+32] = ((float)h * b) * d;": ("fma(3, b, c)", "t0"),
    "int j = n, h = i; j -= 2; h -= 2; acc = (float)j * b + c;"
    " o[i+32] = ((float)h * b) * d;": ("fma(3, b, c)", "t0"),
    "acc = (float)(short)n * b + c; o[i+32] = ((float)(long long)n * b) * d;": (
        "fma(5, b, c)", "t0"),
    "acc = a * 0.3f + c; o[i+32] = (a * 0.7f) * d;": ("fma(a, 0.3, c)", "t0"),
    "acc = (a + b) * c + d; o[i+32] = ((a - b) * c) * d;": ("add(a, b); fma(c, t0, d)", "t1"),
    "acc = (a + b) * c + d; o[i+32] = ((a + d) * c) * d;": ("add(a, b); fma(c, t0, d)", "t1"),
    "acc = (a - b) * c + d; o[i+32] = ((b - a) * c) * d;": ("add(a, -b); fma(c, t0, d)", "t1"),
    "float e = a; e += b; float f = a; f -= b; acc = e * c + d; o[i+32] = (f * c) * d;": (
        "add(a, b); fma(c, t0, d)", "t1"),
    "float e = a; e /= b; float f = a; f *= b; acc = e * c + d; o[i+32] = (f * c) * d;": (
        "div(a, b); fma(c, t0, d)", "t1"),
    "acc = (float)n * b + c; o[i+32] = ((float)(n + 1) * b) * d;": ("fma(5, b, c)", "t0"),
    "acc = x[threadIdx.x] * b + c; o[i+32] = (b * x[threadIdx.y]) * d;": ("fma(a, b, c)", "t0"),
    "acc = x[threadIdx.x] * b + c; o[i+32] = (b * x[blockIdx.x]) * d;": ("fma(a, b, c)", "t0"),
    "float2 v = make_float2(a, b); acc = v.x * c + d; o[i+32] = (v.y * c) * d;": (
        "fma(a, c, d)", "t0"),
    "acc = fminf(a, 100.0f) * c + d; o[i+32] = (fminf(b, 100.0f) * c) * d;": (
        "fma(a, c, d)", "t0"),
    "acc = x[i] * c + d; o[i+32] = (o[i] * c) * d;": ("fma(a, c, d)", "t0"),
    "__shared__ float s[32], u[32]; s[i] = a; u[i] = b; __syncthreads();"
    " acc = s[i] * c + d; o[i+32] = (u[i] * c) * d;": ("fma(a, c, d)", "t0"),
    "int j = i; acc += x[j] * b; ++j; o[i+32] = x[j] * b;": ("fma(a, b, acc)", "t0"),
    "float q = o[i+32] += a; acc = q * b + c; o[i+32] = (a * b) * d;": ("fma(a, b, c)", "t0"),
    "float e = a; if (n < 3) d = 1; else e = b; acc = e * c + d; o[i+32] = (b * c) * d;": (
        "fma(b, c, d)", "t0"),
    # A load after a store, a barrier or a call that may change memory is another value.
    "acc = a * b + c; o[i+32] = d; o[i+32] = (x[i] * b) * d;": ("fma(a, b, c)", "t0"),
    "o[i+32] = d; acc = x[i] * b + c; o[i+32] = c; o[i+32] = (x[i] * b) * d;": (
        "fma(a, b, c)", "t0"),
    "acc += x[i] * x[i+32]; __syncthreads(); o[i+32] = x[i] * x[i+32];": ("fma(a, b, acc)", "t0"),
    "acc += x[i] * x[i+32]; atomicExch(&o[i+32], 0.0f); o[i+32] = x[i] * x[i+32];": (
        "fma(a, b, acc)", "t0"),
    # Branches: the one use may be in an if after the product, an else too.
    "float p = a * b; if (n < 3) d = 1; else acc += p;": ("fma(a, b, acc)", "t0"),
    "float p = a * b; if (n > 3) { if (n > 4) d = 1; acc += p; }": ("fma(a, b, acc)", "t0"),
    # Loops: what does not change in one is computed before it.
    "for (int k = 0; k < 4; ++k) acc += a * b;": (
        "fma(a, b, acc); fma(a, b, t0); fma(a, b, t1); fma(a, b, t2)", "t3"),
    "for (int k = 0; k < n; ++k) { float q = a * b + c; acc += q; }": (
        "fma(a, b, c); add(acc, t0); add(t1, t0); add(t2, t0); add(t3, t0); add(t4, t0)", "t5"),
    "for (int k = 0; k < n; ++k) acc += a * b; acc += c * d;": (
        "mul(a, b); add(acc, t0); add(t1, t0); add(t2, t0); add(t3, t0); add(t4, t0);"
        " fma(c, d, t5)", "t6"),
    "for (int k = 0; k < n; ++k) acc += (float)k * b;": (
        "fma(0, b, acc); fma(1, b, t0); fma(2, b, t1); fma(3, b, t2); fma(4, b, t3)", "t4"),
    "for (int k = 0; k < n - 3; ++k) { d += a; for (int j = 0; j < n - 3; ++j) acc += b * d; }": (
        "add(a, d); mul(b, t0); add(acc, t1); add(t1, t2); add(a, t0); mul(b, t4); add(t3, t5);"
        " add(t5, t6)", "t7"),
    "o[i+32] = c; for (int k = 0; k < n; ++k) o[i+32] += a * b; acc = o[i+32];": (
        "mul(a, b); add(c, t0); add(t1, t0); add(t2, t0); add(t3, t0); add(t4, t0)", "t5"),
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("body", CHAINS)
def test_what_is_rounded_once(body: str) -> None:
    chain, result = CHAINS[body]
    found = simulate(*launched(body)).arrays["o"]
    for lane in range(32):
        assert found[lane] == expected(chain, lane)[result], lane


LINE = "line 7: the GPU's compiler may fuse this product with the sum"
HERE = "and round once; here both are rounded."
# What of a kernel depends on the compiler's own ways, as its warnings name it.
WARNINGS = {
    "float p[2]; p[0] = a * b; p[1] = c; acc += p[0] + p[1];": (
        f"{LINE} that takes it from p {HERE}",),
    "float p[2]; p[0] = c; p[1] = d; acc += p[0] + p[1];": (),
    "float p[2]; p[0] = c; p[0] += a * b; acc += p[0];": (),
    "float p[2]; p[0] = a * b; acc = p[0] * c;": (),
    "float p = a * b;\nif (n > 3) o[i+32] = d;\nacc += p;": (f"{LINE} of line 9 {HERE}",),
    "float p = a * b;\nacc += p;\nif (n > 3)\nacc -= p;": (f"{LINE} of line 8 {HERE}",),
    "if (n > 3) d = a * b; else d = c;\nacc += d;": (f"{LINE} of line 8 {HERE}",),
    "float p = a * b; if (n > 3) acc += p;": (),
    "float p = a * b; acc += p; o[i+32] = p;": (),
}  # fmt: skip


@pytest.mark.parametrize("body", WARNINGS)
def test_what_depends_on_the_compiler_is_named(body: str) -> None:
    assert launched(body)[0].warnings == WARNINGS[body]


# x has 160 cells and o 64: the index of a lane that the condition leaves out is outside them.
GUARDED = [
    "if (i < 5) { float p = x[32 * i] * x[31 * i]; acc = p + p; }",
    "if (i < 5) { d *= b; d += x[32 * i]; acc = d; }",
    "if (i < 5) { d *= b; d = x[32 * i] + d; acc = d; }",
    "if (i < 2) o[32 + 16 * i] += a * b;",
    "if (i < 5) { float p = x[32 * i] * b; acc += p; }",
    "if (i < 5) acc += mul(x[32 * i], b);",
    "if (i < 5) acc = mul(a, b) + x[32 * i];",
]


@pytest.mark.parametrize("body", GUARDED)
def test_what_a_condition_leaves_out_is_not_read_for_a_sum(body: str) -> None:
    kernel, launch = launched(body)
    assert simulate(kernel, launch).hazards == ()
    kernel, launch = launched(body.replace("i < 5", "i < 6").replace("i < 2", "i < 3"))
    assert {hazard.kind for hazard in simulate(kernel, launch).hazards} == {"out-of-bounds"}
