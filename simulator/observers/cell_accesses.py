"""What one instruction does to the cells of a buffer, and how that relates to their last writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.launch import WARP_SIZE
from simulator.machine.group import Group
from simulator.machine.observer import Access
from simulator.observers.hazards.races import Relation
from simulator.observers.hazards.shadow import ProgramPosition, Read, Shadow, program_position


@dataclass(frozen=True, slots=True)
class CellAccesses:
    """What one instruction did to n cells of a buffer, to be compared with their last writes."""

    access: Access
    shadow: Shadow  # of the access's buffer
    cells: Array  # int [n], entries of the shadow's arrays
    lanes: Array  # int [n], the lane of the access's group that touches each cell
    threads: Array  # int [n], the thread that touches each cell, numbered over the grid
    interval: Any  # int, or int [n]: the barrier interval of each thread's block
    warp_syncs: int  # how often the threads' warps had passed __syncwarp()
    clock: int  # how many accesses the group had made
    position: ProgramPosition
    copied: Any = False  # bool, or bool [n]: an asynchronous copy not yet waited for writes it
    read_event: int | None = None  # stores before a read that was remembered; else None
    of_one_block: bool = False  # an atomic for the threads of its own block alone makes it


def current_accesses(
    access: Access,
    shadow: Shadow,
    cells: Array,
    lanes: Any,
    copied: Any = False,
    of_one_block: bool = False,
) -> CellAccesses:
    """An access that is being made, as its group is at this moment."""
    group = access.group
    return CellAccesses(
        access=access,
        shadow=shadow,
        cells=cells,
        lanes=group.lane_numbers[lanes],
        threads=thread_numbers(group)[lanes],
        interval=interval_of(group.interval, lanes),
        warp_syncs=group.warp_syncs.count,
        clock=group.clock,
        position=program_position(access),
        copied=copied,
        of_one_block=of_one_block,
    )


def remembered_accesses(
    read: Read, shadow: Shadow, cells: Array, lanes: Any, interval: Any
) -> CellAccesses:
    """A read that was remembered, as its group stood when it was made."""
    return CellAccesses(
        access=read.access,
        shadow=shadow,
        cells=cells,
        lanes=read.access.group.lane_numbers[lanes],
        threads=thread_numbers(read.access.group)[lanes],
        interval=interval,
        warp_syncs=read.warp_syncs,
        read_event=read.event,
        clock=read.clock,
        position=read.position,
    )


def relation_to_writes(accesses: CellAccesses) -> Relation:
    """How accesses relate to the last write of each cell."""
    cells, threads, shadow = accesses.cells, accesses.threads, accesses.shadow
    block_threads = accesses.access.group.launch.threads
    writers = shadow.writer.take(cells)
    same_block = writers // block_threads == threads // block_threads
    ordered_in_warp = accesses.access.group.warp_syncs.order(
        shadow.warp_syncs.take(cells),
        accesses.warp_syncs,
        accesses.lanes,
        writers % block_threads % WARP_SIZE,
    )
    warps, writer_warps = (t % block_threads // WARP_SIZE for t in (threads, writers))
    return Relation(
        same_thread=writers == threads,
        same_warp=same_block & (writer_warps == warps),
        same_block=same_block,
        same_interval=shadow.interval.take(cells) == accesses.interval,
        same_warp_interval=~ordered_in_warp,
        during_copy=accesses.copied,
        of_one_block=shadow.of_one_block.take(cells) | accesses.of_one_block,
    )


def thread_numbers(group: Group) -> Array:
    """Each lane's thread, numbered over the grid: int [lanes]."""
    numbers: Array | None = group.thread_numbers
    if numbers is None:
        numbers = np.add.outer(
            group.blocks.astype(np.int64) * group.launch.threads, group.threads
        ).reshape(-1)
        group.thread_numbers = numbers
    return numbers


def interval_of(interval: Any, lanes: Any) -> Any:
    """The barrier interval of some lanes, one number where all lanes have the same."""
    return interval if isinstance(interval, int) else interval[lanes]
