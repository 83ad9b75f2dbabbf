"""The job in the GPU's process: measure the table, then each shape's chosen kernel and cuBLAS."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu.candidate import Candidate, check_size, choose, split_variant
from gpu.cuda.compile import Loaded, compile_text, load
from gpu.cuda.device import Device
from gpu.cuda.timing import measure
from gpu.json_data import decode
from gpu.progress import Progress, portion
from gpu.shapes.plan import WIDE, Few, Pace, Plan, Table, Tuned
from gpu.shapes.plan import choose as choose_plan
from gpu.shapes.shape import Shape, Shapes
from gpu.shapes.sizes import FEW_KNOWN, KNOWN, Size, few_sizes, random_sizes
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
# Settings for a C of few rows: ROWS, COLUMNS, WARPS, AHEAD; then of few columns: ROWS, COLUMNS,
# WARPS_DOWN, WARPS_DEEP, AHEAD.
FEW_ROWS = ((1, 32, 16, 1), (1, 32, 16, 2), (2, 32, 8, 1), (2, 32, 16, 2), (2, 64, 16, 2),
            (4, 32, 16, 2), (4, 64, 16, 2), (8, 32, 16, 1), (8, 64, 16, 1))  # fmt: skip
FEW_COLUMNS = ((2, 1, 1, 8, 4), (4, 1, 1, 16, 4), (4, 2, 1, 4, 4), (4, 2, 1, 8, 4),
               (8, 2, 4, 4, 4), (4, 4, 1, 16, 2), (8, 4, 1, 4, 4), (8, 4, 1, 8, 2),
               (4, 8, 1, 16, 1), (4, 8, 1, 4, 4), (8, 8, 4, 4, 2), (8, 8, 1, 8, 2),
               (4, 16, 1, 16, 1))  # fmt: skip
# Settings of the kernel for any shape for a C of few rows, and of few columns.
ANY_FEW_ROWS = ((1, 2, 4, 4, 16, 4), (1, 2, 8, 4, 16, 4))
ANY_FEW_COLUMNS = ((1, 1, 4, 4, 16, 4), (4, 1, 8, 4, 16, 3), (2, 1, 8, 4, 32, 3))
USUAL = {"PIECES": 1, "PADDED": 0}  # in the text
WHOLE = "warptiles"  # faster where N and K suit it
WHOLE_ROWS = (WHOLE, f"{WHOLE}:ROWS=12")
NO_PACE = Pace((), ())
LENGTHS = (384, 1536)  # of K, to tell the time of each k from that of a launch
STREAMED = (1024, 4096)  # the same, where a block takes a few hundred k at once
ZEROED = 512  # side of a C that is filled with zeros
PADDED = ((64, 64), (4096, 4096))  # sides of B, copied to other rows
THREADS = 256  # of a block that copies B, or adds pieces


@dataclass(frozen=True, slots=True)
class ShapesJob:
    """The worker's job for a run over shapes, as JSON."""

    sizes: tuple[Size, ...]
    drawn: int  # how many of them, the last ones, were drawn at random
    gpu: int = 0  # the GPU's number
    few_alone: bool = False  # whether all of them have few rows or columns


def request(gpu: int = 0, few_alone: bool = False) -> dict[str, Any]:
    """The worker's job for a run over shapes on GPU number `gpu`, as JSON takes it.

    With `few_alone` only those with few rows or columns, and the kernels that are meant for them.
    """
    known = FEW_KNOWN if few_alone else (*KNOWN, *FEW_KNOWN)
    drawn = few_sizes() if few_alone else (*random_sizes(), *few_sizes())
    return {
        "job": "shapes", "gpu": gpu, "sizes": [list(size) for size in (*known, *drawn)],
        "drawn": len(drawn), "few_alone": few_alone,
    }  # fmt: skip


