"""What the reads of the GPU's clock say: cycles of each phase, and the place and time of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpu.trace.instrument import Instrumented
from gpu.trace.places import Place
from gpu.trace.trace import NO_TILE, Block, Interval, Kind, Level, TracedPhase
from simulator.language.ctype import Array

CLOCK_BITS = 32  # of a read; above them is the place's number, and whether a tile begins with it
CLOCK_MASK = 2**CLOCK_BITS - 1
BEGINS_TILE = 2**31
SYNC = "__syncthreads"
APART = 100  # cycles between the first and the last warp that leaves a barrier
LONG = 2_000  # nanoseconds after which the timer says how fast the clock is
FINE = 100  # nanoseconds: steps of the timer that are fine enough for a block's times
STEP = 10  # nanoseconds to which a block's times are rounded: finer than the timer's own steps
BLOCK_WORDS = 6  # see clock.cuh


@dataclass(frozen=True, slots=True)
class Reads:
    """What one launch of an instrumented kernel has written."""

    numbers: Array  # int [whole], of the whole blocks of which there are reads, ascending
    reads: Array  # uint64 [whole * warps, room]: the place and the clock, see clock.cuh
    ends: Array  # uint64 [whole * warps, 2]: the last clock, how many reads there were
    blocks: Array  # uint64 [blocks, 6]: see ~TilewiseTrace in clock.cuh
    grid: tuple[int, int, int]
    warps: int  # of a block
    empty: float  # cycles of an empty read
    clock_mhz: float  # the device's highest, for a kernel too short to measure it


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a trace that the reads give."""

    phases: tuple[TracedPhase, ...]
    sum_error: float
    blocks: tuple[Block, ...]
    left_out: tuple[str, ...]  # sentences


@dataclass(frozen=True, slots=True)
class _Spans:
    """All spans between two reads of a warp, in the order of the warps and of time."""

    warp: Array  # int [n], its row in Reads.reads
    place: Array  # int [n]
    tile: Array  # int [n], or NO_TILE
    k: Array  # int [n], the iteration of the inner loop in the tile that is looked into, else -1
    begin: Array  # int [n], cycles since its block began
    cycles: Array  # float [n], without the read itself


def summarise(code: Instrumented, found: Reads, level: Level, kept: int) -> Summary:
    """The figures of a launch. `kept` is how many intervals of warps are kept at most.

    ValueError where no warp has written anything.
    """
    spans = _spans(code, found)
    if not spans.warp.size:
        raise ValueError("No warp has read its clock.")
    places, joined, notes = _join_short(code.places, spans, found.empty, level)
    lifetime = _lifetime(found, spans)
    phases, numbers = _phases(places, joined, spans, lifetime, notes, found.empty)
    covered = float(spans.cycles.sum()) / np.unique(spans.warp).size
    blocks, dropped = _blocks(found, spans, joined, numbers, kept)
    lost = _lost(found)
    sentences = (*lost, *code.notes, *_moved(code, found, spans), *notes, *dropped)
    return Summary(phases, covered / lifetime - 1, blocks, sentences)


