"""Atomics: every operation, type and scope against a loop over the threads; what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simulator import compile_kernel, narrate, record, simulate
from simulator.language.errors import SourceError
from tests.simulator.launches import launch_text

DTYPES = {
    "int": np.int32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
WORDS = ("int", "unsigned int", "long long", "unsigned long long")
HALF_WORDS = ("int", "unsigned int")
# Of each operation the types that nvcc takes, and old and operand to new.
OPERATIONS: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
    "atomicAdd": (("int", "unsigned int", "unsigned long long", "float", "double"),
                  lambda old, v: old + v),
    "atomicSub": (HALF_WORDS, lambda old, v: old - v),
    "atomicExch": (("int", "unsigned int", "unsigned long long", "float"), lambda old, v: v),
    "atomicMin": (WORDS, min),
    "atomicMax": (WORDS, max),
    "atomicAnd": (WORDS, lambda old, v: old & v),
    "atomicOr": (WORDS, lambda old, v: old | v),
    "atomicXor": (WORDS, lambda old, v: old ^ v),
    "atomicInc": (("unsigned int",),
                  lambda old, v: old * 0 if old >= v else old + old.dtype.type(1)),
    "atomicDec": (("unsigned int",),
                  lambda old, v: v if old == 0 or old > v else old - old.dtype.type(1)),
}  # fmt: skip
CASES = [(name, ctype) for name, (types, _) in OPERATIONS.items() for ctype in types]
TEXT = """__global__ void k({type}* cells, {type}* values, {type}* olds) {{
    __shared__ {type} s[3];
    int i = threadIdx.x;
    if (i < 3) s[i] = cells[i];
    __syncthreads();
    olds[i] = {name}(&{target}[i % 3], values[i]);
    __syncthreads();
    if ({shared} && i < 3) cells[i] = s[i];
}}"""


def some_values(ctype: str, count: int) -> Any:
    random = np.random.default_rng(len(ctype))
    if ctype in ("float", "double"):
        return random.standard_normal(count).astype(DTYPES[ctype])
    if ctype == "unsigned int":
        return random.integers(0, 6, count).astype(np.uint32)  # that Inc and Dec wrap
    limits = np.iinfo(DTYPES[ctype])
    return random.integers(limits.min, limits.max, count, DTYPES[ctype])


@pytest.mark.sample(24)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scope", ["", "_block", "_system"])
@pytest.mark.parametrize(("name", "ctype"), CASES)
def test_lanes_update_a_cell_in_the_order_of_their_numbers(
    name: str, ctype: str, scope: str, shared: bool
) -> None:
    text = TEXT.format(
        type=ctype, name=name + scope, target="s" if shared else "cells", shared=int(shared)
    )
    cells, values = some_values(ctype, 3), some_values(ctype, 64)
    kernel, launch = launch_text(
        text, block=64, cells=cells, values=values, olds=np.zeros_like(values)
    )
    report = simulate(kernel, launch)
    expected, olds = cells.copy(), np.zeros_like(values)
    with np.errstate(over="ignore"):
        for i in range(64):
            olds[i] = expected[i % 3]
            expected[i % 3] = OPERATIONS[name][1](expected[i % 3], values[i])
    assert report.arrays["olds"].tobytes() == olds.tobytes()
    assert report.arrays["cells"].tobytes() == expected.tobytes()
    assert not report.hazards


@pytest.mark.parametrize("ctype", ["int", "unsigned int", "unsigned long long", "unsigned short"])
def test_compare_and_swap_of_every_width(ctype: str) -> None:
    text = f"""__global__ void k({ctype}* x, {ctype}* olds) {{
        int i = threadIdx.x;
        olds[i] = atomicCAS(&x[1], ({ctype})i, ({ctype})(i + 1));
    }}"""
    dtype = {**DTYPES, "unsigned short": np.uint16}[ctype]
    kernel, launch = launch_text(text, x=np.array([7, 4], dtype), olds=np.zeros(32, dtype))
    report = simulate(kernel, launch)
    assert report.arrays["x"].tolist() == [7, 32]
    assert report.arrays["olds"].tolist() == [4] * 4 + list(range(4, 32))


def test_the_loop_that_makes_an_atomic_of_compare_and_swap() -> None:
    text = """__device__ float atomicMaxFloat(float* address, float value) {
        int* bits = (int*)address;
        int old = *bits, assumed;
        do {
            assumed = old;
            old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
        } while (assumed != old);
        return __int_as_float(old);
    }
    __global__ void k(float* x, float* most) { atomicMaxFloat(most, x[threadIdx.x]); }"""
    values = np.random.default_rng(3).standard_normal(64).astype(np.float32)
    kernel, launch = launch_text(text, block=64, x=values, most=np.array([-9], np.float32))
    assert simulate(kernel, launch).arrays["most"].tolist() == [float(values.max())]


def test_a_member_of_a_vector_has_an_address() -> None:
    text = "__global__ void k(int2* x) { atomicAdd(&x[threadIdx.x % 2].y, 3); }"
    kernel, launch = launch_text(text, x=np.zeros((2, 2), np.int32))
    assert simulate(kernel, launch).arrays["x"].tolist() == [[0, 48], [0, 48]]


def test_what_nvcc_does_not_take_is_refused() -> None:
    for call in ("atomicAdd(l, 1LL)", "atomicExch(d, 1.0)", "atomicMin(f, 1.f)"):
        with pytest.raises(SourceError, match=r"(?i)atomic"):
            compile_kernel(
                f"__global__ void k(long long* l, double* d, float* f) {{ {call}; }}", "k"
            )


def test_a_step_tells_the_old_value() -> None:
    kernel, launch = launch_text(
        "__global__ void k(unsigned* x) { unsigned old = atomicInc(&x[0], 5u); x[1] = old; }",
        x=np.array([3, 0], np.uint32),
    )
    recording = record(kernel, launch)
    assert recording.steps[0].registers["old"].tolist() == ([3, 4, 5, 0, 1, 2] * 6)[:32]
    said = narrate.spoken(recording, recording.steps[0], 1)[0]
    assert said == "sets old = atomicInc(&x[0], 5) = 4."


# Two atomics on cells of x, by 2 blocks of 40 threads; whether they race.
SCOPES = {
    "one block's, on one cell": ("atomicAdd_block(x, 1);", True),
    "one block's, on a cell a block": ("atomicAdd_block(x + blockIdx.x, 1);", False),
    "one block's, then the device's": (
        "if (blockIdx.x == 0) atomicMax_block(x, 1);\nelse atomicAdd(x, 1);", True),
    "the device's, then one block's": (
        "if (blockIdx.x == 0) atomicAdd(x, 1);\nelse atomicCAS_block(x, 0, 1);", True),
    "the device's": ("atomicAdd(x, 1);", False),
    "the system's": ("atomicAdd_system(x, 1);", False),
    "one block's on shared memory": (
        "__shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads(); atomicAdd_block(&s, 1);",
        False),
}  # fmt: skip


@pytest.mark.parametrize("schedule", ["ascending", "descending", "lockstep"])
@pytest.mark.parametrize("case", SCOPES)
def test_an_atomic_of_one_block_is_no_atomic_to_another(case: str, schedule: Any) -> None:
    body, is_race = SCOPES[case]
    text = f"__global__ void k(int* x) {{ {body} }}"
    kernel, launch = launch_text(text, grid=2, block=40, x=np.zeros(2, np.int32))
    hazards = simulate(kernel, launch, schedule).hazards
    assert [str(hazard.kind) for hazard in hazards] == ["write-after-write"] * is_race
    for hazard in hazards:
        assert hazard.message.endswith("_block in its name is not atomic for other blocks.")
