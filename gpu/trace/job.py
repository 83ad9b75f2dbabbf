"""Runs a kernel with reads of the GPU's clock beside the plain one, and says what they show."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gpu.candidate import Candidate, check_size
from gpu.compare import check_memory, launcher
from gpu.cuda.compile import Binary, Loaded, compile_text, load
from gpu.cuda.device import Device
from gpu.cuda.timing import FLUSH_BYTES, measure
from gpu.json_data import decode
from gpu.precision import PRECISIONS
from gpu.progress import Progress, portion
from gpu.trace.instrument import Instrumented, clock_code, instrument
from gpu.trace.summary import (
    BLOCK_WORDS,
    CLOCK_MASK,
    Reads,
    Summary,
    choose_blocks,
    summarise,
    tiles_of,
)
from gpu.trace.trace import Level, Trace
from gpu.verify import random_inputs
from simulator.language.errors import LaunchError

MOST_READS = 4096  # of a warp
BUFFER_BYTES = 256 * 2**20  # for all of them
FEW = 4  # blocks
MOST_BLOCKS = 2**20  # blocks with a place and a time
MOST_SPANS = 2**20  # reads that are summed up
MOST_INTERVALS = 100_000  # kept of all warps together
EMPTY = "empty_reads"
EMPTY_TURNS, EMPTY_READS = 8, 16
EMPTY_KERNEL = f"""
extern "C" __global__ void {EMPTY}()
{{
    TilewiseTrace tilewise_trace(0);
    #pragma unroll 1
    for (int turn = 0; turn < {EMPTY_TURNS}; ++turn) {{
        {"tilewise_trace.enter(1); " * EMPTY_READS}
    }}
}}
"""


class Whole(StrEnum):
    """Which blocks every warp of which is traced, from the first one on."""

    FEW = "few"
    WAVE = "wave"  # as many as the GPU holds at a time
    ALL = "all"


@dataclass(frozen=True, slots=True)
class TraceJob:
    """The worker's job for a trace, as JSON."""

    size: tuple[int, int, int]  # M, N, K
    kernel: Candidate
    level: Level = Level.PHASES
    blocks: Whole = Whole.WAVE
    kept: int = MOST_INTERVALS  # intervals of warps, at most
    gpu: int = 0  # the GPU's number


def request(
    size: tuple[int, int, int],
    candidate: Candidate,
    level: Level = Level.PHASES,
    blocks: Whole = Whole.WAVE,
    kept: int = MOST_INTERVALS,
    gpu: int = 0,
) -> dict[str, Any]:
    """The worker's job for a trace of a kernel on GPU number `gpu`, as JSON takes it.

    A user kernel must have run clean in the simulator before.
    """
    job = TraceJob(size, candidate, level, blocks, kept, gpu)
    return {"job": "trace", **dataclasses.asdict(job), "size": list(size)}


