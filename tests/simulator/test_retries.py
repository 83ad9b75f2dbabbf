"""Plain reads that begin a try of atomicCAS are no race; those that are used otherwise are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import simulate
from tests.simulator.launches import launch_text

# Functions `op(type* p, type v)` on a cell, whose read of *p only begins a try of atomicCAS.
GUIDE = """__device__ double op(double* address, double val) {
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}"""
HARMLESS = {
    "the Programming Guide's": ("double", GUIDE),
    "int": ("int", """__device__ int op(int* p, int v) {
        int old = *p, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, assumed + v); } while (assumed != old);
        return old;
    }"""),
    "float maximum": ("float", """__device__ float op(float* address, float val) {
        int* address_as_i = (int*)address;
        int old = *address_as_i, assumed;
        do {
            assumed = old;
            old = ::atomicCAS(address_as_i, assumed,
                              __float_as_int(::fmaxf(val, __int_as_float(assumed))));
        } while (assumed != old);
        return __int_as_float(old);
    }"""),
    "float in a variable": ("float", """__device__ float op(float* p, float v) {
        float old = *p, assumed;
        do {
            assumed = old;
            float larger = assumed;
            if (v > larger) larger = v;
            old = __int_as_float(
                atomicCAS((int*)p, __float_as_int(assumed), __float_as_int(larger)));
        } while (assumed != old);
        return old;
    }"""),
    "read anew for each try": ("int", """__device__ int op(int* p, int v) {
        int old, sum;
        do { old = *p; sum = old + v; } while (atomicCAS(p, old, sum) != old);
        return sum;
    }"""),
    "an endless loop with break": ("int", """__device__ int op(int* p, int v) {
        int old = p[0], tries = 0;
        for (;;) {
            const int now = atomicCAS(&p[0], old, old > v ? old : v);
            if (now == old) break;
            old = now;
            ++tries;
        }
        return old;
    }"""),
    "a flag": ("unsigned", """__device__ unsigned op(unsigned* p, unsigned v) {
        bool done = false;
        while (!done) {
            unsigned old = *p;
            done = atomicCAS(p, old, old + v) == old;
        }
        return 0;
    }"""),
    "a return from the loop": ("int", """__device__ int op(int* p, int v) {
        for (int old = *p;;) {
            int now = atomicCAS(p, old, old + v);
            if (now == old) return now;
            old = now;
        }
    }"""),
    "assigned in the test": ("int", """__device__ void op(int* p, int v) {
        int old = *p, now;
        while ((now = atomicCAS(p, old, old + v)) != old) old = now;
    }"""),
    "only while it is less": ("float", """__device__ float op(float* address, float val) {
        int* address_as_int = (int*)address;
        int old = *address_as_int, assumed;
        while (val > __int_as_float(old)) {
            assumed = old;
            old = atomicCAS(address_as_int, assumed, __float_as_int(val));
        }
        return __int_as_float(old);
    }"""),
    "done at once where it is not less": ("int", """__device__ void op(int* p, int v) {
        int old = *p, assumed;
        if (old >= v) return;
        do {
            assumed = old;
            if (assumed >= v) break;
            old = atomicCAS(p, assumed, v);
        } while (assumed != old);
    }"""),
    "through a function": ("int", """
    __device__ int load(const int* p) { return *p; }
    __device__ int sum(int a, int b) { return a + b; }
    __device__ int op(int* p, int v) {
        int old = load(p), assumed;
        do { assumed = old; old = atomicCAS(p, assumed, sum(assumed, v)); } while (assumed != old);
        return old;
    }"""),
}  # fmt: skip
# The same with the value used otherwise: of no use if it is stale.
HARMFUL = {
    "one try": """__device__ void op(int* p, int v) {
        int old = *p;
        atomicCAS(p, old, old + v);
    }""",
    "tries that are counted": """__device__ void op(int* p, int v) {
        for (int k = 0; k < 4; ++k) {
            int old = *p;
            if (atomicCAS(p, old, old + v) == old) break;
        }
    }""",
    "a sum that is not computed again": """__device__ void op(int* p, int v) {
        int old = *p, sum = old + v, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, sum); } while (assumed != old);
    }""",
    "another value is expected": """__device__ void op(int* p, int v) {
        int first = *p, old = 0, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, first + v); } while (assumed != old);
    }""",
    "a value that is not quite it": """__device__ void op(int* p, int v) {
        int first = *p, old = first & 255, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, first + v); } while (assumed != old);
    }""",
    "stored": """__device__ void op(int* p, int v) {
        int old = *p, assumed;
        p[1 + threadIdx.x] = old;
        do { assumed = old; old = atomicCAS(p, assumed, assumed + v); } while (assumed != old);
    }""",
    "decides what is stored": """__device__ void op(int* p, int v) {
        int old = *p, assumed;
        if (old > 40) p[1 + threadIdx.x] = v;
        do { assumed = old; old = atomicCAS(p, assumed, assumed + v); } while (assumed != old);
    }""",
    "decides whether something else is done": """__device__ void op(int* p, int v) {
        int old = *p;
        for (;;) {
            if (old >= v) return;
            int now = atomicCAS(p, old, v);
            if (now == old) break;
            old = now;
        }
        p[1 + threadIdx.x] = v;
    }""",
    "the maximum that it gives": """__device__ void op(int* p, int v) {
        int old = *p;
        while (old < v) old = atomicCAS(p, old, v);
        p[1 + threadIdx.x] = old;
    }""",
    "an index": """__device__ void op(int* p, int v) {
        int old = *p, assumed, sum = p[1 + (old & 31)];
        do { assumed = old; old = atomicCAS(p, assumed, assumed + v); } while (assumed != old);
        p[40 + threadIdx.x] = sum;
    }""",
    "something is done on failing": """__device__ void op(int* p, int v) {
        int old = *p;
        for (;;) {
            int now = atomicCAS(p, old, old + v);
            if (now == old) break;
            p[1 + threadIdx.x] += 1;
            old = now;
        }
    }""",
    "waits by plain reads": """__device__ void op(int* p, int v) {
        for (;;) {
            int old = *p;
            if (old < 0) continue;
            if (atomicCAS(p, old, old + v) == old) break;
        }
    }""",
}
SHARED = """{op}
__global__ void k({type}* x) {{
    __shared__ {type} s[128];
    s[threadIdx.x] = 0; s[threadIdx.x + 64] = 0;
    __syncthreads();
    op(s, ({type})(threadIdx.x + 1));
    __syncthreads();
    if (threadIdx.x == 0) x[0] = s[0];
}}"""
GLOBAL = """{op}
__global__ void k({type}* x) {{ op(x, ({type})(threadIdx.x + 1)); }}"""
TYPES = {"int": np.int32, "unsigned": np.uint32, "float": np.float32, "double": np.float64}


def races(op: str, ctype: str, text: str, schedule: Any) -> tuple[float, set[str]]:
    """What x[0] holds in the end, and the hazards found."""
    grid = 3 if text is GLOBAL else 1
    kernel, launch = launch_text(
        text.format(op=op, type=ctype), grid=grid, block=64, x=np.zeros(128, TYPES[ctype])
    )
    report = simulate(kernel, launch, schedule)
    return float(report.arrays["x"][0]), {str(hazard.kind) for hazard in report.hazards}


@pytest.mark.sample(28)
@pytest.mark.parametrize("schedule", ["ascending", "descending", "random", "lockstep"])
@pytest.mark.parametrize("text", [SHARED, GLOBAL], ids=["shared", "global"])
@pytest.mark.parametrize("case", HARMLESS)
def test_a_read_that_begins_a_try_is_no_race(case: str, text: str, schedule: Any) -> None:
    ctype, op = HARMLESS[case]
    found, kinds = races(op, ctype, text, schedule)
    blocks = 3 if text is GLOBAL else 1
    assert found in (64, 64 * 65 / 2 * blocks)
    assert not kinds


@pytest.mark.sample(12)
@pytest.mark.parametrize("text", [SHARED, GLOBAL], ids=["shared", "global"])
@pytest.mark.parametrize("case", HARMFUL)
def test_a_read_that_is_used_otherwise_is_a_race(case: str, text: str) -> None:
    op = HARMFUL[case]
    found = set().union(*(races(op, "int", text, order)[1] for order in ("ascending", "lockstep")))
    assert found & {"read-after-write", "write-after-read"}


@pytest.mark.parametrize("text", [SHARED, GLOBAL], ids=["shared", "global"])
def test_a_plain_store_beside_such_a_read_is_a_race(text: str) -> None:
    _, op = HARMLESS["int"]
    store = text.replace("\n    op(", "\n    s[0] = 7; op(")
    store = store.replace("{{ op(x", "{{ x[0] = 7; op(x")
    assert races(op, "int", store, "ascending")[1] & {"read-after-write", "write-after-read"}


@pytest.mark.parametrize("text", [SHARED, GLOBAL], ids=["shared", "global"])
def test_a_plain_read_after_the_loop_is_a_race(text: str) -> None:
    _, op = HARMLESS["int"]
    assert races(op.replace("return old;", "return p[1 + *p % 2];"), "int", text, "ascending")[1]
