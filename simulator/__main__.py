"""The simulator from a terminal: `python -m simulator FILE.cu --kernel NAME …`."""

from __future__ import annotations

import argparse
import codecs
import io
import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from simulator import Kernel, Report, compile_kernel, simulate
from simulator.archive import check_is_file, check_output, format_name, read_arrays, write_arrays
from simulator.command_line import command, distinct, kernel_name, sizes
from simulator.frontend.device_code import SourceFile
from simulator.frontend.directives import MAX_TEXT_BYTES
from simulator.frontend.host_launches import find_launches
from simulator.frontend.launch_mistakes import launch_warnings
from simulator.guard import TOO_LARGE, run_in_child
from simulator.language.ctype import Array, Pointer, Struct, dtype_of, parts
from simulator.language.errors import LaunchError, SourceError, list_names
from simulator.language.printable import printable
from simulator.launch import BUDGET_BYTES, Dim3, Launch, dim3
from simulator.machine.budget import Progress
from simulator.machine.schedule import SCHEDULES
from simulator.observers.findings import Hazard, Witness
from simulator.split.part import NotSplitError
from simulator.split.processes import simulate_in_processes

ARRAY_TYPES: Mapping[str, type[np.number[Any]]] = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "u32": np.uint32,
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i64": np.int64,
    "u64": np.uint64,
}  # fmt: skip
TYPE_NAMES = "|".join(ARRAY_TYPES)
SECONDS = 10.0  # that a run may take if --seconds is not given


class ExitCode(IntEnum):
    """What a run ends with."""

    CLEAN = 0
    HAZARDS = 1
    ERROR = 2  # in the command line, the source or the launch
    STOPPED = 130  # by Ctrl-C, as shells have it


class UsageError(LaunchError):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in the same form as every other error."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise UsageError(f"{message}. See python -m simulator --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a kernel, print its counters and hazards, and return an ExitCode."""
    text = ""
    if isinstance(sys.stdout, io.TextIOWrapper):  # None where it is closed
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have any letters
    try:
        options = build_parser().parse_intermixed_args(arguments)
        text = read_source(Path(options.file))
        if options.launch:
            print(printable(launch_commands(text, options)))
            return ExitCode.CLEAN
        if options.grid is None or options.block is None:
            raise UsageError(missing_sizes(text, options))
        kernel = load_kernel(text, options)
        report = run_kernel(kernel, options)
    except SourceError as error:
        print_line(error.with_lines(text))
        return ExitCode.ERROR
    except LaunchError as error:
        print_line(str(error))
        return ExitCode.ERROR
    except (MemoryError, RecursionError):
        print_line(TOO_LARGE)
        return ExitCode.ERROR
    except KeyboardInterrupt:
        print_line("Stopped.")
        return ExitCode.STOPPED
    try:
        print(
            json.dumps(report_as_json(kernel, report))
            if options.json
            else printable(report_as_text(kernel, report))
        )
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # Python writes what is still in the buffer when it ends: that must not fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a reader such as head has seen enough
            print(f"The report cannot be written: {error.strerror or error}.", file=sys.stderr)
            return ExitCode.ERROR
    return ExitCode.HAZARDS if report.hazards else ExitCode.CLEAN


def build_parser() -> Parser:
    """Every option and argument."""
    parser = Parser(
        prog="python -m simulator",
        description="Run a CUDA C kernel over NumPy and report its memory traffic and hazards.",
    )
    parser.add_argument("file", metavar="FILE.cu", help="the kernel's source")
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        help="a kernel of the file, if it has several: scale, ns::scale, 'scale<float, 16>' or "
        "'scale(float*, int)'",
    )
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", type=parse_sizes)
    parser.add_argument("--block", metavar="X[,Y[,Z]]", type=parse_sizes)
    parser.add_argument(
        "--launch",
        action="store_true",
        help="run nothing: print the command lines that follow from the file's own launches",
    )
    parser.add_argument("--shared", metavar="BYTES", type=int, default=0)
    parser.add_argument("-D", metavar="NAME=VALUE", action="append", default=[], dest="defines")
    parser.add_argument("--schedule", choices=SCHEDULES, default="ascending")
    parser.add_argument("--seed", metavar="N", type=int, default=0)
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=parse_seconds,
        default=SECONDS,
        help=f"stop a run that takes longer than this; {SECONDS:g} if not given",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=parse_jobs,
        default=1,
        help="processes that share the blocks of a large launch, each with memory of its own",
    )
    parser.add_argument(
        "--inputs", metavar="IN.npz", help="arrays by name of parameter or variable"
    )
    parser.add_argument("--outputs", metavar="OUT.npz", help="all arrays after the launch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "arguments",
        metavar="ARG",
        nargs="*",
        help="in parameter order: an array of random values (f32:64x64, f16:…, i64:…; struct:64 "
        "for a pointer to structs) or a scalar (i32=64, u8=64, f32=1.5); a struct's members are "
        "arguments of their own",
    )
    return parser


def parse_seconds(text: str) -> float:
    """A time in seconds, as --seconds gives it."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(f"--seconds {text}: give a number of seconds above 0, such as 10 or 0.5.")
    return seconds