def choose_blocks(multiprocessor: Array, most: int) -> Array:
    """The numbers of at most so many blocks: one of every multiprocessor, and others from all over.

    `multiprocessor` has each block's; one of every multiprocessor is always among them. Of the
    blocks that a multiprocessor holds at once the first gets ahead of the others (with bank
    conflicts it lives 0.7 times as long as they do), so that of another multiprocessor the next is
    taken.
    """
    order = np.argsort(multiprocessor, kind="stable")
    _, begins, counts = np.unique(multiprocessor[order], return_index=True, return_counts=True)
    ones = order[begins + np.arange(begins.size) % counts]
    others = np.setdiff1d(np.arange(multiprocessor.size), ones)
    more = min(others.size, max(0, most - ones.size))
    chosen: Array = np.sort(np.append(ones, others[np.arange(more) * others.size // max(1, more)]))
    return chosen


def tiles_of(reads: Array) -> int:
    """How many tiles begin in the reads of one warp, uint64 [n]."""
    return int(np.count_nonzero(reads >> np.uint64(CLOCK_BITS) & np.uint64(BEGINS_TILE)))


def _spans(code: Instrumented, found: Reads) -> _Spans:
    """Every span that has an end: the next read of its warp, or the end of the kernel."""
    room = found.reads.shape[1]
    counts = found.ends[:, 1].astype(np.int64)
    valid = np.minimum(counts, room)
    used = found.reads[:, : max(1, int(valid.max(initial=0)))]
    warp, column = np.nonzero(np.arange(used.shape[1]) < valid[:, None])
    words = used[warp, column]
    clock = (words & np.uint64(CLOCK_MASK)).astype(np.int64)
    above = (words >> np.uint64(CLOCK_BITS)).astype(np.int64)
    place, starts = above & ~BEGINS_TILE, (above & BEGINS_TILE) != 0
    is_last = column == valid[warp] - 1
    following = np.append(clock[1:], 0)
    following[is_last] = found.ends[warp[is_last], 0].astype(np.int64) & CLOCK_MASK
    raw = (following - clock) & CLOCK_MASK
    in_tile = np.array([one.in_tile for one in code.places])[place]
    tile = np.where(in_tile, _count(starts, warp) - 1, NO_TILE)
    is_each = np.array([one.whole is not None for one in code.places])[place]
    k = _iterations(is_each, warp, tile)
    begin = _begins(clock, raw, warp, found.warps)
    cycles = np.maximum(raw - found.empty, 0)
    has_end = ~is_last | (counts[warp] <= room)
    return _Spans(*(each[has_end] for each in (warp, place, tile, k, begin, cycles)))


def _begins(clock: Array, raw: Array, warp: Array, warps: int) -> Array:
    """When each span begins, in cycles since the first read of its block.

    A read has half of the clock's bits: times within a warp are sums of what is between its reads.
    """
    if not warp.size:
        return clock
    _, firsts, inverse = np.unique(warp, return_index=True, return_inverse=True)
    elapsed = np.cumsum(raw) - raw
    elapsed -= elapsed[firsts][inverse]
    block = warp[firsts] // warps
    _, leaders, of_block = np.unique(block, return_index=True, return_inverse=True)
    half = (CLOCK_MASK + 1) // 2
    ahead = ((clock[firsts] - clock[firsts][leaders][of_block] + half) & CLOCK_MASK) - half
    earliest = np.minimum.reduceat(ahead, leaders)
    begins: Array = elapsed + (ahead - earliest[of_block])[inverse]
    return begins


def _count(events: Array, warp: Array) -> Array:
    """How many of the events there were up to each one, of the same warp."""
    total = np.cumsum(events)
    first = np.append(True, warp[1:] != warp[:-1]) if warp.size else np.zeros(0, bool)
    before = (total - events)[first]
    return total - before[np.cumsum(first) - 1] if warp.size else total


def _iterations(is_each: Array, warp: Array, tile: Array) -> Array:
    """The iteration of the inner loop that a span is in, where each is read; else -1."""
    looked_into = np.unique(tile[is_each])
    return np.where(np.isin(tile, looked_into), _count(is_each, warp) - 1, -1)


def _join_short(
    places: Sequence[Place], spans: _Spans, empty: float, level: Level
) -> tuple[dict[int, Place], Array, list[str]]:
    """The places by number, those that are too short joined with their neighbours.

    Returns also the number that stands for each, and sentences. A statement is too short where the
    read after it takes longer than it.
    """
    stands_for = np.arange(len(places))
    found = {one.number: one for one in places}
    for one in places:
        if one.whole is not None:
            stands_for[one.number] = one.whole
    if level is Level.PHASES:
        return found, stands_for, []
    notes: list[str] = []
    medians = {
        number: float(np.median(spans.cycles[spans.place == number]))
        for number in np.unique(spans.place).tolist()
    }
    row = [one for one in places if one.number in medians and one.whole is None]
    for one, following in pairwise(row):
        is_statement = all(
            each.in_tile and each.kind is not Kind.BARRIER for each in (one, following)
        )
        if is_statement and min(medians[one.number], medians[following.number]) < empty:
            before = found[int(stands_for[one.number])]
            name = f"lines {before.first_line} to {following.last_line}"
            stands_for[stands_for == following.number] = before.number
            found[before.number] = replace(before, name=name, last_line=following.last_line)
            notes.append(f"{name[0].upper()}{name[1:]} are shown together: too short to measure.")
    return found, stands_for, notes


def _lifetime(found: Reads, spans: _Spans) -> float:
    """Mean cycles from a block's first read to its last, without what a warp's reads take."""
    reads = np.bincount(spans.warp)
    _, firsts = np.unique(spans.warp // found.warps, return_index=True)  # they are sorted
    last = np.maximum.reduceat(spans.begin + spans.cycles + found.empty, firsts)
    lives = last - np.minimum.reduceat(spans.begin, firsts)
    return max(1.0, float(np.mean(lives) - np.mean(reads[reads > 0]) * found.empty))


def _phases(
    places: Mapping[int, Place],
    joined: Array,
    spans: _Spans,
    lifetime: float,
    notes: list[str],
    empty: float,
) -> tuple[tuple[TracedPhase, ...], dict[int, int]]:
    """The phases that were gone through, and by a place's number the index of its phase."""
    place = joined[spans.place]
    phases: list[TracedPhase] = []
    numbers: dict[int, int] = {}
    loops = {one.whole for one in places.values()}
    traced = np.unique(spans.warp).size
    for number in np.unique(place).tolist():
        of_place = place == number
        sums = _sums(spans.warp[of_place], spans.tile[of_place], spans.cycles[of_place])
        warps = np.unique(spans.warp[of_place]).size
        numbers[number] = len(phases)
        # Some warps may have returned before, or have nothing to store.
        of_life = float(sums.sum()) / traced / lifetime
        phases.append(_phase(places[number], sums, sums.size / warps, of_life))
        each = of_place & (spans.k >= 0)
        if number in loops and each.any():
            rows = list(_each_k(places[number], spans, each, lifetime))
            if min(one.cycles for one in rows) < empty:
                phase = phases[-1]
                notes.append(
                    f"The iterations of lines {phase.first_line} to {phase.last_line} are shown "
                    "together: one takes less than reading the clock."
                )
            else:
                phases += rows
    return tuple(phases), numbers


def _each_k(place: Place, spans: _Spans, each: Array, lifetime: float) -> Iterator[TracedPhase]:
    """Each iteration of an inner loop, in the one tile that is looked into."""
    sums: dict[int, list[float]] = {}
    keys = np.stack((spans.warp[each], spans.k[each]))
    distinct, inverse = np.unique(keys, axis=1, return_inverse=True)
    totals = np.bincount(inverse.ravel(), spans.cycles[each])
    for k, total in zip(distinct[1].tolist(), totals.tolist(), strict=True):
        sums.setdefault(k, []).append(total)
    for k, cycles in sorted(sums.items()):
        named = replace(place, name=f"iteration {k}")
        yield replace(
            _phase(named, np.array(cycles), 1.0, sum(cycles) / len(cycles) / lifetime), k=k
        )


def _sums(warp: Array, tile: Array, cycles: Array) -> Array:
    """The cycles of each warp in each tile."""
    width = int(tile.max()) + 2
    _, inverse = np.unique(warp * width + tile + 1, return_inverse=True)
    sums: Array = np.bincount(inverse, cycles)
    return sums


def _phase(place: Place, cycles: Array, visits: float, share: float) -> TracedPhase:
    low, middle, high = (float(value) for value in np.percentile(cycles, (20, 50, 80)))
    mean = float(cycles.mean())
    return TracedPhase(
        name=place.name,
        kind=place.kind,
        first_line=place.first_line,
        last_line=place.last_line,
        cycles=round(middle, 1),
        spread=(round(low, 1), round(high, 1)),
        visits=round(visits, 3),
        share=round(share, 5),
        mean=round(mean, 1),
    )


def _blocks(
    found: Reads, spans: _Spans, joined: Array, numbers: Mapping[int, int], kept: int
) -> tuple[tuple[Block, ...], list[str]]:
    """Every block's place and time, and the intervals of as many warps as may be kept."""
    width, height = found.grid[0], found.grid[1] * found.grid[2]
    multiprocessor = found.blocks[:, 0].astype(np.int64).tolist()
    starts, ends = block_times(found.blocks, found.clock_mhz)
    warps, notes = _kept_warps(found, spans, joined, numbers, kept)
    blocks = tuple(
        Block(number % width, number // width, multiprocessor[number], start, end,
              warps.get(number, ()))
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    )  # fmt: skip
    if len(blocks) < width * height:
        notes.append(
            f"The first {len(blocks):,} of {width * height:,} blocks have a place and a time."
        )
    return blocks, notes


def block_times(blocks: Array, clock_mhz: float) -> tuple[list[int], list[int]]:
    """Start and end of each block, nanoseconds since the first began.

    %globaltimer is the same on all multiprocessors, but may go in steps of a microsecond. The
    clock counts cycles, from another zero on each multiprocessor. Where the steps are coarse, a
    block's times are the clock's, put where the timer has them: at the median of all that the
    blocks of its multiprocessor have read.
    """
    words = blocks.astype(np.int64)
    multiprocessor, timer, clock, timer_end, clock_end, last = words.T
    zeros = {one: int(clock[multiprocessor == one].min()) for one in np.unique(multiprocessor)}
    zero = np.array([zeros[one] for one in multiprocessor])
    read = np.stack((timer, timer_end)) - int(timer.min())
    cycles = np.stack((clock, clock_end)) - zero
    steps = np.diff(np.unique(read))
    is_long = read.max() > LONG
    rate = _rate(read, cycles, multiprocessor) if is_long else clock_mhz / 1e3
    later = np.maximum(last - clock_end, 0) / rate  # than the first warp's end
    if steps.size and steps.min() <= FINE:
        starts, ends = read[0].astype(float), read[1] + later
    else:
        starts, ends = np.zeros(len(words)), np.zeros(len(words))
        for one in zeros:
            here = multiprocessor == one
            shift = float(np.median(read[:, here] - cycles[:, here] / rate))
            starts[here] = cycles[0, here] / rate + shift
            ends[here] = cycles[1, here] / rate + shift + later[here]
    ends = np.maximum(ends, starts + STEP)
    first = starts.min()
    rounded = (np.rint((each - first) / STEP).astype(int) * STEP for each in (starts, ends))
    begun, ended = (each.tolist() for each in rounded)
    return begun, ended


def _rate(read: Array, cycles: Array, multiprocessor: Array) -> float:
    """Cycles in a nanosecond, by least squares over all reads of each multiprocessor.

    Both arrays are int [2, blocks].
    """
    product = square = 0.0
    for one in np.unique(multiprocessor):
        times, clocks = (each[:, multiprocessor == one].astype(float) for each in (read, cycles))
        times -= times.mean()
        product += float((times * clocks).sum())
        square += float((times * times).sum())
    return product / square


def _kept_warps(
    found: Reads, spans: _Spans, joined: Array, numbers: Mapping[int, int], kept: int
) -> tuple[dict[int, tuple[tuple[Interval, ...], ...]], list[str]]:
    """The intervals of whole blocks by the block's number, at most so many, and what is left out.

    One block of every multiprocessor gets one tile, the middle one, and what is outside the tiles;
    what room is left takes the other tiles of these, and then the other blocks.
    """
    middle = (int(spans.tile.max()) + 1) // 2
    in_one = (spans.tile == NO_TILE) | (spans.tile == middle)
    blocks, begins, counts = np.unique(
        spans.warp // found.warps, return_index=True, return_counts=True
    )
    few = np.add.reduceat(in_one.astype(int), begins)
    numbered = found.numbers[blocks]
    ones = choose_blocks(found.blocks[numbered, 0], 0)
    others = np.setdiff1d(np.arange(blocks.size), ones)
    # What is kept, the most important first: an index in blocks, whether all of it, how much more.
    wishes = [
        *((one, False, few[one]) for one in ones),
        *((one, True, counts[one] - few[one]) for one in ones),
        *((one, True, counts[one]) for one in others),
    ]
    sizes = np.cumsum([size for *_, size in wishes])
    granted = wishes[: max(1, int(np.searchsorted(sizes, kept, "right")))]
    in_full = {one: is_full for one, is_full, _ in granted}
    warps = {}
    for one, is_full in in_full.items():
        of_block = np.arange(begins[one], begins[one] + counts[one])
        keep = of_block if is_full else of_block[in_one[of_block]]
        warps[int(numbered[one])] = _intervals(found.warps, spans, joined, numbers, keep)
    notes = []
    if len(in_full) < blocks.size:
        notes.append(f"Of {blocks.size:,} whole blocks the warps of {len(in_full)} are stored.")
    if not all(in_full.values()):
        cut = list(in_full.values()).count(False)
        notes.append(
            f"For {cut} of the {len(in_full)} blocks whose warps are stored, only tile {middle} is "
            "stored."
        )
    return warps, notes


def _intervals(
    count: int, spans: _Spans, joined: Array, numbers: Mapping[int, int], keep: Array
) -> tuple[tuple[Interval, ...], ...]:
    """The intervals of a block's warps, those of one place that follow on each other as one.

    `keep` has the spans' numbers.
    """
    warps: list[list[Interval]] = [[] for _ in range(count)]
    rows = zip(
        (spans.warp[keep] % count).tolist(),
        [numbers[one] for one in joined[spans.place[keep]].tolist()],
        spans.tile[keep].tolist(),
        spans.begin[keep].tolist(),
        np.rint(spans.cycles[keep]).astype(int).tolist(),
        strict=True,
    )
    for warp, phase, tile, begin, cycles in rows:
        before = warps[warp][-1] if warps[warp] else None
        if before and (before.phase, before.tile) == (phase, tile):
            warps[warp][-1] = before._replace(end=begin + cycles)
        else:
            warps[warp].append(Interval(phase, tile, begin, begin + cycles))
    return tuple(map(tuple, warps))


def _moved(code: Instrumented, found: Reads, spans: _Spans) -> Iterator[str]:
    """A sentence about each barrier in the loop over tiles across which a read was moved.

    All warps of a block leave a barrier together, so that their next reads must be near each other.
    """
    lines = code.original.split("\n")
    for one in code.places:
        of_place = spans.place == one.number
        written = " ".join(lines[one.first_line - 1 : one.last_line])
        if not (one.kind is Kind.BARRIER and one.in_tile and SYNC in written and of_place.any()):
            continue
        block, tile = spans.warp[of_place] // found.warps, spans.tile[of_place]
        _, key = np.unique(block * (int(tile.max()) + 1) + tile, return_inverse=True)
        order = np.argsort(key, kind="stable")
        firsts = np.flatnonzero(np.diff(key[order], prepend=-1))
        left = (spans.begin + spans.cycles)[of_place][order]
        apart = np.maximum.reduceat(left, firsts) - np.minimum.reduceat(left, firsts)
        middle = float(np.median(apart))
        if middle > max(APART, float(np.median(spans.cycles[of_place])) / 2):
            yield (
                f"After the barrier in line {one.last_line} the warps of a block read clocks that "
                f"are {middle:,.0f} cycles apart: the compiler has moved that read, or work across "
                "it, so that the wait is counted in another phase."
            )


def _lost(found: Reads) -> Iterator[str]:
    """A sentence about reads for which a warp had no room."""
    room = found.reads.shape[1]
    most = int(found.ends[:, 1].max(initial=0))
    if most > room:
        yield (
            f"A warp has room for {room:,} reads of its clock, and one read it {most:,} times: "
            "later reads are left out."
        )
