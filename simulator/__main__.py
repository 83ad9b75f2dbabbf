"""The simulator from a terminal: `python -m simulator FILE.cu --kernel NAME …`."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from simulator import Kernel, Report, compile_kernel, simulate
from simulator.archive import write_arrays
from simulator.command_line import command, distinct, kernel_name, sizes
from simulator.frontend.device_code import SourceFile
from simulator.frontend.host.launch_mistakes import launch_warnings
from simulator.frontend.host.launches import find_launches
from simulator.guard import TOO_LARGE, run_in_child
from simulator.language.errors import LaunchError, SourceError
from simulator.language.printable import printable
from simulator.launch import Launch
from simulator.machine.budget import Progress
from simulator.output_file import check_output
from simulator.split.estimate import HEAVY_SECONDS, estimate_seconds
from simulator.split.part import NotSplitError
from simulator.split.processes import processor_count, simulate_in_processes
from simulator.terminal.arguments import build_arguments
from simulator.terminal.headers import with_headers
from simulator.terminal.junit import write_failure, write_junit
from simulator.terminal.machine_code import machine_code
from simulator.terminal.options import (
    ExitCode,
    UsageError,
    build_parser,
    parse_defines,
    read_source,
)
from simulator.terminal.report_file import check_writer, write_report
from simulator.terminal.report_text import report_as_json, report_as_text
from simulator.terminal.verdict_run import is_asked, judge_exercise, judge_kernel
from simulator.terminal.verdict_text import verdict_as_json, verdict_as_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a kernel, print its counters and hazards, and return an ExitCode."""
    text = ""
    if isinstance(sys.stdout, io.TextIOWrapper):  # None where it is closed
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have any letters
    try:
        options = build_parser().parse_intermixed_args(arguments)
        text = with_headers(read_source(Path(options.file)), options.file, options.folders)
        if is_asked(options):
            return print_result(*judge(text, options))
        if options.machine_code:
            return print_result(
                printable(machine_code(text, executed_kernel(text, options), options)),
                ExitCode.CLEAN,
            )
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
    output = json.dumps(report_as_json(kernel, report)) if options.json else ""
    code = ExitCode.HAZARDS if report.hazards else ExitCode.CLEAN
    return print_result(output or printable(report_as_text(kernel, report)), code)


def print_result(output: str, code: ExitCode) -> ExitCode:
    """Print what a run or a verdict says; the code that the command ends with."""
    try:
        print(output)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # Python writes what is still in the buffer when it ends: that must not fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a reader such as head has seen enough
            print(f"The report cannot be written: {error.strerror or error}.", file=sys.stderr)
            return ExitCode.ERROR
    return code


def judge(text: str, options: argparse.Namespace) -> tuple[str, ExitCode]:
    """What a verdict on the file's kernel says, and what the command ends with.

    --junit's file is written for source that is not judged, too.
    """
    if options.junit is not None:
        check_output("--junit", options.junit, "OUT.xml")
    if options.report is not None:
        check_output("--report", options.report, "OUT.html")
        check_writer()
    try:
        if options.exercise is not None:
            judged = judge_exercise(text, options)
        else:
            judged = judge_kernel(load_kernel(text, options), options)
    except (LaunchError, SourceError) as error:
        if options.junit is not None and not isinstance(error, UsageError):
            write_failure(options.junit, Path(options.file).stem, str(error))
        raise
    if options.junit is not None:
        write_junit(options.junit, judged)
    if options.report is not None:
        write_report(options.report, judged)
    if options.json:
        return json.dumps(verdict_as_json(judged)), judged.exit_code
    return printable(verdict_as_text(judged)), judged.exit_code


def launch_commands(text: str, options: argparse.Namespace) -> str:
    """The file's own launches of a kernel, or of all, as command lines."""
    found = distinct(find_launches(text, parse_defines(options.defines)), options.kernel)
    if not found:
        raise UsageError(
            f"{options.file} launches no kernel{' of that name' if options.kernel else ''}: give "
            "--grid, --block and an ARG for each parameter."
            + "".join(f" {one}" for one in launch_warnings(SourceFile(text)))
        )
    given = [word for text in options.defines for word in ("-D", text)]
    given += [word for folder in options.folders for word in ("-I", folder)]
    lines = []
    for launch in found:
        kernel: Kernel | SourceError
        try:
            name = kernel_name(launch)
            file = Path(options.file).name
            kernel = compile_kernel(text, name, parse_defines(options.defines), file)
        except SourceError as error:
            kernel = error
        lines.append(command(options.file, launch, kernel, given))
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


def executed_kernel(text: str, options: argparse.Namespace) -> Kernel | None:
    """The kernel that the options name, None where the simulator does not execute it."""
    try:
        return load_kernel(text, options)
    except SourceError:
        return None


def run_kernel(kernel: Kernel, options: argparse.Namespace) -> Report:
    """Launch a kernel with the options' arguments; write its arrays to --outputs, if given."""
    if options.outputs is not None:
        check_output("--outputs", options.outputs, "OUT.npz")
    arguments = build_arguments(kernel, options)
    launch = Launch(options.grid, options.block, arguments, options.shared)
    if options.seed < 0:
        raise UsageError(f"--seed {options.seed}: give a whole number, 0 or more.")
    report = run_launch(kernel, launch, options)
    if options.outputs is not None:
        write_arrays(options.outputs, report.arrays)
    return report


def run_launch(kernel: Kernel, launch: Launch, options: argparse.Namespace) -> Report:
    """Simulate a launch in processes, or in this one where it is small or cannot be split.

    There are as many as --jobs says; if it says nothing, one for each processor.
    """
    jobs = options.jobs
    if jobs is None:
        is_heavy = estimate_seconds(kernel, launch) > HEAVY_SECONDS
        jobs = processor_count() if is_heavy else 1
    if jobs > 1:
        try:
            return simulate_in_processes(
                kernel, launch, jobs, options.schedule, options.seconds, print_progress
            )
        except NotSplitError as error:
            if options.jobs is not None:
                print_line(str(error))
    return simulate(kernel, launch, options.schedule, options.seed, options.seconds, print_progress)


def print_progress(progress: Progress) -> None:
    """One line on stderr, about once a second."""
    print_line(f"{progress.seconds:.0f} s: {progress.sentence}")


def print_line(text: str) -> None:
    """A line, or several, on stderr."""
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(run_in_child(main, ExitCode.ERROR))
