"""What the compiler makes of a kernel, which the packages above the simulator find out."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path

from simulator.language.tree import Kernel
from simulator.terminal.options import UsageError, parse_defines

# By their names, for nothing in the simulator may import what rests on it.
FINDER, ERRORS, PRINTER = "compiler.find", "compiler.toolchain", "compiler.terminal"


def machine_code(text: str, kernel: Kernel | None, options: argparse.Namespace) -> str:
    """The machine code of the kernel that the options name, as text or JSON.

    kernel is the same as the simulator has it, None where that does not execute it.
    Raises SourceError for code that is wrong or not supported, UsageError where there is neither a
    compiler nor a recording.
    """
    find, errors, printer = (importlib.import_module(one) for one in (FINDER, ERRORS, PRINTER))
    defines = parse_defines(options.defines)
    try:
        code = find.find_machine_code(
            text, options.kernel, options.architecture, defines, Path(options.file).name
        )
    except errors.ToolchainError as error:
        raise UsageError(str(error)) from None
    found = printer.occupancies(code, text, defines, options.block, options.shared)
    if options.json:
        return json.dumps(printer.as_json(code, kernel, text, found))
    return str(printer.as_text(code, kernel, text, found))


def registers(kernel: Kernel, options: argparse.Namespace) -> int | None:
    """The registers of a thread of a kernel, None where they are not known."""
    found = importlib.import_module(FINDER).find_registers(kernel, parse_defines(options.defines))
    return None if found is None else int(found)
