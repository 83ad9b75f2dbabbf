"""Launches split by blocks over processes: the report is, field by field, what one process says."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Kernel, Launch, LaunchError, Report, SourceError, compile_kernel, simulate
from simulator import __main__ as terminal
from simulator.catalogue import FOLDER
from simulator.machine import budget
from simulator.machine.budget import Progress
from simulator.machine.schedule import Schedule
from simulator.split.estimate import estimate_seconds
from simulator.split.part import NotSplitError, Part, PartTask, simulate_part
from simulator.split.processes import simulate_in_processes
from simulator.split.run import StoppedError, simulate_in_parts
from tests.fuzz.generator import generate
from tests.fuzz.oracle import arguments
from tests.simulator.launches import launch_text, matmul

SCHEDULES = tuple(one for one in Schedule if one is not Schedule.RANDOM)
ROOT = FOLDER.parent.parent


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks run at once, so that small launches have several parts; all orders are tried."""
    monkeypatch.setattr("simulator.machine.machine.CHUNK_LANES", 64)
    monkeypatch.setattr("simulator.observers.hazards.witness.MAX_SECONDS", 60.0)


def at_once(kernel: Kernel, launch: Launch) -> Callable[[PartTask], Future[Part]]:
    """Runs a part when it is submitted; it comes back as from another process."""

    def submit(task: PartTask) -> Future[Part]:
        future: Future[Part] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(simulate_part(kernel, launch, task))))  # noqa: S301
        except Exception as error:
            future.set_exception(error)
        return future

    return submit


def in_parts(
    kernel: Kernel, launch: Launch, schedule: Schedule = Schedule.ASCENDING, **settings: Any
) -> Report:
    submit = at_once(kernel, launch)
    return simulate_in_parts(kernel, launch, submit, 3, 100, schedule, **settings)


def check_equal(found: Report, expected: Report) -> None:
    for field in fields(Report):
        left, right = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "arrays":
            assert left.keys() == right.keys()
            for name in right:
                assert left[name].dtype == right[name].dtype
                assert left[name].shape == right[name].shape
                assert left[name].tobytes() == right[name].tobytes(), name
        elif field.name != "seconds":
            assert left == right, field.name
    assert list(found.lines) == list(expected.lines)


def check(kernel: Kernel, launch: Launch, schedule: Schedule = Schedule.ASCENDING) -> Report:
    """The report of a launch, which its parts have given too."""
    expected = simulate(kernel, launch, schedule)
    check_equal(in_parts(kernel, launch, schedule), expected)
    return expected


# Kernels of the catalogue -------------------------------------------------------------------------

# Settings in which the kernels have many blocks.
SMALL: Mapping[str, Mapping[str, int]] = {
    "tiled": {"TILE": 4}, "uncoalesced": {}, "naive": {}, "tiled_double": {"TILE": 4},
    "transposed": {"TILE": 4}, "padded": {"TILE": 4}, "swizzled": {"TILE": 4},
    "rows": {"TILE": 8, "DEPTH": 2, "EACH": 2}, "registers": {"TILE": 8, "DEPTH": 2, "EACH": 2},
    "vectors": {"TILE": 8, "DEPTH": 4, "EACH": 4}, "pipelined": {"TILE": 8, "DEPTH": 4, "EACH": 4},
    "warptiles": {"WARPS_DOWN": 1, "WARPS_ACROSS": 1, "ROWS": 4, "COLUMNS": 4, "DEPTH": 4},
    "anyshape": {"WARPS_DOWN": 1, "WARPS_ACROSS": 1, "ROWS": 4, "COLUMNS": 4, "DEPTH": 4},
    "few_rows": {"ROWS": 2, "COLUMNS": 32, "WARPS": 2, "AHEAD": 1},
    "few_columns": {"ROWS": 2, "COLUMNS": 4, "WARPS_DOWN": 1, "WARPS_DEEP": 2, "AHEAD": 1},
}  # fmt: skip
LARGE_TILES = ("uncoalesced", "naive", "warptiles", "anyshape", "few_rows")
WHOLE = ("tensor_tf32", "tensor_half", "tensor_fp32")  # they store pointers


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", SMALL)
def test_kernels_of_the_catalogue(name: str) -> None:
    from simulator import catalogue

    assert {*SMALL, *WHOLE} == set(catalogue())
    size = (45, 68, 9) if name in LARGE_TILES else (18, 22, 9)
    kernel, launch = matmul(name, *size, **SMALL[name])
    if catalogue()[name].element != "float32":
        values = {n: v.astype(np.float64) if n in "ABC" else v for n, v in launch.arguments.items()}
        launch = Launch(launch.grid, launch.block, values, launch.shared_bytes)
    assert launch.blocks > 4
    report = check(kernel, launch)
    assert not report.hazards


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WHOLE)
def test_kernels_that_store_pointers_are_not_split(name: str) -> None:
    kernel, launch = matmul(name, 45, 68, 9)
    with pytest.raises(NotSplitError, match="its threads store pointers"):
        in_parts(kernel, launch)


