"""The hardware's counters of a comparison's kernels, read by Nsight Compute if it is installed.

The profiler watches a separate process, this file's `main`, which compiles each kernel as the
comparison did and launches it once. Nothing else is launched there: arrays are filled by memset.
"""

from __future__ import annotations

import csv
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
from gpu.comparison import Comparison
from gpu.cuda.compile import compile_text, load
from gpu.cuda.device import architecture
from gpu.cuda.run_tool import ToolError, run
from gpu.json_data import decode
from gpu.precision import PRECISIONS

ROOT = Path(__file__).resolve().parent.parent.parent
METRICS: Mapping[str, str] = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
PROFILER_SECONDS = 500
# A launch is repeated within the process until all is counted: compiling anew takes longer.
OPTIONS = ("--replay-mode", "kernel", "--clock-control", "none", "--cache-control", "none")
PROGRAM = "import sys; from gpu.cuda.hardware_counters import main; main(sys.argv[1])"


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
    """Each of METRICS by candidate, from one profiled launch of each; or ToolError."""
    job = request(size, candidates, gpu)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        program = [sys.executable, "-c", PROGRAM, str(path)]
        rows = profiled(program, OPTIONS, folder=ROOT)
    return match_rows(candidates, rows)


def profiled(
    program: Sequence[str],
    options: Sequence[str],
    counters: Sequence[str] = tuple(METRICS),
    folder: Path | None = None,
) -> list[tuple[str, dict[str, int]]]:
    """Each launch's kernel and counters, in order, as Nsight Compute saw them.

    program is a command line, run in `folder` if given; options are the profiler's.
    """
    metrics = ",".join(METRICS[name] for name in counters)
    command = [
        "ncu", *options, "--csv", "--page", "raw", "--print-units", "base",
        "--metrics", metrics, *program,
    ]  # fmt: skip
    done = run(command, PROFILER_SECONDS, folder)
    rows = launches(done.stdout)
    if done.returncode or not rows or "failed:" in done.stdout:
        raise ToolError(f"ncu could not profile {program[0]}:\n{done.stdout}{done.stderr}")
    return rows


def launches(output: str) -> list[tuple[str, dict[str, int]]]:
    """Each launch's kernel and counters from the profiler's CSV, which other lines may surround."""
    lines = [line for line in output.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first holds the units
    return [
        (
            row["Kernel Name"].split("(")[0],
            {
                name: int(row[metric].replace(",", ""))
                for name, metric in METRICS.items()
                if metric in row
            },
        )
        for row in rows
    ]


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
