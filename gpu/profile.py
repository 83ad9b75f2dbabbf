"""The simulator's counters beside a real GPU's: `python -m gpu.profile --out FILE`.

Nsight Compute counts what each kernel did; simulator.observers.transactions is held to what it
found. With --patterns FILE, single warp instructions with chosen addresses are measured too.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu import profile_cases
from gpu.microbenchmarks import patterns
from gpu.program import Case, ToolError, build, launch, machine, nvcc, run
from simulator.language.errors import LaunchError, SourceError

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
COSTS = tuple(name for name in METRICS if not name.endswith("requests"))
PROFILER_SECONDS = 500
# Counters that do not fit in one pass are taken in as many runs of the program: a launch that is
# replayed within one run costs the profiler a good part of a second, each of hundreds.
OPTIONS = ("--replay-mode", "application", "--clock-control", "none", "--cache-control", "none")
HOW = f"ncu {' '.join(OPTIONS)}; " + "; ".join(
    f"{name}: {metric}" for name, metric in METRICS.items()
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write: 0 where all counters agree or are explained, 1 if not, 2 on an error."""
    parser = argparse.ArgumentParser(prog="python -m gpu.profile", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where the kernels' counters go")
    parser.add_argument(
        "--kernels", default="", metavar="NAME,NAME",
        help="only these kernels' cases, beside the others that the file has of the same GPU",
    )  # fmt: skip
    parser.add_argument("--patterns", type=Path, help="where single instructions' counters go")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if options.patterns:
                write(options.patterns, measure_patterns(Path(folder)))
            wanted = [name for name in options.kernels.split(",") if name]
            result = measure_cases(Path(folder) / "cases", wanted)
            if wanted:
                result = beside_others(options.out, result)
    except (ToolError, SourceError, LaunchError) as error:
        print(error, file=sys.stderr)
        return 2
    write(options.out, result)
    return report(result["cases"])


def write(path: Path, result: Mapping[str, Any]) -> None:
    """The result as JSON, each entry of its last list on a line of its own."""
    *head, (last, rows) = result.items()
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head]
    body = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    text = "\n".join(["{", *lines, f" {json.dumps(last)}: [", body, " ]", "}"])
    path.write_text(text + "\n", encoding="utf-8")


def measure_patterns(folder: Path) -> dict[str, Any]:
    """The counters of every pattern, as one object ready for JSON."""
    chosen = patterns.patterns()
    text, program = folder / "patterns.cu", folder / "patterns"
    text.write_text(patterns.source(chosen), encoding="utf-8")
    nvcc(str(text), "-o", str(program))
    rows = []
    for pattern, (name, counters) in zip(chosen, profiled([str(program)], COSTS), strict=True):
        if name != patterns.kernel_name(pattern):
            raise ToolError(f"The profiler's rows are out of order at {pattern.name}: {name}.")
        prefix = f"{pattern.space}_{pattern.kind}_"
        measured = {
            key.removeprefix(prefix): count
            for key, count in counters.items()
            if key.startswith(prefix)
        }
        rows.append({**asdict(pattern), **measured})
    return {"what": "One warp instruction each.", **machine(), "how": HOW, "patterns": rows}


def beside_others(path: Path, result: dict[str, Any]) -> dict[str, Any]:
    """The result with the cases that a file has beside its own. ToolError unless of one GPU."""
    before = json.loads(path.read_text(encoding="utf-8"))
    if (before["gpu"], before["driver"]) != (result["gpu"], result["driver"]):
        raise ToolError(f"{path} is of a {before['gpu']} with driver {before['driver']}.")
    measured = {row["name"] for row in result["cases"]}
    others = [row for row in before["cases"] if row["name"] not in measured]
    return result | {"cases": [*others, *result["cases"]]}


def measure_cases(folder: Path, kernels: Sequence[str] = ()) -> dict[str, Any]:
    """Simulated beside measured counters of every case, as one object ready for JSON.

    With kernels, by their names in the catalogue, of these alone.
    """
    every = profile_cases.cases()
    chosen = [
        case for case in every if not kernels or re.split("[ ,]", case.name)[0] in kernels
    ]  # fmt: skip
    program = build(chosen, folder)
    rows = []
    for case, (_, measured) in zip(chosen, profiled([str(program)]), strict=True):
        simulated = simulated_counters(case)
        row = {"name": case.name, "form": case.form, "simulated": simulated, "measured": measured}
        rows.append(row)
    what = "Counters of one launch of each kernel, simulated and measured."
    return {"what": what, **machine(), "how": HOW, "cases": rows}


def simulated_counters(case: Case) -> dict[str, int]:
    """What the simulator counts for a case."""
    from simulator import compile_kernel, simulate  # needs libclang

    kernel = compile_kernel(case.text, case.kernel)
    return dict(simulate(kernel, launch(case, kernel)).counters)


def profiled(
    program: Sequence[str],
    counters: Sequence[str] = tuple(METRICS),
    options: Sequence[str] = OPTIONS,
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


def report(rows: Sequence[Mapping[str, Any]]) -> int:
    """Print every difference; 1 if there is one that nothing explains."""
    unexplained = 0
    for row in rows:
        for name, simulated in row["simulated"].items():
            measured = row["measured"][name]
            if measured != simulated:
                why = profile_cases.explained(row["name"], row["form"], name)
                unexplained += why is None
                print(f"{row['name']} ({row['form']}): {name} {simulated:,} simulated, "
                      f"{measured:,} measured: {why or 'not explained'}")  # fmt: skip
    print(f"{len(rows)} launches, {unexplained} counters differ without an explanation")
    return min(1, unexplained)


if __name__ == "__main__":
    sys.exit(main())