@pytest.mark.sample(6)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("barrier", [0, 1])
def test_races_within_blocks(barrier: int, schedule: Schedule) -> None:
    kernel, launch = matmul("tiled", 10, 9, 5, TILE=4)
    pieces = kernel.text.split("__syncthreads();")
    text = "__syncthreads();".join(pieces[: barrier + 1]) + "__syncthreads();".join(
        pieces[barrier + 1 :]
    )
    report = check(compile_kernel(text, kernel.name), launch, schedule)
    if schedule is not Schedule.LOCKSTEP:
        assert report.hazards


# What blocks can do on their own ------------------------------------------------------------------

BODIES = {
    "notes on late blocks, and races": (
        "__shared__ int s; float u, v; if (b > 4) { s = b; v = u; } __syncthreads();"
        "x[b * 32] += b > 4 ? s : y[g]; if (n > 999) x[g] = v;"
    ),
    "nothing": "",
    "outside": "x[g + (blockIdx.x >= 5 ? 4 : 0)] = y[g - 3];",
    "misaligned": "if (blockIdx.x > 2) *(int*)((char*)(x + g) + 1) = 3;",
    "never set": "__shared__ int s[64]; s[t] = 1; float u; if (t > 70) u = 2; x[g] = s[t + 1] + u;",
    "a copy of what was never set": "float u, v; if (b > 3) v = u; x[g] = 1; if (n > 99) x[g] = v;",
    "one value by several threads": "__shared__ int s; s = b; __syncthreads(); x[g] = s;",
    "a barrier that some do not reach": "if (b % 3 != 1 || t < 9) __syncthreads(); x[g] = 1;",
    "threads that ended before a barrier": "if (b > 4 && t > 8) return; __syncthreads(); x[g] = b;",
    "a wrong mask": "x[g] = __shfl_sync(b < 4 ? 0xffffffffu : 0xffu, y[g], t + 1);",
    "races within blocks alone": "x[b * 32] += y[g]; y[b * 32 + 31 - t] = y[g];",
    "a clock": "for (int i = 0; i < b; ++i) x[g] += clock(); x[g] += clock64();",
    "atomics of each block": "atomicAdd(&x[b * 32 + t % 3], y[g]);",
    "a fence": "x[g] = 1; __threadfence(); y[g] = x[g];",
    "fences of the block": "x[g] = t; __threadfence_block(); atomicAdd_block(&n1[b], t);",
    "a device variable": "x[g] = table[t % 4]; table2[b] = t;",
    "pointers that are chosen": "float* p = n > 3 ? x : y; p += g; *p = *p * 2;",
    "vectors": "float4* v = (float4*)x; if (t < 8) v[b * 8 + t] = make_float4(1, 2, t, y[g]);",
    "bytes": "((unsigned char*)x)[g * 4 + 1] = t; ((short*)y)[g * 2] = b;",
    "turns of different length": "for (int i = 0; i < b * t; ++i) x[g] = x[g] * 0.5f + i;",
    "what others only read": "x[g] = y[(g + 77) % n] + y[0];",
}  # fmt: skip
HEAD = """__constant__ float c[3];
__device__ float table[4] = {1, 2, 3, 4};
__device__ int table2[32];
__device__ int n1[32];
__global__ void k(float* x, float* y, int n) {
    int t = threadIdx.x, b = blockIdx.x, g = b * blockDim.x + t;
    """


def launch_body(body: str, grid: int = 9) -> tuple[Kernel, Launch]:
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 32 * grid), dtype=np.float32)
    return launch_text(f"{HEAD}{body} }}", grid=grid, x=x, y=y, n=32 * grid)


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(len(BODIES)), ids=list(BODIES))
def test_blocks_on_their_own(number: int) -> None:
    check(*launch_body(list(BODIES.values())[number]), SCHEDULES[number % len(SCHEDULES)])


def test_the_table_finds_something() -> None:
    reports = [simulate(*launch_body(body)) for body in BODIES.values()]
    kinds = {str(hazard.kind) for report in reports for hazard in report.hazards}
    assert len(kinds) >= 6, kinds
    assert len({note for report in reports for note in report.notes}) >= 4


