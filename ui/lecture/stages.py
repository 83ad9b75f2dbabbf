"""Which stage each step is shown on, and at which level it is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from simulator import Step
from simulator.language.tree import Barrier, Loop, MemorySpace, Sequence, Statement
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind, StepKind
from simulator.recording.requests import Request, requests
from ui.analysis.products import multiplication
from ui.analysis.scene_model import SceneModel, outer_iteration
from ui.drawing.look import LEVELS, Held, Level, Stage
from ui.lecture.board import Boards

LEVEL_OF: dict[Stage, Held] = {
    Stage.GRID: Stage.GRID, Stage.COSTS: Stage.GRID, Stage.CLOCK: Level.BLOCK,
    Stage.COPY: Level.BLOCK, Stage.PRODUCT: Level.BLOCK, Stage.STORE: Level.BLOCK,
    Stage.THREADS: Level.WARP, Stage.BANKS: Level.WARP, Stage.TENSOR: Level.WARP,
    Stage.REGISTERS: Stage.REGISTERS,
}  # fmt: skip
MANY_SECTORS = 8  # of 32 bytes; a warp's 32 neighbouring floats are in 4


class Stages:
    """The stage of each step: what it is about, or what is held has for it."""

    def __init__(self, model: SceneModel, boards: Boards, held: Held | None) -> None:
        self._model, self._boards, self._held = model, boards, held
        self._requests: dict[int, tuple[Request, ...]] = {}
        self._shown: dict[int, tuple[Stage, Step]] = {}

    def of(self, step: Step) -> Stage:
        """The stage that a step is shown on."""
        return self._stage_and_subject(step)[0]

    def subject(self, step: Step) -> Step:
        """The step whose accesses the stage shows.

        It is another than the step itself where that only counts a loop, or where something is
        held that the step has nothing for.
        """
        return self._stage_and_subject(step)[1]

    def level_of(self, step: Step, is_on_board: bool) -> Held:
        """The one of LEVELS that a step is seen at; whether the board of a product is shown."""
        if self._held in LEVELS:
            return self._held
        return Level.BLOCK if is_on_board else LEVEL_OF[self.of(step)]

    def requests(self, step: Step) -> tuple[Request, ...]:
        """What the focused thread's warp requests of memory at a step."""
        if step.number not in self._requests:
            self._requests[step.number] = requests(
                self._model.recording, step, self._model.thread // WARP_SIZE
            )
        return self._requests[step.number]

    def _stage_and_subject(self, step: Step) -> tuple[Stage, Step]:
        if step.number not in self._shown:
            self._shown[step.number] = self._choose(step)
        return self._shown[step.number]

    def _choose(self, step: Step) -> tuple[Stage, Step]:
        match self._held:
            case None:
                return self._follow(step)
            case Level.BLOCK:
                return self._of_block(step)
            case Level.WARP:
                return self._of_warp(step)
            case Stage() as stage:
                return stage, self._nearest(step, lambda one: self._has_content(stage, one)) or step
            case _:
                assert_never(self._held)

    def _of_block(self, step: Step) -> tuple[Stage, Step]:
        """What the whole block does at a step, and no warp's banks, bits or registers."""
        stage, subject = self._follow(step)
        if LEVEL_OF[stage] is Level.BLOCK or stage is Stage.THREADS:
            return stage, subject
        if self._boards.is_product(subject) or (stage is Stage.REGISTERS and any(self._boards)):
            return Stage.PRODUCT, subject
        copies = self._nearest(step, lambda one: self._has_content(Stage.COPY, one))
        return Stage.COPY, copies or step

    def _of_warp(self, step: Step) -> tuple[Stage, Step]:
        """What the lanes of a warp do at a step, or at the nearest one that has something of it."""
        subject = self._nearest(step, lambda one: self._of_lanes(one) is not None)
        stage = None if subject is None else self._of_lanes(subject)
        return (Stage.THREADS, step) if stage is None or subject is None else (stage, subject)

    def _of_lanes(self, step: Step) -> Stage | None:
        """Where a step's lanes wait, multiply together or reach for memory; None if they do not."""
        stage = self._of_accesses(step)
        if stage in (Stage.THREADS, Stage.TENSOR, Stage.BANKS):
            return stage
        spaces = {access.space for access in step.accesses}
        if spaces & {MemorySpace.GLOBAL, MemorySpace.CONSTANT}:
            return Stage.COPY
        return Stage.BANKS if MemorySpace.SHARED in spaces else None

    def _follow(self, step: Step) -> tuple[Stage, Step]:
        """What a step is about."""
        stage = self._of_accesses(step)
        if stage is not None:
            return stage, step
        if self._is_loop_control(step):
            around = self._memory_step_around(step)
            if around is not None:
                return around
        return Stage.REGISTERS, step

    def _of_accesses(self, step: Step) -> Stage | None:
        """The stage of what a step does with memory; None if it does nothing with it."""
        if isinstance(step.statement, Barrier):
            return Stage.THREADS
        if multiplication(step) is not None:
            return Stage.TENSOR
        moved = {(access.kind, access.space) for access in step.accesses}
        if {AccessKind.STORE, AccessKind.ATOMIC} & {
            kind for kind, space in moved if space is MemorySpace.GLOBAL
        }:
            return Stage.STORE
        if any(request.degree > 1 for request in self.requests(step)):
            return Stage.BANKS
        if self._boards.is_product(step) and not any(map(_is_scattered, self.requests(step))):
            return Stage.PRODUCT
        if any(space is not MemorySpace.LOCAL for _, space in moved):
            return Stage.COPY
        return None

    def _has_content(self, stage: Stage, step: Step) -> bool:
        """Whether a stage has something to show of a step."""
        spaces = {access.space for access in step.accesses}
        match stage:
            case Stage.COPY:
                return bool(spaces - {MemorySpace.LOCAL})
            case Stage.BANKS:
                return MemorySpace.SHARED in spaces
            case Stage.STORE:
                return self._of_accesses(step) is Stage.STORE
            case Stage.TENSOR:
                return multiplication(step) is not None
            case (
                Stage.PRODUCT | Stage.THREADS | Stage.REGISTERS | Stage.GRID | Stage.COSTS
                | Stage.CLOCK
            ):  # fmt: skip
                return True
            case _:
                assert_never(stage)

    def _nearest(self, step: Step, is_meant: Callable[[Step], bool]) -> Step | None:
        """The step itself, or the latest before it, or the next, that is meant; None if none is."""
        steps = self._model.recording.steps
        for numbers in (range(step.number, -1, -1), range(step.number + 1, len(steps))):
            for number in numbers:
                if is_meant(steps[number]):
                    return steps[number]
        return None

    def _is_loop_control(self, step: Step) -> bool:
        """Whether a step only counts a loop other than the outermost."""
        if isinstance(step.statement, Loop):
            return step.statement is not self._model.outer or self._model.inner is None
        steps = self._model.recording.steps
        for number in range(step.number + 1, len(steps)):
            after = steps[number]
            if isinstance(after.statement, Loop):
                return (
                    after.kind is StepKind.TEST
                    and _is_within(step.statement, after.statement.start)
                    and self._is_loop_control(after)
                )
        return False

    def _memory_step_around(self, step: Step) -> tuple[Stage, Step] | None:
        """The next step that does something with memory, or the one before, and its stage.

        Both within the same iteration of the outermost loop, and not beyond a barrier.
        """
        steps = self._model.recording.steps
        turn = outer_iteration(self._model, step)
        for numbers in (range(step.number + 1, len(steps)), range(step.number - 1, -1, -1)):
            for number in numbers:
                other = steps[number]
                if outer_iteration(self._model, other) != turn:
                    break
                stage = self._of_accesses(other)
                if stage is Stage.THREADS:
                    break
                if stage is not None:
                    return stage, other
        return None


def _is_scattered(request: Request) -> bool:
    """Whether a warp fetches many sectors of global memory and uses little of them."""
    return (
        request.moved_sectors >= MANY_SECTORS and 2 * request.useful_bytes <= request.fetched_bytes
    )


def _is_within(statement: Statement, clause: Statement | None) -> bool:
    """Whether a statement is a loop's first clause, or a part of it."""
    return statement is clause or (isinstance(clause, Sequence) and statement in clause.statements)
