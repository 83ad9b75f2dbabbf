"""Numbers that programs found: of a view by the simulator, or from a recorded run on a GPU."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu.bounds import find_bounds
from gpu.comparison import Comparison, KernelResult
from gpu.recorded import PAST_L1, RecordedRun, newest
from gpu.scale.recorded import widest
from gpu.trace.recorded import traces_of_one_gpu_first
from gpu.trace.trace import Trace, TracedPhase
from gpu.trace.waves import place_blocks
from simulator import LaunchError, Recording, Step, simulate
from simulator.language.ctype import Array
from simulator.language.fragments import parse_fragment
from simulator.launch import WARP_SIZE, ravel
from simulator.observers.counters import FIELDS
from ui.analysis.costs import Costs, add_up_costs
from ui.analysis.loads import global_loads
from ui.analysis.products import multiplication
from ui.analysis.scene_model import SceneModel, build_scene_model
from ui.gpu_charts.shapes import usual_plan
from ui.lessons.lesson import OF_L1, Measure, Quantity
from ui.lessons.machine_code import machine_code_number
from ui.run.compute import load_kernel, load_launch, load_recording, load_report, recording_key
from ui.view import presets
from ui.view.view_url import View


def measure(view: View, kind: Measure, of: str = "") -> float:
    """A number of a view, which a worker process may find: the first argument names its place.

    Raises SourceError or LaunchError for a view that cannot be run, and ValueError, a sentence,
    where it has no such number.
    """
    if kind not in OF_VIEW:
        raise ValueError(f"{kind} cannot be found from a view.")
    recording = load_recording(recording_key(view))
    return OF_VIEW[kind](_Moment(view, recording, min(view.step, len(recording.steps) - 1), of))


def recorded(kind: Measure, of: str) -> float:
    """A number of the newest recorded run.

    of is a path, such as "limits.latency.dram"; of a kernel "tiled 4096" or "tiled:TILE=32 8192
    6144 4096", and after it a counter's or bound's name; of a shape a path and M, N, K,
    "plan.blocks 512"; of a wave the kernel, the blocks on a multiprocessor and K, "anyshape 3 512";
    with and without L1 "naive" and "naive past";
    of a product over several GPUs a field and how many, "speedup 4"; of a trace the kernel, its
    size, a field and a phase, "tiled:TILE=32 2048 cycles inner loop"; of machine code as
    machine_code_number. Raises ValueError, a
    sentence, where nothing of that name was recorded, LaunchError where nothing was.
    """
    run = newest()
    if kind is Measure.RECORDED:
        return _at_path(run, of)
    if kind is Measure.MACHINE_CODE:
        return machine_code_number(of)
    if kind is Measure.SCALING:
        return _of_scaling(of)
    if kind is Measure.TRACE:
        return _of_trace(of)
    if kind in OF_L1:
        return _l1_time(run, kind, of)
    if kind is Measure.WAVE_TIME:
        return _wave_time(run, of)
    if kind in (Measure.SHAPE, Measure.USUAL_PLAN):
        return _of_shape(run, kind, of)
    name, *rest = of.split()
    size = recorded_size(of)
    counter = next((word for word in rest if not word.isdigit()), "")
    for comparison in run.comparisons:
        for kernel in comparison.kernels if comparison.size == size else ():
            if kernel.name == name and kernel.verified:
                number = _of_kernel(kind, kernel, comparison, counter)
                if number is not None:
                    return number
    raise ValueError(f"No {kind} was recorded for {of}.")


def _at_path(found: Any, path: str) -> float:
    """A number of data by the names of fields."""
    for name in path.split("."):
        names = {field.name for field in dataclasses.fields(found)}
        if name not in names:
            raise ValueError(f"No {name} was recorded, only {', '.join(sorted(names))}.")
        found = getattr(found, name)
    return float(found)


def _of_shape(run: RecordedRun, kind: Measure, of: str) -> float:
    """A number of a shape's chosen plan, or of the ladder's last kernel for it."""
    size = recorded_size(of)
    shape = next((one for one in run.shapes if one.size == size), None)
    if shape is None or run.shape_table is None:
        raise ValueError(f"No shape {of} was recorded.")
    found = shape if kind is Measure.SHAPE else usual_plan(run.shape_table, shape)
    if found is None:
        raise ValueError(f"No plan of the ladder's last kernel was recorded for {of}.")
    return _at_path(found, of.split()[0])


def _of_scaling(of: str) -> float:
    """A number of our kernel's fastest product on so many GPUs, in the run over the most."""
    name, gpus = of.split()
    runs = [run for run in widest().scaling.runs if run.plan and run.gpus == int(gpus)]
    moving = [run for run in runs if run.bytes_moved] or runs  # one GPU has nothing to move
    if not moving:
        raise ValueError(f"No product over {gpus} GPUs was recorded.")
    return _at_path(min(moving, key=lambda run: run.ms), name)