def test_structs_rows_and_their_members() -> None:
    text = """struct Pair { float a; double b; };
    __global__ void k(Pair* p, float** rows) {
        int g = blockIdx.x * blockDim.x + threadIdx.x;
        p[g].b = p[g].a + rows[blockIdx.x][threadIdx.x];
        rows[blockIdx.x][threadIdx.x] = g;
    }"""
    pairs = np.zeros(9 * 32, np.dtype([("a", np.float32), ("b", np.float64)], align=True))
    pairs["a"] = np.arange(9 * 32)
    rows = np.arange(9 * 32, dtype=np.float32).reshape(9, 32)
    report = check(*launch_text(text, grid=9, p=pairs, rows=rows))
    assert (report.arrays["p"]["b"] == 2 * np.arange(9 * 32)).all()


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(10))
def test_random_kernels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.machine.machine.CHUNK_LANES", 1)
    program, given = generate(seed), arguments(seed)
    values = {name: given[name] for name in ("pi", "pf", "pd", "oi", "ol", "of", "od")}
    values |= {"n": int(given["n"]), "s": given["s"]}
    kernel = compile_kernel(program.text, "k", program.template)
    launch = Launch(program.grid, program.block, values, program.shared_bytes)
    schedule = SCHEDULES[seed % len(SCHEDULES)]
    if launch.blocks > 1:
        check(kernel, launch, schedule)


# Blocks that one process has to run ---------------------------------------------------------------

TOGETHER = {
    "neighbours": ("x[g] = g ? x[g - 1] : 0;", "same cells of x"),
    "a cell that all write": ("x[0] = b;", "same cells of x"),
    "the same value": ("x[5] = 1;", "same cells of x"),
    "a histogram": ("x[t % 7] += 1;", "same cells of x"),
    "atomics": ("atomicAdd(&x[t % 7], 1.0f);", "same cells of x"),
    "a variable": ("table2[t] += b;", "same cells of table2"),
    "one that the last block reads": ("if (b == 8) y[0] = x[3]; else x[g] = 1;", "same cells of x"),
    "printf": ('printf("%d", b);', "its threads print"),
    "assert": ("assert(b < 5);", "may end it"),
    "a trap": ("if (b == 5) __trap();", "may end it"),
    "a lock": ("while (atomicCAS(n1, 0, 1)) ; n1[1] += 1; atomicExch(n1, 0);", "wait for each"),
    "pointers": ("float* p[2]; p[0] = x; p[1] = x + 1; p[t % 2][2 * g] = 1;", "store pointers"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TOGETHER)
def test_blocks_that_meet_are_not_split(name: str) -> None:
    body, reason = TOGETHER[name]
    with pytest.raises(NotSplitError, match=f"^One process runs this launch: .*{reason}.*\\.$"):
        in_parts(*launch_body(body))


def test_a_random_order_is_not_split() -> None:
    with pytest.raises(NotSplitError, match="random numbers"):
        in_parts(*launch_body("x[g] = 1;"), schedule=Schedule.RANDOM)


def test_blocks_that_run_at_once_are_not_split() -> None:
    with pytest.raises(NotSplitError, match="it runs its 2 blocks at once"):
        simulate_in_processes(*launch_body("x[g] = 1;", grid=2), 2)


# Errors, time, progress, stop ---------------------------------------------------------------------


def test_the_first_error_in_order_is_raised() -> None:
    mixed = "float* p = x; if (b == {} && t == 3) p = y; "
    kernel, launch = launch_body(mixed.format(3) + "\n" + mixed.format(6).replace("p", "q"))
    with pytest.raises(SourceError) as expected:
        simulate(kernel, launch)
    with pytest.raises(SourceError) as found:
        in_parts(kernel, launch)
    assert str(found.value) == str(expected.value)
    assert found.value.span == expected.value.span
    assert found.value.span is not None
    late = simulate_part(kernel, launch, PartTask(range(6, 8), Schedule.ASCENDING, 9, 0, 0))
    assert late.error is not None
    assert str(late.error) != str(expected.value)


def test_a_launch_that_no_gpu_takes() -> None:
    kernel, launch = launch_body("x[g] = 1;")
    with pytest.raises(LaunchError, match="block has 2,000 threads"):
        in_parts(kernel, Launch(launch.grid, (2000, 1, 1), launch.arguments))


@pytest.mark.deep
def test_the_time_is_that_of_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SLOWEST", 1e12)
    kernel, launch = launch_body("if (b == 5) for (int i = 0; i < n; --i) x[g] = i;")
    submitted: list[PartTask] = []
    submit = at_once(kernel, launch)

    def note(task: PartTask) -> Future[Part]:
        submitted.append(task)
        return submit(task)

    with pytest.raises(SourceError, match=r"3 seconds, has run out: \d of 9 blocks are done; the"):
        simulate_in_parts(kernel, launch, note, 2, 100, seconds=3)
    assert [task.blocks for task in submitted] == [range(n, n + 2) for n in range(0, 8, 2)]
    assert all(task.spent < 3 for task in submitted)
    with pytest.raises(LaunchError, match="1e-09 seconds, has run out: 6 of 9 blocks are done"):
        in_parts(*launch_body("x[g] = 1;"), seconds=1e-9)


def test_time_in_which_parts_only_wait_does_not_count() -> None:
    kernel, launch = launch_body("x[g] = 1;")
    submit = at_once(kernel, launch)

    def wait(task: PartTask) -> Future[Part]:
        time.sleep(0.2)
        return submit(task)

    assert simulate_in_parts(kernel, launch, wait, 2, 100, seconds=0.8).seconds > 0.95


def test_a_part_that_hangs_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SLOWEST", 3.0)
    ways: list[Future[Part]] = []

    def submit(task: PartTask) -> Future[Part]:
        ways.append(Future())
        return ways[-1]

    with pytest.raises(LaunchError, match="waited for a processor for 3 times as long") as error:
        simulate_in_parts(*launch_body("x[g] = 1;"), submit, 2, 100, seconds=0.1)
    assert error.value.depends_on_machine
    assert [way.cancelled() for way in ways] == [True, True]


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "REPORT_SECONDS", 0.0)
    seen: list[Progress] = []
    in_parts(*launch_body("x[g] = 1;"), on_progress=seen.append)
    done = [progress.blocks_done for progress in seen]
    assert done == sorted(done)
    assert done[-1] == 9
    assert {progress.blocks for progress in seen} == {9}