def parse_jobs(text: str) -> int:
    """A number of processes, as --jobs gives it."""
    if not re.fullmatch(r"[1-9]\d{0,2}", text):
        raise UsageError(f"--jobs {text}: give a whole number from 1 to 999, such as 4.")
    return int(text)


def parse_sizes(text: str) -> Dim3:
    """One to three sizes of a grid or block: "16,16"."""
    if not re.fullmatch(r"-?\d{1,10}(,-?\d{1,10}){0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not one to three whole numbers like 16,16")
    return dim3(*(int(size) for size in text.split(",")))


def read_source(path: Path) -> str:
    """A file's text, without a byte-order mark."""
    try:
        check_is_file(path)
        if path.stat().st_size > MAX_TEXT_BYTES + len(codecs.BOM_UTF8):
            raise UsageError(f"{path} has more than {MAX_TEXT_BYTES:,} bytes: that is no kernel.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None


def launch_commands(text: str, options: argparse.Namespace) -> str:
    """The file's own launches of a kernel, or of all, as command lines."""
    found = distinct(find_launches(text, parse_defines(options.defines)), options.kernel)
    if not found:
        raise UsageError(
            f"{options.file} launches no kernel{' of that name' if options.kernel else ''}: give "
            "--grid, --block and an ARG for each parameter."
            + "".join(f" {one}" for one in launch_warnings(SourceFile(text)))
        )
    defines = [word for text in options.defines for word in ("-D", text)]
    lines = []
    for launch in found:
        kernel: Kernel | SourceError
        try:
            name = kernel_name(launch)
            file = Path(options.file).name
            kernel = compile_kernel(text, name, parse_defines(options.defines), file)
        except SourceError as error:
            kernel = error
        lines.append(command(options.file, launch, kernel, defines))
    return "\n".join(lines)


def missing_sizes(text: str, options: argparse.Namespace) -> str:
    """The sentence about --grid and --block that are not given, with the file's own launch."""
    found = distinct(find_launches(text, parse_defines(options.defines)), options.kernel)
    known = [one for one in found if one.grid is not None and one.block is not None]
    sentence = "--grid and --block are needed: how many blocks, and threads in each."
    if len(known) == 1 and known[0].grid is not None and known[0].block is not None:
        sentence += (
            f" Line {known[0].line} launches {kernel_name(known[0])} with --grid "
            f"{sizes(known[0].grid)} --block {sizes(known[0].block)}; --launch prints the command."
        )
    elif found:
        sentence += " --launch prints what the file's own launches give."
    return f"{sentence} See python -m simulator --help."


def load_kernel(text: str, options: argparse.Namespace) -> Kernel:
    """Compile the kernel of a file's text that the options name."""
    defines = parse_defines(options.defines)
    return compile_kernel(text, options.kernel, defines, Path(options.file).name)


def parse_defines(texts: Sequence[str]) -> dict[str, str]:
    """Each -D as a macro's name and value; -D NAME is 1 and -D NAME= empty, as for compilers."""
    defines = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"-D {text}: write NAME=VALUE, the name a macro's.")
        defines[name] = value if equals else "1"
    return defines


