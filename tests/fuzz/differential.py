"""The simulator beside the host's compiler: batches of random kernels, compared bit for bit."""

from __future__ import annotations

import gc
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simulator import Launch, compile_kernel, record, simulate
from simulator.machine.schedule import SCHEDULES
from tests.fuzz import oracle
from tests.fuzz.constructs import count
from tests.fuzz.generator import Program, generate

NAMES = ("pi", "pf", "pd", "oi", "ol", "of", "od")
HEADER = "#include <cuda_bf16.h>\n"  # of what g++ has in shim.hpp
RECORDED = 17  # every so many kernels one is recorded too, its parts evaluated one by one


def differences(seed: int, program: Program, expected: np.ndarray) -> list[str]:
    """What the simulator makes otherwise of a kernel, or sees amiss in it: a line each."""
    given = oracle.arguments(seed)
    arguments = {name: given[name] for name in NAMES} | {"n": int(given["n"]), "s": given["s"]}
    launch = Launch(program.grid, program.block, arguments, shared_bytes=program.shared_bytes)
    try:
        kernel = compile_kernel(HEADER + program.text, "k", program.template)
        report = simulate(kernel, launch, SCHEDULES[seed % len(SCHEDULES)], seed)
        found = [str(hazard) for hazard in report.hazards]
        found += _unequal(report.arrays, expected, slice(None))
        if seed % RECORDED == 0 and not found:
            last = record(kernel, launch).steps[-1]
            kept = {name: given[name] for name in NAMES} | dict(last.outputs)
            threads = launch.threads
            found += _unequal(kept, expected, slice(0, threads * 4))
    except Exception:  # whatever it is, it is a finding
        return [traceback.format_exc()]
    return found


def _unequal(found: dict[str, np.ndarray], expected: np.ndarray, part: slice) -> list[str]:
    lines = []
    for name in NAMES:
        ours, theirs = found[name][part], expected[name][part]
        same = ours.view(f"u{ours.itemsize}") == theirs.view(f"u{theirs.itemsize}")
        if ours.dtype.kind == "f":
            same |= np.isnan(ours) & np.isnan(theirs)
        for cell in np.flatnonzero(~same)[:3]:
            lines.append(f"{name}[{cell}]: simulator {ours[cell]!r}, g++ {theirs[cell]!r}")
    return lines


def findings(programs: Sequence[Program], compiler: str, sanitize: bool = False) -> list[str]:
    """A report for every kernel on which the two sides differ: its seed, text and cells.

    sanitize compares nothing, but lets the compiler's checks look for undefined behaviour.
    """
    with tempfile.TemporaryDirectory() as folder:
        expected = oracle.run(programs, compiler, Path(folder), sanitize)
    reports = []
    gc.disable()  # trees die by themselves, and a collection would walk over all that live
    try:
        for program, outcome in zip(programs, expected, strict=True):
            lines = [outcome] if isinstance(outcome, str) else []
            if not lines and not sanitize:  # g++ 12's checks change some values
                lines = differences(program.seed, program, outcome)
            if lines:
                head = f"seed {program.seed}, grid {program.grid}, block {program.block}"
                again = f"python -m tests.fuzz --count 1 --seed {program.seed}"
                reports.append("\n".join([head, program.text, *lines, f"Run it alone: {again}"]))
    finally:
        gc.enable()
    return reports


def batch(
    seeds: range, compiler: str, sanitize: bool = False
) -> tuple[range, list[str], Counter[str]]:
    """The seeds, the findings on their kernels, and which constructs those have."""
    programs = [generate(seed) for seed in seeds]
    reports = findings(programs, compiler, sanitize)
    return seeds, reports, count(program.text for program in programs)


def host_compiler() -> str | None:
    """The host's C++ compiler, or None; elsewhere than on Linux the shim's fibers do not work."""
    if sys.platform != "linux":
        return None
    return shutil.which("g++") or shutil.which("c++")
