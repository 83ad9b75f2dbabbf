"""`python -m compiler record`: the catalogue's machine code, for machines without the compiler."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from compiler.compile import compile_text
from compiler.hints import hinted_catalogue
from compiler.machine_code import MachineCode
from compiler.nvrtc import version
from compiler.recorded import ARCHITECTURES, recorded, write_recording
from compiler.toolchain import Toolchain, ToolchainError, find_toolchain
from simulator.catalogue import whole_catalogue
from simulator.exercises.exercise import exercises
from simulator.exercises.requirements.traffic import SharedLoads
from simulator.language.errors import SourceError


def main() -> int:
    """Record each kernel with each of its settings; 2 where the compiler is not here."""
    parser = argparse.ArgumentParser(prog="python -m compiler", description=__doc__)
    parser.add_argument("command", choices=["record"])
    parser.parse_args()
    try:
        toolchain = find_toolchain()
        for architecture in ARCHITECTURES:
            path = write_recording(architecture, compile_catalogue(toolchain, architecture))
            print(f"{path}: {path.stat().st_size:,} bytes")
    except ToolchainError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def compile_catalogue(toolchain: Toolchain, architecture: str) -> Iterator[tuple[str, MachineCode]]:
    """Each text of the catalogue that the architecture has the instructions for, compiled.

    So is what a reader may ask of the compiler for some of them. What the same compiler has made of
    a text before is taken as it is.
    """
    compiler = version(toolchain.nvrtc)

    def machine_code(text: str, kernel: str) -> MachineCode:
        known = recorded(text, architecture)
        if known is not None and known.compiler == compiler:
            return known
        return compile_text(toolchain, text, kernel, architecture)

    for entry in whole_catalogue().values():
        for setting in entry.settings():
            text = entry.source(**setting)
            try:
                yield text, machine_code(text, entry.kernel)
            except SourceError as error:
                print(f"{entry.name}, {architecture}: {error}", file=sys.stderr)
                break
    for kernel, text in (*hinted_catalogue(architecture), *texts_of_exercises()):
        yield text, machine_code(text, kernel)


def texts_of_exercises() -> Iterator[tuple[str, str]]:
    """The kernels and the codes of exercises that ask for fewer loads than the compiler leaves."""
    for one in exercises().values():
        if any(isinstance(asked, SharedLoads) for asked in one.requirements):
            yield one.kernel, one.start
            yield one.kernel, one.solution


if __name__ == "__main__":
    sys.exit(main())