def test_no_more_parts_than_asked_for_are_on_their_way() -> None:
    kernel, launch = launch_body("x[g] = 1;")
    ways: list[Future[Part]] = []
    most = 0

    def submit(task: PartTask) -> Future[Part]:
        nonlocal most
        ways.append(Future())
        most = max(most, sum(not way.done() for way in ways))
        part = simulate_part(kernel, launch, task)
        threading.Timer(0.01, ways[-1].set_result, (part,)).start()
        return ways[-1]

    simulate_in_parts(kernel, launch, submit, 2, 100)
    assert (len(ways), most) == (5, 2)


def test_a_run_is_stopped() -> None:
    kernel, launch = launch_body("x[g] = 1;")
    stop, ways = threading.Event(), []

    def submit(task: PartTask) -> Future[Part]:
        stop.set()
        ways.append(Future())
        return ways[-1]

    with pytest.raises(StoppedError):
        simulate_in_parts(kernel, launch, submit, 2, 100, stop=stop)
    assert [way.cancelled() for way in ways] == [True, True]


# Processes ----------------------------------------------------------------------------------------

LONG = "float s = 0; for (int i = 0; i < {n}; ++i) s += y[i]; x[g] = s + (b > 300 ? x[n] : 0);"


def test_two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.machine.machine.CHUNK_LANES", 8192)
    kernel, launch = launch_body(LONG.format(n=100), grid=700)
    expected = simulate(kernel, launch)
    assert expected.hazards
    check_equal(simulate_in_processes(kernel, launch, 2), expected)


def test_processes_that_cannot_start() -> None:
    """More than a pipe holds is not waited for: a script from standard input is not imported."""
    script = """
from tests.simulator.test_split import launch_body
from simulator.split.processes import simulate_in_processes
simulate_in_processes(*launch_body("x[g] = y[g];", grid=20000), 2)
"""
    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, check=False,
        cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert "None of the 2 processes has run a part." in done.stderr.splitlines()[-1]


def command(folder: Path, body: str, *options: str, grid: int = 700) -> list[str]:
    file = folder / "k.cu"
    file.write_text(f"{HEAD}{body} }}", encoding="utf-8")
    size = 32 * grid
    return [sys.executable, "-m", "simulator", str(file), "--grid", str(grid), "--block", "32",
            *options, f"f32:{size}", f"f32:{size}", f"i32={size}"]  # fmt: skip