def run_shapes(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU; a `Shapes` as JSON."""
    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    wanted = decode(ShapesJob, job, "The job")
    for size in wanted.sizes:
        check_size(size)
    device = use(wanted.gpu)
    runner = Runner(device)
    table = measure_table(runner, wanted.few_alone, portion(progress, 0.0, 0.15))
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
        self._loaded: dict[str, Loaded] = {}  # by the text
        self._others: dict[str, Loaded] = {}

    def load(self, candidate: Candidate) -> Loaded:
        """A candidate's kernel."""
        text = candidate.text
        if text not in self._loaded:
            self._loaded[text] = self._compile(text, candidate.kernel, candidate.block)
        return self._loaded[text]

    def pad(self) -> Loaded:
        """The kernel that copies B to rows of whole 16 bytes."""
        return self._other(ANY_SHAPE, "pad_rows")

    def add(self) -> Loaded:
        """The kernel that adds the sums of all pieces of K."""
        return self._other("few_rows", "add_pieces")

    def _other(self, family: str, kernel: str) -> Loaded:
        """A kernel beside that of an entry of the catalogue, in the same file."""
        if kernel not in self._others:
            text = catalogue()[family].source()
            self._others[kernel] = self._compile(text, kernel, (THREADS, 1, 1))
        return self._others[kernel]

    def _compile(self, text: str, kernel: str, block: tuple[int, int, int]) -> Loaded:
        binary = compile_text(text, kernel, self.device.architecture)
        return load(binary, block, self.device.threads_per_multiprocessor, 0)

    def launch(self, plan: Plan, size: Size, A: Any, B: Any, C: Any) -> Callable[[], None]:
        """What computes C = A B by a plan: A [M, K], B [K, N], C [M, N] on the GPU."""
        import cupy

        candidate = planned(plan, size)
        product = self.load(candidate)
        M, N, K = map(np.int32, size)
        steps: list[Callable[[], object]] = []
        right, result = B, C
        if plan.is_padded:
            right, copy = self.padding(B)
            steps.append(copy)
        adds_to_zeros = plan.kernel.startswith(ANY_SHAPE)
        if plan.pieces > 1 and adds_to_zeros:
            steps.append(lambda: C.data.memset_async(0, C.nbytes))
        elif plan.pieces > 1:
            result = cupy.empty((plan.pieces, *C.shape), dtype=C.dtype)
        arguments = A, right, result, M, N, K
        steps.append(lambda: product.function(candidate.grid, candidate.block, arguments))
        if plan.pieces > 1 and not adds_to_zeros:
            steps.append(self.adding(result, C))

        def run() -> None:
            for step in steps:
                step()

        return run

    def adding(self, parts: Any, C: Any) -> Callable[[], None]:
        """What adds the sums of all pieces, parts [pieces, M, N], to C."""
        arguments = parts, C, np.int32(C.size), np.int32(len(parts))
        kernel, grid = self.add().function, (math.ceil(C.size / THREADS), 1, 1)
        return lambda: kernel(grid, (THREADS, 1, 1), arguments)

    def padding(self, B: Any) -> tuple[Any, Callable[[], None]]:
        """Room for B with rows of whole 16 bytes, and what copies it there."""
        import cupy

        K, N = B.shape
        pitch = math.ceil(N / WIDE) * WIDE
        padded = cupy.empty((K, pitch), dtype=B.dtype)
        grid = math.ceil(pitch / THREADS), min(K, 2**15), 1
        arguments = B, padded, np.int32(K), np.int32(N)
        kernel = self.pad().function
        return padded, lambda: kernel(grid, (THREADS, 1, 1), arguments)


def planned(plan: Plan, size: Size) -> Candidate:
    """A plan's candidate: its kernel with what the plan sets of PIECES and PADDED."""
    candidate = choose(plan.kernel, size)
    macros = {"PIECES": plan.pieces, "PADDED": int(plan.is_padded)}
    changed = {name: str(value) for name, value in macros.items() if value != USUAL[name]}
    name = ":".join([candidate.name, *(f"{macro}={value}" for macro, value in changed.items())])
    text, _ = set_defines(candidate.text, changed)
    grid = *candidate.grid[:2], plan.pieces
    return replace(candidate, name=name, text=text, grid=grid)


def names() -> tuple[tuple[str, Few], ...]:
    """The kernels of a table, as gpu.candidate.choose takes them, and which C each is meant for."""
    few_rows = (*_named("few_rows", FEW_ROWS), *_named(ANY_SHAPE, ANY_FEW_ROWS))
    few_columns = (*_named("few_columns", FEW_COLUMNS), *_named(ANY_SHAPE, ANY_FEW_COLUMNS))
    return (
        *((name, "") for name in (*WHOLE_ROWS, *_named(ANY_SHAPE, SETTINGS))),
        *((name, "rows") for name in few_rows),
        *((name, "columns") for name in few_columns),
    )


def _named(family: str, settings: Iterable[tuple[int, ...]]) -> Iterator[str]:
    """The names of a kernel's settings: values of its macros, in the catalogue's order."""
    for setting in settings:
        values = zip(catalogue()[family].defines.items(), setting, strict=False)
        changed = [f"{macro}={value}" for (macro, offer), value in values if value != offer[0]]
        yield ":".join([family, *changed])


def measure_table(runner: Runner, few_alone: bool, progress: Progress) -> Table:
    """Measure how long each kernel's blocks take on this GPU, and what else a plan may need.

    With `few_alone` only the kernels that are meant for a C of few rows or columns.
    """
    multiprocessors = runner.device.multiprocessors
    each = portion(progress, 0.0, 0.9)
    launch_ms, zero_ms = _overheads(runner)
    wanted = [(name, few) for name, few in names() if few or not few_alone]
    kernels = []
    for index, (name, few) in enumerate(wanted):
        each(f"Timing {name}", index / len(wanted))
        kernels.append(_tuned(runner, name, few, launch_ms, zero_ms))
    pad_ms, pad_value_ms = _padding(runner)
    return Table(multiprocessors, launch_ms, zero_ms, pad_ms, pad_value_ms, tuple(kernels))


def _grid(blocks: int, few: Few) -> tuple[int, int]:
    """So many blocks, down and across: one next to the other, or as square as may be."""
    if few:
        return (1, blocks) if few == "rows" else (blocks, 1)
    down = next(n for n in range(math.isqrt(blocks), 0, -1) if blocks % n == 0)
    return down, blocks // down


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


def _tuned(runner: Runner, name: str, few: Few, launch_ms: float, zero_ms: float) -> Tuned:
    family, macros = split_variant(name)
    entry = catalogue()[family]
    tile = entry.tile(**macros) or (*entry.produces(**macros), WIDE)

    def pace(pieces: int, less: int) -> Pace:
        spent_ms = launch_ms + zero_ms * (pieces > 1)
        return _pace(runner, Tuned(name, *tile, NO_PACE, None, None, None, few), pieces, less,
                     spent_ms)  # fmt: skip

    if family == WHOLE:
        return Tuned(name, *tile, pace(1, 0), None, None, None)
    # The fewest pieces with which whole tiles give each multiprocessor a block.
    multiprocessors = runner.device.multiprocessors
    pieces = next(n for n in range(2, multiprocessors + 1) if multiprocessors % n == 0)
    less = int(tile[1] >= WIDE)  # rows of so few columns never begin on 16 bytes
    return Tuned(name, *tile, pace(1, 0), pace(1, less), pace(pieces, 0), pace(pieces, less), few)


def _pace(runner: Runner, kernel: Tuned, pieces: int, less: int, spent_ms: float) -> Pace:
    """Measure a kernel, whose paces are not known yet, on 1, 2, … blocks for each multiprocessor.

    C's columns are so many less than those of its blocks, which leaves the blocks as many. spent_ms
    is what a launch takes beside its blocks.
    """
    down, across = _grid(runner.device.multiprocessors // pieces, kernel.few)
    rows, columns = down * kernel.rows, across * kernel.columns
    plan = Plan(kernel.name, pieces, False, 0, 1, 1, 0.0, "")
    candidate = planned(plan, (rows, columns, 1))
    held = range(1, runner.load(candidate).resources.blocks_per_multiprocessor + 1)
    short, long = LENGTHS if kernel.name.startswith((WHOLE, ANY_SHAPE)) else STREAMED
    launches = {}
    for blocks, K in itertools.product(held, (short, long)):
        M, N = (rows * blocks, columns) if kernel.few == "columns" else (rows, columns * blocks)
        launches[f"{blocks} {K}"] = _on_ones(runner, plan, (M, N - less, K * pieces))
    found = {key: timing.ms for key, timing in measure(launches, _quiet).items()}
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
    """Choose a plan for a shape, verify it, and time it beside cuBLAS and a copy."""
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
    launches = {
        "chosen": launch, "cublas": lambda: cupy.matmul(A, B, out=C),
        "copy": _copy(A.size + B.size + C.size),
    }  # fmt: skip
    timings = measure(launches, _quiet)
    ms, cublas_ms = timings["chosen"].ms, timings["cublas"].ms
    name = planned(plan, size).name
    return Shape(size, name, cublas_ms / ms, verdict.verified, ms, cublas_ms, is_random, plan,
                 timings["copy"].ms)  # fmt: skip


def _copy(values: int) -> Callable[[], None]:
    """A copy that reads and writes so many float32 values in all, half of them each."""
    import cupy

    source, target = (cupy.empty(math.ceil(values / 2), dtype=cupy.float32) for _ in range(2))
    stream = cupy.cuda.get_current_stream()
    return lambda: target.data.copy_from_device_async(source.data, source.nbytes, stream)