def trace(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU; the trace as JSON.

    Raises SourceError for a kernel that does not compile, LaunchError where it cannot run; a kernel
    that breaks the CUDA context raises CuPy's error, and the process must end.
    """
    import cupy

    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    wanted = decode(TraceJob, job, "The job")
    size, candidate = wanted.size, wanted.kernel
    device = use(wanted.gpu)
    check_size(size)
    precision = candidate.multiplies()
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())
    check_memory(size, precision, free - BUFFER_BYTES)
    macros = tuple(candidate.defines.items())
    code = _instrument(candidate.text, candidate.kernel, macros, wanted.level)
    with_reads = dataclasses.replace(
        candidate, name=f"{candidate.name} with reads of the clock", text=code.text
    )
    plain, traced = (_load(one, device, progress) for one in (candidate, with_reads))
    empty = measure_empty(device, progress)
    A, B = (cupy.asarray(one) for one in random_inputs(*size, PRECISIONS[precision].operands))
    C = cupy.empty((size[0], size[1]), dtype=PRECISIONS[precision].results)
    launches = {
        candidate.name: launcher(plain, candidate, (A, B, C), size),
        with_reads.name: launcher(traced, with_reads, (A, B, C), size),
    }
    buffers = Buffers.for_launch(traced, candidate, whole_blocks(wanted.blocks, traced, device))
    run_plain, run_traced = launches.values()
    progress(f"Running {with_reads.name}", 0.2)
    same_bits = _is_same(candidate, C, run_plain, run_traced)
    run = Run(code, candidate, buffers, empty, device.sm_clock_mhz, wanted)
    buffers.look_into(run.tiles() // 2)
    timings = measure(launches, portion(progress, 0.3, 0.9))
    plain_ms, traced_ms = (timing.ms for timing in timings.values())
    progress(f"Running {candidate.name} for its trace", 0.9)
    found = run.again(lambda: _clear(candidate, C), run_traced)
    return Trace(
        kernel=candidate.name,
        size=size,
        level=wanted.level,
        ratio=round(traced_ms / plain_ms, 4),
        same_bits=same_bits,
        phases=found.phases,
        sum_error=round(found.sum_error, 5),
        blocks=found.blocks,
        empty_read_cycles=empty,
        left_out=" ".join(found.left_out),
    ).to_json()


@functools.lru_cache(maxsize=64)
def _instrument(
    text: str, kernel: str, defines: tuple[tuple[str, str], ...], level: Level
) -> Instrumented:
    return instrument(text, kernel, dict(defines), level)


def _load(candidate: Candidate, device: Device, progress: Progress) -> Loaded:
    """A kernel on the current device; one that was compiled before is not compiled again."""
    progress(f"Compiling {candidate.name}", 0.05)
    macros = tuple(candidate.defines.items())
    binary = _compile(candidate.text, candidate.kernel, macros, device.architecture)
    return load(binary, candidate.block, device.threads_per_multiprocessor, candidate.shared_bytes)


@functools.lru_cache(maxsize=64)
def _compile(
    text: str, kernel: str, macros: tuple[tuple[str, str], ...], architecture: str
) -> Binary:
    return compile_text(text, kernel, architecture, dict(macros))


def whole_blocks(wanted: Whole, loaded: Loaded, device: Device) -> int:
    """How many blocks are traced whole, from the first one on, as far as a grid goes."""
    match wanted:
        case Whole.FEW:
            return FEW
        case Whole.WAVE:
            return device.multiprocessors * max(1, loaded.resources.blocks_per_multiprocessor)
        case Whole.ALL:
            return MOST_BLOCKS


@dataclass(slots=True)
class Buffers:
    """What a traced kernel writes to, on the GPU: the struct TilewiseBuffers of clock.cuh."""

    symbol: int  # its address
    reads: Any  # CuPy arrays, as gpu.trace.summary.Reads has them
    ends: Any
    blocks: Any
    whole: int
    tile: int = 0

    @classmethod
    def for_launch(cls, loaded: Loaded, candidate: Candidate, whole: int) -> Buffers:
        """Buffers for a launch, with `whole` blocks traced whole if there are as many."""
        import cupy

        count = math.prod(candidate.grid)
        whole = min(whole, count)
        warps = whole * warps_of(candidate)
        most = max(1, min(MOST_READS, BUFFER_BYTES // 8 // warps))
        buffers = cls(
            symbol=int(loaded.module.get_global_var("tilewise_buffers")),
            reads=cupy.zeros((warps, most), dtype=cupy.uint64),
            ends=cupy.zeros((warps, 2), dtype=cupy.uint64),
            blocks=cupy.zeros((min(count, MOST_BLOCKS), BLOCK_WORDS), dtype=cupy.uint64),
            whole=whole,
        )
        buffers.look_into(0)
        return buffers

    def look_into(self, tile: int) -> None:
        """Let the next launch read each iteration of the inner loop in that tile."""
        import cupy

        self.tile = tile
        kind = [*((name, "u8") for name in ("reads", "ends", "blocks")),
                *((name, "i4") for name in ("whole", "count", "capacity", "tile"))]  # fmt: skip
        given = (
            self.reads.data.ptr, self.ends.data.ptr, self.blocks.data.ptr,
            self.whole, self.blocks.shape[0], self.reads.shape[1], tile,
        )  # fmt: skip
        struct = np.array([given], dtype=kind)
        to_device = cupy.cuda.runtime.memcpyHostToDevice
        cupy.cuda.runtime.memcpy(self.symbol, struct.ctypes.data, struct.nbytes, to_device)

    def clear(self) -> None:
        """Forget what the launches before have written."""
        self.ends.fill(0)
        self.blocks.fill(0)


@dataclass(frozen=True, slots=True)
class Run:
    """A traced kernel and what it writes."""

    code: Instrumented
    candidate: Candidate
    buffers: Buffers
    empty: float
    clock_mhz: float
    job: TraceJob

    def again(self, clear: Callable[[], None], launch: Callable[[], object]) -> Summary:
        """What one more launch has written, its L2 emptied as before every timed one."""
        import cupy

        clear()
        self.buffers.clear()
        scratch = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)
        scratch.data.memset_async(0, FLUSH_BYTES)
        launch()
        return self.summary()

    def tiles(self) -> int:
        """How many tiles the first warp went through in the last launch."""
        import cupy

        (_, count), reads = cupy.asnumpy(self.buffers.ends[0]), cupy.asnumpy(self.buffers.reads[0])
        return tiles_of(reads[: int(count)])

    def summary(self) -> Summary:
        """What the last launch has written."""
        import cupy

        cupy.cuda.get_current_stream().synchronize()
        ends, blocks = cupy.asnumpy(self.buffers.ends), cupy.asnumpy(self.buffers.blocks)
        warps, width = warps_of(self.candidate), self.buffers.reads.shape[1]
        most = max(1, min(width, int(ends[:, 1].max(initial=0))))
        numbers = choose_blocks(blocks[: self.buffers.whole, 0], MOST_SPANS // (most * warps))
        rows = (numbers[:, None] * warps + np.arange(warps)).ravel()
        # One column more where it is full, so that what is lost is known by the room's width.
        reads = cupy.asnumpy(self.buffers.reads[cupy.asarray(rows), : min(most + 1, width)])
        found = Reads(
            numbers, reads, ends[rows], blocks, self.candidate.grid, warps, self.empty,
            self.clock_mhz,
        )  # fmt: skip
        try:
            summary = summarise(self.code, found, self.job.level, self.job.kept)
        except ValueError as error:
            raise LaunchError(f"{self.candidate.name} left no trace: {error}") from None
        if len(numbers) == self.buffers.whole:
            return summary
        sample = (
            f"These figures come from {len(numbers):,} of the {self.buffers.whole:,} blocks that "
            "were traced whole."
        )
        return dataclasses.replace(summary, left_out=(sample, *summary.left_out))


def warps_of(candidate: Candidate) -> int:
    """Warps of a block; the last may be partial."""
    return math.ceil(math.prod(candidate.block) / 32)


def _is_same(
    candidate: Candidate, C: Any, plain: Callable[[], object], traced: Callable[[], object]
) -> bool:
    """Whether both kernels leave the same bits in C."""
    import cupy

    results = []
    for launch in (plain, traced):
        _clear(candidate, C)
        launch()
        cupy.cuda.get_current_stream().synchronize()
        results.append(C.copy().view(cupy.uint8))
    return bool((results[0] == results[1]).all())


def _clear(candidate: Candidate, C: Any) -> None:
    C.fill(0.0 if candidate.c_holds_zeros else math.nan)


def measure_empty(device: Device, progress: Progress) -> float:
    """Cycles from one read of the clock to the next with nothing in between: the median.

    One warp reads it over and over, and stores what it reads, as a traced one does.
    """
    import cupy

    alone = Candidate(EMPTY, clock_code() + EMPTY_KERNEL, EMPTY, (1, 1, 1), (32, 1, 1), {})
    loaded = _load(alone, device, progress)
    buffers = Buffers.for_launch(loaded, alone, 1)
    loaded.function(alone.grid, alone.block, ())
    cupy.cuda.get_current_stream().synchronize()
    reads = cupy.asnumpy(buffers.reads)[0, 1 : 1 + EMPTY_TURNS * EMPTY_READS]
    clocks = (reads & np.uint64(CLOCK_MASK)).astype(np.int64)
    return float(np.median(np.diff(clocks) & CLOCK_MASK))