def _of_trace(of: str) -> float:
    """A number of the phases of a name, of a kernel that was traced.

    "cycles" of a warp for a tile, of both waits together, "share" in percent of the block's time,
    "least" and "most", the cycles of the 20th and 80th percentile; of no phase "ratio", the traced
    kernel's time over the plain one's, and "blocks", the most on a multiprocessor at once.
    """
    name, *rest = of.split()
    field, *words = [word for word in rest if not word.isdigit()] or [""]
    size = recorded_size(of)
    for run in traces_of_one_gpu_first():
        trace = None if size is None else run.find(name, size)
        if trace is None:
            continue
        if field in TRACE_FIELDS:
            return TRACE_FIELDS[field](trace)
        phases = [one for one in trace.phases if one.name == " ".join(words) and one.k is None]
        if phases and field in PHASE_FIELDS:
            return sum(map(PHASE_FIELDS[field], phases))
    raise ValueError(f"No trace was recorded for {of}.")


def _l1_time(run: RecordedRun, kind: Measure, of: str) -> float:
    """A time of a kernel in the comparison with and without the L1 cache."""
    name, *past = of.split()
    row = f"{name} {PAST_L1}" if past == ["past"] else of
    for kernel in () if run.without_l1 is None else run.without_l1.kernels:
        found = kernel.ms if kind is Measure.L1_TIME else kernel.call_us
        if kernel.name == row and kernel.verified and found:
            return found
    raise ValueError(f"No kernel was recorded with and without L1 as {of}.")


def _wave_time(run: RecordedRun, of: str) -> float:
    """Microseconds of a wave of a kernel's blocks, whose K is in one piece."""
    name, blocks, K = of.split()
    kernels = () if run.shape_table is None else run.shape_table.kernels
    for tuned in kernels:
        if tuned.name == name and 1 <= int(blocks) <= len(tuned.wide.k_ms):
            return 1e3 * tuned.wide.time(int(blocks), int(K))
    raise ValueError(f"No wave was recorded for {of}.")


def recorded_size(of: str) -> tuple[int, int, int] | None:
    """M, N and K in what a recorded number is of; None where it is of no kernel.

    >>> recorded_size("tiled 4096"), recorded_size("limits.latency.dram")
    ((4096, 4096, 4096), None)
    """
    match [int(word) for word in of.split()[1:] if word.isdigit()]:
        case [side]:
            return side, side, side
        case [M, N, K]:
            return M, N, K
    return None


