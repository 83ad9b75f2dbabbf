"""The simulator from a terminal: `python -m simulator FILE.cu --kernel NAME …`."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from simulator.archive import read_arrays, shown, write_arrays
from simulator.language.errors import LaunchError, SourceError, list_names
from simulator.language.tree import Kernel
from simulator.launch import BUDGET_BYTES, Dim3, Launch, dim3
from simulator.machine.machine import SCHEDULES
from simulator.report import Report, simulate

ARRAY_TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32}
CLEAN, HAZARDS, WRONG = 0, 1, 2
TOO_LARGE = "This kernel or launch is too large for this machine. Make it smaller."
LARGEST_FILE = 2**20  # bytes of source


class UsageError(LaunchError):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in the same form as every other error."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise UsageError(f"{message}. See python -m simulator --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a kernel and print what it did; 0 clean, 1 with hazards, 2 on an error."""
    try:
        options = _parser().parse_intermixed_args(arguments)
        kernel, report = _run(options)
    except (SourceError, LaunchError) as error:
        print(error, file=sys.stderr)
        return WRONG
    except (MemoryError, RecursionError):
        print(TOO_LARGE, file=sys.stderr)
        return WRONG
    if options.json:
        print(json.dumps(_object(kernel, report)))
    else:
        _print(kernel, report)
    return HAZARDS if report.hazards else CLEAN


def _parser() -> Parser:
    parser = Parser(
        prog="python -m simulator",
        description="Run a CUDA C kernel over NumPy and report its memory traffic and hazards.",
    )
    parser.add_argument("file", metavar="FILE.cu", help="the kernel's source")
    parser.add_argument("--kernel", metavar="NAME", required=True)
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", required=True, type=_sizes)
    parser.add_argument("--block", metavar="X[,Y[,Z]]", required=True, type=_sizes)
    parser.add_argument("--shared", metavar="BYTES", type=int, default=0)
    parser.add_argument("-D", metavar="NAME=VALUE", action="append", default=[], dest="defines")
    parser.add_argument("--schedule", choices=SCHEDULES, default="ascending")
    parser.add_argument("--seed", metavar="N", type=int, default=0)
    parser.add_argument(
        "--seconds", metavar="S", type=float, help="stop a run that takes longer than this"
    )
    parser.add_argument("--inputs", metavar="IN.npz", help="arrays by parameter name")
    parser.add_argument("--outputs", metavar="OUT.npz", help="all arrays after the launch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "arguments",
        metavar="ARG",
        nargs="*",
        help="in parameter order: an array of random values (f32:64x64, f64:…, i32:…) or a "
        "scalar (i32=64, u32=64, f32=1.5)",
    )
    return parser


def _sizes(text: str) -> Dim3:
    if not re.fullmatch(r"-?\d{1,10}(,-?\d{1,10}){0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not one to three whole numbers like 16,16")
    return dim3(*(int(part) for part in text.split(",")))


def _run(options: argparse.Namespace) -> tuple[Kernel, Report]:
    from simulator.frontend.kernel import compile_kernel  # needs libclang

    path = Path(options.file)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(f"{path} has more than {LARGEST_FILE:,} bytes: that is no kernel.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None
    kernel = compile_kernel(text, options.kernel, _defines(options.defines), path.name)
    values = _arguments(kernel, options)
    launch = Launch(options.grid, options.block, values, options.shared)
    if options.seed < 0:
        raise UsageError(f"--seed {options.seed}: give a whole number from 0.")
    report = simulate(kernel, launch, options.schedule, options.seed, options.seconds)
    if options.outputs:
        write_arrays(options.outputs, report.arrays)
    return kernel, report


def _defines(given: Sequence[str]) -> dict[str, str]:
    defines = {}
    for text in given:
        name, _, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"-D {text}: write NAME=VALUE, the name a macro's.")
        defines[name] = value or "1"
    return defines


