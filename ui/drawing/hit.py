"""What of the scene is under a point of it."""

from __future__ import annotations

from dataclasses import dataclass

# What the name of an array begins with, so that none can be "thread" or "line".
GLOBAL, SHARED = "global:", "shared:"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something of the scene that can be clicked."""

    name: str  # "thread", "line", or an array's after GLOBAL or SHARED
    index: int  # the thread's number in the block, the line's from 1, or the array's cell, flat
    side: int = 0  # of two scenes beside each other: 0 the left, 1 the right
