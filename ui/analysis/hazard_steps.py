"""The steps of a recording that have a hazard."""

from __future__ import annotations

from simulator.observers.hazards.hazard_kind import HazardKind
from ui.analysis.scene_model import SceneModel


def steps_with_hazards(model: SceneModel) -> list[bool]:
    """For each step, whether it does what no correct kernel does."""
    misaligned, divergent = (
        {line for one in model.hazards if one.kind is kind for line in one.lines}
        for kind in (HazardKind.MISALIGNED, HazardKind.DIVERGENT_BARRIER)
    )
    return [
        bool(shared or racing)
        or any(bool((access.active & ~access.in_bounds).any()) for access in step.accesses)
        or step.line in misaligned
        or (step.line in divergent and not step.active.all())
        for step, shared, racing in zip(
            model.recording.steps, model.unordered, model.racing, strict=True
        )
    ]
