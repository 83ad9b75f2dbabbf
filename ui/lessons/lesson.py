"""A lesson: prose, stops in scenes, charts, questions, exercises, and notes for a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from simulator.broken_file import Broken
from simulator.exercises.exercise import Exercise
from ui.view.view_url import View


class Mark(StrEnum):
    """A place of a scene that stands out at a stop."""

    SOURCE = "source"
    LINE = "line"  # the current one, with its values
    STAGE = "stage"
    WARPS = "warps"  # before the gate; the stage where they have no place of their own
    MAPS = "maps"  # of A, B and C, in the stage's corner
    SENTENCE = "sentence"
    LEDGER = "ledger"
    TIMELINE = "timeline"
    LEFT = "left"  # of two scenes beside each other
    RIGHT = "right"
    COUNTS = "counts"  # of both


class Chart(StrEnum):
    """A chart of a recorded run on a GPU."""

    LATENCIES = "latencies"
    MULTIPROCESSOR = "multiprocessor"  # a picture, with what was measured of its memories
    NEAR_AND_FAR = "near-and-far"  # a picture: memories as places on a road, as far as measured
    LOAD_LIFE = "load-life"  # a picture: a load over time, and other warps' work meanwhile
    WITHOUT_L1 = "without-l1"
    LADDER = "ladder"
    PREDICTIONS = "predictions"  # bounds of kernels' times, from counts alone
    BOUNDS = "bounds"  # the same beside the measured times
    RESIDENCY = "residency"  # a picture: the blocks of registers that a multiprocessor holds
    INNER_LOOP = "inner-loop"  # a picture: the machine code of the tiled kernel's
    INSTRUCTIONS = "instructions"  # of the inner loops, beside the share of the peak
    AGAINST_SIZE = "against-size"
    ROOFLINE = "roofline"
    WAVES = "waves"
    SHAPES = "shapes"
    ACCURACY = "accuracy"
    PHASES = "phases"


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown, with formulas between dollar signs."""

    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A step of a scene, what to see there, and where."""

    view: View
    text: str  # a sentence
    mark: Mark


@dataclass(frozen=True, slots=True)
class Stops:
    """Stops that the arrow keys walk; a single one is a picture."""

    stops: tuple[Stop, ...]
    is_more: bool = False  # whether a class of ninety minutes leaves them out


@dataclass(frozen=True, slots=True)
class ScenePart:
    """A scene that the reader steps through, from its view's step on."""

    view: View
    text: str  # what to do there
    file: str  # its place, for what is found wrong once it has run
    line: int


@dataclass(frozen=True, slots=True)
class ChartPart:
    """A chart with what it shows."""

    chart: Chart
    text: str


@dataclass(frozen=True, slots=True)
class ExercisePart:
    """An exercise of the Write page, and why now."""

    exercise: Exercise
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes for the teacher: Markdown."""

    text: str


class Measure(StrEnum):
    """What the simulator says of a view: of its whole launch, of its block, or at its step."""

    THREADS = "threads"  # of a block
    BLOCKS = "blocks"
    WARPS = "warps"  # of a block
    STEPS = "steps"  # of the recorded block
    BARRIERS = "barriers"  # those the block passes
    TILES = "tiles"  # of A that the block goes along
    SHARED_BYTES = "shared-bytes"  # of a block
    HAZARDS = "hazards"
    WRONG_CELLS = "wrong-cells"  # of C, in the view's order of warps
    THREAD_LOADS = "thread-loads"  # from global memory, of the focused thread, in all steps
    MULTIPLY_ADDS = "multiply-adds"  # of the block, in all steps, as the next three
    SECTORS = "sectors"
    WAVEFRONTS = "wavefronts"
    WAITS = "waits"  # of warps at barriers
    WARP_STEPS = "warp-steps"  # statements that its warps ran, each counted for each warp
    STEP_SECTORS = "step-sectors"  # at the view's step
    STEP_WAVEFRONTS = "step-wavefronts"
    STEP_THREADS = "step-threads"  # those that run the statement
    LINE = "line"  # of the text, of the view's step
    VARIABLE = "variable"  # a number of the focused thread, after the view's step
    SHARED_CELL = "shared-cell"  # of a shared array, after the view's step
    ORDER_CELLS = "order-cells"  # of C that differ if blocks add to them in the opposite order
    ROUNDED_CELLS = "rounded-cells"  # of C that differ where each product is rounded by itself
    LANE = "lane"  # with a row's and column's sum of a tensor core's tile, at the view's step
    COUNTER = "counter"  # of the whole launch: simulator.observers.counters
    RECORDED = "recorded"  # of a run on a GPU: a path, such as limits.latency.dram
    KERNEL_TIME = "kernel-time"  # of a recorded comparison, in milliseconds
    KERNEL_SHARE = "kernel-share"  # of cuBLAS's speed there
    KERNEL_TFLOPS = "kernel-tflops"
    KERNEL_PEAK = "kernel-peak"  # of the GPU's float32 peak there, in percent
    KERNEL_ERROR = "kernel-error"  # of its C there, in millionths of C's norm
    KERNEL_REGISTERS = "kernel-registers"  # of a thread there
    KERNEL_OCCUPANCY = "kernel-occupancy"  # resident threads there, in percent of the most
    KERNEL_COUNTER = "kernel-counter"  # of the hardware there: simulator.observers.counters
    KERNEL_BOUND = "kernel-bound"  # of its counted work there: of gpu.bounds.Bounds
    L1_TIME = "l1-time"  # in milliseconds: "naive", and "naive past" with loads past L1
    CALL_TIME = "call-time"  # of the call that queued it then, in microseconds
    SHAPE = "shape"  # of the recorded run over shapes: of gpu.shapes.shape.Shape
    USUAL_PLAN = "usual-plan"  # the ladder's last kernel for a shape: of gpu.shapes.plan.Plan
    WAVE_TIME = "wave-time"  # of a kernel's blocks there, in microseconds
    TRACE = "trace"  # of a kernel by the GPU's clock: gpu.trace.trace.Trace
    MACHINE_CODE = "machine-code"  # of a kernel, as recorded: ui.lessons.machine_code
    SCALING = "scaling"  # of the recorded run over the most GPUs: of gpu.scale.scaling.ScaleRun


# Of the comparison with and without the L1 cache, which no GPU page shows.
OF_L1 = (Measure.L1_TIME, Measure.CALL_TIME)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that a program found, never typed."""

    measure: Measure
    view: View | None  # None for what is recorded
    of: str  # a variable, cell, counter, path or kernel; else ""
    digits: int  # after the decimal point


