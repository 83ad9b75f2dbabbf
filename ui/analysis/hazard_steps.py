"""The steps of a recording that have a hazard."""

from __future__ import annotations

from simulator.observers.hazards.hazard_kind import Mark
from ui.analysis.scene_model import SceneModel


def steps_with_hazards(model: SceneModel) -> list[bool]:
    """For each step, whether it does what no correct kernel does."""
    lines = {
        mark: {n for one in model.hazards if one.kind.entry.mark is mark for n in one.lines}
        for mark in Mark
    }
    return [
        bool(shared or racing)
        or any(bool((access.active & ~access.in_bounds).any()) for access in step.accesses)
        or step.line in lines[Mark.LINES]
        or (step.line in lines[Mark.MISSING_THREADS] and not step.active.all())
        for step, shared, racing in zip(
            model.recording.steps, model.unordered, model.racing, strict=True
        )
    ]
