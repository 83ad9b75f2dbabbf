"""Kernels as a program: arguments, host code, and tools that are missing or do not end."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from gpu.cuda.run_tool import run
from simulator import LaunchError, compile_kernel
from tools.program import PERIOD, Case, build, launch, source, values

TEXT = """__global__ void k(float* x, int n)
{
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[threadIdx.x] + n;
}
"""
CASE = Case("one", TEXT, "k", (1, 1, 1), (32, 1, 1), ("f32:8x40", "i32=7"))


def test_values() -> None:
    array, number = values(CASE)
    assert array.dtype == np.float32
    assert array.shape == (8, 40)
    assert array[0, 3] == 3
    assert array.reshape(-1)[PERIOD] == 0
    assert (number.dtype, number) == (np.int32, 7)


@pytest.mark.parametrize("argument", ["float:3", "f32", "i32", "f32:3y", "64"])
def test_an_argument_that_is_neither(argument: str) -> None:
    with pytest.raises(LaunchError, match="neither like"):
        values(Case("one", TEXT, "k", (1, 1, 1), (32, 1, 1), (argument,)))


def test_source() -> None:
    text = source(CASE, 3, True)
    assert "__shared__ volatile float s[32];" in text
    assert "k<<<dim3(1, 1, 1), dim3(32, 1, 1), 0>>>(filled<float>(320), int(7));" in text
    assert "void run_3()" in text
    lines = text.splitlines()
    assert lines[lines.index('#line 1 "one.cu"') + 1] == TEXT.splitlines()[0]
    assert "volatile" not in source(CASE, 3, False)


def test_an_array_may_be_left_unset() -> None:
    case = Case("one", TEXT, "k", (1, 1, 1), (32, 1, 1), ("f32:32?", "i32=7"))
    assert "unset<float>(32)" in source(case, 0, False)
    assert values(case)[0].shape == (32,)


def test_the_same_launch_for_the_simulator() -> None:
    made = launch(CASE, compile_kernel(TEXT, "k"))
    assert (made.grid, made.block) == ((1, 1, 1), (32, 1, 1))
    assert made.arguments["n"] == 7
    assert made.arguments["x"].shape == (8, 40)


@pytest.mark.gpu
def test_a_program_runs_its_cases(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on the PATH")
    done = run([str(build([CASE, CASE], tmp_path)), "1"], 60)
    assert (done.stdout, done.returncode) == ("", 0)
