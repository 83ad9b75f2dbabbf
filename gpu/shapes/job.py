"""The job in the GPU's process: measure the table, then each shape's chosen kernel and cuBLAS."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu.candidate import Candidate, check_size, choose
from gpu.cuda.compile import Loaded, compile_text, load
from gpu.cuda.timing import measure
from gpu.device import Device
from gpu.json_data import decode
from gpu.progress import Progress, portion
from gpu.shapes.plan import WIDE, Pace, Plan, Table, Tuned
from gpu.shapes.plan import choose as choose_plan
from gpu.shapes.shape import Shape, Shapes
from gpu.shapes.sizes import KNOWN, Size, random_sizes
from gpu.verify import MARGIN, judge, random_inputs, reference, scale
from simulator.catalogue import catalogue
from simulator.frontend.source import set_defines

ANY_SHAPE = "anyshape"
# Settings of the kernel for any shape: a thread's tile is large where C is, and small where it is
# not. WARPS_DOWN, WARPS_ACROSS, ROWS, COLUMNS, DEPTH, STAGES.
SETTINGS = (
    (2, 2, 8, 8, 16, 3), (2, 2, 16, 4, 16, 3), (2, 2, 8, 8, 8, 4), (2, 2, 16, 4, 8, 4),
    (2, 2, 12, 8, 8, 4), (4, 2, 8, 8, 8, 4), (2, 4, 12, 8, 8, 4), (2, 4, 16, 8, 8, 3),
    (2, 2, 8, 4, 16, 3), (1, 2, 8, 4, 16, 4), (2, 1, 8, 4, 16, 4), (1, 1, 8, 4, 16, 4),
)  # fmt: skip
USUAL = {"PIECES": 1, "PADDED": 0}  # in the text
MACROS = ("WARPS_DOWN", "WARPS_ACROSS", "ROWS", "COLUMNS", "DEPTH", "STAGES")
WHOLE_ROWS = ("warptiles", "warptiles:ROWS=12")  # faster where N and K suit them
LENGTHS = (384, 1536)  # of K, to tell the time of each k from that of a launch
ZEROED = 512  # side of a C that is filled with zeros
PADDED = ((64, 64), (4096, 4096))  # sides of B, copied to other rows
PAD_THREADS = 256


@dataclass(frozen=True, slots=True)
class ShapesJob:
    """The worker's job for a run over shapes, as it stands in JSON."""

    sizes: tuple[Size, ...]
    drawn: int  # how many of them, the last ones, were drawn at random
    gpu: int = 0  # the GPU's number


def request(gpu: int = 0) -> dict[str, Any]:
    """The worker's job for a run over shapes on GPU number `gpu`, as JSON takes it."""
    drawn = random_sizes()
    sizes = [list(size) for size in (*KNOWN, *drawn)]
    return {"job": "shapes", "gpu": gpu, "sizes": sizes, "drawn": len(drawn)}


