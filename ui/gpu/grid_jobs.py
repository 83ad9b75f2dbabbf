"""A product of a kernel of the catalogue, its whole grid: what workers compute of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu.candidate import Candidate, choose
from gpu.cuda.compile import element_type
from gpu.predicted_counters import NotPredictedError, predict
from gpu.verify import Verdict, judge, random_inputs, reference, scale
from simulator import Kernel, Launch, compile_kernel
from simulator.language.ctype import Array
from simulator.machine.budget import Progress
from simulator.split.part import Part, PartTask, simulate_part
from ui.jobs.job_progress import say
from ui.jobs.result_cache import result_cache


@dataclass(frozen=True, slots=True)
class Grid:
    """A launch, as every process builds it."""

    name: str  # of a kernel in a setting: "tiled:TILE=32"
    size: tuple[int, int, int]  # M, N, K
    seed: int  # of A and B


@dataclass(frozen=True, slots=True)
class Checked:
    """What is said of a grid that has run."""

    verdict: Verdict  # on C
    predicted: Mapping[str, int] | str  # as gpu.predicted_counters has them, or why not


def build_grid(grid: Grid) -> tuple[Kernel, Launch]:
    """Compile the kernel, and launch it for random A and B; C is full of NaN.

    Raises LaunchError for what is not offered.
    """
    candidate, (M, N, K) = load_candidate(grid), grid.size
    element = element_type(candidate.text, candidate.kernel)
    A, B = random_inputs(M, N, K, element, grid.seed)
    arguments = {"A": A, "B": B, "C": np.full((M, N), np.nan, element), "M": M, "N": N, "K": K}
    kernel = compile_kernel(candidate.text, candidate.kernel, candidate.defines)
    return kernel, Launch(candidate.grid, candidate.block, arguments)


def load_grid(grid: Grid) -> tuple[Kernel, Launch]:
    """Build a grid as build_grid does, once."""
    return result_cache().get_or_compute(grid, build_grid, grid)


def load_candidate(grid: Grid) -> Candidate:
    """The kernel's source and its launch. Raises LaunchError for what is not offered."""
    return choose(grid.name, grid.size)


def run_part(grid: Grid, task: PartTask) -> Part:
    """Run some blocks."""
    first, last = task.blocks[0], task.blocks[-1]
    blocks = f"Block {first:,}" if first == last else f"Blocks {first:,} to {last:,}"
    # Most are done before a loop's progress is reported.
    say(f"{blocks} {'is' if first == last else 'are'} running.")

    def say_place(progress: Progress) -> None:
        say(f"{blocks}: {progress.place or 'between loops'}.")

    return simulate_part(*load_grid(grid), task, say_place)


def check_grid(grid: Grid, C: Array) -> Checked:
    """Compare C [M, N] with NumPy's product, and predict the counters."""
    _, launch = load_grid(grid)
    A, B = launch.arguments["A"], launch.arguments["B"]
    verdict = judge(
        np, C, reference(np, A, B), scale(A, B), A.shape[1], load_candidate(grid).multiplies()
    )
    candidate = load_candidate(grid)
    predicted: Mapping[str, int] | str
    try:
        predicted = predict(grid.name, candidate.text, candidate.defines, grid.size)
    except NotPredictedError as error:
        predicted = str(error)
    return Checked(verdict, predicted)