def _of_kernel(
    kind: Measure, kernel: KernelResult, comparison: Comparison, counter: str
) -> float | None:
    """A number of a recorded kernel; None where it was not measured."""
    if kind is Measure.KERNEL_BOUND:
        bounds = find_bounds(kernel, comparison)
        return None if bounds is None else _at_path(bounds, counter)
    if kind is Measure.KERNEL_TIME:
        return kernel.ms
    if kind is Measure.KERNEL_SHARE:
        return kernel.cublas_ratio
    if kind is Measure.KERNEL_TFLOPS:
        return kernel.tflops
    if kind is Measure.KERNEL_PEAK:
        return None if kernel.peak_share is None else 100 * kernel.peak_share
    if kind is Measure.KERNEL_ERROR:
        return None if kernel.rel_norm_error is None else 1e6 * kernel.rel_norm_error
    if kind is Measure.KERNEL_REGISTERS:
        return kernel.registers
    if kind is Measure.KERNEL_OCCUPANCY:
        return None if kernel.occupancy is None else 100 * kernel.occupancy
    return None if kernel.counters is None else kernel.counters.get(counter)


def rounded(quantity: Quantity, number: float) -> float:
    """A number with a quantity's digits; a whole one is an int."""
    return round(number, quantity.digits) if quantity.digits else round(number)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A view's step in its recording, and what is asked of it."""

    view: View
    recording: Recording
    at: int  # the step's number
    of: str  # a variable, cell or counter; else ""

    @property
    def step(self) -> Step:
        """What the block does there."""
        return self.recording.steps[self.at]

    @property
    def last(self) -> Step:
        """The block's last step."""
        return self.recording.steps[-1]

    @property
    def thread(self) -> int:
        """The focused thread's number in the block."""
        return ravel(self.view.thread_index, self.recording.launch.block)

    @property
    def model(self) -> SceneModel:
        """Tiles and roles of the arrays."""
        return build_scene_model(self.recording, self.thread)

    @property
    def costs(self) -> Costs:
        """What the steps cost, added up."""
        return add_up_costs(self.recording)


def _rise(totals: Array, at: int) -> int:
    """What a step adds to totals [steps]."""
    return int(totals[at] - (totals[at - 1] if at else 0))


def _variable(moment: _Moment) -> float:
    registers = moment.step.registers
    if moment.of not in registers:
        raise ValueError(f"No variable {moment.of} here, only {', '.join(registers)}.")
    return float(registers[moment.of][moment.thread])


def _shared_cell(moment: _Moment) -> float:
    name, *index = moment.of.split()
    shared = moment.step.shared
    if name not in shared:
        raise ValueError(f"No shared array {name} here, only {', '.join(shared)}.")
    return float(shared[name][tuple(map(int, index))])


def _counter(moment: _Moment) -> float:
    if moment.of not in FIELDS:
        raise ValueError(f"No counter {moment.of}, only {', '.join(FIELDS)}.")
    return load_report(moment.view).counters[moment.of]


def _wrong_cells(view: View) -> int:
    """How many cells of C are wrong after the view's launch, in its order of warps."""
    if view.user_kernel is not None:
        raise LaunchError("It is not known what product a user kernel computes.")
    arguments = presets.inputs(view)
    found = simulate(load_kernel(view), load_launch(view), view.schedule).arrays["C"]
    product = arguments["A"].astype(float) @ arguments["B"].astype(float)
    return int((found.reshape(product.shape).astype(float) != product).sum())


def _lane(step: Step, row: int, column: int) -> int:
    """The lane of a warp that holds a sum of the tile which a tensor core computes at a step."""
    call = multiplication(step)
    fragment = None if call is None else parse_fragment(call.texts[0])
    if fragment is None:
        raise ValueError("Nothing is multiplied on a tensor core here.")
    rows, columns = fragment.positions()
    lanes, _ = np.nonzero((rows == row) & (columns == column))
    if not lanes.size:
        raise ValueError(f"No lane holds row {row}, column {column}.")
    return int(lanes[0])


def _order_cells(view: View) -> int:
    """How many cells of C are others if blocks that share them add in the opposite order."""
    width, height, pieces = load_launch(view).grid
    parts = []  # of C: what the blocks of each piece of K add
    for z in range(pieces):
        part: Any = 0
        for x, y in itertools.product(range(width), range(height)):
            alone = dataclasses.replace(recording_key(view), block=(x, y), z=(z, 0))
            part = part + load_recording(alone).steps[-1].outputs["C"]
        parts.append(part)
    return int((sum(parts) != sum(reversed(parts))).sum())


