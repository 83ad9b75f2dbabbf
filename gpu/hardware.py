"""The hardware's counters of a comparison's kernels, read by Nsight Compute if it is installed.

The profiler watches a separate process, this file's `main`, which compiles each kernel as the
comparison did and launches it once. Nothing else is launched there: arrays are filled by memset.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gpu.candidate import Candidate
from gpu.compare import CompareJob, request
from gpu.compile import compile_text, load
from gpu.device import architecture
from gpu.json_data import decode
from gpu.precision import PRECISIONS
from gpu.profile import METRICS, profiled
from gpu.program import ToolError
from gpu.result import Comparison

ROOT = Path(__file__).resolve().parent.parent
# A launch is repeated within the process until all is counted: compiling anew takes longer.
OPTIONS = ("--replay-mode", "kernel", "--clock-control", "none", "--cache-control", "none")
PROGRAM = "import sys; from gpu.hardware import main; main(sys.argv[1])"


def available() -> bool:
    """Whether Nsight Compute's command line is on the PATH."""
    return shutil.which("ncu") is not None


def with_counters(
    comparison: Comparison, candidates: Sequence[Candidate], gpu: int = 0
) -> Comparison:
    """The comparison with the hardware's counters of each candidate that was timed.

    Raises ToolError where the profiler cannot do it.
    """
    timed = {kernel.name for kernel in comparison.kernels if kernel.ms}
    chosen = [candidate for candidate in candidates if candidate.name in timed]
    found = count(chosen, comparison.size, gpu) if chosen else {}
    kernels = tuple(
        dataclasses.replace(kernel, counters=found.get(kernel.name))
        for kernel in comparison.kernels
    )
    return dataclasses.replace(comparison, kernels=kernels)


def count(
    candidates: Sequence[Candidate], size: tuple[int, int, int], gpu: int
) -> dict[str, dict[str, int]]:
    """Each of profile.METRICS by candidate, from one profiled launch of each; or ToolError."""
    job = request(size, candidates, gpu)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        program = [sys.executable, "-c", PROGRAM, str(path)]
        rows = profiled(program, options=OPTIONS, folder=ROOT)
    return match_rows(candidates, rows)


def match_rows(
    candidates: Sequence[Candidate], rows: Sequence[tuple[str, Mapping[str, int]]]
) -> dict[str, dict[str, int]]:
    """The profiler's rows by candidate. ToolError unless they are those launches in that order."""
    if [candidate.kernel for candidate in candidates] != [name for name, _ in rows]:
        raise ToolError(
            f"The profiler saw {', '.join(name for name, _ in rows) or 'nothing'}, not "
            f"{', '.join(candidate.kernel for candidate in candidates)}."
        )
    for candidate, (_, counters) in zip(candidates, rows, strict=True):
        absent = [name for name in METRICS if name not in counters]
        if absent:
            raise ToolError(f"The profiler did not count {', '.join(absent)} of {candidate.name}.")
    return {
        candidate.name: dict(found) for candidate, (_, found) in zip(candidates, rows, strict=True)
    }


def main(path: str) -> None:
    """Launch each candidate of the job in the file at `path` once, for the profiler to see."""
    import cupy

    job = decode(CompareJob, json.loads(Path(path).read_text(encoding="utf-8")), "The job file")
    M, N, K = job.size
    device = cupy.cuda.Device(job.gpu)
    device.use()
    for candidate in job.kernels:
        target = architecture(device.compute_capability)
        binary = compile_text(candidate.text, candidate.kernel, target, candidate.defines)
        loaded = load(binary, candidate.block, 1, candidate.shared_bytes)
        types = PRECISIONS[candidate.multiplies()]
        A, B = (cupy.zeros(shape, dtype=types.operands) for shape in ((M, K), (K, N)))
        C = cupy.zeros((M, N), dtype=types.results)
        arguments = (A, B, C, np.int32(M), np.int32(N), np.int32(K))
        loaded.function(
            candidate.grid, candidate.block, arguments, shared_mem=candidate.shared_bytes
        )
        device.synchronize()
