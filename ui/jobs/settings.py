"""What whoever serves the app lets its visitors do, by variables of the environment.

`TILEWISE_WRITE=off`: no kernels of their own. `TILEWISE_GPU=off`: no work on a GPU. Without them
visitors may do both; any value but on, yes, true and 1 is taken as off.
`TILEWISE_CLICK_SECONDS`: the seconds of a processor that one click may take, 60 without it.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress

from simulator import LaunchError

WRITE = "TILEWISE_WRITE"
GPU = "TILEWISE_GPU"
CLICK = "TILEWISE_CLICK_SECONDS"
USUAL_CLICK_SECONDS = 60.0
ON = ("", "on", "yes", "true", "1")
WRITE_IS_OFF = "User kernels are switched off on this server."
GPU_IS_OFF = "Work on a GPU is switched off on this server."


def may_write() -> bool:
    """Whether visitors may run kernels of their own."""
    return _is_on(WRITE)


def may_use_gpu() -> bool:
    """Whether visitors may start work on a GPU."""
    return _is_on(GPU)


def click_seconds() -> float:
    """The seconds of a processor that one click may take; 60 where no positive number is given."""
    with suppress(ValueError):
        seconds = float(os.environ.get(CLICK, ""))
        if 0 < seconds < math.inf:
            return seconds
    return USUAL_CLICK_SECONDS


def check_may_write() -> None:
    """Raise LaunchError unless visitors may run kernels of their own.

    Every job that compiles one calls it, in the process that would: no page is asked there.
    """
    if not may_write():
        raise LaunchError(WRITE_IS_OFF)


def _is_on(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in ON