def _arguments(kernel: Kernel, options: argparse.Namespace) -> dict[str, Any]:
    """The launch's arguments by name: arrays from --inputs, the rest from ARG in order."""
    values: dict[str, Any] = dict(read_arrays(options.inputs)) if options.inputs else {}
    names = [parameter.name for parameter in kernel.parameters]
    for name in values:
        if name not in names:
            raise UsageError(
                f"{options.inputs} holds {shown(name)}, which is no parameter of {kernel.name} "
                f"({list_names(names)})."
            )
    given = list(options.arguments)
    # With an ARG for each parameter, the file's arrays go before theirs.
    every = len(given) == len(names)
    left = names if every else [name for name in names if name not in values]
    if len(given) != len(left):
        raise UsageError(
            f"Kernel {kernel.name} needs {len(left)} arguments ({list_names(left)}); "
            f"{len(given)} are given."
        )
    random = np.random.default_rng(options.seed if options.seed >= 0 else 0)
    for name, text in zip(left, given, strict=True):
        taken = sum(getattr(value, "nbytes", 0) for value in values.values())
        value = _argument(name, text, random, taken)
        values.setdefault(name, value)
    return values


def _array(name: str, text: str, taken: int) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """Type and shape of an ARG that asks for an array, beside arrays that take `taken` bytes."""
    array = re.fullmatch(r"(f32|f64|i32|u32):([1-9]\d{0,9}(?:x[1-9]\d{0,9}){0,7})", text)
    if not array:
        return None
    dtype = np.dtype(ARRAY_TYPES[array[1]])
    shape = tuple(int(size) for size in array[2].split("x"))
    size = math.prod(shape) * dtype.itemsize
    if taken + size > BUDGET_BYTES:
        beside = f" beside the arrays before it ({taken / 2**20:,.0f} MiB)" if taken else ""
        raise LaunchError(
            f"{text} for {name} takes {size / 2**20:,.0f} MiB{beside}; the simulator takes up to "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB."
        )
    return dtype, shape


def _argument(name: str, text: str, random: np.random.Generator, taken: int) -> Any:
    """One ARG: an array of random values, or a number of a C type."""
    array = _array(name, text, taken)
    if array is not None:
        dtype, shape = array
        if dtype.kind == "f":
            return random.standard_normal(shape, dtype=dtype)
        low = 0 if dtype.kind == "u" else -100
        return random.integers(low, 101, shape, dtype=dtype)
    number = re.fullmatch(r"(f32|f64|i32|u32)=(\S+)", text)
    if number:
        dtype = np.dtype(ARRAY_TYPES[number[1]])
        try:
            value = float(number[2]) if dtype.kind == "f" else int(number[2], 0)
            return dtype.type(value)
        except (ValueError, OverflowError):
            raise UsageError(f"{text} for {name}: {number[2]} is no {number[1]}.") from None
    raise UsageError(
        f"{text[:40]!r} for {name} is neither an array like f32:64x64 nor a scalar like i32=64 "
        f"(types: {', '.join(ARRAY_TYPES)})."
    )


def _object(kernel: Kernel, report: Report) -> dict[str, Any]:
    return {
        "kernel": kernel.name,
        "counters": dict(report.counters),
        "lines": {str(line): dict(counts) for line, counts in report.lines.items()},
        "hazards": [asdict(hazard) for hazard in report.hazards],
        "warnings": list(kernel.warnings),
        "seconds": report.seconds,
    }


def _print(kernel: Kernel, report: Report) -> None:
    print(f"{kernel.name}: {report.seconds:.3f} s")
    width = max(len(name) for name in report.counters)
    for name, count in report.counters.items():
        print(f"  {name:<{width}}  {count:>14,}")
    for warning in kernel.warnings:
        print(f"warning: {warning}")
    if not report.hazards:
        print("no hazards")
    for hazard in report.hazards:
        print(f"{hazard.kind} ({hazard.count:,} times): {hazard.message}")
        if hazard.witness is not None:
            print(f"  {hazard.witness.said}")


if __name__ == "__main__":
    sys.exit(main())
