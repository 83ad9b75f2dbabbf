"""The steps of a recording that have a hazard."""

from __future__ import annotations

from collections import defaultdict

from simulator import Recording, Step
from simulator.launch import ravel
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import Mark
from ui.analysis.scene_model import SceneModel


def steps_with_hazards(model: SceneModel) -> list[bool]:
    """For each step, whether it does what no correct kernel does."""
    by_line = defaultdict(list)
    for hazard in model.hazards:
        for line in hazard.lines:
            by_line[line].append(hazard)
    return [
        bool(unordered or racing)
        or any(bool((access.active & ~access.in_bounds).any()) for access in step.accesses)
        or any(_is_at(hazard, step, model.recording) for hazard in by_line[step.line])
        for step, unordered, racing in zip(
            model.recording.steps, model.unordered, model.racing, strict=True
        )
    ]


def _is_at(hazard: Hazard, step: Step, recording: Recording) -> bool:
    """Whether a hazard is at a step of one of its lines, by the mark of its kind."""
    match hazard.kind.mark:
        case Mark.LINE:
            return True
        case Mark.ABSENT_THREADS:
            return not step.active.all()
        case Mark.EXAMPLE:
            return is_example(hazard, step, recording)
        case Mark.ACCESS:
            return False  # of accesses that are seen to be one, whatever is reported


def is_example(hazard: Hazard, step: Step, recording: Recording) -> bool:
    """Whether a hazard's example is a thread of the recorded block at this step."""
    example = hazard.example
    return (
        step.line in hazard.lines
        and example.block == recording.block
        and example.iterations == tuple(position.iteration for position in step.loops)
        and bool(step.active[ravel(example.thread, recording.launch.block)])
    )