def _rounded_cells(view: View) -> int:
    """How many cells of a float32 C differ from a loop's that rounds products and sums apart."""
    arguments = presets.inputs(view)
    fused = simulate(load_kernel(view), load_launch(view), view.schedule).arrays["C"]
    A, B = arguments["A"], arguments["B"]
    C = np.zeros((len(A), B.shape[1]), np.float32)
    for k in range(A.shape[1]):
        C += A[:, k, None] * B[None, k]
    return int((fused.reshape(C.shape) != C).sum())


def _warp_steps(recording: Recording) -> int:
    """The statements that a block's warps ran: one for each warp with an active lane at a step."""
    starts = np.arange(0, recording.launch.threads, WARP_SIZE)
    return sum(int(np.logical_or.reduceat(step.active, starts).sum()) for step in recording.steps)


def find(quantity: Quantity) -> float:
    """A quantity's number with its digits, found in this process. Raises as measure, recorded."""
    if quantity.view is None:
        return rounded(quantity, recorded(quantity.measure, quantity.of))
    return rounded(quantity, measure(quantity.view, quantity.measure, quantity.of))


TRACE_FIELDS: Mapping[str, Callable[[Trace], float]] = {
    "ratio": lambda trace: trace.ratio,
    "blocks": lambda trace: place_blocks(trace.blocks).resident,
}
PHASE_FIELDS: Mapping[str, Callable[[TracedPhase], float]] = {
    "cycles": lambda phase: phase.cycles,
    "share": lambda phase: 100 * phase.share,
    "least": lambda phase: phase.spread[0],
    "most": lambda phase: phase.spread[1],
}

# How each measure of a view is found; the others are of a recorded run.
OF_VIEW: Mapping[Measure, Callable[[_Moment], float]] = {
    Measure.THREADS: lambda moment: moment.recording.launch.threads,
    Measure.BLOCKS: lambda moment: moment.recording.launch.blocks,
    Measure.WARPS: lambda moment: -(-moment.recording.launch.threads // WARP_SIZE),
    Measure.STEPS: lambda moment: len(moment.recording.steps),
    Measure.BARRIERS: lambda moment: moment.last.interval,
    Measure.TILES: lambda moment: moment.model.iterations,
    Measure.SHARED_BYTES: lambda moment: sum(one.nbytes for one in moment.last.shared.values()),
    Measure.HAZARDS: lambda moment: len(load_report(moment.view).hazards),
    Measure.WRONG_CELLS: lambda moment: _wrong_cells(moment.view),
    Measure.THREAD_LOADS: lambda moment: global_loads(moment.model, moment.thread)[-1],
    Measure.MULTIPLY_ADDS: lambda moment: int(moment.costs.multiply_adds[-1]),
    Measure.SECTORS: lambda moment: int(moment.costs.sectors[-1]),
    Measure.WAVEFRONTS: lambda moment: int(moment.costs.wavefronts[-1]),
    Measure.WAITS: lambda moment: int(moment.costs.waits[-1]),
    Measure.WARP_STEPS: lambda moment: _warp_steps(moment.recording),
    Measure.STEP_SECTORS: lambda moment: _rise(moment.costs.sectors, moment.at),
    Measure.STEP_WAVEFRONTS: lambda moment: _rise(moment.costs.wavefronts, moment.at),
    Measure.STEP_THREADS: lambda moment: int(moment.step.active.sum()),
    Measure.LINE: lambda moment: moment.step.line,
    Measure.VARIABLE: _variable,
    Measure.SHARED_CELL: _shared_cell,
    Measure.ORDER_CELLS: lambda moment: _order_cells(moment.view),
    Measure.ROUNDED_CELLS: lambda moment: _rounded_cells(moment.view),
    Measure.LANE: lambda moment: _lane(moment.step, *map(int, moment.of.split())),
    Measure.COUNTER: _counter,
}
