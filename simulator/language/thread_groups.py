"""The types of cooperative groups: scalars whose value is the lanes of the group, a bit each."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from simulator.language.ctype import UINT, CType, Scalar


class GroupKind(StrEnum):
    """What a group's threads are."""

    ANY = "thread_group"  # any of the others: which, its first value tells
    BLOCK = "thread_block"  # all threads of the block
    GRID = "grid_group"  # all threads of the launch
    TILE = "thread_block_tile"  # neighbouring lanes of a warp, as many as its type says
    COALESCED = "coalesced_group"  # lanes of a warp that were active together


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """What the type of a group says of it."""

    kind: GroupKind
    width: int = 0  # threads of a tile; 0 for other groups
    parent_width: int = 0  # threads of the tile that a tile is a part of; 0 for the block


def group_type(group: ThreadGroup) -> Scalar:
    """The C type of a group.

    >>> str(group_type(ThreadGroup(GroupKind.TILE, 4, 16)))
    'thread_block_tile<4, thread_block_tile<16>>'
    """
    name = str(group.kind)
    if group.kind is GroupKind.TILE:
        parent = f", {group.kind}<{group.parent_width}>" if group.parent_width else ""
        name = f"{name}<{group.width}{parent}>"
    return Scalar(name, np.dtype(np.uint32), UINT.rank)


def group_of(ctype: CType) -> ThreadGroup | None:
    """What a type says of the group that it is the type of; None for any other type.

    >>> group_of(group_type(ThreadGroup(GroupKind.BLOCK)))
    ThreadGroup(kind=<GroupKind.BLOCK: 'thread_block'>, width=0, parent_width=0)
    """
    return parse_group(ctype.name) if isinstance(ctype, Scalar) else None


@functools.cache
def parse_group(name: str) -> ThreadGroup | None:
    """The group that a name of a type, as clang or group_type writes it, is the type of."""
    kind = re.match(r"(?:cooperative_groups::)?(\w+)", name)
    if kind is None or kind[1] not in list(GroupKind):
        return None
    widths = [int(width) for width in re.findall(r"thread_block_tile<(\d+)", name)]
    return ThreadGroup(GroupKind(kind[1]), *widths[:2])
