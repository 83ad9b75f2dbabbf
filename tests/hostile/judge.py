"""What a worker process makes of a text: a job of these tests."""

from __future__ import annotations

import numpy as np

from simulator import Launch, LaunchError, SourceError, compile_kernel, simulate
from simulator.language.ctype import Pointer

SECONDS = 0.1  # that a launch may take


def judge(text: str) -> str:
    """The sentences that a page shows of a text, its line of the text left out; "" if it runs."""
    try:
        kernel = compile_kernel(text, "k")
        arguments = {
            one.name: np.zeros(32, np.float32) if isinstance(one.ctype, Pointer) else 4
            for one in kernel.parameters
        }
        report = simulate(kernel, Launch((1, 1, 1), (32, 1, 1), arguments), seconds=SECONDS)
    except (SourceError, LaunchError) as error:
        return str(error)
    return "\n".join((*kernel.warnings, *kernel.notes, *report.notes,
                      *(hazard.message for hazard in report.hazards)))  # fmt: skip
