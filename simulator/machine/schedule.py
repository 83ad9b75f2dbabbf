"""In which order a block's warps run."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

import numpy as np

from simulator.machine.group import Group


class Schedule(StrEnum):
    """In which order a block's warps run to their next barrier."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"  # a new order for each barrier interval
    LOCKSTEP = "lockstep"  # all threads of the block at once, as if they were one warp


SCHEDULES = (Schedule.ASCENDING, Schedule.DESCENDING, Schedule.RANDOM)  # of whole launches


def in_order(groups: list[Group], schedule: Schedule, random: np.random.Generator) -> list[Group]:
    """The groups in the order in which they run to their next barrier."""
    match schedule:
        case Schedule.ASCENDING | Schedule.LOCKSTEP:
            return groups
        case Schedule.DESCENDING:
            return groups[::-1]
        case Schedule.RANDOM:
            return [groups[i] for i in random.permutation(len(groups))]
        case _:
            assert_never(schedule)
