"""The time that a launch may take: one budget, which all its loops share.

It is processor time, so that a kernel that fits does so on a busy machine, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Loop

DEFAULT_SECONDS = 60.0  # for a caller that sets none; every run must come to an end
CLOCK_INTERVAL = 16  # iterations of all loops between two readings of the clock
REPORT_SECONDS = 1.0  # between two reports of progress
SLOWEST = 10.0  # times a budget that may pass by the clock on the wall
MANY_ITERATIONS = 2**18  # from here on the error asks whether the loop ever ends


@dataclass(slots=True, eq=False)
class LoopState:
    """A loop that a group executes."""

    loop: Loop
    iteration: int = 0  # iterations completed
    before: list[Any] | None = None  # the registers that decide when it ends, at a test


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    seconds: float  # since it began
    blocks_done: int
    blocks: int  # of the whole run
    line: int | None  # of the innermost loop that is running; None between loops
    iterations: tuple[int, ...]  # completed, of each loop that is running, outermost first

    @property
    def sentence(self) -> str:
        """What is done: "3 of 64 blocks are done; the loop of line 7 is in iteration 1,200"."""
        done = f"{self.blocks_done:,} of {self.blocks:,} blocks are done"
        return f"{done}; {self.place}" if self.place else done

    @property
    def place(self) -> str:
        """The loop that runs: "the loop of line 7 is in iteration 1,200"; "" between loops."""
        if self.line is None:
            return ""
        inner, *outer = reversed(self.iterations)
        around = f", within iteration {outer[0] + 1:,} of the loop around it" if outer else ""
        return f"the loop of line {self.line} is in iteration {inner + 1:,}{around}"


class Budget:
    """The time of one run, counted from now on."""

    def __init__(
        self,
        seconds: float,
        blocks: int,
        on_progress: Callable[[Progress], None] | None = None,
        spent: float = 0.0,
        blocks_done: int = 0,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """A run of some blocks may take `seconds`; on_progress is called about once a second.

        spent and blocks_done are the seconds and blocks of the run before now. clock counts the
        processor's seconds: in this thread, unless others compute.
        """
        self.blocks_done = blocks_done
        self._seconds = seconds
        self._blocks = blocks
        self._uncounted = CLOCK_INTERVAL  # iterations of all loops together to the next check
        self._on_progress = on_progress
        self._clock = clock
        self._begin = clock() - spent
        self._wall_begin = now = time.perf_counter() - spent
        self._next_report = now + spent + REPORT_SECONDS if on_progress else float("inf")

    @property
    def spent(self) -> float:
        """Seconds of processors that the run has taken."""
        return self._clock() - self._begin

    @property
    def is_over(self) -> bool:
        """Whether the time given to the run is over."""
        return self.spent > self._seconds

    @property
    def is_late(self) -> bool:
        """Whether far more than the time given to the run has passed on the wall."""
        return time.perf_counter() > self._wall_begin + SLOWEST * self._seconds

    def count(self, loops: Sequence[LoopState], has_counter: bool, iterations: int = 1) -> None:
        """Count iterations of any loop, and check the time after each CLOCK_INTERVAL of them."""
        self._uncounted -= iterations
        if self._uncounted <= 0:
            self._uncounted = CLOCK_INTERVAL
            self.check(loops, has_counter)

    def check(self, loops: Sequence[LoopState] = (), has_counter: bool = True) -> None:
        """Report progress when it is time; SourceError, or LaunchError, once the time is over.

        loops are those that are running, outermost first; has_counter whether a counter ends the
        innermost.
        """
        if self.is_over or self.is_late:
            self._stop(self._progress(time.perf_counter(), loops), loops, has_counter)
        self.report(loops)

    def report(self, loops: Sequence[LoopState] = ()) -> None:
        """Report progress when it is time."""
        now = time.perf_counter()
        if now > self._next_report and self._on_progress is not None:
            self._next_report = now + REPORT_SECONDS
            self._on_progress(self._progress(now, loops))

    def _progress(self, now: float, loops: Sequence[LoopState]) -> Progress:
        return Progress(
            seconds=now - self._wall_begin,
            blocks_done=self.blocks_done,
            blocks=self._blocks,
            line=loops[-1].loop.span.line if loops else None,
            iterations=tuple(state.iteration for state in loops),
        )

    def _stop(self, progress: Progress, loops: Sequence[LoopState], has_counter: bool) -> None:
        sentence = progress.sentence
        if self.is_over:
            over = (
                f"The time given to this run, {self._seconds:g} seconds, has run out: {sentence}. "
                "Give it more time or a smaller launch."
            )
        else:
            over = (
                f"This run has waited for a processor for {SLOWEST:g} times as long as it may "
                f"compute: {sentence}. This machine is busy; try again in a moment."
            )
        if not loops:
            refused = LaunchError(over)
            refused.depends_on_machine = True
            raise refused
        may_never_end = not has_counter or loops[-1].iteration > MANY_ITERATIONS
        over += " Does the loop's condition ever fail?" * may_never_end
        error = SourceError(over, loops[-1].loop.span)
        error.depends_on_machine, error.may_never_end = True, may_never_end and self.is_over
        raise error