class Kind(StrEnum):
    """How a question is answered."""

    NUMBER = "number"
    CHOICE = "choice"  # one of some sentences
    CELL = "cell"  # a cell to click
    LINE = "line"  # a line of the source to click
    ORDER = "order"  # sentences to arrange


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an answer is wrong: a template over the question's numbers, and when it is given."""

    answer: str  # an expression over the numbers, as the answer's
    because: str


@dataclass(frozen=True, slots=True)
class Option:
    """A sentence to choose or to arrange, and its number: of a choice the largest one is right."""

    text: str
    value: str  # an expression over the numbers


@dataclass(frozen=True, slots=True)
class Question:
    """A question with fixed numbers; its answer is an expression over what programs found."""

    name: str  # of all lessons' questions
    kind: Kind
    ask: str  # Markdown, a template over the numbers
    quantities: Mapping[str, Quantity]
    fresh: Mapping[str, int]  # the numbers drawn for this visit
    answer: str  # of a number or a line; of a cell "row, column"
    because: str  # a template: the reason, once it is answered
    hint: str  # a template: after a first wrong answer that no reason of `wrong` is for
    wrong: tuple[Reason, ...]
    options: tuple[Option, ...]  # of a choice and an order
    rows: str  # of the cells, an expression; else ""
    columns: str
    array: str  # the one of these cells, or tiles; else ""
    picture: View | None  # of the cells, a scene that does not give the answer away
    view: View | None  # the scene that shows it


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """A question; `variants` has one for each drawing of its fresh numbers, at least one."""

    name: str
    variants: tuple[Question, ...]
    is_more: bool = False  # whether a class of ninety minutes leaves it out


# The classes of ninety minutes, by a lesson's session.
SESSIONS: Mapping[int, str] = {
    1: "First class: from one thread to a tile", 2: "Second class: from a tile to cuBLAS",
    0: "Beyond both",
}  # fmt: skip
MORE = "More"  # the sign of a part that a class leaves out


class Verdict(StrEnum):
    """What runs say of a claim."""

    CONFIRMED = "confirmed"
    REFINED = "refined"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Claim:
    """What notes on tiling claim, and what the simulator and a GPU say."""

    name: str  # of all claims
    says: str  # Markdown, in our words
    notes: tuple[int, ...]  # the sets of notes that claim it, as the lesson numbers them
    verdict: Verdict
    found: str  # Markdown, a template over the numbers
    holds: str  # an expression over the numbers: above 0 where the verdict holds
    quantities: Mapping[str, Quantity]
    fresh: Mapping[str, int]  # none
    view: View | None  # the evidence


# A part with a mistake, or of a file that has one, is Broken.
Part = Claim | Prose | Stops | ScenePart | ChartPart | ExercisePart | Notes | QuestionPart | Broken


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson."""

    name: str  # its file's, without number and ending
    title: str
    minutes: int  # in class
    idea: str  # a sentence
    session: int  # its class of ninety minutes, from 1; 0 for none
    parts: tuple[Part, ...]
    file: str  # its name, without a folder
    lines: tuple[int, ...]  # where each part is in it, from 1

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The mistakes in its parts."""
        return tuple(part for part in self.parts if isinstance(part, Broken))

    @property
    def questions(self) -> tuple[QuestionPart, ...]:
        """The lesson's questions, in order."""
        return tuple(part for part in self.parts if isinstance(part, QuestionPart))