def test_the_command_says_the_same_from_two_processes(tmp_path: Path) -> None:
    texts = []
    for jobs in ("1", "2"):
        arguments = command(tmp_path, LONG.format(n=100), "--json", "--jobs", jobs)
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 1
        assert "One process" not in done.stderr
        seconds = json.loads(done.stdout)["seconds"]
        texts.append(done.stdout.replace(f'"seconds": {seconds!r}', '"seconds": 0'))
    assert texts[0] == texts[1]


def test_a_heavy_launch_is_split_if_jobs_do_not_say_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def split(kernel: Kernel, launch: Launch, jobs: int, *_: object) -> Report:
        asked.append(jobs)
        return simulate(kernel, launch)

    monkeypatch.setattr(terminal, "simulate_in_processes", split)
    monkeypatch.setattr(terminal, "processor_count", lambda: 5)
    arguments = command(tmp_path, "x[g] = 1;", grid=9)[3:]
    assert terminal.main(arguments) == 0
    assert asked == []
    monkeypatch.setattr(terminal, "HEAVY_SECONDS", 0.0)
    for jobs in ([], ["--jobs", "1"], ["--jobs", "3"]):
        assert terminal.main([*arguments, *jobs]) == 0
    assert asked == [5, 3]


# The statements that the first thread executes, tests of loops included; n is 40.
STATEMENTS = {
    "x[g] = 1;": 1,
    "if (t < 3) x[g] = 1; else x[g] = 2;": 3,
    "for (int i = 0; i < 100; ++i) x[g] += 1;": 1 + 100 * 2,
    "for (int i = n; i > 0; i -= 2) x[g] += 1;": 1 + 20 * 2,
    "for (int i = t; n > i; i += blockDim.x / 2) x[g] += 1;": 1 + 2.5 * 2,
    "int m = (n + 15) / 16; for (int i = 0; i < m; i++) "
    "for (int j = 0; j < 16 * i + (1 << 3); j++) x[g] += j;": 2 + 3 * (1 + 1 + 32 * 2),
    "for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) x[g] = j;": 1 + 40 * (2 + 20 * 2),
    "for (int i = 0; i < min(n, 7); ++i) ;": 1 + 7,
    "for (int i = 0; i < n / (n - 40); ++i) ;": 1 + 32,
    "for (int i = 0; i < n; i += y[0]) ;": 1 + 32,
    "while (x[g] > 0) x[g] -= 1;": 32 * 2,
    "do x[g] = 1; while (0);": 32 * 2,
}


@pytest.mark.parametrize("body", STATEMENTS)
def test_the_statements_of_an_estimate(body: str) -> None:
    one, counted = (
        launch_text(
            f"__global__ void k(float* x, float* y, int n) "
            f"{{ int t = threadIdx.x, g = blockIdx.x; {text} }}",
            grid=9, x=np.zeros(9, np.float32), y=np.zeros(9, np.float32), n=40,
        )
        for text in ("", body)
    )  # fmt: skip
    share = estimate_seconds(*counted) / estimate_seconds(*one)
    assert 2 * share - 2 == pytest.approx(STATEMENTS[body])


def test_the_command_says_why_one_process_runs_it(tmp_path: Path) -> None:
    arguments = command(tmp_path, 'if (g == 7) printf("seven");', "--jobs", "2")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0
    assert done.stdout.startswith("seven\n")
    assert done.stderr == "One process runs this launch: its threads print.\n"


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_processes(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.__main__ import main

    assert main(["k.cu", f"--jobs={jobs}"]) == 2
    assert capsys.readouterr().err.startswith(f"--jobs {jobs}: give a whole number from 1")


@pytest.mark.skipif(not Path("/proc").exists(), reason="there is no /proc here")
@pytest.mark.parametrize(
    ("jobs", "is_starting"), [(2, False), (2, True), pytest.param(1, False, marks=pytest.mark.deep)]
)
def test_an_interrupt_ends_all_processes(jobs: int, is_starting: bool, tmp_path: Path) -> None:
    body = LONG.format(n=100_000_000)
    arguments = command(tmp_path, body, "--jobs", str(jobs), "--seconds", "600")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & ignores it
    running = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    try:
        assert running.stderr is not None
        while is_starting and len(processes_of(running.pid)) < 4:
            time.sleep(0.01)
        while not is_starting and "0 of 700 blocks" not in running.stderr.readline():
            assert running.poll() is None
        assert len(processes_of(running.pid)) >= (3 if jobs > 1 else 1)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(60) == 130
        said = running.stderr.read()
        assert said.endswith("Stopped.\n")
        assert "Traceback" not in said
        for _ in range(100):
            if not processes_of(running.pid):
                break
            time.sleep(0.1)
        assert not processes_of(running.pid)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()


def processes_of(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found
