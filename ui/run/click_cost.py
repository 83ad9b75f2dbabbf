"""What a click would take of a processor, estimated before it begins, and whether that is too much.

The estimates are rough: mostly within a factor of two of what was measured on a processor of a
server. What a job really takes is limited where it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.language.errors import LaunchError
from simulator.launch import MAX_THREADS, WARP_SIZE
from simulator.machine.machine import CHUNK_LANES
from simulator.verdict.form import ArrayArgument
from ui.jobs.settings import CLICK, click_seconds
from ui.view.view_url import View

NOTABLE_SECONDS = 5.0  # from here on a page says what a click takes before it
# To draw a step in a file with all steps; a block of MAX_THREADS takes twice as long. A visitor's
# own kernel takes longer, and so does each of its arrays, of which there is room for some.
STEP_SECONDS = 0.007
USER_KERNEL_STEP_SECONDS = 0.005
ARRAY_SECONDS = 0.002
SHOWN_ARRAYS = 16
RECORD_SECONDS = 0.0005  # to record a step, where the worker has no recording any more
STOP_SECONDS = 0.1  # to draw a stop of a lesson for each window and theme
SCENE_SECONDS = 1.5  # to draw all steps of a lesson's scene so

# Of a whole grid, every access checked and counted: a warp of a chunk of blocks adds a product for
# each of its threads; and a thread's part of that, by kernel: least where the machine makes the
# loads of a whole loop ahead, most where it cannot and an iteration has one product.
# `python -m tools.benchmarks.grid_estimates` prints estimates beside what was taken.
TURN_SECONDS = 4.2e-5
PRODUCT_SECONDS = 1e-8
PRODUCT_SECONDS_OF = {
    "uncoalesced": 1e-9, "naive": 1e-9, "tiled": 1e-9, "transposed": 3e-9, "padded": 3e-9,
    "tiled_double": 2.5e-8, "swizzled": 3.5e-8, "few_rows": 1.2e-7, "few_columns": 1.2e-7,
}  # fmt: skip
BLOCKS_OF_CHUNK = CHUNK_LANES // WARP_SIZE


@dataclass(frozen=True, slots=True)
class Work:
    """What a click asks for."""

    what: str  # "An animation of"
    amount: str  # "2,400 steps"
    seconds: float  # of a processor, estimated
    mend: str  # what makes it less: "choose smaller sizes"

    @property
    def caption(self) -> str:
        """What a page says before the click: nothing where the work is soon done.

        >>> Work("An animation of", "2,400 steps", 20.4, "choose smaller sizes").caption
        'About 20 s of work: 2,400 steps.'
        """
        if self.seconds < NOTABLE_SECONDS:
            return ""
        return f"About {format_seconds(self.seconds)} of work: {self.amount}."

    @property
    def refusal(self) -> str:
        """Why it is not done, as a sentence; "" where it takes no more than a click may."""
        limit = click_seconds()
        if self.seconds <= limit:
            return ""
        return (
            f"{self.what} {self.amount} would take about {format_seconds(self.seconds)} of "
            f"processor time; a click is limited to {format_seconds(limit)}: {self.mend}. Whoever "
            f"serves the app can raise {CLICK}."
        )

    def check(self) -> None:
        """Raise LaunchError where it would take more than a click may."""
        if self.refusal:
            raise LaunchError(self.refusal)


def animation(view: View, steps: int, threads: int, run_seconds: Sequence[float] = ()) -> Work:
    """A file with all steps of a view's scene.

    steps are the scene's, threads those of a block, run_seconds what each side's launch took.
    """
    sides = 1 if view.comparison is None else 2
    drawn = STEP_SECONDS
    if view.user_kernel is not None:
        arrays = sum(isinstance(one, ArrayArgument) for one in view.user_kernel.form.arguments)
        drawn += USER_KERNEL_STEP_SECONDS + ARRAY_SECONDS * min(arrays, SHOWN_ARRAYS)
    drawn *= 1 + threads / MAX_THREADS
    seconds = sides * steps * (drawn + RECORD_SECONDS) + sum(run_seconds)
    return Work("An animation of", f"{steps:,} steps", seconds, "choose smaller sizes")


def lesson_file(stops: int, scenes: int) -> Work:
    """The file of a lesson that has so many stops, and scenes to step through."""
    seconds = stops * STOP_SECONDS + scenes * SCENE_SECONDS
    amount = f"{stops} pictures and {scenes} scenes"
    return Work("A lesson's file with", amount, seconds, "read the lesson here")


def grid(name: str, blocks: int, threads: int, size: tuple[int, int, int]) -> Work:
    """Every block of a product at M, N and K by a kernel of the catalogue; threads are a block's.

    >>> grid("naive", 16_384, 256, (2048, 2048, 2048)).seconds < 60 < grid(
    ...     "swizzled", 16_384, 256, (2048, 2048, 2048)
    ... ).seconds
    True
    """
    M, N, K = size
    turns = -(-blocks // BLOCKS_OF_CHUNK) * -(-threads // WARP_SIZE) / (blocks * threads)
    each = turns * TURN_SECONDS + PRODUCT_SECONDS_OF.get(name, PRODUCT_SECONDS)
    return Work(
        "Every block of", f"{M:,} × {N:,} × {K:,}", M * N * K * each, "choose a smaller M, N or K"
    )


def format_seconds(seconds: float) -> str:
    """A rough time in the unit that reads best.

    >>> format_seconds(0.25), format_seconds(20.4), format_seconds(800), format_seconds(9000)
    ('0.25 s', '20 s', '13 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
