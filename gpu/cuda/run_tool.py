"""Tools of the CUDA Toolkit and other commands, run to their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class ToolError(Exception):
    """A tool is missing or has failed; the message says which, and what would mend it."""


class EndlessError(ToolError):
    """A tool has not ended within its time limit."""


def run(
    command: Sequence[str], seconds: float, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; ToolError if it is missing, EndlessError if it does not end.

    What the command has started ends with it: a kernel that waits for ever would keep the GPU.
    """
    try:
        process = subprocess.Popen(  # noqa: S603  # our own command lines, no shell
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, cwd=folder,
        )  # fmt: skip
    except FileNotFoundError:
        raise ToolError(
            f"{command[0]} is not here; it comes with the CUDA Toolkit, and its folder must be "
            "on the PATH."
        ) from None
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.communicate()
        raise EndlessError(f"{command[0]} took more than {seconds:.0f} s.") from None
    return subprocess.CompletedProcess(command, process.returncode, output, errors)