def run_kernel(kernel: Kernel, options: argparse.Namespace) -> Report:
    """Launch a kernel with the options' arguments; write its arrays to --outputs, if given."""
    if options.outputs is not None:
        check_output(options.outputs)
    arguments = build_arguments(kernel, options)
    launch = Launch(options.grid, options.block, arguments, options.shared)
    if options.seed < 0:
        raise UsageError(f"--seed {options.seed}: give a whole number from 0.")
    report = run_launch(kernel, launch, options)
    if options.outputs is not None:
        write_arrays(options.outputs, report.arrays)
    return report


def run_launch(kernel: Kernel, launch: Launch, options: argparse.Namespace) -> Report:
    """Simulate a launch in --jobs processes, or in this one where it cannot be split."""
    if options.jobs > 1:
        try:
            return simulate_in_processes(
                kernel, launch, options.jobs, options.schedule, options.seconds, print_progress
            )
        except NotSplitError as error:
            print_line(str(error))
    return simulate(kernel, launch, options.schedule, options.seed, options.seconds, print_progress)


def print_progress(progress: Progress) -> None:
    """One line on stderr, about once a second."""
    print_line(f"{progress.seconds:.0f} s: {progress.sentence}")


def print_line(text: str) -> None:
    """A line, or several, on stderr."""
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr, flush=True)


def build_arguments(kernel: Kernel, options: argparse.Namespace) -> dict[str, Any]:
    """The launch's arguments by parameter name: arrays from --inputs, the rest from ARG in order.

    With an ARG for each parameter, arrays from --inputs take precedence over theirs.
    """
    values: dict[str, Any] = dict(read_arrays(options.inputs)) if options.inputs else {}
    names = [parameter.name for parameter in kernel.parameters]
    known = [*names, *(each.variable.name for each in kernel.globals)]
    for name in values:
        if name not in known:
            raise UsageError(
                f"{options.inputs} holds {format_name(name)}, which is no parameter of "
                f"{kernel.name} ({list_names(known)})."
            )
    texts = list(options.arguments)
    missing = names
    if len(texts) != len(names):
        missing = [name for name in names if name not in values]
    if len(texts) != len(missing):
        raise UsageError(
            f"Kernel {kernel.name} needs {len(missing)} arguments ({list_names(missing)}); "
            f"{len(texts)} are given."
        )
    random = np.random.default_rng(max(0, options.seed))
    structs = {
        parameter.name: parameter.ctype.target
        for parameter in kernel.parameters
        if isinstance(parameter.ctype, Pointer) and isinstance(parameter.ctype.target, Struct)
    }
    for name, text in zip(missing, texts, strict=True):
        used_bytes = sum(getattr(value, "nbytes", 0) for value in values.values())
        value = build_argument(name, text, structs.get(name), random, used_bytes)
        values.setdefault(name, value)
    return values


def build_argument(
    name: str, text: str, struct: Struct | None, random: np.random.Generator, used_bytes: int
) -> Any:
    """One ARG: an array of random values, or a number of a C type.

    struct is what the parameter points to, if that is one; used_bytes is what the arrays before it
    take of the launch's memory.
    """
    array = parse_array(name, text, struct, used_bytes)
    if array is not None:
        dtype, shape = array
        if dtype.names is None or struct is None:
            return random_numbers(random, dtype, shape)
        cells = np.zeros((math.prod(shape), struct.size), np.uint8)
        for part in parts(struct):
            numbers = random_numbers(random, part.scalar.dtype, (len(cells), 1))
            cells[:, part.offset : part.offset + part.scalar.size] = numbers.view(np.uint8)
        return cells.reshape(-1).view(dtype).reshape(shape)
    number = re.fullmatch(rf"({TYPE_NAMES})=(\S+)", text)
    if number:
        dtype = np.dtype(ARRAY_TYPES[number[1]])
        try:
            value = float(number[2]) if dtype.kind == "f" else int(number[2], 0)
            with np.errstate(over="ignore"):  # too large a float is infinite, as in C
                return dtype.type(value)
        except (ValueError, OverflowError):
            raise UsageError(f"{text} for {name}: {number[2]} is no {number[1]}.") from None
    if struct is not None:
        raise UsageError(
            f"{text[:40]!r} for {name}: this parameter points to structs {struct.name}; give their "
            "number, like struct:64."
        )
    raise UsageError(
        f"{text[:40]!r} for {name} is neither an array like f32:64x64 nor a scalar like i32=64 "
        f"(types: {', '.join(ARRAY_TYPES)})."
    )