def run_shapes(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU; a `Shapes` as JSON."""
    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    wanted = decode(ShapesJob, job, "The job")
    for size in wanted.sizes:
        check_size(size)
    device = use(wanted.gpu)
    runner = Runner(device)
    table = measure_table(runner, portion(progress, 0.0, 0.15))
    shapes = []
    each = portion(progress, 0.15, 1.0)
    first_drawn = len(wanted.sizes) - wanted.drawn
    for index, size in enumerate(wanted.sizes):
        each("Timing {} x {} x {}".format(*size), index / len(wanted.sizes))
        shapes.append(run_shape(runner, table, size, index >= first_drawn))
    return Shapes(device, table, tuple(shapes)).to_json()


class Runner:
    """Compiles the kernels that are asked for, and keeps them."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._loaded: dict[str, Loaded] = {}
        self._pad: Loaded | None = None

    def load(self, candidate: Candidate) -> Loaded:
        """A candidate's kernel."""
        if candidate.name not in self._loaded:
            found = self._compile(candidate.text, candidate.kernel, candidate.block)
            self._loaded[candidate.name] = found
        return self._loaded[candidate.name]

    def pad(self) -> Loaded:
        """The kernel that copies B to rows of whole 16 bytes."""
        if self._pad is None:
            text = catalogue()[ANY_SHAPE].source()
            self._pad = self._compile(text, "pad_rows", (PAD_THREADS, 1, 1))
        return self._pad

    def _compile(self, text: str, kernel: str, block: tuple[int, int, int]) -> Loaded:
        binary = compile_text(text, kernel, self.device.architecture)
        return load(binary, block, self.device.threads_per_multiprocessor, 0)

    def launch(self, plan: Plan, size: Size, A: Any, B: Any, C: Any) -> Callable[[], None]:
        """What computes C = A B by a plan: A [M, K], B [K, N], C [M, N] on the GPU."""
        candidate = planned(plan, size)
        product = self.load(candidate)
        M, N, K = map(np.int32, size)
        steps: list[Callable[[], object]] = []
        right = B
        if plan.is_padded:
            right, copy = self.padding(B)
            steps.append(copy)
        if plan.pieces > 1:
            steps.append(lambda: C.data.memset_async(0, C.nbytes))
        arguments = A, right, C, M, N, K
        steps.append(lambda: product.function(candidate.grid, candidate.block, arguments))

        def run() -> None:
            for step in steps:
                step()

        return run

    def padding(self, B: Any) -> tuple[Any, Callable[[], None]]:
        """Room for B with rows of whole 16 bytes, and what copies it there."""
        import cupy

        K, N = B.shape
        pitch = math.ceil(N / WIDE) * WIDE
        padded = cupy.empty((K, pitch), dtype=B.dtype)
        grid = math.ceil(pitch / PAD_THREADS), min(K, 2**15), 1
        arguments = B, padded, np.int32(K), np.int32(N)
        kernel = self.pad().function
        return padded, lambda: kernel(grid, (PAD_THREADS, 1, 1), arguments)


def planned(plan: Plan, size: Size) -> Candidate:
    """A plan's candidate: its kernel with what the plan sets of PIECES and PADDED."""
    candidate = choose(plan.kernel, size)
    macros = {"PIECES": plan.pieces, "PADDED": int(plan.is_padded)}
    changed = {name: str(value) for name, value in macros.items() if value != USUAL[name]}
    name = ":".join([candidate.name, *(f"{macro}={value}" for macro, value in changed.items())])
    text, _ = set_defines(candidate.text, changed)
    grid = *candidate.grid[:2], plan.pieces
    return replace(candidate, name=name, text=text, grid=grid)


def names() -> tuple[str, ...]:
    """The kernels of a table, as gpu.candidate.choose takes them."""
    usual = {macro: values[0] for macro, values in catalogue()[ANY_SHAPE].defines.items()}
    settings = [
        [f"{macro}={value}" for macro, value in zip(MACROS, setting, strict=True)
         if value != usual[macro]]
        for setting in SETTINGS
    ]  # fmt: skip
    return (*WHOLE_ROWS, *(":".join([ANY_SHAPE, *setting]) for setting in settings))


def measure_table(runner: Runner, progress: Progress) -> Table:
    """Measure how long each kernel's blocks take on this GPU, and what else a plan may need."""
    multiprocessors = runner.device.multiprocessors
    each = portion(progress, 0.0, 0.9)
    launch_ms, zero_ms = _overheads(runner)
    kernels = []
    for index, name in enumerate(names()):
        each(f"Timing {name}", index / len(names()))
        kernels.append(_tuned(runner, name, launch_ms, zero_ms))
    pad_ms, pad_value_ms = _padding(runner)
    return Table(multiprocessors, launch_ms, zero_ms, pad_ms, pad_value_ms, tuple(kernels))


def _grid(tiles: int) -> tuple[int, int]:
    """So many tiles, down and across, as square as may be."""
    down = next(n for n in range(math.isqrt(tiles), 0, -1) if tiles % n == 0)
    return down, tiles // down


def _quiet(_message: str, _done: float | None = None, /) -> None:
    """Say nothing: a table's measurements are short."""


def _overheads(runner: Runner) -> tuple[float, float]:
    """Milliseconds of a launch that does nothing, and what it takes longer to fill C first."""
    import cupy

    B = cupy.zeros((1, WIDE), dtype=cupy.float32)
    C = cupy.empty((ZEROED, ZEROED), dtype=cupy.float32)
    kernel, arguments = runner.pad().function, (B, B, np.int32(0), np.int32(0))

    def empty() -> None:
        kernel((1, 1, 1), (32, 1, 1), arguments)

    def zeros() -> None:
        C.data.memset_async(0, C.nbytes)
        empty()

    found = measure({"empty": empty, "zeros": zeros}, _quiet)
    launch_ms = found["empty"].ms
    return launch_ms, max(found["zeros"].ms - launch_ms, 0.0)


def _tuned(runner: Runner, name: str, launch_ms: float, zero_ms: float) -> Tuned:
    family, *_ = name.split(":")
    tile = catalogue()[family].tile(**_macros(name))
    assert tile is not None

    def pace(pieces: int, less: int) -> Pace:
        spent_ms = launch_ms + zero_ms * (pieces > 1)
        return _pace(runner, name, tile[:2], pieces, less, spent_ms)

    if family != ANY_SHAPE:
        return Tuned(name, *tile, pace(1, 0), None, None, None)
    # The fewest pieces with which whole tiles give each multiprocessor a block.
    multiprocessors = runner.device.multiprocessors
    pieces = next(n for n in range(2, multiprocessors + 1) if multiprocessors % n == 0)
    return Tuned(name, *tile, pace(1, 0), pace(1, 1), pace(pieces, 0), pace(pieces, 1))


def _pace(
    runner: Runner, name: str, tile: Sequence[int], pieces: int, less: int, spent_ms: float
) -> Pace:
    """Measure a kernel on a C whose blocks come to 1, 2, … for each multiprocessor.

    tile is a block's rows and columns. C's columns are so many less, which leaves the blocks as
    many. spent_ms is what a launch takes beside its blocks.
    """
    down, across = _grid(runner.device.multiprocessors // pieces)
    rows, columns = down * tile[0], across * tile[1]
    plan = Plan(name, pieces, False, 0, 1, 1, 0.0, "")
    candidate = planned(plan, (rows, columns, 1))
    held = range(1, runner.load(candidate).resources.blocks_per_multiprocessor + 1)
    launches = {
        f"{blocks} {K}": _on_ones(runner, plan, (rows, columns * blocks - less, K * pieces))
        for blocks in held
        for K in LENGTHS
    }
    found = {key: timing.ms for key, timing in measure(launches, _quiet).items()}
    short, long = LENGTHS
    start_ms, k_ms = [], []
    for blocks in held:
        each = (found[f"{blocks} {long}"] - found[f"{blocks} {short}"]) / (long - short)
        k_ms.append(each)
        start_ms.append(max(found[f"{blocks} {short}"] - short * each - spent_ms, 0.0))
    return Pace(tuple(start_ms), tuple(k_ms))


def _on_ones(runner: Runner, plan: Plan, size: Size) -> Callable[[], None]:
    """A launch of a plan on matrices of ones."""
    import cupy

    M, N, K = size
    A, B, C = (cupy.ones(shape, dtype=cupy.float32) for shape in ((M, K), (K, N), (M, N)))
    return runner.launch(plan, size, A, B, C)


def _macros(name: str) -> dict[str, int]:
    """The macros of a candidate's name."""
    pairs = (setting.split("=") for setting in name.split(":")[1:])
    return {macro: int(value) for macro, value in pairs}


def _padding(runner: Runner) -> tuple[float, float]:
    """Milliseconds to begin to copy B to other rows, and for each of its values."""
    import cupy

    launches = {}
    for K, N in PADDED:
        _, launches[str(K * N)] = runner.padding(cupy.ones((K, N - 1), dtype=cupy.float32))
    few, many = (measure(launches, _quiet)[str(K * N)].ms for K, N in PADDED)
    small, large = (K * N for K, N in PADDED)
    each = max(many - few, 0.0) / (large - small)
    return max(few - each * small, 0.0), each


def run_shape(runner: Runner, table: Table, size: Size, is_random: bool) -> Shape:
    """Choose a plan for a shape, verify it, and time it beside cuBLAS."""
    import cupy

    M, N, K = size
    plan = choose_plan(table, size)
    host_a, host_b = random_inputs(M, N, K, "float32")
    typical = scale(host_a, host_b)
    A, B = cupy.asarray(host_a), cupy.asarray(host_b)
    around = cupy.full(M * N + 2 * MARGIN, math.nan, dtype=cupy.float32)
    C = around[MARGIN : MARGIN + M * N].reshape(M, N)
    launch = runner.launch(plan, size, A, B, C)
    launch()
    cupy.cuda.get_current_stream().synchronize()
    edges = cupy.concatenate((around[:MARGIN], around[-MARGIN:]))
    wrote_outside = not bool(cupy.isnan(edges).all())
    verdict = judge(cupy, C, reference(cupy, A, B), typical, K, "float32", wrote_outside)
    timings = measure({"chosen": launch, "cublas": lambda: cupy.matmul(A, B, out=C)}, _quiet)
    ms, cublas_ms = timings["chosen"].ms, timings["cublas"].ms
    name = planned(plan, size).name
    return Shape(size, name, cublas_ms / ms, verdict.verified, ms, cublas_ms, is_random, plan)
