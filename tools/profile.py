"""The simulator's counters beside a real GPU's: `python -m tools.profile --out FILE`.

Nsight Compute counts what each kernel did; simulator.observers.transactions is held to what it
found. With --patterns FILE, single warp instructions with chosen addresses are measured too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu.cuda.hardware_counters import METRICS, profiled
from gpu.cuda.run_tool import ToolError
from simulator.language.errors import LaunchError, SourceError
from tools import patterns, profile_cases
from tools.measured import machine, write
from tools.program import Case, build, launch, nvcc

COSTS = tuple(name for name in METRICS if not name.endswith("requests"))
# Counters that do not fit in one pass are taken in as many runs of the program: a launch that is
# replayed within one run costs the profiler a good part of a second, each of hundreds.
OPTIONS = ("--replay-mode", "application", "--clock-control", "none", "--cache-control", "none")
HOW = f"ncu {' '.join(OPTIONS)}; " + "; ".join(
    f"{name}: {metric}" for name, metric in METRICS.items()
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write: 0 where all counters agree or are explained, 1 if not, 2 on an error."""
    parser = argparse.ArgumentParser(prog="python -m tools.profile", description=__doc__)
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


def measure_patterns(folder: Path) -> dict[str, Any]:
    """The counters of every pattern, as one object ready for JSON."""
    chosen = patterns.patterns()
    text, program = folder / "patterns.cu", folder / "patterns"
    text.write_text(patterns.source(chosen), encoding="utf-8")
    nvcc(str(text), "-o", str(program))
    rows = []
    found = profiled([str(program)], OPTIONS, COSTS)
    for pattern, (name, counters) in zip(chosen, found, strict=True):
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
    for case, (_, measured) in zip(chosen, profiled([str(program)], OPTIONS), strict=True):
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
