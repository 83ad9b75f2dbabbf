"""The options of `python -m simulator`, and what their texts mean."""

from __future__ import annotations

import argparse
import codecs
import math
import re
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import NoReturn

from simulator.archive import check_is_file
from simulator.language.errors import LaunchError
from simulator.language.files import MAX_FILE_BYTES
from simulator.launch import Dim3, dim3
from simulator.machine.schedule import SCHEDULES
from simulator.verdict.tasks import TASKS

ARCHITECTURE = "sm_90"  # of machine code, if --arch is not given
SECONDS = 10.0  # a run may take so long if --seconds is not given


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
    parser.add_argument(
        "--grid", metavar="X[,Y[,Z]]", type=parse_sizes, help="blocks in x, y and z"
    )
    parser.add_argument(
        "--block", metavar="X[,Y[,Z]]", type=parse_sizes, help="threads of a block in x, y and z"
    )
    parser.add_argument(
        "--launch",
        action="store_true",
        help="run nothing: print the command lines that follow from the file's own launches",
    )
    parser.add_argument(
        "--shared", metavar="BYTES", type=int, default=0, help="dynamic shared memory of a block"
    )
    _add_text(parser)
    _add_run(parser)
    parser.add_argument(
        "--inputs", metavar="IN.npz", help="arrays by name of parameter or variable"
    )
    parser.add_argument("--outputs", metavar="OUT.npz", help="all arrays after the launch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    _add_machine_code(parser)
    _add_verdict(parser)
    parser.add_argument(
        "arguments",
        metavar="ARG",
        nargs="*",
        help="in parameter order: an array of random values (f32:64x64, f16:…, i64:…; "
        "struct:64 for a pointer to structs) or a scalar (i32=64, u8=64, f32=1.5); a struct's "
        "members are arguments of their own",
    )
    return parser


def _add_text(parser: Parser) -> None:
    """The options of what the text is made of."""
    parser.add_argument(
        "-D", metavar="NAME=VALUE", action="append", default=[], dest="defines",
        help="set a macro or a template's parameter",
    )  # fmt: skip
    parser.add_argument(
        "-I",
        metavar="FOLDER",
        action="append",
        default=[],
        dest="folders",
        help="where the file's own headers are; nothing outside such folders is read",
    )


def _add_run(parser: Parser) -> None:
    """The options of how a launch is run."""
    parser.add_argument(
        "--schedule", choices=SCHEDULES, default="ascending",
        help="the order in which a block's warps run",
    )  # fmt: skip
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0,
        help="which random values arrays hold, and in which random order warps run",
    )  # fmt: skip
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=parse_seconds,
        default=SECONDS,
        help=f"stop a run that takes more processor time than this; {SECONDS:g} if not given",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=parse_jobs,
        help="processes that share the blocks of a launch, each with memory of its own; if not "
        "given, one for each processor where the launch is heavy",
    )


def _add_machine_code(parser: Parser) -> None:
    """The options of machine code."""
    group = parser.add_argument_group(
        "machine code", "run nothing: print what NVIDIA's compiler makes of each line"
    )
    group.add_argument("--machine-code", action="store_true", dest="machine_code")
    group.add_argument(
        "--arch",
        metavar="NAME",
        default=ARCHITECTURE,
        dest="architecture",
        help=f"for which GPUs: sm_80 (A100), sm_86 (RTX 30), sm_89 (RTX 40), {ARCHITECTURE} (H100, "
        "H200), sm_100 (B200), sm_120 (RTX 50), …",
    )


def _add_verdict(parser: Parser) -> None:
    """The options of a verdict; any of them asks for one."""
    group = parser.add_argument_group(
        "verdict", "judge the kernel at several sizes; the launch is guessed where it is not given"
    )
    group.add_argument("--verdict", action="store_true")
    group.add_argument(
        "--strict", action="store_true", help="require that it is right at every size"
    )
    group.add_argument(
        "--task", metavar="NAME", help=f"what it should compute: {', '.join(TASKS)} or none"
    )
    for role in ("M", "N", "K"):
        group.add_argument(
            f"--{role}",
            metavar="SIZE",
            type=int,
            help=f"a value for the parameter that is {role} in the task",
        )
    group.add_argument("--exercise", metavar="NAME", help="check the file as this exercise")
    group.add_argument("--junit", metavar="OUT.xml", help="write the verdict for a grader")
    group.add_argument(
        "--report", metavar="OUT.html", help="write the verdict as a page with its scene"
    )


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
        if path.stat().st_size > MAX_FILE_BYTES + len(codecs.BOM_UTF8):
            raise UsageError(
                f"{path} has {path.stat().st_size:,} bytes; a file may be at most "
                f"{MAX_FILE_BYTES:,}."
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None


def parse_defines(texts: Sequence[str]) -> dict[str, str]:
    """Each -D as a macro's name and value; -D NAME is 1 and -D NAME= empty, as for compilers."""
    defines = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"-D {text}: write NAME=VALUE, the name a macro's.")
        defines[name] = value if equals else "1"
    return defines
