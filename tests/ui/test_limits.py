"""A job that exceeds a limit: its process ends, a sentence says which it was, the next job runs."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import simulator
from simulator import LaunchError, SourceError, compile_kernel, guard
from simulator.guard import COMPILING, RUNNING, limited
from ui.jobs.workers import Workers

TEXT = "__global__ void k(float* x) { x[threadIdx.x] = 1; }"
SEQUENCE = (
    "template <class T, T... I> struct S { static constexpr int v = sizeof...(I); };\n"
    "__global__ void k(float* x) { x[0] = __make_integer_seq<S, int, 5000000>::v; }"
)


def compute_long() -> None:
    with limited(replace(RUNNING, seconds=0.1)):
        while True:
            time.process_time()


def fill_memory(megabytes: int, limit: int) -> int:
    with limited(replace(RUNNING, bytes=limit * 2**20)):
        cells = bytearray(megabytes * 2**20)
        for page in range(0, len(cells), 4096):
            cells[page] = 1
        time.sleep(0.1)
    return len(cells)


def crash_as_compiler() -> None:
    with limited(COMPILING):
        os.abort()


def call_itself(depth: int = 0) -> int:
    return call_itself(depth + 1) + 1


def compile_name(text: str) -> str:
    return compile_kernel(text, "k").name


def compile_in_peace(text: str) -> str:
    """Compile without the limit on time, which a busy machine reaches before that on memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "COMPILING", replace(COMPILING, seconds=60.0))
        return compile_name(text)


def forget_proc(folder: str) -> bool:
    """Whether limits are the system's; from now on this process reads no /proc."""
    guard.STATM = Path("none")
    sys.path.remove(folder)  # on Linux psutil needs the module that is hidden there
    return guard.resource is not None


CASES = pytest.mark.parametrize(
    ("function", "arguments", "error", "sentence"),
    [
        (compute_long, (), LaunchError, r"more than 0\.1 seconds of processor time"),
        (fill_memory, (200, 64), LaunchError, r"more than 64 MB|too large for this machine"),
        (crash_as_compiler, (), SourceError, "The compiler stopped in the middle of this code"),
        (call_itself, (), LaunchError, "too large for this machine"),
        (compile_in_peace, (SEQUENCE,), SourceError, "The compiler needed more than 512 MB"),
    ],
    ids=["time", "memory", "a crash of clang", "recursion", "clang's memory"],
)


@pytest.mark.sample(5)
@CASES
def test_a_limit_is_told_and_the_next_job_runs(
    workers: Workers, function: object, arguments: tuple[object, ...], error: type, sentence: str
) -> None:
    job = workers.submit(function, *arguments)  # type: ignore[arg-type]  # a function of the table
    with pytest.raises(error, match=sentence):
        job.result(60)
    assert workers.submit(compile_name, TEXT).result(60) == "k"


@pytest.mark.deep
@CASES
def test_the_limits_hold_where_the_system_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    function: object, arguments: tuple[object, ...], error: type, sentence: str,
) -> None:  # fmt: skip
    (tmp_path / "resource.py").write_text("raise ImportError\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)  # a worker process gets it, too
    workers = Workers(1, lambda function, *_: function)
    assert not workers.submit(forget_proc, str(tmp_path)).result(60)
    test_a_limit_is_told_and_the_next_job_runs(workers, function, arguments, error, sentence)
    workers.shutdown()


def test_what_the_system_refuses_is_told(workers: Workers) -> None:
    with pytest.raises(LaunchError, match="too large for this machine"):
        workers.submit(fill_memory, 8000, 4000).result(60)


@pytest.mark.deep
def test_a_job_below_its_limits_is_left_alone(workers: Workers) -> None:
    assert workers.submit(fill_memory, 20, 64).result(60) == 20 * 2**20
