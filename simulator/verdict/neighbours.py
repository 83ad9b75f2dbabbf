"""The catalogue's kernels at the user kernel's size, for comparison."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np

from simulator.catalogue import Entry, catalogue
from simulator.frontend.kernel import compile_kernel
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.counters import Counters
from simulator.observers.transactions import SECTOR_BYTES
from simulator.verdict.verdict import CounterRow

NEIGHBOURS = ("naive", "tiled", "transposed", "padded", "registers")
LARGEST = 64**3  # multiply-adds of a product whose neighbours are computed
SECONDS = 5.0  # for one of them


def neighbours(
    counters: Mapping[str, int],
    lines: Mapping[int, Mapping[str, int]],
    sizes: tuple[int, int, int],
    tile: int,
) -> tuple[CounterRow, ...]:
    """The user kernel's row, then the catalogue's kernels for the same product in float32.

    sizes are M, N and K, tile the elements of C that a block of the user kernel computes; each
    neighbour has tiles of about as many. Without neighbours for a product that is too large.
    """
    M, N, K = sizes
    flops = 2 * M * N * K
    own = counter_row("", "Yours", counters, lines, flops)
    if M * N * K > LARGEST:
        return (own,)
    return (own, *(_row(name, M, N, K, tile) for name in NEIGHBOURS))


def counter_row(
    name: str,
    title: str,
    counters: Mapping[str, int],
    lines: Mapping[int, Mapping[str, int]],
    flops: int | None,
) -> CounterRow:
    """A launch's costs, by operation where these are known."""

    def total(*names: str) -> int:
        return sum(counters[one] for one in names)

    ideal = sum(
        line[f"shared_{kind}_wavefronts_ideal"]
        for line in lines.values()
        for kind in ("load", "store")
    )
    wavefronts = total("shared_load_wavefronts", "shared_store_wavefronts")
    sectors = total("global_load_sectors", "global_store_sectors")
    requests = total("global_load_requests", "global_store_requests")
    return CounterRow(
        name=name,
        title=title,
        conflicts=wavefronts - ideal,
        sectors_per_request=sectors / requests if requests else None,
        bytes_per_flop=SECTOR_BYTES * sectors / flops if flops else None,
        wavefronts_per_flop=wavefronts / flops if flops else None,
    )


@functools.lru_cache(256)
def _row(name: str, M: int, N: int, K: int, tile: int) -> CounterRow:
    entry = catalogue()[name]
    chosen = _setting(entry, tile)
    counters = catalogue_counters(name, tuple(chosen.items()), M, N, K)
    rows, columns = entry.produces(**chosen)
    return counter_row(
        name,
        entry.title.split(":")[0] + (f", {rows} x {columns}" if chosen else ""),
        counters.totals,
        counters.lines,
        2 * M * N * K,
    )


@functools.lru_cache(256)
def catalogue_counters(
    name: str, chosen: tuple[tuple[str, int], ...], M: int, N: int, K: int
) -> Counters:
    """What a kernel of the catalogue counts for an M x N x K product, its macros as chosen."""
    arrays = {"A": np.zeros((M, K)), "B": np.zeros((K, N)), "C": np.zeros((M, N))}
    launch = catalogue()[name].launch({**arrays, "M": M, "N": N, "K": K}, **dict(chosen))
    return _counted(_compiled(name, chosen), launch)


def _setting(entry: Entry, tile: int) -> Mapping[str, int]:
    """The setting whose blocks compute about `tile` elements of C."""
    return min(
        entry.settings(), key=lambda one: abs(math.log(math.prod(entry.produces(**one)) / tile))
    )


@functools.lru_cache(64)
def _compiled(name: str, chosen: tuple[tuple[str, int], ...]) -> Kernel:
    entry = catalogue()[name]
    return compile_kernel(entry.source(**dict(chosen)), entry.kernel, None, entry.file)


def _counted(kernel: Kernel, launch: Launch) -> Counters:
    counters = Counters()
    Machine(kernel, launch, [counters], Schedule.LOCKSTEP, seconds=SECONDS).run()
    return counters