def random_numbers(
    random: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    """Normally distributed floats, or integers up to 100; bools are either."""
    if dtype.kind == "f":
        wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
        return random.standard_normal(shape, dtype=wide).astype(dtype, copy=False)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    low = 0 if dtype.kind == "u" else -100
    return random.integers(low, 101, shape, dtype=dtype)


def parse_array(
    name: str, text: str, struct: Struct | None, used_bytes: int
) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """Type and shape of an ARG that asks for an array, None for another ARG."""
    array = re.fullmatch(rf"({TYPE_NAMES}|struct):([1-9]\d{{0,9}}(?:x[1-9]\d{{0,9}}){{0,7}})", text)
    if not array:
        return None
    if array[1] == "struct" and struct is None:
        raise UsageError(f"{text} for {name}: this parameter is no pointer to structs.")
    if struct is not None and array[1] == "struct":
        dtype = dtype_of(struct)
    else:
        dtype = np.dtype(ARRAY_TYPES[array[1]])
    shape = tuple(int(size) for size in array[2].split("x"))
    size = math.prod(shape) * dtype.itemsize
    if used_bytes + size > BUDGET_BYTES:
        used = f" beside the arrays before it ({used_bytes / 2**20:,.0f} MiB)" if used_bytes else ""
        raise LaunchError(
            f"{text} for {name} takes {size / 2**20:,.0f} MiB{used}; the simulator takes up to "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB."
        )
    return dtype, shape


def report_as_json(kernel: Kernel, report: Report) -> dict[str, Any]:
    """What --json prints; the README names its keys."""
    return {
        "kernel": kernel.name,
        "counters": dict(report.counters),
        "lines": {str(line): dict(counts) for line, counts in report.lines.items()},
        "notes": [*kernel.notes, *report.notes],
        "hazards": [hazard_as_json(hazard) for hazard in report.hazards],
        "warnings": list(kernel.warnings),
        "seconds": report.seconds,
        "printed": [
            {"block": line.block, "thread": line.thread, "text": line.text}
            for line in report.printed
        ],
        "more_printed": report.more_printed,
    }


def hazard_as_json(hazard: Hazard) -> dict[str, Any]:
    """One entry of "hazards"."""
    example, witness = hazard.example, hazard.witness
    return {
        "kind": hazard.kind,
        "lines": hazard.lines,
        "array": hazard.array,
        "space": hazard.space,
        "message": hazard.message,
        "count": hazard.count,
        "example": {
            "block": example.block,
            "thread": example.thread,
            "other_block": example.other_block,
            "other": example.other_thread,
            "cell": example.cell,
            "iterations": example.iterations,
        },
        "wrong_order": None if witness is None else witness.order,
        "witness": None if witness is None else witness_as_json(witness),
    }


def witness_as_json(witness: Witness) -> dict[str, Any]:
    """The "witness" of a hazard."""
    return {
        "order": witness.order,
        "against": witness.against,
        "thread": witness.thread,
        "read": witness.read,
        "read_against": witness.read_against,
        "output": witness.output,
        "value": witness.value,
        "value_against": witness.value_against,
        "said": witness.sentence,
    }


def report_as_text(kernel: Kernel, report: Report) -> str:
    """What the kernel prints, then counters, warnings and hazards, a line each."""
    lines = [line.text for line in report.printed]
    if report.more_printed:
        lines.append(f"({report.more_printed:,} more calls of printf)")
    lines.append(f"{kernel.name}: {report.seconds:.3f} s")
    width = max(len(name) for name in report.counters)
    for name, count in report.counters.items():
        lines.append(f"  {name:<{width}}  {count:>14,}")
    lines += (f"warning: {warning}" for warning in kernel.warnings)
    lines += (f"note: {note}" for note in (*kernel.notes, *report.notes))
    if not report.hazards:
        lines.append("no hazards")
    for hazard in report.hazards:
        lines.append(f"{hazard.kind} ({hazard.count:,} times): {hazard.message}")
        if hazard.witness is not None:
            lines.append(f"  {hazard.witness.sentence}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run_in_child(main, ExitCode.ERROR))
